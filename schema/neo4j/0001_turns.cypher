// Namespaces, sessions, turns, jobs and the inverted index.
//
// Rules of this schema:
//   * every node and relationship carries `namespace`, and every index begins with it;
//   * instants are integers, UTC microseconds since 1970 (memory/interval.py); an open end is an absent property;
//   * numbers of things are counted by their namespace's node, under its lock: they ascend with arrival;
//   * of a turn, only `state`, `attempts`, `reason`, `due_at` and its vectors ever change;
//   * a statement ends with a semicolon at the end of a line, and may be run twice.

CREATE CONSTRAINT namespace_name IF NOT EXISTS FOR (n:Namespace) REQUIRE n.name IS UNIQUE;

CREATE CONSTRAINT session_id IF NOT EXISTS FOR (s:Session) REQUIRE (s.namespace, s.id) IS UNIQUE;
// The one index that spans namespaces: a worker serves all of them, and sees no content here.
CREATE INDEX session_due IF NOT EXISTS FOR (s:Session) ON (s.due_at);

CREATE CONSTRAINT turn_id IF NOT EXISTS FOR (t:Turn) REQUIRE (t.namespace, t.id) IS UNIQUE;
CREATE CONSTRAINT turn_handle IF NOT EXISTS FOR (t:Turn) REQUIRE (t.namespace, t.handle) IS UNIQUE;
CREATE CONSTRAINT turn_position IF NOT EXISTS FOR (t:Turn) REQUIRE (t.namespace, t.session, t.position) IS UNIQUE;
// What is still to be read of a session, in order; what is dead, in order of arrival; the whole store's, for readiness.
CREATE INDEX turn_queue IF NOT EXISTS FOR (t:Turn) ON (t.namespace, t.session, t.state, t.position);
CREATE INDEX turn_state IF NOT EXISTS FOR (t:Turn) ON (t.namespace, t.state, t.handle);
CREATE INDEX turn_states IF NOT EXISTS FOR (t:Turn) ON (t.state, t.recorded_at);
// What has no vector of the present embedder: "" stands for none.
CREATE INDEX turn_embedder IF NOT EXISTS FOR (t:Turn) ON (t.state, t.embedder);

CREATE CONSTRAINT job_id IF NOT EXISTS FOR (j:Job) REQUIRE (j.namespace, j.id) IS UNIQUE;
CREATE CONSTRAINT job_key IF NOT EXISTS FOR (j:Job) REQUIRE (j.namespace, j.key) IS UNIQUE;

// The full-text procedures are not used: their indexes span namespaces, so that one tenant's words would weigh in
// another's ranking, and what they are asked is query syntax. Terms are made by memory/terms.py and are values here;
// postings lie in segments of some hundred turns, so that a frequent term is read as a few lists.
CREATE CONSTRAINT term_text IF NOT EXISTS FOR (t:Term) REQUIRE (t.namespace, t.term) IS UNIQUE;
CREATE CONSTRAINT posting_segment IF NOT EXISTS FOR (p:Posting) REQUIRE (p.namespace, p.term, p.segment) IS UNIQUE;
