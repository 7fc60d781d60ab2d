// One vector index for turns and triples in place of one each (0004): whatever a commit adds to a vector index costs it
// about 5 ms, however many vectors that are, and what a turn says brings vectors of both. A search tells them apart
// inside the index: only turns have a handle, only triples a head and a tail. The old ones go when the new one is filled.

CREATE VECTOR INDEX embedding IF NOT EXISTS FOR (n:Turn|Triple) ON (n.embedding)
WITH [n.namespace, n.embedder, n.handle, n.head, n.tail]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

CALL db.awaitIndex('embedding', 86400);

DROP INDEX turn_embedding IF EXISTS;
DROP INDEX triple_embedding IF EXISTS;
