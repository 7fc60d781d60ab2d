"""A namespace as records: what `dump` gives, `load` takes, and a file of JSON Lines holds, one record a line.

    namespace (name, clock, counts) · entities · merges · turns · triples · assertions · facts · cardinalities · jobs

Records are in this order, each kind in the order in which its things were stored, and refer only to what came before
them. That order is content: it breaks ties. Several namespaces are one section after another.

What is computed from these is not in them and is made anew by whoever loads: the inverted index, what counts now of an
assertion (stakes), sessions, and who supports a fact. Instants are UTC microseconds since 1970. Bytes are base64.
A vector is kept as both stores search it: one byte a dimension (`stores/vectors.py`), and its signs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from memgraph_server.errors import Conflict, InvalidInput
from memgraph_server.memory.facts import Intent, Polarity, Stratum
from memgraph_server.memory.interval import Basis, Precision
from memgraph_server.memory.turns import Role, Turn, TurnState

FORMAT, VERSION = "memgraph-server", 1
_LIMIT = 2**62

At = Annotated[int, Field(gt=-_LIMIT, lt=_LIMIT)]
Count = Annotated[int, Field(ge=0, lt=_LIMIT)]
#: What no store takes is refused here as it is there (stores/checks.py): NUL, and lone surrogates, which no JSON has.
Text = Annotated[str, Field(pattern="^[^\x00]*$")]
Name = Annotated[str, Field(pattern=r"^[^\x00]*[^\x00\s][^\x00]*$")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]

_CONFIG = ConfigDict(strict=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")


@dataclass(frozen=True, slots=True)
class Header:
    """Begins a namespace. `recorded_at`: its recorded clock. `counts`: records to come, by kind."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    format: Text = field(default=FORMAT, kw_only=True)
    version: int = field(default=VERSION, kw_only=True)
    namespace: Name
    recorded_at: At
    counts: dict[Text, Count]
    kind: Literal["namespace"] = "namespace"


@dataclass(frozen=True, slots=True)
class EntityRecord:
    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    id: Name
    name: Name
    type: Text
    recorded_at: At
    kind: Literal["entity"] = "entity"


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """`recorded_to`: when it was undone."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    entity: Name
    into: Name
    recorded_from: At
    recorded_to: At | None = None
    kind: Literal["merge"] = "merge"


@dataclass(frozen=True, slots=True)
class StoredVector:
    """`pooled`: a little-endian float32 scale and int8 values; `bits`: signs, eight dimensions a byte."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    embedder: Name
    pooled: bytes
    bits: bytes

    @property
    def width(self) -> int:
        return len(self.pooled) - 4


@dataclass(frozen=True, slots=True)
class TurnVector(StoredVector):
    """`tokens`: signs of each token's vector, row after row, one a piece."""

    tokens: bytes = b""
    pieces: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What a language model took to read a turn: calls, and their tokens."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    calls: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0

    @classmethod
    def of(cls, calls: int, prompt_tokens: int, completion_tokens: int) -> Spent | None:
        """None where no model was asked."""
        spent = cls(calls, prompt_tokens, completion_tokens)
        return None if spent == cls() else spent


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """`mentions`: entity ids. `due_at`: of a pending turn, not to be read before. `cost`: none where no language model
    was asked."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    id: Name
    session: Name
    position: Count
    role: Role
    speaker: Text
    text: Text
    at: At
    utc_offset_minutes: Annotated[int, Field(ge=-1440, le=1440)]
    recorded_at: At
    state: TurnState
    attempts: Count
    captions: tuple[Text, ...] = ()
    reason: Text | None = None
    due_at: At | None = None
    mentions: tuple[Name, ...] = ()
    vector: TurnVector | None = None
    cost: Spent | None = None
    kind: Literal["turn"] = "turn"

    def turn(self) -> Turn:
        return Turn(
            self.id,
            self.session,
            self.role,
            self.speaker,
            self.text,
            self.at,
            self.utc_offset_minutes,
            self.captions,
            self.position,
        )


@dataclass(frozen=True, slots=True)
class TripleRecord:
    """Head and tail are entity ids."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    head: Name
    relation: Name
    tail: Name
    vector: StoredVector | None = None
    kind: Literal["triple"] = "triple"


@dataclass(frozen=True, slots=True)
class Withdrawal:
    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    at: At
    reason: Text


@dataclass(frozen=True, slots=True)
class Placing:
    """Under which entities an assertion counted, from when to when."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    head: Name
    recorded_from: At
    tail: Name | None = None
    recorded_to: At | None = None


@dataclass(frozen=True, slots=True)
class AssertionRecord:
    """As it was said: head and tail are entity ids, merges not followed."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    id: Name
    head: Name
    relation: Name
    valid_from: At
    evidence_at: At
    recorded_at: At
    confidence: Share
    intent: Intent
    polarity: Polarity
    ongoing: bool
    from_precision: Precision
    to_precision: Precision
    from_basis: Basis
    to_basis: Basis
    source: Text
    tail: Name | None = None
    valid_to: At | None = None
    turn_id: Name | None = None
    span: tuple[int, int] | None = None
    withdrawn: Withdrawal | None = None
    placed: tuple[Placing, ...] = ()
    kind: Literal["assertion"] = "assertion"


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One version of a belief."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    id: Name
    head: Name
    relation: Name
    tail: Name
    stratum: Stratum
    valid_from: At
    confidence: Share
    intent: Intent
    recorded_from: At
    valid_to: At | None = None
    recorded_to: At | None = None
    kind: Literal["fact"] = "fact"


@dataclass(frozen=True, slots=True)
class CardinalityRecord:
    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    relation: Name
    single: bool
    reason: Text
    recorded_from: At
    recorded_to: At | None = None
    kind: Literal["cardinality"] = "cardinality"


@dataclass(frozen=True, slots=True)
class JobRecord:
    """`key`: the caller's idempotency key. `turns`: ids, in the order given."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    id: Name
    created_at: At
    turns: tuple[Name, ...]
    key: Text | None = None
    kind: Literal["job"] = "job"


Record = (
    Header
    | EntityRecord
    | MergeRecord
    | TurnRecord
    | TripleRecord
    | AssertionRecord
    | FactRecord
    | CardinalityRecord
    | JobRecord
)
#: The order of a section, after its header.
KINDS = ("entity", "merge", "turn", "triple", "assertion", "fact", "cardinality", "job")

#: Records that a store reads or writes together.
BATCH = 500

_ADAPTER: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])


_REASONS = {
    "string_pattern_mismatch": "must be a text that is not empty and holds no NUL character",
    "union_tag_not_found": "must be a JSON object with a kind, as memgraph-server export writes it",
    "missing": "is missing",
    "missing_argument": "is missing",
    "unexpected_keyword_argument": "is no field of this kind of record",
}


def to_line(record: Record) -> bytes:
    """One line of UTF-8, with its end. The same record gives the same bytes."""
    return _ADAPTER.dump_json(record, exclude_none=True) + b"\n"


def from_line(line: bytes, number: int) -> Record:
    """Raises InvalidInput, naming the line and the field."""
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "record"
        raise wrong(number, place, _REASONS.get(first["type"], first["msg"].lower())) from None


def wrong(number: int, place: str, why: str) -> InvalidInput:
    return InvalidInput(f"line {number}: {place}: {why}", field=place)


def read_lines(lines: Iterable[bytes]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        yield from_line(line, number)


def sections(records: Iterator[Record]) -> Iterator[tuple[Header, Iterator[Record]]]:
    """Each namespace's header, and its records with the header first; take these before going on."""
    for header in records:
        if not isinstance(header, Header):
            raise InvalidInput("a namespace begins with its own record", field="kind")
        yield header, _section(header, records)


def _section(header: Header, records: Iterator[Record]) -> Iterator[Record]:
    yield header
    for _ in range(sum(header.counts.values())):
        record = next(records, None)
        if record is None:
            raise InvalidInput("the records end before the namespace does", field="counts")
        yield record


def usable_vector(vector: StoredVector) -> str | None:
    """What is wrong with a vector's form; None where nothing is."""
    if vector.width <= 0 or vector.width % 8:
        return "pooled holds a scale of four bytes and a multiple of eight dimensions"
    if not isfinite(struct.unpack("<f", vector.pooled[:4])[0]):
        return "the scale of pooled is not finite"
    if len(vector.bits) != vector.width // 8:
        return "bits do not fit the dimensions of pooled"
    if isinstance(vector, TurnVector) and len(vector.tokens) != len(vector.pieces) * vector.width // 8:
        return "tokens do not fit the pieces"
    return None


def fields_of(record: Any, names: Iterable[str]) -> tuple[Any, ...]:
    """Values as both drivers take them: an enumeration as its text."""
    return tuple(_plain(getattr(record, name)) for name in names)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value


def begun(namespace: str, records: Iterable[Record]) -> tuple[Header, Iterator[Record]]:
    """The header, and all of the records with it first. Raises InvalidInput for another namespace's."""
    rest = iter(records)
    header = next(rest, None)
    if not isinstance(header, Header):
        raise InvalidInput("a namespace begins with its own record", field="kind")
    if header.namespace != namespace:
        raise InvalidInput(f"the records are of the namespace {header.namespace!r}: load them there", field="namespace")
    return header, chain([header], rest)


def require_same(namespace: str, stored: Iterable[Record], given: Iterable[Record]) -> None:
    """Raises Conflict unless the namespace holds these very records."""
    if any(one != other for one, other in zip_longest(stored, given)):
        raise Conflict(
            f"the namespace {namespace!r} has other content already; erase it first, or load into an empty store",
            field="namespace",
        )
