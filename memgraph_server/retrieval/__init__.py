"""From a question to evidence, pure: requests for neighbours and judgements go out, answers come in (REAL, III-B)."""
