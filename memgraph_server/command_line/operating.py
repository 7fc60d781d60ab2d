"""`migrate`, `doctor`, `settings`: for whoever runs the server."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memgraph_server.access import KeyFile
from memgraph_server.command_line.options import AsJson, Store, services_of, settings_of
from memgraph_server.command_line.output import print_json, table
from memgraph_server.errors import InvalidInput, MemgraphServerError
from memgraph_server.settings import Settings, describe

if TYPE_CHECKING:
    from memgraph_server.wiring import Services

_LEAST_FREE_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """`advice`: what to do, where something is wrong."""

    what: str
    ok: bool
    found: str
    advice: str = ""


def migrate(store: Store = None, as_json: AsJson = False) -> None:
    """Bring the store's schema up to this program's; safe to run again, and at any time.

    Example: memgraph-server migrate --store sqlite:///memory.db
    """
    from memgraph_server.wiring import open_store

    opened = open_store(settings_of(store=store))
    try:
        applied = opened.migrate()
    finally:
        opened.close()
    if as_json:
        print_json({"applied": applied})
    else:
        typer.echo("\n".join(f"applied {name}" for name in applied) or "nothing to do")


def settings(store: Store = None, as_json: AsJson = False) -> None:
    """Show every setting: its variable, its value, what it means."""
    rows = describe(settings_of(store=store))
    if as_json:
        print_json([{"variable": name, "value": value, "meaning": about} for name, value, about in rows])
    else:
        table("Settings", ("variable", "value", "meaning"), rows)


def doctor(store: Store = None, as_json: AsJson = False) -> None:
    """Check settings, store, broker, workers, disk, models and what waits; say what to do about each fault.

    Example: memgraph-server doctor --store sqlite:///memory.db
    """
    chosen = settings_of(store=store)
    findings = list(examine(chosen))
    if as_json:
        print_json({"ok": all(one.ok for one in findings), "findings": [asdict(one) for one in findings]})
    else:
        rows = [("ok" if one.ok else "FAULT", one.what, one.found, one.advice) for one in findings]
        table("Doctor", ("", "what", "found", "what to do"), rows)
    if not all(one.ok for one in findings):
        raise typer.Exit(1)


def examine(chosen: Settings) -> Iterator[Finding]:
    """Each part in turn; one that fails does not hide the next."""
    yield Finding("settings", True, f"store {chosen.store}, {chosen.host}:{chosen.port}")
    yield _keys(chosen)
    if not chosen.on_neo4j:
        yield _disk(chosen.store_file)
    if chosen.broker_url:
        yield from _broker(chosen)
    absent = not chosen.on_neo4j and chosen.store_file.absolute().parent.is_dir() and not chosen.store_file.exists()
    if absent:
        yield Finding("store", True, f"{chosen.store_file} does not exist yet; the first `serve` creates it")
    with tempfile.TemporaryDirectory(prefix="memgraph-doctor-") as elsewhere:  # looking must not create the store
        empty = replace(chosen, store=f"sqlite:///{elsewhere}/empty.db", keys_file=str(chosen.keys_path))
        looked_at = empty if absent else chosen
        yield from _parts(looked_at, with_store=not absent)


def _parts(chosen: Settings, *, with_store: bool) -> Iterator[Finding]:
    """Store and models, as a server would open them."""
    try:
        with services_of(chosen) as services:
            if with_store:
                yield from _store(services)
            yield _checked(
                "embedder", lambda: services.embedder.get().name, "reinstall: its files are damaged or absent"
            )
            yield from _language_model(services)
            absent = "see language model" if chosen.extractor == "llm" else "reinstall: the parser is absent"
            yield _checked("extractor", lambda: services.extractor.get().name, absent)
    except InvalidInput as error:
        yield Finding("settings", False, str(error), f"change {error.field}")
    except MemgraphServerError as error:
        yield Finding("store", False, str(error), "see the message")


def _language_model(services: Services) -> Iterator[Finding]:
    """Its endpoints are asked for their models and for one word; the message of a fault says what to set."""
    if services.language_model is None:
        needed = "llm" in {services.settings.extractor, services.settings.evaluator}
        advice = "set MEMGRAPH_SERVER_LLM_BASE_URL and MEMGRAPH_SERVER_LLM_MODEL" if needed else ""
        yield Finding("language model", not needed, "none is set", advice)
        return
    connected = services.language_model

    def look() -> str:
        connected.probe()
        used = sorted({(one.role.value, one.model, one.shown) for one in connected.model.endpoints.values()})
        return "; ".join(f"{role}: {model} at {address}" for role, model, address in used)

    yield _checked("language model", look, "see the message; the variables are in `memgraph-server settings`")


def _keys(chosen: Settings) -> Finding:
    keys = KeyFile(chosen.keys_path)
    if not keys.exists():
        found = f"none ({keys.path}); the server listens on loopback only"
        return Finding("API keys", chosen.loopback, found, "" if chosen.loopback else "memgraph-server keys create")
    if keys.open_to_others():
        return Finding("API keys", False, f"{keys.path} can be read by others", f"chmod 600 {keys.path}")
    advice = f"restore the key file {keys.path}, or let this user read it"
    return _checked("API keys", lambda: f"{len(keys.keys())} in {keys.path}", advice)


def _disk(file: Path) -> Finding:
    folder = file.absolute().parent
    if not folder.is_dir():
        return Finding("disk", False, f"{folder} is no folder", f"mkdir -p {folder}")
    if not os.access(folder, os.W_OK):
        return Finding("disk", False, f"{folder} cannot be written to", "change its owner, or choose another --store")
    free = shutil.disk_usage(folder).free
    advice = "" if free > _LEAST_FREE_BYTES else "make room: writing fails when the disk is full"
    return Finding("disk", not advice, f"{free / 1e9:.1f} GB free in {folder}", advice)


def _broker(chosen: Settings) -> Iterator[Finding]:
    from memgraph_server.wiring import broker

    try:
        asked = broker(chosen)
    except MemgraphServerError as error:
        yield Finding("broker", False, error.message, "pip install 'memgraph-server[workers]'")
        return
    found = asked.look()
    asked.close()
    if not found.ok:
        yield Finding(
            "broker", False, f"it does not answer ({found.why})", "start it, or see MEMGRAPH_SERVER_BROKER_URL"
        )
        return
    yield Finding("broker", True, f"it answers; queue {chosen.broker_queue}")
    advice = "" if found.workers else "start `memgraph-server worker` and `memgraph-server beat` with the same broker"
    yield Finding("workers", bool(found.workers), f"{found.workers} answer", advice)


def _store(services: Services) -> Iterator[Finding]:
    from memgraph_server.wiring import clock

    overall = services.store.overall()
    problems = services.store.check()
    advice = "restore a backup" if problems else ""
    yield Finding("store", not problems, "; ".join(problems[:5]) or f"schema {overall.schema_version}", advice)
    since = overall.oldest_pending_at
    waited = "" if since is None else f", the oldest for {max(0, clock() - since) / 1e6:.0f} s"
    waiting = f"{overall.pending} turns pending{waited}; {overall.dead} dead"
    yield Finding("queue", overall.dead == 0, waiting, "memgraph-server jobs dead" if overall.dead else "")
    yield _vectors(services, overall.embedder or "")


def _vectors(services: Services, embedder: str) -> Finding:
    """After an upgrade that changes the embedder; turns without a word have no vector, and are none of these."""
    others = services.store.outdated_vectors(embedder)
    if not others:
        return Finding("vectors", True, f"none of another embedder than {embedder}")
    found = f"{others} turns and facts have one of another embedder than {embedder}, and are not found by it"
    return Finding("vectors", False, found, "wait: a worker embeds them again when it has nothing to read")


def _checked(what: str, look: Callable[[], str], advice: str) -> Finding:
    try:
        return Finding(what, True, look())
    except MemgraphServerError as error:
        return Finding(what, False, str(error), advice)
