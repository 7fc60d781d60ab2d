-- Entities: canonical names, the names that lead to them, and merges, which are recorded and can be undone.

CREATE TABLE entity (
    handle      INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace   INTEGER NOT NULL REFERENCES namespace (id),
    id          TEXT    NOT NULL,
    name        TEXT    NOT NULL,                     -- as it was first written
    type        TEXT    NOT NULL,                     -- 'person', 'place', … or ''
    recorded_at INTEGER NOT NULL,
    merged_into INTEGER,                              -- the entity that stands for it now; derived from `merge`
    UNIQUE (namespace, id)
);
CREATE INDEX entity_merged ON entity (namespace, merged_into) WHERE merged_into IS NOT NULL;

-- One row a name: ten writers at once make one Ann, because the second finds the first's row.
-- `normalized`: NFC, case folded, white space collapsed (stores/names.py); accents and scripts are kept apart.
CREATE TABLE name (
    namespace  INTEGER NOT NULL REFERENCES namespace (id),
    normalized TEXT    NOT NULL,
    entity     INTEGER NOT NULL,
    PRIMARY KEY (namespace, normalized)
) WITHOUT ROWID;
CREATE INDEX name_entity ON name (namespace, entity);

CREATE TABLE merge (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace     INTEGER NOT NULL REFERENCES namespace (id),
    entity        INTEGER NOT NULL,
    into_entity   INTEGER NOT NULL,
    recorded_from INTEGER NOT NULL,
    recorded_to   INTEGER                             -- when it was undone
);
CREATE INDEX merge_entity ON merge (namespace, entity, recorded_from);

-- (turn)-[mentions]->(entity)
CREATE TABLE mention (
    namespace INTEGER NOT NULL REFERENCES namespace (id),
    entity    INTEGER NOT NULL,
    turn      INTEGER NOT NULL,
    PRIMARY KEY (namespace, entity, turn)
) WITHOUT ROWID;
