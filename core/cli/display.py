"""What commands print: progress for a person who watches, JSON for a machine, tables otherwise."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from glem.core.cli.printable import printable, raw
from glem.core.progress import SILENT, Progress, Task

__all__ = ["display_progress", "print_json", "print_table"]


class _BarTask:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar = bar
        self._task = task

    def advance(self, amount: float = 1) -> None:
        self._bar.advance(self._task, amount)

    def note(self, text: str) -> None:
        self._bar.update(self._task, note=printable(text))


def display_progress(*, quiet: bool = False) -> Progress:
    """Bars on standard error when that is a terminal, else the silent stand-in."""
    if quiet or not sys.stderr.isatty():
        return SILENT

    @contextlib.contextmanager
    def show(description: str, total: float | None = None) -> Iterator[Task]:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        with Bars(*columns, console=Console(file=raw(sys.stderr)), transient=False) as bar:
            yield _BarTask(bar, bar.add_task(printable(description), total=total, note=""))

    return show


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for: not-a-number and infinity become null."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_json(value: Any) -> None:
    """One JSON document on standard output; not-a-number becomes null."""
    click.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output; the first column is text, the others are figures."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(printable(title)), title_justify="left")
    for place, name in enumerate(header):
        table.add_column(Text(printable(name)), justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    # A pipe has no width of its own: wide enough that no cell is cut.
    console = Console(file=raw(sys.stdout), width=None if sys.stdout.isatty() else 200)
    console.print(table)
