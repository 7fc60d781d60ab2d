"""The REST edge: routes, payloads, problem documents, access (docs/reference/rest.md)."""
