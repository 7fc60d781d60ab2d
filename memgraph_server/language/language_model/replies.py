"""A model's text as an instance of the form that was asked for, or why it is none. Pure.

Rules:
- the first JSON value in the text that has the form and something in it counts; a value that merely repeats the schema
  that was sent does not;
- a form that is one list may come as the bare list, as one bare item, or wrapped in other members;
- names of members are compared without case, spaces and hyphens; which other names a member goes by, the schema says;
- a text that ends before its first item is complete holds no answer; an empty list that is complete is one;
- of a list each item is checked by itself: the good ones are kept, the others counted;
- a member with a default that cannot be used gets its default; nothing is invented for one without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ValidationError

from memgraph_server.language.language_model.json_text import Found, values
from memgraph_server.language.port import Shape, Trouble

#: Wrappers are looked into this deep: {"response": {"data": {"facts": […]}}}.
_WRAPPED = 3
#: Of a JSON schema: what strict servers refuse or no model needs.
_NOT_SENT = frozenset({"default", "title", "description", "also"})
_NO_LETTER = re.compile(r"[\s\-]+")


class Parsed(NamedTuple, Generic[Shape]):
    """See `Structured`."""

    value: Shape | None
    trouble: Trouble = Trouble.NONE
    dropped: int = 0
    cut: bool = False


def parse(text: str, schema: type[Shape]) -> Parsed[Shape]:
    """What the text says in the schema's form."""
    if not text.strip():
        return Parsed(None, Trouble.EMPTY)
    best: Parsed[Shape] | None = None
    for found in values(text):
        parsed = _fitted(found, schema)
        if parsed is not None and (best is None or (_holds(parsed) and not _holds(best))):
            best = parsed
    return best or Parsed(None, Trouble.UNREADABLE)


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as strict servers want it: every member required, no others, no defaults, no titles."""
    strict: dict[str, Any] = _strict(schema.model_json_schema())
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _strict(value) for key, value in node.items() if key not in _NOT_SENT}
    if isinstance(node.get("properties"), dict):
        kept["properties"] = {name: _strict(value) for name, value in node["properties"].items()}
        kept |= {"required": list(node["properties"]), "additionalProperties": False}
    return kept


def _holds(parsed: Parsed[Any]) -> bool:
    """Something is in it: a list with an item, or a member that is no list."""
    dumped = parsed.value.model_dump() if parsed.value is not None else {}
    return any(value for value in dumped.values() if isinstance(value, list)) or not any(
        isinstance(value, list) for value in dumped.values()
    )


def _fitted(found: Found, schema: type[Shape]) -> Parsed[Shape] | None:
    for value in _unwrapped(found.value, _WRAPPED):
        data = _as_members(value, schema)
        if data is not None:
            instance, dropped = _validated(data, schema)
            parsed = Parsed(instance, Trouble.NONE, found.dropped + dropped, found.cut)
            guessed = dropped > 0 and not (isinstance(value, dict) and _members(value, schema))
            if instance is not None and (_holds(parsed) or not (guessed or found.cut)):
                return parsed
    return None


def _unwrapped(value: Any, depth: int) -> Iterator[Any]:
    """The value, then what it wraps."""
    yield value
    if depth and isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _unwrapped(inner, depth - 1)


def _as_members(value: Any, schema: type[BaseModel]) -> dict[str, Any] | None:
    """The value as members of the schema, or None where it is something else."""
    lists = _item_types(schema)
    if isinstance(value, list):
        only = next(iter(lists), None)
        fits = len(lists) == 1 and len(schema.model_fields) == 1 and all(isinstance(one, dict) for one in value)
        return {only: value} if only is not None and fits and _any_item(value, lists[only]) else None
    if not isinstance(value, dict) or _is_schema(value):
        return None
    if not value and all(not field.is_required() for field in schema.model_fields.values()):
        return {}
    members = _members(value, schema)
    if not members:
        return _as_members([value], schema) if len(lists) == 1 and len(schema.model_fields) == 1 else None
    return members if all(isinstance(members.get(name, []), list) for name in lists) else None


def _any_item(items: list[Any], item: type[BaseModel]) -> bool:
    needed = {name for name, field in item.model_fields.items() if field.is_required()}
    known = _names(item)
    return not items or any(needed <= {known.get(_plain(key)) for key in one} for one in items)


def _is_schema(value: dict[str, Any]) -> bool:
    return "$schema" in value or "$defs" in value or (value.get("type") == "object" and "properties" in value)


def _validated(data: dict[str, Any], schema: type[Shape]) -> tuple[Shape | None, int]:
    """The instance, and how many items of its lists were left out."""
    dropped = 0
    checked = dict(data)
    for name, item in _item_types(schema).items():
        if name in checked:
            kept = [one for one in (_item(each, item) for each in checked[name]) if one is not None]
            dropped += len(checked[name]) - len(kept)
            checked[name] = kept
    return _instance(checked, schema), dropped


def _item(value: Any, schema: type[BaseModel]) -> BaseModel | None:
    if not isinstance(value, dict):
        return None
    return _instance(_members(value, schema), schema)


def _members(value: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """The schema's members among the value's, under their own names; the first of two that mean the same."""
    names, members = _names(schema), dict[str, Any]()
    for key, inner in value.items():
        if _plain(key) in names:
            members.setdefault(names[_plain(key)], inner)
    return members


def _instance(members: Mapping[str, Any], schema: type[Shape]) -> Shape | None:
    try:
        return schema.model_validate(dict(members))
    except ValidationError as error:
        wrong = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
    if any(schema.model_fields[name].is_required() for name in wrong if name in schema.model_fields):
        return None
    try:
        return schema.model_validate({name: value for name, value in members.items() if name not in wrong})
    except ValidationError:
        return None


def _item_types(schema: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Members that are lists of objects, with what is in them."""
    found = {}
    for name, field in schema.model_fields.items():
        inner = get_args(field.annotation)
        if get_origin(field.annotation) is list and isinstance(inner[0], type) and issubclass(inner[0], BaseModel):
            found[name] = inner[0]
    return found


def _names(schema: type[BaseModel]) -> dict[str, str]:
    """Every name that a member goes by; the schema's `also` lists them (`json_schema_extra`)."""
    names: dict[str, str] = {}
    for name, field in schema.model_fields.items():
        extra = field.json_schema_extra
        also = extra.get("also", []) if isinstance(extra, dict) else []
        for other in (name, *(also if isinstance(also, list) else [])):
            names.setdefault(_plain(str(other)), name)
    return names


def _plain(key: str) -> str:
    return _NO_LETTER.sub("_", key.strip().lower())
