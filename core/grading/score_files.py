"""Grading scores that stand in a CSV file: those of any program, in any language."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.duplicates import position_keys
from glem.core.errors import BadInputError, reading
from glem.core.game import Game
from glem.core.grading.external_scorer import value_and_drawishness
from glem.core.grading.grading import Prediction
from glem.core.grading.scorer_tables import ScorerTable
from glem.core.grading.selected import SelectedPositions
from glem.core.grading.written_positions import original_text
from glem.core.progress import SILENT, Progress
from glem.core.record_files import open_bounded

__all__ = ["ScoreFileScorer"]

_POSITION_COLUMNS = ("position", "fen")
_RESULT_COLUMNS = ("win", "draw", "loss")
_KNOWN = ("file", "game", "ply", *_POSITION_COLUMNS, "score", "drawishness", *_RESULT_COLUMNS)
_LEAST_PROBABILITY = 1e-9
_MOST_BYTES = 1 << 30


@define(frozen=True)
class _Score:
    line: int
    value: float
    drawishness: float


class ScoreFileScorer:
    """Scores from a CSV file whose first line names the columns.

    A line is for the position that its columns ``game`` (number of the game in its file, from 1) and ``ply`` (plies
    before it) name, with ``file`` (the file's name) where several files are graded; or for all positions that are equal
    to the text in ``position`` or ``fen``. It gives a ``score``, and perhaps a ``drawishness``, or the probabilities
    ``win``, ``draw`` and ``loss``. Other columns are not read; an empty field is a missing value.

    Parameters
    ----------
    game
        The game.
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

    is_search = False

    def __init__(self, game: Game, name: str, path: str, *, side: str = "mover", unit: str = "") -> None:
        if side not in ("mover", "first"):
            raise BadInputError(f"{name!r}: the side that scores speak for is mover or first, not {side!r}")
        self.name = name
        self._game, self._path, self._side = game, Path(path), side
        self._scores: dict[Any, _Score] = {}
        self._read()
        self._unit = unit or ("log odds" if self._has_results else "")
        self._source: str | None = None
        self._used: set[int] = set()

    def _read(self) -> None:
        with open_bounded(self._path, max_bytes=_MOST_BYTES) as file:
            data = b"".join(iter(lambda: file.read(1 << 20), b""))
        lines = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
        with reading(self._path, "scores in a CSV file"):
            header = [name.strip().lower() for name in next(lines, [])]
            self._columns = {name: header.index(name) for name in _KNOWN if name in header}
            self._check_header(header)
            for fields in lines:
                if any(field.strip() for field in fields):
                    with reading(f"{self._path}:{lines.line_num}", "line of scores"):
                        self._add(lines.line_num, fields)

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

    def _add(self, line: int, fields: Sequence[str]) -> None:
        def text(name: str) -> str:
            place = self._columns[name]
            return fields[place].strip() if place < len(fields) else ""

        def number(name: str) -> float:
            found = text(name)
            try:
                value = float(found) if found else math.nan
            except ValueError:
                value = math.inf
            if math.isinf(value):
                raise BadInputError(f"{self._path}:{line}: {name} must be a number, got {found!r}")
            return value

        key: Any
        if self._by_text is not None:
            key = int(self._game.hash_key(self._game.parse_position(text(self._by_text))))
        else:
            where = [text(name) for name in ("game", "ply")]
            if not all(word.isascii() and word.isdecimal() for word in where):
                raise BadInputError(
                    f"{self._path}:{line}: game and ply must be whole numbers, got {', '.join(where)!r}"
                )
            key = (original_text(text("file")) if "file" in self._columns else "", int(where[0]), int(where[1]))
        score = self._score(line, number)
        earlier = self._scores.setdefault(key, score)
        if earlier is not score and (earlier.value, earlier.drawishness) != (score.value, score.drawishness):
            raise BadInputError(
                f"{self._path}:{line}: gives another score to the position of line {earlier.line}; one is wrong"
            )

    def _score(self, line: int, number: Any) -> _Score:
        if not self._has_results:
            drawishness = number("drawishness") if "drawishness" in self._columns else math.nan
            if drawishness < 0 or drawishness > 1:
                raise BadInputError(f"{self._path}:{line}: drawishness must be between 0 and 1, got {drawishness:g}")
            return _Score(line, number("score"), drawishness)
        results = np.array([[number(name) for name in _RESULT_COLUMNS]])
        if np.isnan(results).any():
            return _Score(line, math.nan, math.nan)
        if (results < 0).any() or not 0.98 <= results.sum() <= 1.02:
            shown = ", ".join(f"{value:g}" for value in results[0])
            raise BadInputError(f"{self._path}:{line}: win, draw and loss must add up to 1, got {shown}")
        bounded = np.maximum(results / results.sum(), _LEAST_PROBABILITY)
        value, drawishness = value_and_drawishness(bounded / bounded.sum())
        return _Score(line, float(value[0]), float(drawishness[0]))

    def predict(self, selected: SelectedPositions, *, progress: Progress = SILENT) -> Prediction:
        """Look the positions up.

        Raises
        ------
        BadInputError
            Several files are graded, and the lines do not tell which one they are for.
        """
        scores = [self._scores.get(key) for key in self._keys(selected)]
        self._used.update(score.line for score in scores if score is not None)
        value = np.array([math.nan if score is None else score.value for score in scores])
        if self._side == "first":
            value = value * selected.side
        drawishness = None
        if self._has_results or "drawishness" in self._columns:
            drawishness = np.array([math.nan if score is None else score.drawishness for score in scores])
        return Prediction(value, drawishness, scale=1.0 if self._has_results else None, unit=self._unit)

    def _keys(self, selected: SelectedPositions) -> list[Any]:
        if self._by_text is not None:
            keys: list[Any] = position_keys(self._game, selected.positions, symmetries=False).tolist()
            return keys
        records = selected.records
        source = "" if records is None else records.source
        if "file" not in self._columns and self._source not in (None, source):
            raise BadInputError(f"{self._path}: several files are graded, so that its lines need a column file")
        self._source = source
        number: NDArray[Any] = selected.game_number + 1
        if records is not None and selected.record is not None and "number" in records.extra:
            number = records.extra["number"][selected.record]
        file = source if "file" in self._columns else ""
        return [(file, game, ply) for game, ply in zip(number.tolist(), selected.ply.tolist(), strict=True)]

    def remarks(self) -> Sequence[str]:
        """Say how many lines were for none of the graded positions."""
        unused = len(self._scores) - len(self._used)
        return [f"{self.name}: {unused:,} of {len(self._scores):,} scores are for other positions"] if unused else []

    def tables(self) -> Sequence[ScorerTable]:
        """Show nothing."""
        return ()
