-- What finds turns: an inverted index and vectors.
--
-- FTS5 is not used: it cannot keep a namespace inside its index, so that one tenant's words would weigh in another's
-- ranking, and what is asked of it is query syntax. Terms are made by memory/terms.py and are plain bound values here.

CREATE TABLE posting (
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    term      TEXT    NOT NULL,
    turn      INTEGER NOT NULL,
    count     INTEGER NOT NULL,                       -- occurrences in the turn
    PRIMARY KEY (namespace, term, turn)
) WITHOUT ROWID;

CREATE TABLE term (
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    term      TEXT    NOT NULL,
    documents INTEGER NOT NULL,                       -- turns that hold it
    PRIMARY KEY (namespace, term)
) WITHOUT ROWID;

CREATE TABLE embedder (
    id        INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,                -- model and revision
    dimension INTEGER NOT NULL
);

-- `number` grows with every row written, so that a process finds what others wrote since it last looked.
CREATE TABLE turn_vector (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace  INTEGER NOT NULL REFERENCES namespace (id),
    turn       INTEGER NOT NULL,
    embedder   INTEGER NOT NULL REFERENCES embedder (id),
    pooled     BLOB    NOT NULL,                      -- quantized: a float32 scale, then int8 values
    bits       BLOB    NOT NULL,                      -- signs, eight dimensions a byte
    token_bits BLOB    NOT NULL,                      -- signs of each token's vector, row after row
    pieces     TEXT    NOT NULL,                      -- JSON array, one word piece a row of token_bits
    UNIQUE (namespace, turn)
);
CREATE INDEX turn_vector_news ON turn_vector (namespace, number);
