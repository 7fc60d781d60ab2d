"""Where a language model is: base URL, key and model for each role, and what to say when something is wrong there.

A role's own setting wins over the common one. A key is part of no text that leaves this file: not of `repr`, not of a
message; messages name the setting and the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from memgraph_server.language.port import ModelRole

_PREFIX = "MEMGRAPH_SERVER_LLM_"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`variables`: the names of the settings that gave base URL, key and model."""

    role: ModelRole
    base_url: str
    model: str
    key: str = field(default="", repr=False)
    variables: tuple[str, str, str] = ("", "", "")
    timeout: float = 60.0

    @property
    def shown(self) -> str:
        """The address without anything that may be a secret."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

    @property
    def place(self) -> tuple[str, str]:
        """What replies depend on."""
        return self.base_url, self.model

    def refused(self) -> str:
        had = "refuses the key" if self.key else "wants a key, and none is set"
        return f"the language model at {self.shown} {had}: set {self.variables[1]}"

    def no_model(self, known: tuple[str, ...] = ()) -> str:
        names = f" (it has {', '.join(known[:5])})" if known else ""
        return f"{self.shown} knows no model {self.model!r}{names}: set {self.variables[2]}"

    def no_such_address(self) -> str:
        return (
            f"{self.shown} knows no model {self.model!r}, or is not where the API is (most end in /v1): "
            f"set {self.variables[2]} or {self.variables[0]}"
        )

    def no_quota(self) -> str:
        return f"the quota at {self.shown} is used up: raise it, or set {self.variables[1]}"

    def bad_request(self) -> str:
        return f"{self.shown} refuses what it is asked: check {self.variables[0]} and {self.variables[2]}"

    def too_long(self) -> str:
        return f"{self.model!r} at {self.shown} reads no prompt of that length"

    def unreachable(self) -> str:
        return f"the language model at {self.shown} cannot be reached: start it, or set {self.variables[0]}"

    def failing(self, what: str = "it says that it cannot now") -> str:
        return f"the language model at {self.shown} does not answer: {what}"


@dataclass(frozen=True, slots=True)
class Given:
    """Base URL, key and model as set; "" where not."""

    base_url: str = ""
    key: str = field(default="", repr=False)
    model: str = ""


def endpoints(common: Given, roles: Mapping[ModelRole, Given], timeout: float) -> dict[ModelRole, Endpoint]:
    """One for each role that has a base URL and a model."""
    found = {}
    for role in ModelRole:
        own = roles.get(role, Given())
        base_url, model = own.base_url or common.base_url, own.model or common.model
        # A key belongs to its address: one role's own address is never sent the common key.
        key = own.key or (common.key if not own.base_url or own.base_url == common.base_url else "")
        if base_url and model:
            own_names = [f"{_PREFIX}{role.upper()}_{name}" for name in ("BASE_URL", "API_KEY", "MODEL")]
            names = [
                own_name if given else f"{_PREFIX}{name}"
                for own_name, name, given in zip(
                    own_names,
                    ("BASE_URL", "API_KEY", "MODEL"),
                    (own.base_url, own.key or own.base_url, own.model),
                    strict=True,
                )
            ]
            found[role] = Endpoint(role, base_url, model, key, (names[0], names[1], names[2]), timeout)
    return found
