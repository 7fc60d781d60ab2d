"""Benchmarks; the package comes first, since it sets how NumPy uses threads."""

import memgraph_server  # noqa: F401
