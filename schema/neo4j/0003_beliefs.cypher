// What is claimed and what is believed because of it (memory/belief.py has the rule).
//
// Assertions and withdrawals only grow. A placement says under which key an assertion counted, from when to when: its
// own at first, another after a merge, none after a withdrawal. A stake is what counts now, in the order in which
// belief asks for it, and can be computed from the others. FACT holds every version of every belief: a version is
// closed by setting `recorded_to`, once, and nothing else of it ever changes. `current` is true until then: an absent
// property is in no index.
//
// `head` and `tail` of stakes, placements, triples and FACTs are numbers of entities; tail 0 is any tail. `rank` is
// (anchor, evidence_at, confidence, assertion id) as text of the same order.

CREATE CONSTRAINT assertion_id IF NOT EXISTS FOR (a:Assertion) REQUIRE (a.namespace, a.id) IS UNIQUE;
CREATE CONSTRAINT assertion_number IF NOT EXISTS FOR (a:Assertion) REQUIRE (a.namespace, a.number) IS UNIQUE;
CREATE CONSTRAINT withdrawal_of IF NOT EXISTS FOR (w:Withdrawal) REQUIRE (w.namespace, w.assertion) IS UNIQUE;

// Supports of a fact in the order of evidence; merges; what a turn supports; keys of a relation.
CREATE INDEX placement_triple IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.triple, p.evidence_at, p.assertion);
CREATE INDEX placement_head IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.head, p.current);
CREATE INDEX placement_tail IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.tail, p.current);
CREATE INDEX placement_assertion IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.assertion);
CREATE INDEX placement_turn IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.turn_id);
CREATE INDEX placement_relation IF NOT EXISTS FOR (p:Placement) ON (p.namespace, p.relation, p.head);

// A key whole, or one tail's slice of it; stakes of one tail and of all tails in their order; supports in their order.
CREATE INDEX stake_slice IF NOT EXISTS FOR (s:Stake) ON (s.namespace, s.head, s.relation, s.first, s.tail);
CREATE INDEX stake_tail IF NOT EXISTS
FOR (s:Stake) ON (s.namespace, s.head, s.relation, s.tail, s.kind, s.assertive, s.rank);
CREATE INDEX stake_key IF NOT EXISTS FOR (s:Stake) ON (s.namespace, s.head, s.relation, s.kind, s.assertive, s.rank);
CREATE INDEX stake_support IF NOT EXISTS
FOR (s:Stake) ON (s.namespace, s.head, s.relation, s.tail, s.assertive, s.support_rank);
CREATE INDEX stake_assertion IF NOT EXISTS FOR (s:Stake) ON (s.namespace, s.assertion);

CREATE CONSTRAINT triple_number IF NOT EXISTS FOR (t:Triple) REQUIRE (t.namespace, t.number) IS UNIQUE;
CREATE CONSTRAINT triple_ends IF NOT EXISTS
FOR (t:Triple) REQUIRE (t.namespace, t.head, t.relation, t.tail) IS UNIQUE;
CREATE INDEX triple_head IF NOT EXISTS FOR (t:Triple) ON (t.namespace, t.head, t.number);
CREATE INDEX triple_tail IF NOT EXISTS FOR (t:Triple) ON (t.namespace, t.tail, t.number);
CREATE INDEX triple_reverse IF NOT EXISTS FOR (t:Triple) ON (t.namespace, t.tail, t.relation, t.number);
CREATE INDEX triple_key IF NOT EXISTS FOR (t:Triple) ON (t.namespace, t.key);
CREATE INDEX triple_embedder IF NOT EXISTS FOR (t:Triple) ON (t.embedder);

CREATE CONSTRAINT fact_version IF NOT EXISTS FOR ()-[f:FACT]-() REQUIRE (f.namespace, f.version) IS UNIQUE;
CREATE INDEX fact_id IF NOT EXISTS FOR ()-[f:FACT]-() ON (f.namespace, f.id);
CREATE INDEX fact_slice IF NOT EXISTS FOR ()-[f:FACT]-() ON (f.namespace, f.current, f.head, f.relation, f.tail);
CREATE INDEX fact_now IF NOT EXISTS
FOR ()-[f:FACT]-() ON (f.namespace, f.current, f.head, f.relation, f.valid_from, f.version);
CREATE INDEX fact_then IF NOT EXISTS
FOR ()-[f:FACT]-() ON (f.namespace, f.head, f.relation, f.valid_from, f.version);
CREATE INDEX fact_triple IF NOT EXISTS FOR ()-[f:FACT]-() ON (f.namespace, f.triple, f.current, f.valid_from);

// Learned or set cardinalities, which come before the relation table's own.
CREATE INDEX cardinality_relation IF NOT EXISTS FOR (c:Cardinality) ON (c.namespace, c.current, c.relation);
