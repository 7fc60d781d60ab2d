"""Transcripts of other programs, small and made up, in the shapes that those programs write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraph_server.command_line.readers import read_document, read_file
from memgraph_server.errors import InvalidInput

AT = "2024-05-08T12:00:00Z"


def turns_of(document: Any, began: str | None = None) -> list[tuple[str, str, str]]:
    _, sessions = read_document(document, began)
    return [(turn.role, turn.text, turn.at) for session in sessions for turn in session.turns]


OWN = {"session_id": "s1", "turns": [
    {"id": "t1", "role": "user", "speaker": "Ann", "text": "hello", "at": AT, "attachments": [{"caption": "a dog"}]},
    {"role": "assistant", "text": "hi", "at": AT}]}  # fmt: skip

CHATGPT = [{
    "title": "Trip", "create_time": 1700000000.5, "current_node": "d", "conversation_id": "c1",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": {"id": "a", "parent": "root", "children": ["b"], "message": {
            "id": "a", "author": {"role": "system"}, "create_time": None,
            "content": {"content_type": "text", "parts": [""]},
            "metadata": {"is_visually_hidden_from_conversation": True}}},
        "b": {"id": "b", "parent": "a", "children": ["c", "d"], "message": {
            "id": "m-b", "author": {"role": "user"}, "create_time": 1700000001.25,
            "content": {"content_type": "multimodal_text", "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}, "Where to?"]}}},
        "c": {"id": "c", "parent": "b", "children": [], "message": {
            "id": "m-c", "author": {"role": "assistant"}, "create_time": 1700000002.0,
            "content": {"content_type": "text", "parts": ["an answer that was replaced"]}}},
        "d": {"id": "d", "parent": "b", "children": [], "message": {
            "id": "m-d", "author": {"role": "assistant"}, "create_time": None,
            "content": {"content_type": "text", "parts": ["To Rome."]}}}}}]  # fmt: skip

CLAUDE = [{
    "uuid": "u1", "name": "Trip", "created_at": "2024-05-08T10:00:00.000000Z", "account": {"uuid": "x"},
    "chat_messages": [
        {"uuid": "m1", "text": "old field", "sender": "human", "created_at": "2024-05-08T10:00:01.000000Z",
         "content": [{"type": "text", "text": "Where to?"}, {"type": "tool_use", "name": "search"}],
         "attachments": [{"file_name": "map.txt", "extracted_content": "very long"}], "files": []},
        {"uuid": "m2", "text": "To Rome.", "sender": "assistant", "created_at": "2024-05-08T10:00:05.000000Z",
         "content": [], "attachments": [], "files": [{"file_name": "rome.png"}]},
        {"uuid": "m3", "text": "", "sender": "assistant", "created_at": "2024-05-08T10:00:06Z", "content": []},
    ]}]  # fmt: skip

LOCOMO = [{"sample_id": "conv-1", "qa": [], "conversation": {
    "speaker_a": "Ann", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hey Bob!"},
                  {"speaker": "Bob", "dia_id": "D1:2", "text": "Look", "blip_caption": "a photo of a cat"}],
    }}]  # fmt: skip

MESSAGES = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
            {"role": "assistant", "content": None, "tool_calls": []}, {"role": "tool", "content": "42"}]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "name"),
    [(OWN, "own"), ([OWN, OWN], "own"), ({"sessions": [OWN]}, "own"),
     ({"conversations": [{"id": "c", "sessions": [OWN], "questions": []}]}, "own"),
     (CHATGPT, "chatgpt"), (CLAUDE, "claude"), (LOCOMO, "locomo"), (LOCOMO[0], "locomo"),
     (MESSAGES, "openai"), ({"messages": MESSAGES}, "openai"), ([{"messages": MESSAGES}], "openai")],
)  # fmt: skip
def test_a_format_is_known_by_its_shape(document: Any, name: str) -> None:
    assert read_document(document, AT)[0] == name


@pytest.mark.parametrize(
    "document", [{}, [], "text", 7, None, [1, 2], {"turns": 1}, {"a": {"b": []}}, [{"role": "user"}]]
)
def test_what_has_no_known_shape_is_refused(document: Any) -> None:
    with pytest.raises(InvalidInput, match="shape"):
        read_document(document)


def test_our_own_json_keeps_everything() -> None:
    _, (session,) = read_document(OWN)
    first, second = session.turns
    assert (session.session_id, first.id, first.speaker, first.captions) == ("s1", "t1", "Ann", ("a dog",))
    assert second.id
    assert second.id == read_document(OWN)[1][0].turns[1].id  # made from the content: the same file is the same turns


def test_several_memories_in_one_file_are_kept_apart() -> None:
    several = {"conversations": [{"id": name, "sessions": [OWN]} for name in ("a", "b")]}
    assert [session.conversation for session in read_document(several)[1]] == ["a", "b"]
    other = {**LOCOMO[0], "sample_id": "conv-2"}
    assert [session.conversation for session in read_document([*LOCOMO, other])[1]] == ["conv-1", "conv-2"]
    assert [session.conversation for session in read_document(LOCOMO)[1]] == [""]


def test_of_a_chatgpt_export_the_branch_that_is_shown_is_read() -> None:
    assert turns_of(CHATGPT) == [
        ("user", "Where to?", "2023-11-14T22:13:21.250000+00:00"),
        ("assistant", "To Rome.", "2023-11-14T22:13:21.250000+00:00"),
    ]
    _, (session,) = read_document(CHATGPT)
    assert (session.session_id, [turn.id for turn in session.turns]) == ("c1", ["m-b", "m-d"])


def test_a_chatgpt_tree_that_is_broken_still_ends() -> None:
    loop = {"a": {"message": CHATGPT[0]["mapping"]["b"]["message"], "parent": "a", "children": ["a"]}}  # type: ignore[index]
    assert len(turns_of([{"mapping": loop, "current_node": "a", "create_time": 1}])) == 1
    assert turns_of([{"mapping": {}, "create_time": 1}]) == []


def test_a_claude_export_gives_texts_and_the_names_of_files() -> None:
    _, (session,) = read_document(CLAUDE)
    assert [(turn.role, turn.text, turn.captions) for turn in session.turns] == [
        ("user", "Where to?", ("map.txt",)),
        ("assistant", "To Rome.", ("rome.png",)),
    ]
    assert [turn.at for turn in session.turns] == ["2024-05-08T10:00:01.000000Z", "2024-05-08T10:00:05.000000Z"]


def test_locomo_gives_sessions_speakers_and_captions() -> None:
    _, (session,) = read_document(LOCOMO)
    assert [(turn.id, turn.speaker, turn.captions) for turn in session.turns] == [
        ("D1:1", "Ann", ()),
        ("D1:2", "Bob", ("a photo of a cat",)),
    ]
    assert session.turns[0].at == "2023-05-08T13:56:00Z"


def test_chat_messages_without_times_need_to_be_told_when_they_began() -> None:
    with pytest.raises(InvalidInput, match="--at"):
        read_document(MESSAGES)
    assert turns_of(MESSAGES, AT) == [
        ("system", "Be kind.", "2024-05-08T12:00:00Z"),
        ("user", "Hello", "2024-05-08T12:00:01Z"),
        ("tool", "42", "2024-05-08T12:00:03Z"),
    ]


def test_chat_messages_with_times_keep_them() -> None:
    timed = [{"role": "user", "content": "a", "created_at": 1700000000}, {"role": "assistant", "content": "b"},
             {"role": "user", "content": "c", "timestamp": "2024-01-01T00:00:00+02:00"}]  # fmt: skip
    assert [at for _, _, at in turns_of(timed)] == [
        "2023-11-14T22:13:20+00:00", "2023-11-14T22:13:21Z", "2024-01-01T00:00:00+02:00",
    ]  # fmt: skip


def test_json_lines_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "chats.jsonl"
    file.write_text("\n".join(json.dumps({"messages": MESSAGES}) for _ in range(3)) + "\n")
    name, sessions = read_file(file, AT)
    assert (name, len(sessions)) == ("openai", 3)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"not json", b"[" * 100_000])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_file(file)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["role", "content", "messages", "mapping", "turns", "text", "at", "sender", "chat_messages",
                         "uuid", "parts", "message", "author", "create_time", "sessions", "conversations", "children",
                         "parent", "current_node", "attachments", "files", "id", "created_at"]),
        inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


NODES = st.fixed_dictionaries({"mapping": st.dictionaries(st.sampled_from("ab"), JSON), "current_node": JSON})
SHAPED = (
    st.lists(NODES, min_size=1, max_size=2)
    | st.fixed_dictionaries({"chat_messages": st.lists(JSON, max_size=3)}, optional={"created_at": JSON})
    | st.lists(st.fixed_dictionaries({"role": st.text(max_size=5), "content": JSON}, optional={"created_at": JSON}))
    | st.fixed_dictionaries({"turns": st.lists(JSON, max_size=3)}, optional={"session_id": JSON})
    | st.fixed_dictionaries({"conversation": st.dictionaries(st.sampled_from(["session_1", "speaker_a"]), JSON)})
)


@given(JSON | SHAPED)
def test_any_json_is_read_or_refused(document: Any) -> None:
    try:
        _, sessions = read_document(document, AT)
    except InvalidInput:
        return
    assert all(isinstance(turn.text, str) for session in sessions for turn in session.turns)
