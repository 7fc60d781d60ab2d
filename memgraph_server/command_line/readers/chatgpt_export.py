"""ChatGPT's data export, `conversations.json`: a tree of messages each, of which the branch shown last is read.

`[{"title", "create_time", "current_node", "conversation_id", "mapping": {id: {"message": {"id", "author": {"role"},
"create_time", "content": {"content_type", "parts"}}, "parent", "children"}}}, …]`. Hidden system messages and messages
without text are left out; a message without a time has the one of the message before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.command_line.readers.session import Session, fit_id, made_id, seconds_text, texts_of

_ROLES = frozenset({"user", "assistant", "system", "tool"})


def recognizes(document: Any) -> bool:
    found = document if isinstance(document, list) else [document]
    return bool(found) and all(isinstance(one, dict) and isinstance(one.get("mapping"), dict) for one in found)


def sessions(document: Any) -> list[Session]:
    found = document if isinstance(document, list) else [document]
    return [session for one in found if (session := _session(one)).turns]


def _session(conversation: dict[str, Any]) -> Session:
    name = conversation.get("conversation_id") or conversation.get("id") or made_id(sorted(conversation["mapping"]))
    return Session(fit_id(str(name)), tuple(_turns(conversation)))


def _turns(conversation: dict[str, Any]) -> Iterator[GivenTurn]:
    seconds = conversation.get("create_time") or 0
    for node_id, message in _branch(conversation):
        seconds = message.get("create_time") or seconds
        content = message.get("content") or {}
        text = texts_of(content.get("parts")) or (content.get("text") if isinstance(content.get("text"), str) else "")
        role = (message.get("author") or {}).get("role")
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        if text and text.strip() and role in _ROLES and not hidden:
            at = seconds_text(seconds, "create_time")
            yield GivenTurn(text, at, role, "", fit_id(str(message.get("id") or node_id)))


def _branch(conversation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Messages from the root to the node shown last."""
    mapping, branch, seen = conversation["mapping"], [], set()
    node_id = conversation.get("current_node") or _last(mapping)
    while isinstance(node_id, str) and node_id in mapping and node_id not in seen:
        seen.add(node_id)
        node = mapping[node_id]
        if isinstance(node.get("message"), dict):
            branch.append((node_id, node["message"]))
        node_id = node.get("parent")
    return branch[::-1]


def _last(mapping: dict[str, Any]) -> str | None:
    """The latest leaf, where the export does not say which branch was shown."""
    leaves = [node_id for node_id, node in mapping.items() if not node.get("children")]
    return max(leaves, key=lambda leaf: (mapping[leaf].get("message") or {}).get("create_time") or 0, default=None)
