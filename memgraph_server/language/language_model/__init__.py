"""Language models over any OpenAI-compatible endpoint: the client, and the extractor, question reader, evaluator and
answerer that ask it. The model proposes; code disposes."""
