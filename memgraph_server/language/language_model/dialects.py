"""In which form an endpoint takes a request: servers that call themselves compatible differ. Pure.

A request goes out in the richest form; each refusal makes it simpler by one step. What was accepted is remembered for
the endpoint and model, so that the price is paid once a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from pydantic import BaseModel

from memgraph_server.language.language_model.replies import strict_schema


class Form(IntEnum):
    """How the reply's form is asked for, richest first."""

    SCHEMA = 0  # {"type": "json_schema"}: OpenAI, vLLM, Ollama, newer llama.cpp
    OBJECT_BY_SCHEMA = 1  # {"type": "json_object", "schema": …}: llama-cpp-python
    OBJECT = 2  # {"type": "json_object"}
    TEXT = 3  # nothing but the prompt's words


@dataclass(frozen=True, slots=True)
class Dialect:
    form: Form = Form.SCHEMA
    newer_limit: bool = False  # max_completion_tokens for max_tokens
    temperature: bool = True
    stream_usage: bool = True

    def simpler(self, about: str, *, structured: bool) -> Dialect | None:
        """The dialect to try after a refusal about that; None where none is left."""
        if about == "max_tokens" and not self.newer_limit:
            return replace(self, newer_limit=True)
        if about == "temperature" and self.temperature:
            return replace(self, temperature=False)
        if about == "stream_options" and self.stream_usage:
            return replace(self, stream_usage=False)
        if structured and self.form is not Form.TEXT:
            return replace(self, form=Form(self.form + 1))
        return None

    def parameters(self, schema: type[BaseModel] | None, max_tokens: int, temperature: float) -> Mapping[str, Any]:
        """The request's members besides model and messages."""
        given: dict[str, Any] = {"max_completion_tokens" if self.newer_limit else "max_tokens": max_tokens}
        if self.temperature:
            given["temperature"] = temperature
        if schema is not None and self.form is not Form.TEXT:
            given["response_format"] = self._response_format(schema)
        return given

    def _response_format(self, schema: type[BaseModel]) -> dict[str, Any]:
        if self.form is Form.SCHEMA:
            named = {"name": schema.__name__, "schema": strict_schema(schema), "strict": True}
            return {"type": "json_schema", "json_schema": named}
        if self.form is Form.OBJECT_BY_SCHEMA:
            return {"type": "json_object", "schema": strict_schema(schema)}
        return {"type": "json_object"}
