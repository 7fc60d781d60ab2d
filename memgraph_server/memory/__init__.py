"""The rules of memory, pure: no I/O, no clock, no randomness, standard library only (docs/data-path.md)."""
