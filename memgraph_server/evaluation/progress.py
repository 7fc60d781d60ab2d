"""Bars for evaluations, which take minutes to hours."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def progress_on(console: Console) -> Progress:
    """Gone when it is done; nothing at all on a quiet console. Names of tasks are data: nothing in them is markup."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=console.quiet)
