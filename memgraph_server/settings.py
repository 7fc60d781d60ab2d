"""Settings: frozen, read once, at the edge. Nothing below the edge knows that an environment exists.

Rules: every setting is the variable `MEMGRAPH_SERVER_` + its name in capitals; a command-line option of the same name
wins over the variable; an unknown variable with the prefix is refused, since it is a misspelt one; an invalid value is
an error that names the variable and says what it may be. `describe()` is where docs and `doctor` get their tables from.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraph_server.errors import InvalidInput

PREFIX = "MEMGRAPH_SERVER_"

Check = Callable[[str], Any]


class InvalidSetting(InvalidInput):
    """A setting that can never work; `field` is the variable's name."""

    code = "invalid_setting"


def _store(text: str) -> str:
    if text.startswith(("neo4j://", "neo4j+s://", "bolt://")):
        raise ValueError("the Neo4j store comes with the production adapter, which this version does not have yet")
    if not text.startswith("sqlite:///") or not text.removeprefix("sqlite:///"):
        raise ValueError("say sqlite:///FILE, for example sqlite:///memory.db or sqlite:////var/lib/memory.db")
    if ":memory:" in text or "\0" in text:
        raise ValueError("the store must be a file, since acknowledged turns have to survive the process")
    return text


def _among(*choices: str) -> Check:
    def check(text: str) -> str:
        if text not in choices:
            raise ValueError(f"say one of {', '.join(choices)}")
        return text

    return check


def _flag(text: str) -> bool:
    words = {"on": True, "true": True, "1": True, "yes": True, "off": False, "false": False, "0": False, "no": False}
    if text.lower() not in words:
        raise ValueError("say on or off")
    return words[text.lower()]


def _count(low: int, high: int) -> Check:
    def check(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text[:20]) <= high:
            raise ValueError(f"say a whole number from {low} to {high}")
        return int(text)

    return check


def _seconds(low: float, high: float) -> Check:
    def check(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise ValueError(f"say seconds, from {low:g} to {high:g}")
        return value

    return check


def _text(text: str) -> str:
    if not text or "\0" in text:
        raise ValueError("say a text that is not empty")
    return text


def _path(text: str) -> str:
    if "\0" in text:
        raise ValueError("say the path of a file")
    return text


def _setting(default: Any, check: Check, about: str) -> Any:
    return dataclasses.field(default=default, metadata={"check": check, "about": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field with its default and what it means; `Settings.read` is the only way in from text."""

    store: str = _setting(
        "sqlite:///memgraph-server.db", _store, "where memory is kept: sqlite:///FILE (four slashes: absolute)"
    )
    host: str = _setting("127.0.0.1", _text, "address to listen on; other than loopback needs API keys")
    port: int = _setting(8765, _count(0, 65535), "port to listen on; 0 lets the system choose")
    embedder: str = _setting(
        "onnx-minilm", _among("onnx-minilm", "hashed"), "sentence vectors: onnx-minilm, or hashed (small, coarser)"
    )
    extractor: str = _setting(
        "local", _among("local", "patterns"), "reads facts: local (parser and rules), or patterns (rules alone)"
    )
    worker: bool = _setting(True, _flag, "read stored turns in this process")
    keys_file: str = _setting("", _path, "API keys, hashed; empty: beside the store, FILE.keys.json")
    max_body_bytes: int = _setting(32 * 1024 * 1024, _count(1024, 2**31 - 1), "largest request body, in bytes")
    max_pending: int = _setting(
        200_000, _count(1, 10**9), "turns a namespace may have waiting; more are refused with 429"
    )
    max_attempts: int = _setting(5, _count(1, 100), "tries at reading a turn before it is a dead letter")
    batch: int = _setting(64, _count(1, 1024), "turns of one session that the worker takes at once")
    lease_seconds: float = _setting(10.0, _seconds(0.05, 3600), "how long a dead worker keeps a session from others")
    sweep_seconds: float = _setting(1.0, _seconds(0.01, 3600), "how often the worker looks for work that nobody hinted")
    log_level: str = _setting(
        "info", _among("debug", "info", "warning", "error"), "how much is logged; never texts or keys"
    )

    @classmethod
    def read(cls, environ: Mapping[str, str], **options: Any) -> Settings:
        """From variables, then from options that are not None. Raises InvalidSetting."""
        known = {PREFIX + field.name.upper(): field for field in dataclasses.fields(cls)}
        unknown = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
        if unknown:
            raise InvalidSetting(f"{unknown[0]} is no setting; known are {', '.join(known)}", field=unknown[0])
        values = {field.name: _checked(name, field, environ[name]) for name, field in known.items() if name in environ}
        for name, value in options.items():
            if value is not None:
                variable = PREFIX + name.upper()
                values[name] = _checked(variable, known[variable], str(value))
        return cls(**values)

    @property
    def store_file(self) -> Path:
        return Path(self.store.removeprefix("sqlite:///"))

    @property
    def keys_path(self) -> Path:
        return Path(self.keys_file) if self.keys_file else Path(f"{self.store_file}.keys.json")

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def _checked(name: str, field: dataclasses.Field[Any], text: str) -> Any:
    try:
        return field.metadata["check"](text)
    except ValueError as error:
        raise InvalidSetting(f"{name}={text[:100]!r} cannot be used: {error}", field=name) from None


def is_loopback(host: str) -> bool:
    """Only this machine can reach it: 127.0.0.0/8, ::1, or the name localhost."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def describe(settings: Settings | None = None) -> list[tuple[str, str, str]]:
    """(variable, value or default, meaning) of every setting."""
    shown = settings or Settings()
    return [
        (PREFIX + field.name.upper(), _shown(getattr(shown, field.name)), field.metadata["about"])
        for field in dataclasses.fields(Settings)
    ]


def _shown(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
