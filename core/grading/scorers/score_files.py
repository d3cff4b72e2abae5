"""Grading scores that stand in a CSV file: those of any program, in any language."""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError, reading
from glem.core.files.packed import line_blocks
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game
from glem.core.game.whole_numbers import whole_number
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.scorer import Scorer
from glem.core.grading.scorers.searching import value_and_drawishness
from glem.core.positions.positions import Positions
from glem.core.positions.selection.written_positions import original_text
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

_POSITION_COLUMNS = ("position", "fen")
_RESULT_COLUMNS = ("win", "draw", "loss")
_KNOWN = ("file", "game", "ply", *_POSITION_COLUMNS, "score", "drawishness", *_RESULT_COLUMNS)
_LEAST_PROBABILITY = 1e-9
_MOST_BYTES = 1 << 30
_SHOWN = 80
_LINES_AT_ONCE = 1 << 16
_MOST_LINES_OF_ROW = 100
_MOST_FILES, _MOST_GAMES, _MOST_PLIES = (1 << 16) - 1, (1 << 32) - 1, (1 << 16) - 1


class _Scores(NamedTuple):
    """Rows of the file in columns."""

    key: NDArray[np.uint64]
    line: NDArray[np.int64]
    value: NDArray[np.float64]
    drawishness: NDArray[np.float64]


class ScoreFileScorer(Scorer):
    """Scores from a CSV file whose first line names the columns.

    A line is for the position that its columns ``game`` (number of the game in its file, from 1) and ``ply`` (plies
    before it) name, with ``file`` (the file's name, behind as many folders as tell it from others of that name) where
    several files are graded; or for all positions that are equal
    to the text in ``position`` or ``fen``. It gives a ``score``, and perhaps a ``drawishness``, or the probabilities
    ``win``, ``draw`` and ``loss``. Other columns are not read; an empty field is a missing value.

    Parameters
    ----------
    name
        For people.
    path
        The file; also packed.
    side
        ``mover`` where scores and probabilities speak for the side to move, ``first`` where for the first player.
    unit
        Unit of the scores, for people.

    Raises
    ------
    BadInputError
        The file cannot be read, or a line is not what it should be; the text names the line.
    """

    def __init__(self, game: Game, name: str, path: str, *, side: str = "mover", unit: str = "") -> None:
        if side not in ("mover", "first"):
            raise BadInputError(f"{name!r}: the side that scores speak for is mover or first, not {side!r}")
        self.name = name
        self._game, self._path, self._side = game, Path(path), side
        self._files: dict[str, int] = {}
        self._scores = self._read()
        self._unit = unit or ("log odds" if self._has_results else "")
        self._source: str | None = None
        self._used = np.zeros(len(self._scores.key), np.bool_)

    def _read(self) -> _Scores:
        columns: list[array[Any]] = [array(kind) for kind in "Qqdd"]
        number = begun = 0

        def texts() -> Iterator[str]:
            nonlocal number
            for block in line_blocks(self._path, lines=_LINES_AT_ONCE, max_bytes=_MOST_BYTES):
                for row in np.flatnonzero(block.ends > block.starts).tolist():
                    number = block.first_number + row
                    # A quote that stays open would take all lines into one field, and all fields into one row.
                    if lines.line_num - begun >= _MOST_LINES_OF_ROW:
                        raise BadInputError(
                            f"{self._path}:{number}: no end of a row within {_MOST_LINES_OF_ROW} lines; a quote is open"
                        )
                    yield block.data[block.starts[row] : block.ends[row]].tobytes().decode("utf-8", "replace") + "\n"

        lines = csv.reader(texts())
        with reading(self._path, "scores in a CSV file"):
            header = [name.strip().lower() for name in next(lines, [])]
            self._columns = {name: header.index(name) for name in _KNOWN if name in header}
            self._check_header(header)
            begun = lines.line_num
            for fields in lines:
                begun = lines.line_num
                if any(field.strip() for field in fields):
                    with reading(f"{self._path}:{number}", "line of scores"):
                        key, value, drawishness = self._row(fields)
                    for column, entry in zip(columns, (key, number, value, drawishness), strict=True):
                        column.append(entry)
        return self._distinct(_Scores(*map(np.array, columns)))

    def _distinct(self, found: _Scores) -> _Scores:
        """Sort rows by key, and refuse those that contradict an earlier one."""
        _, first, group = np.unique(found.key, return_index=True, return_inverse=True)
        distinct = rows_of(found, first)
        given, chosen = (np.stack([scores.value, scores.drawishness]) for scores in (found, rows_of(distinct, group)))
        differs = ((given != chosen) & ~(np.isnan(given) & np.isnan(chosen))).any(axis=0)
        if differs.any():
            row = int(np.argmax(differs))
            raise BadInputError(
                f"{self._path}:{found.line[row]}: gives another score to the position of line "
                f"{distinct.line[group[row]]}; one is wrong"
            )
        return distinct

    def _check_header(self, header: Sequence[str]) -> None:
        columns = self._columns
        self._by_text = next((name for name in _POSITION_COLUMNS if name in columns), None)
        if "game" in columns and "ply" in columns:
            self._by_text = None
        elif self._by_text is None:
            raise BadInputError(
                f"{self._path}:1: the columns {', '.join(header) or 'none'} do not tell which position a line is for; "
                "name game and ply, or position"
            )
        self._has_results = all(name in columns for name in _RESULT_COLUMNS)
        if "score" not in columns and not self._has_results:
            raise BadInputError(f"{self._path}:1: there is no column score, and not all of win, draw and loss")

    def _row(self, fields: Sequence[str]) -> tuple[int, float, float]:
        """Key, value and drawishness of a line; whoever calls adds its place to errors."""

        def text(name: str) -> str:
            place = self._columns[name]
            return fields[place].strip() if place < len(fields) else ""

        def number(name: str) -> float:
            found = text(name)
            try:
                if not found.isascii() or "_" in found:
                    raise ValueError
                value = float(found) if found else math.nan
            except ValueError:
                value = math.inf
            if math.isinf(value):
                raise BadInputError(f"{name} must be a number, got {found[:_SHOWN]!r}")
            return value

        if self._by_text is not None:
            key = int(self._game.hash_key(self._game.parse_position(text(self._by_text))))
        else:
            where = [text(name) for name in ("game", "ply")]
            game, ply = (whole_number(word) for word in where)
            if game is None or ply is None:
                shown = ", ".join(where)[:_SHOWN]
                raise BadInputError(f"game and ply must be whole numbers, got {shown!r}")
            key = self._packed(original_text(text("file")) if "file" in self._columns else "", game, ply)
        return key, *self._score(number)

    def _packed(self, file: str, game: int, ply: int) -> int:
        if game > _MOST_GAMES or ply > _MOST_PLIES:
            raise BadInputError(
                f"games are numbered to {_MOST_GAMES:,} and plies to {_MOST_PLIES:,}, got {game:,} and {ply:,}"
            )
        number = self._files.setdefault(file, len(self._files))
        if number > _MOST_FILES:
            raise BadInputError(f"names more than {_MOST_FILES:,} files")
        return (number << 48) | (game << 16) | ply

    def _score(self, number: Callable[[str], float]) -> tuple[float, float]:
        if not self._has_results:
            drawishness = number("drawishness") if "drawishness" in self._columns else math.nan
            if drawishness < 0 or drawishness > 1:
                raise BadInputError(f"drawishness must be between 0 and 1, got {drawishness:g}")
            return number("score"), drawishness
        results = np.array([[number(name) for name in _RESULT_COLUMNS]])
        if np.isnan(results).any():
            return math.nan, math.nan
        if (results < 0).any() or not 0.98 <= results.sum() <= 1.02:
            shown = ", ".join(f"{value:g}" for value in results[0])
            raise BadInputError(f"win, draw and loss must add up to 1, got {shown}")
        bounded = np.maximum(results / results.sum(), _LEAST_PROBABILITY)
        values, draws = value_and_drawishness(bounded / bounded.sum())
        return float(values[0]), float(draws[0])

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Look the positions up.

        Raises
        ------
        BadInputError
            Several files are graded, and the lines do not tell which one they are for.
        """
        keys, known = self._keys(selected)
        scores = self._scores
        value = np.full(len(keys), math.nan)
        drawishness = value.copy()
        if len(scores.key):
            place = np.minimum(np.searchsorted(scores.key, keys), len(scores.key) - 1)
            known &= scores.key[place] == keys
            place = place[known]
            self._used[place] = True
            value[known], drawishness[known] = scores.value[place], scores.drawishness[place]
        if self._side == "first":
            value *= selected.side
        return Prediction(
            value,
            drawishness if self._has_results or "drawishness" in self._columns else None,
            scale=1.0 if self._has_results else None,
            unit=self._unit,
        )

    def _keys(self, selected: Positions) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Keys of positions, and which of them a line may name at all."""
        if self._by_text is not None:
            keys = position_keys(self._game, selected.positions, symmetries=False)
            return keys, np.ones(len(keys), np.bool_)
        source = "".join(selected.sources)
        if "file" not in self._columns and self._source not in (None, source):
            raise BadInputError(f"{self._path}: several files are graded, so that its lines need a column file")
        self._source = source
        file = self._files.get(source if "file" in self._columns else "")
        key = np.uint64(file or 0) << np.uint64(48) | selected.number.astype(np.uint64) << np.uint64(16)
        return key | selected.ply.astype(np.uint64), np.full(len(key), file is not None) & (selected.ply >= 0)

    def remarks(self) -> Sequence[str]:
        """Say how many lines were for none of the graded positions."""
        unused = int((~self._used).sum())
        if not unused:
            return []
        return [f"{self.name}: {unused:,} of {counted(len(self._used), 'score')} are for other positions"]
