"""The command line: thin, lazy about heavy imports, the same actions as REST."""
