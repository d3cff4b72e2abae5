"""Tables of what was found: a command prints them, a page of a report and a notebook show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple


class Table(NamedTuple):
    """A table of texts.

    Parameters
    ----------
    title
        What it tells.
    header
        Names of the columns. The first column names the rows, the others are figures.
    rows
        The cells.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(cls, title: str, records: Iterable[Any], columns: Mapping[str, Callable[[Any], object]]) -> Table:
        """Make a table of objects, a row each; a column's function words its cell, None leaves it empty."""
        rows = [[str(word(record) or "") for word in columns.values()] for record in records]
        return cls(title, tuple(columns), rows)

    def text(self) -> str:
        """Write the table in columns of plain text."""
        lines = [name.split("\n") for name in self.header]
        height = max(map(len, lines), default=0)
        heads = [[("", *line)[max(0, place - height + len(line) + 1)] for line in lines] for place in range(height)]
        cells = [*heads, *self.rows]
        widths = [max(map(len, column), default=0) for column in zip(*cells, strict=True)]
        shown = (
            "  ".join(
                f"{cell:{'>' if place else '<'}{width}}"
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        )
        return "\n".join([self.title, *(line.rstrip() for line in shown)])

    def html(self) -> str:
        """Write the table for a notebook; every text in it is escaped."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        title = escape(self.title)
        return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
