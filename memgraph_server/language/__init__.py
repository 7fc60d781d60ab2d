"""The edge to language: embedders, extractors, evaluators and language models, behind the ports of `port.py`."""
