"""memgraph-server: a temporal property-graph memory for assistants."""

__version__ = "0.1.0"
