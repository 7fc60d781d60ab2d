"""A small conversation that ships with the package, to try the memory on; see README.md for its source and licence."""
