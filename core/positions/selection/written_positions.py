"""Selected positions as a CSV file, for programs that are to score them."""

import csv
import io
import os
import re

from attrs import define, field

from glem.core.compiling.columns import position_at
from glem.core.files.atomic import write_text
from glem.core.game.game import Game
from glem.core.positions.positions import Positions

# What a spreadsheet takes for a formula, after apostrophes that were there before; but a number is a number.
_FORMULA = re.compile(r"(?!-?\d+(\.\d+)?([eE][-+]?\d+)?$)'*[=+\-@\t\r]")
_HEADER = ("file", "game", "ply", "position", "result")


def spreadsheet_text(text: str) -> str:
    """Text of a stranger as a field of a table: behind an apostrophe where a spreadsheet would run it as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def original_text(field: str) -> str:
    """Give back the text of which :func:`spreadsheet_text` made a field."""
    return field[1:] if field.startswith("'") and _FORMULA.match(field) else field


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

    def add(self, part: Positions) -> None:
        """Add selected positions of a file (:mod:`glem.core.positions.selection.reading`)."""
        (source,) = map(spreadsheet_text, part.sources)
        columns = (part.number.tolist(), part.ply.tolist(), part.result.tolist())
        for row, (number, ply, result) in enumerate(zip(*columns, strict=True)):
            position = self.game.format_position(position_at(part.positions, row))
            self._lines.append((source, number, ply, position, result))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file: source (:mod:`glem.core.files.names`), game, ply, position, result for the side to move."""
        file = io.StringIO()
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(_HEADER)
        lines.writerows(self._lines)
        write_text(path, file.getvalue())
