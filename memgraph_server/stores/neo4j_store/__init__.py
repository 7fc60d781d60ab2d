"""The store on Neo4j: for as many processes and machines as it takes."""

from memgraph_server.stores.neo4j_store.connection import Target
from memgraph_server.stores.neo4j_store.store import Neo4jStore

__all__ = ["Neo4jStore", "Target"]
