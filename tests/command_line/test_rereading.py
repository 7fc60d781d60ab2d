"""`reextract` as an operator meets it: an own process, a real store, a scripted endpoint asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line.test_commands import Shell
from tests.language.language_model.scripted_server import Answer, Script, fails, role_of, says, says_json, scripted

SOURCE = "llm:scripted/extract-1"


def reads(body: dict[str, Any]) -> Answer:
    """A model that finds a hobby in each turn, and answers probes."""
    if role_of(body) != "extract":
        return says("ok")(body)
    turns = json.loads(body["messages"][-1]["content"])["turns"]
    facts = [
        {"turn": one["turn"], "head": "Ann", "relation": "likes", "tail": one["text"].split()[-1].strip("."),
         "evidence": one["text"]}
        for one in turns
    ]  # fmt: skip
    return says_json({"facts": facts})(body)


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted(reads) as found:
        yield found


@pytest.fixture
def shell(tmp_path: Path, script: Script) -> Model:
    found = Model(tmp_path, script)
    found.json("ingest", "own.json", "-n", "ann")
    return found


class Model(Shell):
    """With a language model set."""

    def __init__(self, folder: Path, script: Script) -> None:
        super().__init__(folder)
        self.environ = {
            "MEMGRAPH_SERVER_LLM_BASE_URL": script.url, "MEMGRAPH_SERVER_LLM_MODEL": "scripted",
            "MEMGRAPH_SERVER_LLM_RETRIES": "0",
        }  # fmt: skip

    def reextract(self, *arguments: str) -> Any:
        return self.json("reextract", "-n", "ann", *arguments, **self.environ)

    def tails(self, relation: str) -> set[str]:
        facts = self.json("timeline", "Ann", "-n", "ann", "--relation", relation)["facts"]
        return {fact["tail"] for fact in facts}


def test_a_model_reads_beside_the_rules_and_is_undone_and_redone(shell: Model, script: Script) -> None:
    foreseen = shell.reextract("--extractor", "llm", "--dry-run")
    assert (foreseen["source"], foreseen["turns"], foreseen["calls"], foreseen["dry_run"]) == (SOURCE, 2, 2, True)
    assert foreseen["prompt_tokens_about"] > 1000
    assert [role_of(one.body) for one in script.asked if role_of(one.body) == "extract"] == []
    done = shell.reextract("--extractor", "llm")
    assert (done["source"], done["read"], done["added"], done["known"], done["troubles"]) == (SOURCE, 2, 2, 0, {})
    assert done["usage"]["model_calls"] == 2
    assert done["usage"]["model_prompt_tokens"] == 200
    assert shell.tails("likes") == {"Paris", "Rome"}
    assert shell.tails("lives_in") == {"Paris", "Rome"}
    assert shell.reextract("--undo", SOURCE, "--dry-run") == {
        "namespace": "ann", "withdrawn": 0, "of": 2, "dry_run": True,
    }  # fmt: skip
    assert shell.reextract("--undo", SOURCE)["withdrawn"] == 2
    assert shell.tails("likes") == set()
    assert shell.tails("lives_in") == {"Paris", "Rome"}
    again = shell.run("reextract", "-n", "ann", "--extractor", "llm", code=2, **shell.environ)
    assert f"--redo {SOURCE}" in again.stderr
    assert shell.reextract("--redo", SOURCE)["brought_back"] == 2
    assert shell.tails("likes") == {"Paris", "Rome"}
    assert {row["source"]: (row["standing"], row["undone"]) for row in shell.reextract("--sources")["sources"]} == {
        SOURCE: (2, 0),
        "patterns/1": (2, 0),
    }


def test_a_run_that_was_stopped_goes_on_where_it_was(shell: Model, script: Script) -> None:
    assert shell.reextract("--extractor", "llm", "--limit", "1")["read"] == 1
    script.play(fails(503))
    stopped = shell.run("reextract", "-n", "ann", "--extractor", "llm", "--json", code=1, **shell.environ)
    assert "does not answer" in stopped.stderr
    script.play(reads)
    done = shell.reextract("--extractor", "llm")
    assert (done["read"], done["skipped"], done["added"]) == (1, 1, 1)
    assert shell.reextract("--extractor", "llm")["turns"] == 0
    assert shell.reextract("--extractor", "llm", "--again")["known"] == 2


def test_another_model_is_another_source(shell: Model, script: Script) -> None:
    script.models = ("scripted", "other")
    shell.reextract("--extractor", "llm")
    done = shell.reextract("--extractor", "llm", "--model", "other", "--session", "s1")
    assert (done["source"], done["added"]) == ("llm:other/extract-1", 2)
    assert script.asked[-1].body["model"] == "other"
    shell.reextract("--undo", "llm:other/extract-1")
    assert shell.tails("likes") == {"Paris", "Rome"}, "the first model claims it still"


def test_what_the_model_cannot_read_is_told_and_harms_nothing(shell: Model, script: Script) -> None:
    script.play(lambda body: (says("ok") if role_of(body) == "probe" else says("la la la"))(body))
    done = shell.reextract("--extractor", "llm")
    assert (done["read"], done["added"], done["troubles"]) == (2, 0, {"unusable_reply": 2})
    assert shell.tails("lives_in") == {"Paris", "Rome"}


def test_it_says_in_words_what_it_did(shell: Model) -> None:
    told = shell.run("reextract", "-n", "ann", "--extractor", "llm", **shell.environ).stdout
    assert "2 of 2 turns read" in told
    assert f"--undo {SOURCE}" in told
    assert SOURCE in shell.run("reextract", "-n", "ann", "--sources", **shell.environ).stdout
    assert "2 assertions withdrawn" in shell.run("reextract", "-n", "ann", "--undo", SOURCE, **shell.environ).stdout


def test_the_way_back_is_told_only_where_something_is_new_and_says_what_else_it_takes(shell: Model) -> None:
    known = shell.run("reextract", "-n", "ann", "--extractor", "patterns", "--again", **shell.environ).stdout
    assert "2 known" in known
    assert "--undo" not in known, "that would withdraw what was claimed when the turns came"
    shell.reextract("--extractor", "llm", "--limit", "1")
    more = shell.run("reextract", "-n", "ann", "--extractor", "llm", **shell.environ).stdout
    assert f"--undo {SOURCE}, which withdraws its earlier claims too" in more


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("-n", "ann", "--undo", "nobody"), 2, "patterns/1"),
        (("-n", "ann", "--undo", SOURCE, "--sources"), 2, "one of"),
        (("-n", "nobody",), 2, "nobody"),
        (("-n", "ann", "--extractor", "oracle"), 2, "local, patterns, llm"),
        (("-n", "ann", "--session", "s9"), 2, "s9"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_what_to_say_instead(
    shell: Model, arguments: tuple[str, ...], code: int, words: str
) -> None:
    refused = shell.run("reextract", *arguments, code=code, **shell.environ)
    assert words in refused.stderr


def test_without_a_model_it_says_what_to_set(shell: Model) -> None:
    refused = shell.run("reextract", "-n", "ann", "--extractor", "llm", code=1)
    assert "MEMGRAPH_SERVER_LLM_BASE_URL" in refused.stderr
