"""Selected positions as a CSV file, for programs that are to score them."""

from __future__ import annotations

import csv
import os

import numpy as np
from attrs import define, field

from glem.core.files import atomic_path
from glem.core.game import Game
from glem.core.grading.reading import SelectedPart
from glem.core.operations import position_at

__all__ = ["PositionTable", "game_numbers"]

_HEADER = ("file", "game", "ply", "position", "result")


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
        results = np.sign(part.label).astype(int).tolist()
        numbers = game_numbers(part)
        for row in range(len(selected)):
            position = self.game.format_position(position_at(selected.positions, row))
            self._lines.append((selected.source, numbers[row], int(selected.ply[row]), position, results[row]))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file: source (:mod:`glem.core.file_names`), game, ply, position, result for the side to move."""
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(_HEADER)
            lines.writerows(self._lines)
