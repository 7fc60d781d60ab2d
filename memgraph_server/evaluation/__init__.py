"""Evidence recall against a token budget, on transcripts with marked evidence, through the real query path."""
