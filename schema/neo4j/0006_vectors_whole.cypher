// The index of vectors compares them whole, not by one bit a dimension, which is Neo4j's way unless it is told otherwise:
// then the question's vector is quantized anew for every segment, which took two thirds of a search in a small memory,
// and of the 128 nearest the index found 77 to 92 % where it now finds 95 to 99 %. It costs memory of the system, not of
// the heap: four bytes a dimension of each vector should fit there (docs/operations.md).

DROP INDEX embedding IF EXISTS;

CREATE VECTOR INDEX embedding IF NOT EXISTS FOR (n:Turn|Triple) ON (n.embedding)
WITH [n.namespace, n.embedder, n.handle, n.head, n.tail]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

CALL db.awaitIndex('embedding', 86400);
