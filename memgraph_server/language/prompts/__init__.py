"""Prompts: one file each, with its version in its name. A change that changes what comes back is a new file.

The version is recorded with what a prompt gave: the assertions of `extract-1` with a model M have source
`llm:M/extract-1`. Prompts hold no text from outside: material goes into the user message, as JSON, where no quote or
line break can end it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from memgraph_server.language.port import Message

EXTRACT, READ, JUDGE, ANSWER = "extract-1", "read-1", "judge-1", "answer-1"


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str

    def about(self, material: Mapping[str, Any]) -> list[Message]:
        """The messages of one call."""
        return [Message("system", self.text), Message("user", json.dumps(material, ensure_ascii=False))]


@cache
def prompt(name: str) -> Prompt:
    text = (resources.files("memgraph_server.language.prompts") / f"{name}.md").read_text("utf-8")
    return Prompt(name, text.strip())


def names() -> list[str]:
    """Of all prompts that ship."""
    files = resources.files("memgraph_server.language.prompts").iterdir()
    return sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md"))
