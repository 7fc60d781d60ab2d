"""Tables, JSON and progress on a terminal. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def print_json(document: Any) -> None:
    """One line where somebody reads by program, indented on a terminal; ASCII, whatever the terminal's encoding."""
    indent = 1 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(document, indent=indent) + "\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> None:
    """Cells are data: nothing in them is markup."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title), title_justify="left", header_style="bold", expand=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell or "")) for cell in row))
    console().print(shown)


def printable(text: str) -> str:
    """Without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)


def progress() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console(stderr=True), transient=True,
    )  # fmt: skip
