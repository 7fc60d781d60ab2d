"""The command line as its users meet it: by exit codes and by what it prints, mostly as its own process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memgraph_server.__main__ import main
from memgraph_server.actions.inputs import GivenTurn
from memgraph_server.actions.read_turns import vectors_of
from memgraph_server.actions.store_turns import store_turns
from memgraph_server.command_line.ingesting import ingest_sessions
from memgraph_server.command_line.operating import examine
from memgraph_server.command_line.readers import read_document
from memgraph_server.settings import Settings

QUICK = {"MEMGRAPH_SERVER_EMBEDDER": "hashed", "MEMGRAPH_SERVER_EXTRACTOR": "patterns", "COLUMNS": "200"}
OWN = {"session_id": "s1", "turns": [
    {"id": "t1", "speaker": "Ann", "text": "I live in Paris.", "at": "2020-05-08T12:00:00Z"},
    {"id": "t2", "speaker": "Ann", "text": "I moved to Rome.", "at": "2022-05-08T12:00:00Z"},
    {"id": "t3", "speaker": "Ann", "text": "odd\0", "at": "2022-05-08T12:00:00Z"}]}  # fmt: skip


class Shell:
    """Runs commands in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "own.json").write_text(json.dumps(OWN))

    def run(self, *arguments: str, code: int = 0, **environ: str) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("MEMGRAPH_SERVER_")}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "memgraph_server", *arguments],
            cwd=self.folder,
            env={**inherited, **QUICK, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    def json(self, *arguments: str, **environ: str) -> Any:
        return json.loads(self.run(*arguments, "--json", **environ).stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def inside(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The same entry in this process: exit code, and all that was printed, without the frames of boxes."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    code = ended.value.code if isinstance(ended.value.code, int) else 0
    return code, " ".join(re.sub(r"[│╭╮╰╯─\n]", " ", printed.out + printed.err).split())


def test_a_file_is_read_once_and_then_known(shell: Shell) -> None:
    first = shell.json("ingest", "own.json", "--namespace", "ann")
    assert (first["format"], first["new"], first["pending"], first["dead"]) == ("own", 2, 0, 0)
    assert list(first["skipped"]) == ["t3"]
    again = shell.json("ingest", "own.json", "--namespace", "ann")
    assert (again["new"], again["known"]) == (0, 2)
    facts = shell.json("timeline", "Ann", "--namespace", "ann", "--relation", "lives_in")["facts"]
    assert [(fact["tail"], fact["valid_to"]) for fact in facts] == [("Paris", "2022-05-08T12:00:00Z"), ("Rome", None)]
    then = shell.json("timeline", "Ann", "-n", "ann", "--relation", "lives_in", "--valid-at", "2021")["facts"]
    assert [fact["tail"] for fact in then] == ["Paris"]
    found = shell.json("query", "Where does Ann live?", "-n", "ann", "--budget", "100")
    assert {turn["id"] for turn in found["turns"]} <= {"t1", "t2"}
    assert found["turns"]
    table = shell.run("timeline", "Ann", "-n", "ann").stdout
    assert "Paris" in table
    assert "Rome" in shell.run("query", "Where does Ann live?", "-n", "ann").stdout


def test_a_worker_of_its_own_reads_what_was_only_stored(shell: Shell) -> None:
    stored = shell.json("ingest", "own.json", "--store-only")
    assert (stored["new"], stored["pending"]) == (2, 2)
    command = [sys.executable, "-m", "memgraph_server", "worker"]
    with subprocess.Popen(command, cwd=shell.folder, env={**os.environ, **QUICK}, stderr=subprocess.PIPE) as worker:
        ends = time.monotonic() + 60
        while "0 turns pending" not in (shown := shell.run("doctor").stdout):
            assert time.monotonic() < ends, shown
        worker.terminate()
        assert worker.wait(30) == 0
    assert len(shell.json("timeline", "Ann", "--relation", "lives_in")["facts"]) == 2


def test_doctor_finds_nothing_wrong_with_a_sound_store(shell: Shell) -> None:
    shell.json("ingest", "own.json")
    document = shell.json("doctor")
    assert document["ok"] is True
    assert {one["what"] for one in document["findings"]} >= {
        "settings", "API keys", "disk", "store", "queue", "embedder", "extractor"
    }  # fmt: skip


def test_doctor_creates_nothing(shell: Shell) -> None:
    document = shell.json("doctor")
    assert document["ok"] is True
    [store] = [one for one in document["findings"] if one["what"] == "store"]
    assert "first `serve` creates it" in store["found"]
    assert list(shell.folder.iterdir()) == [shell.folder / "own.json"]


def test_doctor_says_what_to_do_about_a_store_that_is_none(shell: Shell) -> None:
    (shell.folder / "memgraph-server.db").write_text("not a database, " * 200)
    done = shell.run("doctor", code=1)
    assert "FAULT" in done.stdout
    assert "backup" in done.stdout


def test_migrate_may_run_twice(shell: Shell) -> None:
    assert shell.json("migrate")["applied"]
    assert shell.json("migrate") == {"applied": []}


def test_keys_are_shown_once_listed_without_secrets_and_revoked(shell: Shell) -> None:
    created = shell.json("keys", "create", "--namespace", "ann", "--namespace", "bob", "--role", "writer")
    listed = shell.json("keys", "list")["keys"]
    assert [(key["id"], key["namespaces"], key["revoked_at"]) for key in listed] == [
        (created["id"], ["ann", "bob"], None)
    ]
    assert created["key"] not in shell.run("keys", "list").stdout
    shell.run("keys", "revoke", created["id"])
    assert shell.json("keys", "list")["keys"][0]["revoked_at"]
    assert "no key" in shell.run("keys", "revoke", "00000000", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "--host", "192.168.7.7"], "keys create"),
        (["serve", "--store", "neo4j://"], "neo4j://HOST:PORT"),
        (["serve", "--store", "memory.db"], "sqlite:///FILE"),
        (["ingest", "missing.json"], "does not exist"),
        (["timeline", "Ann", "--valid-at", "soon"], "valid_at"),
        (["query", ""], "query must not be empty"),
        (["query", "hm", "--namespace", "a/b"], "namespace"),
        (["eval", "missing.json"], "missing.json"),
        (["eval", "a.json", "--json", "nowhere/out.json"], "there is no folder"),
        (["eval", "a.json", "--plot", "."], "is a folder"),
        (["eval", "a.json", "--fit", "nowhere/out.json"], "there is no folder"),
        (["eval", "a.json", "--fit", "out.json", "--facts"], "say one of them"),
        (["eval", "a.json", "--fit", "out.json", "--json", "r.json"], "--fit does not heed --json"),
        (["eval", "a.json", "--passages", "--plot", "r.svg"], "it goes with plain eval"),
        (["eval", "a.json", "--context", "300"], "it goes with --answers"),
        (["eval", "a.json", "--facts", "--questions", "3"], "it goes with plain eval, --answers"),
        (["eval", "a.json", "--seed", "0"], "--seed is of the draw of --questions: say --questions N too"),
        (["eval", "a.json", "--answers", "--seed", "3"], "say --questions N too, or no --seed"),
        (["eval", "missing", "--passages"], "is no folder"),
        (["nonsense"], "No such command"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_and_by_the_exit_code(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in QUICK.items():
        monkeypatch.setenv(name, value)
    code, printed = inside(arguments, capsys)
    assert (code, words in printed) == (2, True), printed


def test_a_wrong_setting_is_named(shell: Shell) -> None:
    assert "MEMGRAPH_SERVER_PORT" in shell.run("settings", code=2, MEMGRAPH_SERVER_PORT="http").stderr
    shown = shell.json("settings", MEMGRAPH_SERVER_PORT="99")
    assert {
        "variable": "MEMGRAPH_SERVER_PORT",
        "value": "99",
        "meaning": "port to listen on; 0 lets the system choose",
    } in shown


COMMANDS = [
    "serve",
    "worker",
    "beat",
    "ingest",
    "query",
    "timeline",
    "demo",
    "eval",
    "migrate",
    "doctor",
    "settings",
    "jobs list",
    "jobs dead",
    "jobs replay",
    "keys create",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = inside([*command.split(), "--help"], capsys)
    assert code == 0
    assert f"Usage: memgraph-server {command}" in text
    assert "Example: memgraph-server " in text or command == "settings"


def test_help_imports_nothing_heavy(shell: Shell) -> None:
    code = (
        "import sys\nfrom memgraph_server.__main__ import main\n"
        "try:\n main(['--help'])\nexcept SystemExit:\n pass\n"
        "heavy = {'spacy', 'onnxruntime', 'fastapi', 'pydantic', 'numpy', 'uvicorn', 'celery'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=shell.folder)
    assert done.stdout.rstrip().endswith("[]")


def test_nothing_that_a_turn_says_reaches_the_terminal_as_a_command(shell: Shell) -> None:
    hostile = {**OWN, "turns": [{**OWN["turns"][0], "text": "I live in \x1b[31mParis\x1b]0;x\x07 [bold]now[/bold]."}]}  # type: ignore[index, dict-item]
    (shell.folder / "own.json").write_text(json.dumps(hostile))
    shell.json("ingest", "own.json")
    out = shell.run("query", "Where does Ann live?").stdout + shell.run("timeline", "Ann").stdout
    assert "\x1b]" not in out
    assert "\x07" not in out
    assert "[bold]" in out


@pytest.mark.slow
def test_the_demo_shows_facts_and_turns_with_real_models(shell: Shell) -> None:
    text = shell.run("demo", MEMGRAPH_SERVER_EMBEDDER="onnx-minilm", MEMGRAPH_SERVER_EXTRACTOR="local").stdout
    life, *answers = re.split(r"^Wh.*\? .*─+$", text, flags=re.MULTILINE)
    began = re.findall(r"^│ (?:since )?(\d{4}-\d\d-\d\d)", life, re.MULTILINE)
    assert len(began) >= 10
    assert not re.search(r"asked|talked about", life)
    first = [answer.strip().splitlines()[0] for answer in answers]
    assert [words in line for words, line in zip(("VisaHQ", "parents' comfort", "most bang"), first, strict=True)] == [
        True, True, True,
    ]  # fmt: skip
    assert text.count("answerability") == 3
    assert list(shell.folder.iterdir()) == [shell.folder / "own.json"]


def test_ingesting_reports_what_it_could_not_take(tmp_path: Path) -> None:
    from memgraph_server import wiring

    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns")
    services = wiring.services(settings)
    try:
        done = ingest_sessions(services, "ann", read_document(OWN)[1], read=False)
    finally:
        services.close()
    assert (done.turns, done.new, done.pending, len(done.skipped)) == (3, 2, 2, 1)
    assert "NUL" in done.skipped["t3"]


def test_doctor_sees_a_folder_that_is_not_there_and_keys_that_others_may_read(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/none/x.db", embedder="hashed", extractor="patterns")
    faults = {one.what: one.advice for one in examine(settings) if not one.ok}
    assert "mkdir" in faults["disk"]
    assert "store" in faults
    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns")
    settings.keys_path.write_text('{"keys": []}')
    settings.keys_path.chmod(0o640)
    assert not [one for one in examine(settings) if one.what == "API keys" and not one.ok]
    settings.keys_path.chmod(0o644)
    faults = {one.what: one.advice for one in examine(settings) if not one.ok}
    assert "chmod 600" in faults["API keys"]
    settings.keys_path.write_text("{")
    settings.keys_path.chmod(0o600)
    faults = {one.what: one.advice for one in examine(settings) if not one.ok}
    assert "restore" in faults["API keys"]


def test_doctor_tells_of_a_path_of_keys_that_cannot_be_looked_at(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns")
    settings.keys_path.symlink_to(settings.keys_path)  # a loop: nobody can say whether keys are there
    faults = {one.what: one for one in examine(settings) if not one.ok}
    assert "cannot be read" in faults["API keys"].found
    assert str(settings.keys_path) in faults["API keys"].advice


def test_doctor_counts_vectors_of_another_embedder_and_no_turns_without_a_word(tmp_path: Path) -> None:
    from memgraph_server import wiring

    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns")
    document = {"session_id": "s", "turns": [*OWN["turns"][:2], {**OWN["turns"][0], "id": "t4", "text": "\u200b"}]}
    services = wiring.services(settings)
    try:
        assert ingest_sessions(services, "ann", read_document(document)[1], read=True).pending == 0
        assert [one.ok for one in examine(settings) if one.what == "vectors"] == [True]
        (older,) = services.embedder.get().encode(["Paris"])
        services.store.replace_vectors("ann", "older/1", {"t1": vectors_of(older)}, {})
    finally:
        services.close()
    (finding,) = [one for one in examine(settings) if not one.ok]
    assert (finding.what, finding.found.split()[0]) == ("vectors", "1")


def test_doctor_names_the_setting_that_holds_no_ranking(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", embedder="hashed", extractor="patterns", ranking="/none")
    faults = {one.what: one.advice for one in examine(settings) if not one.ok}
    assert faults == {"settings": "change MEMGRAPH_SERVER_RANKING"}


def test_jobs_shows_what_waits_and_why_turns_were_given_up_and_replays_them(shell: Shell) -> None:
    shell.json("ingest", "own.json", "--namespace", "ann")
    from memgraph_server import wiring

    settings = Settings(store=f"sqlite:///{shell.folder}/memgraph-server.db", embedder="hashed", extractor="patterns")
    services = wiring.services(settings)
    given = [GivenTurn(f"I like thing{n}.", "2024-05-08T12:00:00Z", id=f"x{n}") for n in range(3)]
    store_turns(services.store, "bob", "s", given, now=wiring.clock(), new_id=wiring.new_id)
    for turn in ("x0", "x1"):
        services.store.fail_turn("bob", turn, reason="it is poison", final=True, retry_at=0, now=wiring.clock())
    services.close()
    (one,) = shell.json("jobs", "list")["namespaces"]
    assert (one["namespace"], one["pending"], one["dead"]) == ("bob", 1, 2)
    assert one["oldest_pending_seconds"] >= 0
    found = shell.json("jobs", "dead", "--namespace", "bob", "--limit", "1")
    assert ([one["turn"] for one in found["dead"]], found["more"]) == (["x0"], True)
    assert "it is poison" in shell.run("jobs", "dead", "--namespace", "bob").stdout
    assert shell.json("jobs", "replay", "--namespace", "bob", "--turn", "x1") == {"replayed": 1}
    assert shell.json("jobs", "list")["namespaces"][0]["pending"] == 2
    assert "bob" in shell.run("jobs", "list").stdout


def test_beat_and_several_processes_need_a_broker(shell: Shell) -> None:
    assert "--broker" in shell.run("beat", code=2).stderr
    assert "--broker" in shell.run("worker", "--beat", code=2).stderr
    assert "MEMGRAPH_SERVER_BROKER_URL" in shell.run("worker", "--broker", "http://x", code=2).stderr


def test_a_worker_without_a_broker_reads_in_a_process_of_its_own(shell: Shell) -> None:
    from memgraph_server import wiring

    settings = Settings(store=f"sqlite:///{shell.folder}/memgraph-server.db", embedder="hashed", extractor="patterns")
    services = wiring.services(settings)
    given = [GivenTurn("I live in Paris.", "2024-05-08T12:00:00Z", speaker="Ann")]
    store_turns(services.store, "ann", "s", given, now=wiring.clock(), new_id=wiring.new_id)
    environment = os.environ | QUICK
    with subprocess.Popen(
        [sys.executable, "-m", "memgraph_server", "worker"], cwd=shell.folder, env=environment
    ) as worker:
        ends = time.monotonic() + 60
        while services.store.readiness("ann").pending:
            assert time.monotonic() < ends
            time.sleep(0.05)
        worker.terminate()
        assert worker.wait(30) == 0
    services.close()
