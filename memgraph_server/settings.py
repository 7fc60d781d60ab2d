"""Settings: frozen, read once, at the edge. Nothing below the edge knows that an environment exists.

Rules: every setting is the variable `MEMGRAPH_SERVER_` + its name in capitals; a command-line option of the same name
wins over the variable; an unknown variable with the prefix is refused, since it is a misspelt one; an invalid value is
an error that names the variable and says what it may be. A secret may also be in a file, named by its variable with
`_FILE` behind it, as container platforms hand secrets over: an environment is inherited, shown and logged, a file is
not. `describe()` is where docs and `doctor` get their tables from.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memgraph_server.errors import InvalidInput

PREFIX = "MEMGRAPH_SERVER_"
#: How the address of a Neo4j begins; with +s and +ssc the connection is encrypted.
NEO4J = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")

#: Characters; whoever names another file by mistake does not read all of it.
_LONGEST_SECRET = 65_536

Check = Callable[[str], Any]


class InvalidSetting(InvalidInput):
    """A setting that can never work; `field` is the variable's name."""

    code = "invalid_setting"


def _store(text: str) -> str:
    if text.startswith(NEO4J):
        if not urlsplit(text).hostname or "@" in text:
            raise ValueError("say neo4j://HOST:PORT; user and password are settings of their own")
        return text
    if not text.startswith("sqlite:///") or not text.removeprefix("sqlite:///"):
        raise ValueError(
            "say sqlite:///FILE, for example sqlite:///memory.db or sqlite:////var/lib/memory.db, or neo4j://HOST:PORT"
        )
    if ":memory:" in text or "\0" in text:
        raise ValueError("the store must be a file, since acknowledged turns have to survive the process")
    return text


def _among(*choices: str) -> Check:
    def check(text: str) -> str:
        if text not in choices:
            raise ValueError(f"say one of {', '.join(choices)}")
        return text

    return check


def _broker(text: str) -> str:
    schemes = {"redis", "rediss", "redis+socket", "amqp", "amqps"}
    if text and (urlsplit(text).scheme not in schemes or "\0" in text):
        raise ValueError("say redis://HOST:6379/0 or amqp://USER:PASSWORD@HOST:5672//, or nothing")
    return text


def _flag_or_auto(text: str) -> bool | None:
    return None if text.lower() in {"auto", "none"} else _flag(text)


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


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise ValueError("say a number from 0 to 1")
    return value


def _url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password):
        raise ValueError("say http://HOST:PORT/v1 or https://…, without a name or password in it")
    return text.rstrip("/")


def _any_text(text: str) -> str:
    if any(ord(character) < 32 for character in text):
        raise ValueError("say a text without control characters")
    return text.strip()


def _setting(default: Any, check: Check, about: str, *, secret: bool = False) -> Any:
    """`secret`: never shown, neither as a value nor in an error."""
    return dataclasses.field(
        default=default, metadata={"check": check, "about": about, "secret": secret}, repr=not secret
    )


def _address(role: str) -> Any:
    return _setting("", _url, f"another endpoint for this role: {role}")


def _key(role: str) -> Any:
    return _setting("", _any_text, f"the key of that endpoint ({role})", secret=True)


def _model(role: str) -> Any:
    return _setting("", _any_text, f"another model for this role: {role}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field with its default and what it means; `Settings.read` is the only way in from text."""

    store: str = _setting(
        "sqlite:///memgraph-server.db",
        _store,
        "where memory is kept: sqlite:///FILE (four slashes: absolute), or neo4j://HOST:PORT",
    )
    neo4j_user: str = _setting("neo4j", _text, "who asks, where the store is a Neo4j")
    neo4j_password: str = _setting("", _any_text, "the user's password there", secret=True)
    neo4j_database: str = _setting("neo4j", _text, "the database there")
    host: str = _setting("127.0.0.1", _text, "address to listen on; other than loopback needs API keys")
    port: int = _setting(8765, _count(0, 65535), "port to listen on; 0 lets the system choose")
    embedder: str = _setting(
        "onnx-minilm", _among("onnx-minilm", "hashed"), "sentence vectors: onnx-minilm, or hashed (small, coarser)"
    )
    extractor: str = _setting(
        "local",
        _among("local", "patterns", "llm"),
        "reads facts: local (parser and rules), patterns (rules alone), or llm (the language model)",
    )
    worker: bool | None = _setting(
        None, _flag_or_auto, "read stored turns in this process: on, off, or auto (on where no broker is set)"
    )
    broker_url: str = _setting(
        "", _broker, "where workers get hints from: redis://… or amqp://…; empty: no broker", secret=True
    )
    broker_queue: str = _setting("memgraph-server", _text, "the queue's name there")
    worker_processes: int = _setting(2, _count(1, 256), "processes that read, of one `worker` with a broker")
    task_seconds: float = _setting(
        300.0, _seconds(1, 86400), "how long one task of such a worker may take; the turn in hand has failed then"
    )
    beat_seconds: float = _setting(
        10.0, _seconds(0.1, 3600), "how often beat looks for turns that have waited so long without being read"
    )
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

    evaluator: str = _setting(
        "local", _among("local", "llm"), "reads questions and judges paths where the query does not say: local or llm"
    )
    ranking: str = _setting(
        "", _path, "weights of the turn ranking, as `eval --fit` writes them; empty: those that ship"
    )
    answer_threshold: float = _setting(
        0.2, _share, "answerability below which /answer abstains without asking the language model"
    )
    llm_base_url: str = _setting("", _url, "an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1")
    llm_api_key: str = _setting("", _any_text, "its key, where it wants one", secret=True)
    llm_model: str = _setting("", _any_text, "the model for all roles that have none of their own")
    llm_extract_base_url: str = _address("extract")
    llm_extract_api_key: str = _key("extract")
    llm_extract_model: str = _model("extract: facts out of turns")
    llm_read_base_url: str = _address("read")
    llm_read_api_key: str = _key("read")
    llm_read_model: str = _model("read: what a question asks for")
    llm_judge_base_url: str = _address("judge")
    llm_judge_api_key: str = _key("judge")
    llm_judge_model: str = _model("judge: which paths help")
    llm_answer_base_url: str = _address("answer")
    llm_answer_api_key: str = _key("answer")
    llm_answer_model: str = _model("answer: /answer")
    llm_fallback: str = _setting(
        "pending",
        _among("pending", "local"),
        "without a usable answer of the language model: turns stay pending and queries fail, or local ones stand in",
    )
    llm_turns_per_call: int = _setting(
        1, _count(1, 16), "turns that one extraction call reads; with more, one turn's text is in view of another's"
    )
    llm_timeout_seconds: float = _setting(60.0, _seconds(0.05, 3600), "how long one call may take")
    llm_retries: int = _setting(4, _count(0, 20), "further tries of a call that failed for now")
    llm_concurrency: int = _setting(4, _count(1, 256), "calls at once, in this process")
    llm_requests_per_minute: int = _setting(0, _count(0, 10**9), "calls a minute, in this process; 0: no limit")
    llm_tokens_per_minute: int = _setting(0, _count(0, 10**12), "tokens a minute, in this process; 0: no limit")

    @classmethod
    def read(cls, environ: Mapping[str, str], **options: Any) -> Settings:
        """From variables, then from options that are not None. Raises InvalidSetting."""
        known = {PREFIX + field.name.upper(): field for field in dataclasses.fields(cls)}
        environ = _with_secrets_of_files(environ, known)
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
    def on_neo4j(self) -> bool:
        return self.store.startswith(NEO4J)

    @property
    def reads_here(self) -> bool:
        """Whether `serve` reads turns itself."""
        return not self.broker_url if self.worker is None else self.worker

    @property
    def store_file(self) -> Path:
        """The file of an embedded store; beside a Neo4j, what this machine's own files are named after."""
        return Path("memgraph-server" if self.on_neo4j else self.store.removeprefix("sqlite:///"))

    @property
    def keys_path(self) -> Path:
        return Path(self.keys_file) if self.keys_file else Path(f"{self.store_file}.keys.json")

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def _with_secrets_of_files(environ: Mapping[str, str], known: Mapping[str, dataclasses.Field[Any]]) -> dict[str, str]:
    """The same variables, each `…_FILE` of a secret replaced by what is in that file. Raises InvalidSetting."""
    found = dict(environ)
    for name, field in known.items():
        variable = f"{name}_FILE"
        path = found.pop(variable, "") if field.metadata["secret"] else ""
        if path and name in found:
            raise InvalidSetting(f"{name} and {variable} are both set; keep one", field=variable)
        if path:
            found[name] = _secret_in(path, variable)
    return found


def _secret_in(path: str, variable: str) -> str:
    """Without the line break that editors and `echo` put behind it."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_LONGEST_SECRET).removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError) as error:
        raise InvalidSetting(
            f"{variable}={path[:100]!r} cannot be read ({type(error).__name__}): "
            "name a text file with the secret alone, readable by this process",
            field=variable,
        ) from None


def _checked(name: str, field: dataclasses.Field[Any], text: str) -> Any:
    try:
        return field.metadata["check"](text)
    except ValueError as error:
        shown = "…" if field.metadata["secret"] else repr(text[:100])
        raise InvalidSetting(f"{name}={shown} cannot be used: {error}", field=name) from None


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
        (PREFIX + field.name.upper(), _shown(getattr(shown, field.name), field), _about(field))
        for field in dataclasses.fields(Settings)
    ]


def _about(field: dataclasses.Field[Any]) -> str:
    in_file = f" (or {PREFIX}{field.name.upper()}_FILE, the file that holds it)"
    return str(field.metadata["about"]) + (in_file if field.metadata["secret"] else "")


def _shown(value: Any, field: dataclasses.Field[Any]) -> str:
    if field.metadata["secret"]:
        return "(set)" if value else ""
    if value is None or isinstance(value, bool):
        return "auto" if value is None else "on" if value else "off"
    return str(value)
