-- What is claimed and what is believed because of it (memory/belief.py has the rule).
--
-- `assertion` and `withdrawal` only grow. `placement` says under which key an assertion counted, from when to when:
-- its own at first, another after a merge, none after a withdrawal. `stake` is what counts now, in the order in which
-- belief asks for it, and can be computed from the others. `fact` holds every version of every belief: a version is
-- closed by setting recorded_to, once, and nothing else of it ever changes.

CREATE TABLE assertion (
    handle         INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace      INTEGER NOT NULL REFERENCES namespace (id),
    id             TEXT    NOT NULL,
    head           INTEGER NOT NULL,                  -- the entity as it was said, merges not followed
    relation       TEXT    NOT NULL,
    tail           INTEGER,                           -- NULL: an ending of every tail
    valid_from     INTEGER NOT NULL,
    valid_to       INTEGER,
    evidence_at    INTEGER NOT NULL,
    recorded_at    INTEGER NOT NULL,
    confidence     REAL    NOT NULL,
    intent         TEXT    NOT NULL,
    polarity       TEXT    NOT NULL CHECK (polarity IN ('claim', 'ending')),
    ongoing        INTEGER NOT NULL,
    turn_id        TEXT,
    from_precision TEXT    NOT NULL,
    to_precision   TEXT    NOT NULL,
    from_basis     TEXT    NOT NULL,
    to_basis       TEXT    NOT NULL,
    source         TEXT    NOT NULL,
    span_start     INTEGER,
    span_end       INTEGER,
    UNIQUE (namespace, id)
);
CREATE INDEX assertion_turn ON assertion (namespace, turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE withdrawal (
    namespace   INTEGER NOT NULL REFERENCES namespace (id),
    assertion   INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (namespace, assertion)
) WITHOUT ROWID;

CREATE TABLE placement (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace     INTEGER NOT NULL REFERENCES namespace (id),
    assertion     INTEGER NOT NULL,
    head          INTEGER NOT NULL,
    relation      TEXT    NOT NULL,
    tail          INTEGER,
    recorded_from INTEGER NOT NULL,
    recorded_to   INTEGER
);
CREATE INDEX placement_key ON placement (namespace, head, relation, tail);
CREATE INDEX placement_tail ON placement (namespace, tail) WHERE tail IS NOT NULL;  -- merges
CREATE INDEX placement_assertion ON placement (namespace, assertion);

-- One or two rows an assertion (a claim said to hold while speaking is vouched for at its evidence time too), and the
-- same again under the antonym's key, where a claim is an ending.
CREATE TABLE stake (
    namespace   INTEGER NOT NULL REFERENCES namespace (id),
    head        INTEGER NOT NULL,
    relation    TEXT    NOT NULL,
    tail        INTEGER NOT NULL,                     -- 0: of every tail
    kind        INTEGER NOT NULL,                     -- 0 ending, 1 open claim, 2 claim with an end
    assertive   INTEGER NOT NULL,
    anchor      INTEGER NOT NULL,
    evidence_at INTEGER NOT NULL,
    confidence  REAL    NOT NULL,
    id          TEXT    NOT NULL,                     -- of the assertion: the last tie-break
    assertion   INTEGER NOT NULL,
    valid_from  INTEGER NOT NULL,
    valid_to    INTEGER,
    second_at   INTEGER,                              -- the anchor of the assertion's second stake, if it has one
    PRIMARY KEY (namespace, head, relation, tail, kind, assertive, anchor, evidence_at, confidence, id)
) WITHOUT ROWID;
-- The same without the tail: a single-valued relation asks across tails.
CREATE INDEX stake_key ON stake (namespace, head, relation, kind, assertive, anchor, evidence_at, confidence, id);
-- Supports of a fact, most confident first; first stakes of claims only.
CREATE INDEX stake_support ON stake (namespace, head, relation, tail, assertive, confidence DESC, valid_from,
    evidence_at, id, valid_to) WHERE kind > 0 AND anchor = valid_from;

CREATE TABLE triple (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    head      INTEGER NOT NULL,
    relation  TEXT    NOT NULL,
    tail      INTEGER NOT NULL,
    text      TEXT    NOT NULL,                       -- as it is embedded: "Ann lives in Paris"
    UNIQUE (namespace, head, relation, tail)
);
CREATE INDEX triple_head ON triple (namespace, head);
CREATE INDEX triple_tail ON triple (namespace, tail);
CREATE INDEX triple_reverse ON triple (namespace, tail, relation);
CREATE INDEX triple_text ON triple (namespace, text);

-- A triple's vector once, however many versions of facts it has. `number` as in turn_vector.
CREATE TABLE triple_vector (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    triple    INTEGER NOT NULL,
    head      INTEGER NOT NULL,
    tail      INTEGER NOT NULL,
    embedder  INTEGER NOT NULL REFERENCES embedder (id),
    pooled    BLOB    NOT NULL,
    bits      BLOB    NOT NULL,
    UNIQUE (namespace, triple)
);
CREATE INDEX triple_vector_news ON triple_vector (namespace, number);

CREATE TABLE fact (
    version       INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace     INTEGER NOT NULL REFERENCES namespace (id),
    id            TEXT    NOT NULL,
    triple        INTEGER NOT NULL,
    head          INTEGER NOT NULL,
    relation      TEXT    NOT NULL,
    tail          INTEGER NOT NULL,
    stratum       TEXT    NOT NULL CHECK (stratum IN ('stable', 'speculative')),
    valid_from    INTEGER NOT NULL,
    valid_to      INTEGER,
    confidence    REAL    NOT NULL,
    intent        TEXT    NOT NULL,
    recorded_from INTEGER NOT NULL,
    recorded_to   INTEGER
);
CREATE INDEX fact_id ON fact (namespace, id);
CREATE INDEX fact_triple ON fact (namespace, triple, recorded_to, valid_from);
CREATE INDEX fact_now ON fact (namespace, head, relation, valid_from) WHERE recorded_to IS NULL;
CREATE INDEX fact_then ON fact (namespace, head, relation, valid_from);

-- Learned or set cardinalities, which come before the relation table's own; the one without recorded_to holds.
CREATE TABLE cardinality (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace     INTEGER NOT NULL REFERENCES namespace (id),
    relation      TEXT    NOT NULL,
    single        INTEGER NOT NULL,
    reason        TEXT    NOT NULL,
    recorded_from INTEGER NOT NULL,
    recorded_to   INTEGER
);
CREATE INDEX cardinality_relation ON cardinality (namespace, relation, recorded_from);
-- Keys of a relation, to derive them again when its cardinality changes.
CREATE INDEX placement_relation ON placement (namespace, relation, head);
