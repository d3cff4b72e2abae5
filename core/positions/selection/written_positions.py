"""Selected positions as a CSV file, for programs that are to score them."""

from __future__ import annotations

import csv
import os
import re

import numpy as np
from attrs import define, field

from glem.core.compiling.columns import position_at
from glem.core.files.atomic import atomic_path
from glem.core.game.game import Game
from glem.core.positions.selection.reading import SelectedPart

__all__ = ["PositionTable", "game_numbers", "original_text", "spreadsheet_text"]

# What a spreadsheet takes for a formula, after apostrophes that were there before; but a number is a number.
_FORMULA = re.compile(r"(?!-?\d+(\.\d+)?([eE][-+]?\d+)?$)'*[=+\-@\t\r]")
_HEADER = ("file", "game", "ply", "position", "result")


def spreadsheet_text(text: str) -> str:
    """Text of a stranger as a field of a table: behind an apostrophe where a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def original_text(field: str) -> str:
    """Give back the text of which :func:`spreadsheet_text` made a field."""
    return field[1:] if field.startswith("'") and _FORMULA.match(field) else field


def game_numbers(part: SelectedPart) -> list[int]:
    """Tell the number of each position's game in its file, from 1, as people count."""
    selected = part.selected
    if selected.records is not None and selected.record is not None and "number" in selected.records.extra:
        numbers: list[int] = selected.records.extra["number"][selected.record].tolist()
        return numbers
    return [number + 1 for number in selected.game_number.tolist()]


@define
class PositionTable:
    """Gathers selected positions as lines of a table.

    Parameters
    ----------
    game
        Whose positions they are.
    """

    game: Game
    _lines: list[tuple[str, int, int, str, int]] = field(factory=list, init=False)

    def add(self, part: SelectedPart) -> None:
        """Add the positions of a part of a file."""
        selected = part.selected
        source = spreadsheet_text(selected.source)
        results = np.sign(part.label).astype(int).tolist()
        numbers = game_numbers(part)
        for row in range(len(selected)):
            position = self.game.format_position(position_at(selected.positions, row))
            self._lines.append((source, numbers[row], int(selected.ply[row]), position, results[row]))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file: source (:mod:`glem.core.files.names`), game, ply, position, result for the side to move."""
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(_HEADER)
            lines.writerows(self._lines)
