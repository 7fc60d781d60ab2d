"""`eval`: evidence recall against token budgets, by the real pipeline; how good the facts are; how good the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memgraph_server.command_line.options import settings_of
from memgraph_server.command_line.output import console
from memgraph_server.errors import InvalidInput

_ANSWERS = "Answers (need a language model)"


def evaluate(
    file: Annotated[
        Path, typer.Argument(help="LoCoMo, LongMemEval, RealMem or this project's format; a file or a folder")
    ],
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
    limit: Annotated[
        int | None, typer.Option(help="only the first conversations; with --passages: questions", min=1)
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="measure the facts themselves instead, for each extractor that is set")
    ] = False,
    sessions: Annotated[
        int | None, typer.Option(help="with --facts: only the first sessions of a conversation", min=1)
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(help="fit the ranking's weights, and write them here if they find more on what they did not see"),
    ] = None,
    passages: Annotated[
        bool, typer.Option("--passages", help="a folder of MuSiQue: are all supporting passages among the best ranked?")
    ] = False,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="measure the answers instead, beside those from the whole conversation",
            rich_help_panel=_ANSWERS,
        ),
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="have the answers judged (grade-1)", rich_help_panel=_ANSWERS)
    ] = False,
    judge_by: Annotated[
        list[str] | None,
        typer.Option(
            help="PROMPT[@MODEL]: grade-1, grade-locomo-1, grade-longmemeval-1 or a FILE.md; repeatable",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    questions: Annotated[
        int | None, typer.Option(help="only so many, drawn at random", min=1, rich_help_panel=_ANSWERS)
    ] = None,
    seed: Annotated[int, typer.Option(help="of that draw", min=0, rich_help_panel=_ANSWERS)] = 0,
    context: Annotated[
        int | None,
        typer.Option(help="tokens that the answering model reads [default: 100000]", min=1, rich_help_panel=_ANSWERS),
    ] = None,
) -> None:
    """Measure how much of the evidence is found, at each budget; or, with --facts, how good the facts are; or, with
    --answers, how good the answers are.

    Example: memgraph-server eval locomo.json --budget 512 1024 2048 4096 --json report.json

    Example: memgraph-server eval --facts realmem --json facts.json

    Example: memgraph-server eval --fit ranking.json my-transcripts

    Example: memgraph-server eval --passages musique --json passages.json

    Example: memgraph-server eval --answers --judge locomo.json --questions 100 --json answers.json

    Example: memgraph-server eval --answers --judge-by grade-locomo-1 --judge-by grade-1@gpt-x locomo.json
    """
    budgets = [*(budget or ()), *(more_budgets or ())]
    if answers or judge or judge_by:
        named = tuple(dict.fromkeys([*(["grade-1"] if judge else []), *(judge_by or ())]))
        _answers(
            file, budgets, named, json_path=json_path, keep=keep, limit=limit, questions=questions, seed=seed,
            context=context,
        )  # fmt: skip
        return
    if questions is not None or context is not None:
        raise InvalidInput("--questions and --context go with --answers", field="questions")
    if fit is not None:
        from memgraph_server.evaluation.learn import fit_ranking

        fit_ranking(file, fit, settings=settings_of(), keep=keep, console=console())
        return
    if passages:
        from memgraph_server.evaluation.passages import evaluate_passages

        evaluate_passages(file, settings=settings_of(), json_path=json_path, limit=limit, console=console())
        return
    if facts:
        from memgraph_server.evaluation.facts import evaluate_facts

        evaluate_facts(
            file, settings=settings_of(), json_path=json_path, limit=limit, sessions=sessions, console=console()
        )
        return
    from memgraph_server.evaluation.run import BUDGETS, evaluate

    evaluate(
        file, settings=settings_of(), budgets=budgets or list(BUDGETS), json_path=json_path, plot_path=plot, keep=keep,
        baselines=baselines, limit=limit, console=console(),
    )  # fmt: skip


def _answers(
    file: Path,
    budgets: list[int],
    judges: tuple[str, ...],
    *,
    json_path: Path | None,
    keep: Path | None,
    limit: int | None,
    questions: int | None,
    seed: int,
    context: int | None,
) -> None:
    from memgraph_server.evaluation.answers import BUDGET, CONTEXT, Plan, evaluate_answers

    if len(budgets) > 1:
        raise InvalidInput("--answers are measured at one budget", field="budget")
    plan = Plan(
        budget=budgets[0] if budgets else BUDGET,
        context=CONTEXT if context is None else context,
        judges=judges,
        questions=questions,
        seed=seed,
    )
    evaluate_answers(
        file, settings=settings_of(), plan=plan, json_path=json_path, keep=keep, limit=limit, console=console()
    )
