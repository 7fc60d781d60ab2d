"""`eval`: evidence recall against token budgets, by the real pipeline; how good the facts are; how good the answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from memgraph_server.command_line.options import settings_of
from memgraph_server.command_line.output import console
from memgraph_server.errors import InvalidInput

_ANSWERS = "Answers (need a language model)"
#: What each kind of run heeds. Anything else is refused: it would be passed over in silence.
_HEEDED = {
    "": {"--budget", "--json", "--plot", "--keep", "--no-baselines", "--limit", "--questions", "--seed"},
    "--facts": {"--json", "--limit", "--sessions"},
    "--fit": {"--keep"},
    "--passages": {"--json", "--limit"},
    "--answers": {"--budget", "--json", "--keep", "--limit", "--questions", "--seed", "--context"},
}


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
    questions: Annotated[
        int | None, typer.Option(help="evidence or answers: only so many questions, drawn at random", min=1)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="of that draw [default: 0]", min=0)] = None,
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
    context: Annotated[
        int | None,
        typer.Option(help="tokens that the answering model reads [default: 100000]", min=1, rich_help_panel=_ANSWERS),
    ] = None,
) -> None:
    """Measure how much of the evidence is found, at each budget; or, with --facts, how good the facts are; with
    --passages, how many supporting passages are found; with --answers, how good the answers are; or --fit the ranking.

    Example: memgraph-server eval locomo.json --budget 512 1024 2048 4096 --json report.json

    Example: memgraph-server eval --facts realmem --json facts.json

    Example: memgraph-server eval --fit ranking.json my-transcripts

    Example: memgraph-server eval --passages musique --json passages.json

    Example: memgraph-server eval --answers --judge locomo.json --questions 100 --json answers.json

    Example: memgraph-server eval --answers --judge-by grade-locomo-1 --judge-by grade-1@gpt-x locomo.json
    """
    budgets = [*(budget or ()), *(more_budgets or ())]
    answers = answers or judge or bool(judge_by)
    _check(
        {"--facts": facts, "--fit": fit is not None, "--passages": passages, "--answers": answers},
        {
            "--budget": bool(budgets),
            "--json": json_path is not None,
            "--plot": plot is not None,
            "--keep": keep is not None,
            "--no-baselines": not baselines,
            "--limit": limit is not None,
            "--sessions": sessions is not None,
            "--questions": questions is not None,
            "--seed": seed is not None,
            "--context": context is not None,
        },
    )
    for option, path in (("--json", json_path), ("--plot", plot), ("--fit", fit)):
        _check_writable(option, path)
    if keep is not None and keep.exists() and not keep.is_dir():
        raise InvalidInput(f"--keep {keep} is no folder", field="keep")
    if answers:
        named = tuple(dict.fromkeys([*(["grade-1"] if judge else []), *(judge_by or ())]))
        _answers(
            file, budgets, named, json_path=json_path, keep=keep, limit=limit, questions=questions, seed=seed or 0,
            context=context,
        )  # fmt: skip
        return
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
        baselines=baselines, limit=limit, questions=questions, seed=seed or 0, console=console(),
    )  # fmt: skip


def _check(kinds: Mapping[str, bool], given: Mapping[str, bool]) -> None:
    """At most one kind of run, and no option that it passes over."""
    chosen = [name for name, wanted in kinds.items() if wanted] or [""]
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} are runs of their own: say one of them", field="eval")
    for option, said in given.items():
        if said and option not in _HEEDED[chosen[0]]:
            goes_with = [kind or "plain eval" for kind, heeded in _HEEDED.items() if option in heeded]
            run = f"eval {chosen[0]}".rstrip()
            raise InvalidInput(f"{run} does not heed {option}; it goes with {', '.join(goes_with)}", field="eval")
    if given["--seed"] and not given["--questions"]:
        raise InvalidInput("--seed is of the draw of --questions: say --questions N too, or no --seed", field="eval")


def _check_writable(option: str, path: Path | None) -> None:
    """Before an hour of work, not after it."""
    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder; say a file", field="eval")
    if not folder.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {folder}", field="eval")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidInput(f"{option} {path} may not be written", field="eval")


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
