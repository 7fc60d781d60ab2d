"""Workers: they lend a session's pending turns, have them read, and apply what came of it. Nothing is decided here."""
