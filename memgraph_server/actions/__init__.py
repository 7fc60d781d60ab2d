"""Use cases: load, decide, apply. Each file is one thing the server can be asked to do, whatever store is under it."""
