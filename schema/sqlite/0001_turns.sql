-- Namespaces, sessions, turns and the queue of turns still to be read.
--
-- Rules of this schema:
--   * a namespace is an integer inside, its exact name only here; every index begins with the namespace;
--   * instants are integers, UTC microseconds since 1970 (memory/interval.py);
--   * a row of `turn` is never changed; what changes about a turn (its state) is a row of `reading`;
--   * AUTOINCREMENT wherever a process remembers the greatest number it has seen: numbers are never used twice.

CREATE TABLE namespace (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,              -- compared byte for byte
    recorded_at INTEGER NOT NULL,                     -- the recorded clock: last instant used, only moves forward
    generation  INTEGER NOT NULL DEFAULT 0,           -- raised when vectors are replaced; caches of an older one are dropped
    turns       INTEGER NOT NULL DEFAULT 0,           -- the corpus, for ranking by term frequency
    terms       INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE session (
    handle       INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace    INTEGER NOT NULL REFERENCES namespace (id),
    id           TEXT    NOT NULL,
    turns        INTEGER NOT NULL DEFAULT 0,          -- the next turn's position
    due_at       INTEGER,                             -- when its first pending turn may be read; NULL: none is pending
    leases       INTEGER NOT NULL DEFAULT 0,          -- how often it was lent: makes every token new
    lease_token  TEXT,
    lease_until  INTEGER,
    UNIQUE (namespace, id)
);
-- The one index that spans namespaces: a worker serves all of them, and sees no content here.
CREATE INDEX session_due ON session (due_at, lease_until) WHERE due_at IS NOT NULL;

CREATE TABLE speaker (
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    session   INTEGER NOT NULL,
    name      TEXT    NOT NULL,
    position  INTEGER NOT NULL,                       -- of the first turn with that speaker
    PRIMARY KEY (namespace, session, name)
) WITHOUT ROWID;

CREATE TABLE turn (
    handle             INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace          INTEGER NOT NULL REFERENCES namespace (id),
    id                 TEXT    NOT NULL,
    ordinal            INTEGER NOT NULL,              -- from 0 within the namespace, in order of arrival
    session            INTEGER NOT NULL,
    position           INTEGER NOT NULL,              -- from 0 within the session
    role               TEXT    NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    speaker            TEXT    NOT NULL,
    at                 INTEGER NOT NULL,
    utc_offset_minutes INTEGER NOT NULL,
    recorded_at        INTEGER NOT NULL,
    length             INTEGER NOT NULL,              -- lexical terms of the full text
    characters         INTEGER NOT NULL,              -- of the full text
    captions           TEXT    NOT NULL,              -- JSON array of strings
    text               TEXT    NOT NULL,
    UNIQUE (namespace, id),
    UNIQUE (namespace, session, position),
    UNIQUE (namespace, ordinal)
);

CREATE TABLE reading (
    turn      INTEGER PRIMARY KEY REFERENCES turn (handle),
    namespace INTEGER NOT NULL,
    session   INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('pending', 'done', 'dead')),
    attempts  INTEGER NOT NULL DEFAULT 0,
    reason    TEXT,                                   -- why the last attempt failed
    due_at    INTEGER NOT NULL                        -- not to be read before
);
CREATE INDEX reading_pending ON reading (namespace, session, position) WHERE state = 'pending';
CREATE INDEX reading_dead ON reading (namespace, turn) WHERE state = 'dead';

CREATE TABLE job (
    handle     INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace  INTEGER NOT NULL REFERENCES namespace (id),
    id         TEXT    NOT NULL,
    key        TEXT,                                  -- the caller's idempotency key
    created_at INTEGER NOT NULL,
    UNIQUE (namespace, id),
    UNIQUE (namespace, key)
);

CREATE TABLE job_turn (
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    job       INTEGER NOT NULL,
    ordinal   INTEGER NOT NULL,                       -- the order given by the caller
    turn      INTEGER NOT NULL,
    PRIMARY KEY (namespace, job, ordinal)
) WITHOUT ROWID;
