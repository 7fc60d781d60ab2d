// Entities: canonical names, and merges, which are recorded and can be undone.
//
// One entity a name: ten writers at once make one Ann. `normalized` is stores/names.py, or a digest of it where it is
// too long for an index. `stands` is the number of the entity that stands for this one now; (:Entity)-[:MERGED_INTO]->
// (:Entity) has what was merged when, and when that was undone.

CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (e:Entity) REQUIRE (e.namespace, e.id) IS UNIQUE;
CREATE CONSTRAINT entity_number IF NOT EXISTS FOR (e:Entity) REQUIRE (e.namespace, e.number) IS UNIQUE;
CREATE CONSTRAINT entity_name IF NOT EXISTS FOR (e:Entity) REQUIRE (e.namespace, e.normalized) IS UNIQUE;
CREATE INDEX entity_stands IF NOT EXISTS FOR (e:Entity) ON (e.namespace, e.stands);
