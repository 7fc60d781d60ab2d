"""A measured figure beside its bar; every benchmark prints a table of them and can write them as JSON.

Machines differ, so what involves time is a ratio within one run wherever that says enough; absolute times are given
with the machine's load, since a figure measured beside other work is no figure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """`bar`: the value to keep to, None where there is none; `at_least`: whether more is better."""

    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar


def arguments(about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there too")
    return parser


def present(title: str, figures: Sequence[Figure], out: Path | None, **conditions: Any) -> None:
    """The table, and the JSON: {"title", "conditions", "figures": [{name, value, unit, bar, at_least, holds}]}."""
    conditions |= {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 2), "python": platform.python_version()}
    table = Table(title=title, caption=", ".join(f"{name} {value}" for name, value in conditions.items()))
    for column in ("what", "measured", "bar", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:,.2f} {figure.unit}".strip(), _bar(figure), _verdict(figure))
    Console().print(table)
    if out is not None:
        rows = [asdict(figure) | {"holds": figure.holds} for figure in figures]
        out.write_text(json.dumps({"title": title, "conditions": conditions, "figures": rows}, indent=1) + "\n")


def _bar(figure: Figure) -> str:
    return "" if figure.bar is None else f"{'≥' if figure.at_least else '≤'} {figure.bar:,g}"


def _verdict(figure: Figure) -> str:
    return {None: "", True: "holds", False: "MISSED"}[figure.holds]
