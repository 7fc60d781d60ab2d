"""`eval`: evidence recall against token budgets, by the real pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgraph_server.command_line.options import settings_of
from memgraph_server.command_line.output import console


def evaluate(
    file: Annotated[Path, typer.Argument(help="LoCoMo, RealMem or this project's format; a file or a folder")],
    *,
    budget: Annotated[
        list[int] | None, typer.Option("--budget", help="tokens; repeatable [default: 512 1024 2048 4096]", min=1)
    ] = None,
    more_budgets: Annotated[list[int] | None, typer.Argument(help="further budgets", min=1)] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="write the report here")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw recall against budget here (extra: plots)")] = None,
    keep: Annotated[
        Path | None, typer.Option(help="a folder where ingested conversations stay for the next run")
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines/--no-baselines", help="also measure the baselines")] = True,
    limit: Annotated[int | None, typer.Option(help="only the first conversations", min=1)] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="measure the facts themselves instead, for each extractor that is set")
    ] = False,
    sessions: Annotated[
        int | None, typer.Option(help="with --facts: only the first sessions of a conversation", min=1)
    ] = None,
) -> None:
    """Measure how much of the evidence is found, at each budget; or, with --facts, how good the facts are.

    Example: memgraph-server eval locomo.json --budget 512 1024 2048 4096 --json report.json

    Example: memgraph-server eval --facts realmem --json facts.json
    """
    if facts:
        from memgraph_server.evaluation.facts import evaluate_facts

        evaluate_facts(
            file, settings=settings_of(), json_path=json_path, limit=limit, sessions=sessions, console=console()
        )
        return
    from memgraph_server.evaluation.run import BUDGETS, evaluate

    budgets = [*(budget or ()), *(more_budgets or ())] or list(BUDGETS)
    evaluate(
        file, settings=settings_of(), budgets=budgets, json_path=json_path, plot_path=plot, keep=keep,
        baselines=baselines, limit=limit, console=console(),
    )  # fmt: skip
