// Vectors of turns and of triples (one a triple, however many versions of facts it has). The filters are inside the
// index: a small namespace beside a huge one, and a hub's own triples, are searched as if nothing else were there.
// No dimension is set, since it is the embedder's; vectors of two dimensions are never compared.

CREATE VECTOR INDEX turn_embedding IF NOT EXISTS FOR (t:Turn) ON (t.embedding) WITH [t.namespace, t.embedder]
OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};

CREATE VECTOR INDEX triple_embedding IF NOT EXISTS FOR (t:Triple) ON (t.embedding)
WITH [t.namespace, t.embedder, t.head, t.tail] OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}};
