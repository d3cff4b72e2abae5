"""Grading evaluations on files: positions in Parquet, or game records in any format of the game.

Files are read in chunks: the positions of one chunk are in memory at a time, and of each selected position a result, a
game number and its values. Positions that are searched are kept as well, until the search of all of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, PluginError
from glem.core.game import Game
from glem.core.grading.grading import (
    GradedPositions,
    Grading,
    GradingSettings,
    Grouping,
    Prediction,
    grade_predictions,
)
from glem.core.grading.scorers import Scorer
from glem.core.grading.selected import SelectedPositions
from glem.core.grading.selection import PAPER_RULE, PositionChooser, SelectionCounts, SelectionRule
from glem.core.labelling import LabelCounts, label_records
from glem.core.learning import Learning, load_learning
from glem.core.position_files import read_header, stream_positions, stream_provenance
from glem.core.positions import PositionSet
from glem.core.progress import SILENT, Progress
from glem.core.records import read_records

__all__ = ["CollectionGrading", "grade_collection"]

_MARGIN_SHARES = (16, 8, 4, 2, 1)
_RESULTS = ("won", "drawn", "lost")


@define(frozen=True, eq=False)
class CollectionGrading:
    """Grades on a collection of games.

    Parameters
    ----------
    grading
        The grades.
    rule
        How positions were selected.
    counts
        What the selection found.
    label_kinds
        What the labels of the files are; results of games are graded best by ``result``.
    remarks
        What a reader of the grades should know about the collection, one sentence each.
    """

    grading: Grading
    rule: SelectionRule
    counts: SelectionCounts
    label_kinds: tuple[str, ...]
    remarks: tuple[str, ...]


class _Selected(NamedTuple):
    """Selected positions of a chunk, and the numbers of their games."""

    positions: PositionSet
    game: NDArray[np.int64]


class _Collection:
    """Selects from files one after the other; numbers games through all of them."""

    def __init__(self, game: Game, rule: SelectionRule, skip_bad: bool) -> None:
        self._game, self._rule, self._skip_bad = game, rule, skip_bad
        self._next_game = 0
        self.counts = SelectionCounts()
        self.records = LabelCounts()
        self.label_kinds: set[str] = set()

    def selected(self, path: str | os.PathLike[str]) -> Iterator[_Selected]:
        if Path(path).suffix == ".parquet":
            self.label_kinds.add(read_header(path, self._game).label_kind)
            yield from self._of_file(path)
            return
        self.label_kinds.add("result")
        # Each part holds whole games: it is a file of its own to the chooser.
        records = read_records(self._game, path, skip_bad=self._skip_bad)
        for part in label_records(self._game, records, label="result", counts=self.records):
            numbered = attrs.evolve(part, record=_renumbered(part.record))
            yield from self._of_parts([numbered], [numbered], lambda again=numbered: iter([again]))

    def _of_file(self, path: str | os.PathLike[str]) -> Iterator[_Selected]:
        game = self._game
        yield from self._of_parts(
            stream_provenance(path, game=game),
            stream_provenance(path, game=game),
            lambda: stream_positions(path, game=game),
            str(path),
        )

    def _of_parts(self, lengths: Any, ranks: Any, parts: Any, path: str = "") -> Iterator[_Selected]:
        chooser = PositionChooser(self._rule)
        records = 0
        for part in lengths:
            chooser.observe(part.record, part.ply)
            records = max(records, int(part.record.max(initial=-1)) + 1)
        for part in ranks:
            chooser.rank(part.record, part.ply, part.game_key)
        first = self._next_game
        alone = first + records
        for part in parts():
            rows = np.flatnonzero(chooser.choose(part.record, part.ply, part.game_key))
            chosen = part.select(rows)
            _check_results(chosen, path)
            single = chosen.record < 0
            numbers = first + chosen.record.astype(np.int64)
            numbers[single] = alone + np.arange(int(single.sum()))
            alone += int(single.sum())
            yield _Selected(chosen, numbers)
        self._next_game = alone
        found = chooser.counts()
        for name in (entry.name for entry in attrs.fields(SelectionCounts)):
            setattr(self.counts, name, getattr(self.counts, name) + getattr(found, name))


def _renumbered(record: NDArray[np.int32]) -> NDArray[np.int32]:
    """Record numbers from 0 on, so that tables by number stay small; -1 stays."""
    numbers = np.unique(record, return_inverse=True)[1]
    return (numbers - int((record < 0).any())).astype(np.int32)


def _check_results(positions: PositionSet, path: str) -> None:
    """Refuse positions that stand for several games: their mean label is the result of none."""
    merged = positions.weight != 1
    if positions.label_kind == "result":
        merged |= positions.label != np.rint(positions.label)
    if merged.any():
        row = int(np.flatnonzero(merged)[0])
        raise BadInputError(
            f"{path}: a position has weight {positions.weight[row]:g} and label {positions.label[row]:g}; merged "
            "positions have no result of their own, make the file without --merge"
        )


def _margin_grouping(game: Game, label: NDArray[np.float32]) -> Grouping | None:
    """Group positions by how much their game was won by; None where scores only tell who won."""
    greatest = max(abs(bound) for bound in game.score_bounds)
    if greatest < _MARGIN_SHARES[0]:
        return None
    borders = [math.ceil(greatest / share) for share in _MARGIN_SHARES]
    lows = [1, *(border + 1 for border in borders[:-1])]
    names = ("drawn", *(f"won by {low}-{high}" for low, high in zip(lows, borders, strict=True)))
    margin = np.abs(label)
    group = np.where(margin == 0, 0, 1 + np.searchsorted(borders[:-1], margin))
    return Grouping(names, group.astype(np.int8))


class _Columns:
    """What is kept of the selected positions."""

    def __init__(self, game: Game, learning: Learning | None, scorers: Sequence[Scorer]) -> None:
        self._game, self._learning, self._scorers = game, learning, scorers
        self._keeps_positions = any(scorer.is_search for scorer in scorers)
        self._label: list[NDArray[np.float32]] = []
        self._game_number: list[NDArray[np.int64]] = []
        self._ply: list[NDArray[np.int16]] = []
        self._phase: list[NDArray[np.uint8]] = []
        self._positions: list[Any] = []
        self._parts: dict[str, list[Prediction]] = {scorer.name: [] for scorer in scorers}

    def add(self, selected: _Selected) -> None:
        positions = selected.positions
        if len(positions) == 0:
            return
        self._label.append(positions.label)
        self._game_number.append(selected.game)
        self._ply.append(positions.ply)
        if self._learning is not None:
            self._phase.append(self._learning.phases.of(positions.positions))
        if self._keeps_positions:
            self._positions.append(positions.positions)
        given = SelectedPositions(
            positions.positions, positions.ply.astype(np.int32), selected.game, _sides(positions.ply)
        )
        for scorer in self._scorers:
            if not scorer.is_search:
                self._parts[scorer.name].append(scorer.predict(given))

    def graded_positions(self, games_without: int) -> GradedPositions:
        if not self._label:
            why = "all games are too short for the selection" if games_without else "the files hold no finished game"
            raise BadInputError(f"no position is left to grade: {why}")
        label = np.concatenate(self._label)
        ply = np.concatenate(self._ply)
        result = np.sign(label).astype(np.int8)
        groupings = {"result": Grouping(_RESULTS, (1 - result).astype(np.int8))}
        margins = _margin_grouping(self._game, label)
        if margins is not None:
            groupings["margin"] = margins
        if self._learning is not None:
            groupings = {"phase": Grouping(self._learning.phases.names, np.concatenate(self._phase)), **groupings}
        side = _sides(ply) if (ply >= 0).all() else None
        return GradedPositions(result, np.concatenate(self._game_number), side, groupings)

    def predictions(self, progress: Progress) -> dict[str, Prediction]:
        searched: Any = None
        if self._keeps_positions:
            positions = self._game.position_type(
                *(np.concatenate(parts) for parts in zip(*self._positions, strict=True))
            )
            ply = np.concatenate(self._ply)
            searched = SelectedPositions(
                positions, ply.astype(np.int32), np.concatenate(self._game_number), _sides(ply)
            )
        return {
            scorer.name: scorer.predict(searched, progress=progress)
            if scorer.is_search
            else _joined(self._parts[scorer.name])
            for scorer in self._scorers
        }


def _sides(ply: NDArray[Any]) -> NDArray[np.int8]:
    # The sides alternate, passes included.
    return np.where(ply < 0, 0, 1 - 2 * (ply % 2)).astype(np.int8)


def _joined(parts: Sequence[Prediction]) -> Prediction:
    own = parts[0].drawishness
    if np.ndim(own):
        own = np.concatenate([part.drawishness for part in parts])
    return attrs.evolve(parts[0], value=np.concatenate([part.value for part in parts]), drawishness=own)


def grade_collection(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    scorers: Sequence[Scorer],
    *,
    rule: SelectionRule = PAPER_RULE,
    settings: GradingSettings | None = None,
    scales: Sequence[float | None] = (None,),
    drawishness: Sequence[float | None] = (None,),
    skip_bad: bool = False,
    progress: Progress = SILENT,
) -> CollectionGrading:
    """Grade evaluations on the games of some files.

    Parameters
    ----------
    game
        The game.
    files
        Scored positions (``.parquet``), of which the signs of the labels count, or game records.
    scorers
        What is graded, of distinct names.
    rule
        Which positions of each game.
    settings
        How grades are taken.
    scales, drawishness
        b and alpha of each scorer, None to fit one; a single entry is for all of them. An evaluation's own drawishness
        comes first.
    skip_bad
        Leave bad records out instead of stopping.
    progress
        Display.

    Raises
    ------
    BadInputError
        No positions are left, positions were merged, a file is bad, or scorers share a name.
    """
    names = [scorer.name for scorer in scorers]
    if not names or len(set(names)) < len(names):
        raise BadInputError(f"evaluations need names of their own (name=...), got {', '.join(names) or 'none'}")
    given_scales, given_drawishness = _one_each("scale", scales, names), _one_each("drawishness", drawishness, names)
    collection = _Collection(game, rule, skip_bad)
    columns = _Columns(game, _learning_of(game), scorers)
    with progress("Reading", len(files)) as bar:
        for file in files:
            bar.note(Path(file).name)
            for selected in collection.selected(file):
                columns.add(selected)
            bar.advance()
    positions = columns.graded_positions(collection.counts.without)
    predictions = {
        name: attrs.evolve(
            prediction, scale=scale, drawishness=alpha if prediction.drawishness is None else prediction.drawishness
        )
        for (name, prediction), scale, alpha in zip(
            columns.predictions(progress).items(), given_scales, given_drawishness, strict=True
        )
    }
    grading = grade_predictions(positions, predictions, settings)
    return CollectionGrading(
        grading, rule, collection.counts, tuple(sorted(collection.label_kinds)), _remarks(collection, rule)
    )


def _one_each(what: str, given: Sequence[float | None], names: Sequence[str]) -> Sequence[float | None]:
    if len(given) == 1:
        return [given[0]] * len(names)
    if len(given) != len(names):
        raise BadInputError(f"{len(names)} evaluations were given {len(given)} values of {what}; give one, or one each")
    return given


def _learning_of(game: Game) -> Learning | None:
    try:
        return load_learning(game.name)
    except PluginError:
        return None


def _remarks(collection: _Collection, rule: SelectionRule) -> tuple[str, ...]:
    counts, records = collection.counts, collection.records
    others = sorted(collection.label_kinds - {"result"})
    found = []
    if others:
        found.append(
            f"labels are of the kind {', '.join(others)}: their sign is graded, which need not be the game's result "
            "(glem positions --label result)"
        )
    if counts.without:
        found.append(f"{counts.without:,} games have no position that the selection leaves")
    if counts.incomplete and rule.skip_end:
        found.append(
            f"{counts.incomplete:,} games lack positions: their last {rule.skip_end:.0%} is counted from the last one "
            "that is there"
        )
    if counts.unknown_ply:
        found.append(f"{counts.unknown_ply:,} positions do not tell their ply and were not left out for it")
    for number, text in (
        (records.skipped, "bad records skipped"),
        (records.unfinished, "unfinished games left out"),
        (records.illegal, "games with illegal moves left out"),
    ):
        if number:
            found.append(f"{number:,} {text}")
    return tuple(found)
