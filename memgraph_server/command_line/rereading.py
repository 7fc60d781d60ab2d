"""`reextract`: stored turns read again by another extractor or model, and taking back all that one has claimed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memgraph_server.command_line.options import AsJson, Namespace, Store, services_of, settings_of
from memgraph_server.command_line.output import print_json, progress, table
from memgraph_server.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from memgraph_server.actions.reextract import Summary
    from memgraph_server.actions.sources import Claims, Survey
    from memgraph_server.wiring import Services

_HOW = "Whose claims"
#: Tokens of the instructions that go with every call, about.
_INSTRUCTIONS = 550


def reextract(
    *,
    namespace: Namespace = "default",
    extractor: Annotated[
        str | None, typer.Option(help="llm, local or patterns [default: the one that is set]", show_default=False)
    ] = None,
    model: Annotated[str | None, typer.Option(help="another language model at the endpoint that is set")] = None,
    session: Annotated[list[str] | None, typer.Option(help="only this session; repeatable")] = None,
    limit: Annotated[int | None, typer.Option(help="only the first so many turns", min=1)] = None,
    again: Annotated[bool, typer.Option("--again", help="also turns that this source has claims from")] = False,
    undo: Annotated[str | None, typer.Option(help="withdraw all that this SOURCE claims", rich_help_panel=_HOW)] = None,
    redo: Annotated[
        str | None, typer.Option(help="bring back what --undo has withdrawn of this SOURCE", rich_help_panel=_HOW)
    ] = None,
    sources: Annotated[bool, typer.Option("--sources", help="show who claims how much", rich_help_panel=_HOW)] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be done, and change nothing")] = False,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Read stored turns again with another extractor or model: what it claims is added beside the old claims.

    Nothing is replaced. Every claim names its source, such as llm:MODEL/extract-1; all of a source can be withdrawn
    with --undo and brought back with --redo. A run that was stopped goes on with the turns that it has not read yet.

    Example: memgraph-server reextract --namespace ann --extractor llm --dry-run

    Example: memgraph-server reextract --namespace ann --extractor llm --model qwen2.5:7b --session s1

    Example: memgraph-server reextract --namespace ann --sources

    Example: memgraph-server reextract --namespace ann --undo llm:qwen2.5:7b/extract-1
    """
    if sum((sources, undo is not None, redo is not None)) > 1:
        raise InvalidInput("say one of --sources, --undo and --redo", field="undo")
    from memgraph_server.actions.inputs import namespace as checked
    from memgraph_server.actions.sources import survey

    settings = settings_of(store=store, worker=False, extractor=extractor, llm_extract_model=model)
    with services_of(settings) as services:
        found = survey(services.store, checked(namespace))
        one = _One(services, namespace, found, dry_run=dry_run, as_json=as_json)
        if sources:
            one.sources()
        elif undo is not None:
            one.undo(undo)
        elif redo is not None:
            one.redo(redo)
        else:
            one.read(session or [], limit, again=again)


@dataclass(frozen=True)
class _One:
    """One namespace, and what is asked of it."""

    services: Services
    namespace: str
    survey: Survey
    dry_run: bool
    as_json: bool

    def sources(self) -> None:
        rows = [
            {"source": name, "standing": len(of.standing), "undone": len(of.undone), "corrected": of.corrected,
             "turns": len(of.turns)}
            for name, of in sorted(self.survey.sources.items())
        ]  # fmt: skip
        if self.as_json:
            print_json({"namespace": self.namespace, "sources": rows})
            return
        columns = ("source", "standing", "undone", "corrected", "turns")
        table(f"Claims in {self.namespace}", columns, [[str(row[each]) for each in columns] for row in rows])

    def undo(self, source: str) -> None:
        from memgraph_server.actions import sources
        from memgraph_server.wiring import clock

        claims = self.survey.of(source)
        done = sources.undo(self.services.store, self.namespace, claims, source, clock=clock)
        self._moved("withdrawn", claims.standing, done, f"--redo {source}")

    def redo(self, source: str) -> None:
        from memgraph_server.actions import sources
        from memgraph_server.wiring import clock

        claims = self.survey.of(source)
        embedder = self.services.embedder.get()
        done = sources.redo(self.services.store, self.namespace, claims, embedder, clock=clock)
        self._moved("brought_back", claims.undone, done, f"--undo {source}")

    def _moved(self, what: str, ids: list[str], done: Iterator[str], back: str) -> None:
        count = 0 if self.dry_run else sum(1 for _ in _shown(what.replace("_", " "), done, len(ids)))
        if self.as_json:
            print_json({"namespace": self.namespace, what: count, "of": len(ids), "dry_run": self.dry_run})
        elif self.dry_run:
            typer.echo(f"{len(ids)} assertions would be {what.replace('_', ' ')}")
        else:
            typer.echo(f"{count} assertions {what.replace('_', ' ')}; back: reextract -n {self.namespace} {back}")

    def read(self, sessions: list[str], limit: int | None, *, again: bool) -> None:
        from memgraph_server.actions import reextract as action
        from memgraph_server.wiring import clock

        store, extractor = self.services.store, self.services.extractor.get()
        claims = self.survey.sources.get(extractor.name)
        _refuse_undone(extractor.name, claims)
        every = action.every_turn(store, self.namespace, sessions)
        unread = every if again or claims is None else [each for each in every if each not in claims.turns]
        chosen = unread[:limit]
        if self.dry_run:
            self._foreseen(extractor.name, chosen, len(every) - len(unread))
            return
        done, stopped = action.Summary(), None
        rereads = action.reextract(
            store, self.namespace, extractor, self.services.embedder.get(), chosen,
            since=self.survey.recorded_at, clock=clock,
        )  # fmt: skip
        try:
            for one in _shown(extractor.name, rereads, len(chosen)):
                done.note(one)
        except ModelUnavailable as error:
            stopped = error
        self._report(extractor.name, done, len(chosen), len(every) - len(unread), claimed_before=claims is not None)
        if stopped is not None:
            raise stopped

    def _foreseen(self, source: str, chosen: list[str], skipped: int) -> None:
        by_model = source.startswith("llm:")
        turns = self.services.store.turns(self.namespace, chosen)
        tokens = sum(_INSTRUCTIONS + len(turn.full_text()) // 3 for turn in turns) if by_model else 0
        found = {
            "source": source, "namespace": self.namespace, "dry_run": True, "turns": len(chosen), "skipped": skipped,
            "calls": len(chosen) if by_model else 0, "prompt_tokens_about": tokens,
        }  # fmt: skip
        if self.as_json:
            print_json(found)
            return
        cost = f", {len(chosen)} calls, {tokens} tokens at least" if by_model else ""
        typer.echo(f"{source} would read {len(chosen)} turns{cost}; {skipped} it has read already")

    def _report(self, source: str, done: Summary, chosen: int, skipped: int, *, claimed_before: bool) -> None:
        usage = done.usage
        found: dict[str, Any] = {
            "source": source, "namespace": self.namespace, "dry_run": False, "turns": chosen, "read": done.read,
            "skipped": skipped, "added": len(done.added), "known": done.known, "troubles": dict(done.troubles),
            "usage": {"model_calls": usage.calls, "model_prompt_tokens": usage.prompt_tokens,
                      "model_completion_tokens": usage.completion_tokens, "model_retries": usage.retries},
            "receipt": done.added,
        }  # fmt: skip
        if self.as_json:
            print_json(found)
            return
        typer.echo(
            f"{source}: {done.read} of {chosen} turns read, {skipped} skipped; {len(done.added)} assertions new, "
            f"{done.known} known; {usage.calls} calls, {usage.prompt_tokens} + {usage.completion_tokens} tokens"
        )
        for trouble, count in done.troubles.most_common():
            typer.echo(f"{count} turns gave nothing: {trouble}", err=True)
        if done.added:
            more = ", which withdraws its earlier claims too" if claimed_before else ""
            typer.echo(f"back: memgraph-server reextract -n {self.namespace} --undo {source}{more}")


def _refuse_undone(source: str, claims: Claims | None) -> None:
    if claims is not None and claims.undone:
        raise InvalidInput(
            f"{len(claims.undone)} claims of {source} are withdrawn: bring them back first, with --redo {source}",
            field="redo",
        )


def _shown(what: str, items: Iterable[Any], total: int) -> Iterator[Any]:
    """The items, with a bar on standard error."""
    with progress() as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)
