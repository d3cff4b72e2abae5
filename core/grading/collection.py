"""Grading evaluations on files: positions in Parquet, or game records in any format of the game.

Files are read ahead in threads, part by part. Of game records only the selected positions are replayed to; of each
selected position a result, a game number, its groups and its values are kept. Positions that are searched are kept as
well, until the search of all of them; and the features of drawishness where one is fitted from them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, PluginError
from glem.core.evaluation.provenance import fitted_among
from glem.core.features.learning import Learning, load_learning
from glem.core.files.names import distinct_names
from glem.core.game.game import Game
from glem.core.grading.drawishness import (
    DrawishnessRows,
    DrawishnessSettings,
    FeaturedDrawishness,
    drawishness_values,
    featured_drawishness,
)
from glem.core.grading.grading import (
    GradedPositions,
    Grading,
    GradingSettings,
    Grouping,
    Prediction,
    grade_predictions,
)
from glem.core.grading.groupings import game_groupings, margin_grouping, rating_groupings, result_grouping
from glem.core.grading.scorers.scorer_tables import ScorerTable
from glem.core.grading.scorers.scorers import Scorer
from glem.core.positions.positions import Positions
from glem.core.positions.selection.reading import FileSummary, read_selected, reading_remarks, why_nothing_is_left
from glem.core.positions.selection.selection import PAPER_RULE, SelectionCounts, SelectionRule
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.read_ahead import read_ahead

__all__ = [
    "FEATURES",
    "FIT",
    "OWN",
    "CollectingScorer",
    "CollectionGrading",
    "FittedScorer",
    "ReportingScorer",
    "grade_collection",
]

OWN, FIT = "own", "fit"
"""Scale or drawishness of the evaluation itself, fitted where it has none; or fitted whatever it has."""

FEATURES = "features"
"""Drawishness fitted from features of the positions (:mod:`glem.core.grading.drawishness`)."""


@runtime_checkable
class CollectingScorer(Protocol):
    """A scorer that needs to see all parts of a collection before its values mean anything."""

    def begin(self) -> None:
        """Forget earlier collections."""
        ...

    def complete(self, prediction: Prediction) -> Prediction:
        """Give the final values from those that ``predict`` gave for the parts, joined in their order."""
        ...


@runtime_checkable
class ReportingScorer(Protocol):
    """A scorer that has something to say about its work."""

    def remarks(self) -> Sequence[str]:
        """Sentences for people."""
        ...

    def tables(self) -> Sequence[ScorerTable]:
        """Tables for people."""
        ...


@runtime_checkable
class FittedScorer(Protocol):
    """A scorer whose evaluation tells where it comes from."""

    provenance: Mapping[str, str]
    """Of the evaluation, with the files that it was fitted to (:mod:`glem.core.evaluation.provenance`)."""


@define(frozen=True, eq=False, repr=False)
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
    tables
        What the scorers found out, and the weights of drawishness fitted from features.
    featured
        Names of the evaluations whose drawishness was fitted from features.
    phases
        What the names of the phases say, if the game tells.
    """

    grading: Grading
    rule: SelectionRule
    counts: SelectionCounts
    label_kinds: tuple[str, ...]
    remarks: tuple[str, ...]
    tables: tuple[ScorerTable, ...] = ()
    featured: frozenset[str] = frozenset()
    phases: str = ""

    def __repr__(self) -> str:
        return f"CollectionGrading({self.rule}: {self.grading!r})"

    def _repr_html_(self) -> str:
        return self.grading._repr_html_()


class _Columns:
    """What is kept of the selected positions."""

    def __init__(
        self, game: Game, learning: Learning | None, scorers: Sequence[Scorer], *, is_featured: bool = False
    ) -> None:
        self._game, self._learning, self._scorers = game, learning, scorers
        self._is_featured = is_featured
        self._keeps_positions = any(scorer.is_search for scorer in scorers)
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._positions: list[Any] = []
        self._parts: dict[str, list[Prediction]] = {scorer.name: [] for scorer in scorers}
        self._group_names: dict[str, tuple[str, ...]] = {}

    def add(self, part: Positions, first_game: int) -> None:
        if len(part) == 0:
            return
        kept: dict[str, NDArray[Any]] = {
            "label": part.label,
            "length": part.extra["length"],
            "rating": part.extra["rating_difference"],
            "ply": part.ply,
            "game": first_game + part.record,
            "side": part.side,
            **self._groups(part.positions),
        }
        if self._is_featured:
            assert self._learning is not None
            kept["features"] = drawishness_values(self._learning, part.positions)
            kept["game key"] = part.game_key
        for name, column in kept.items():
            self._columns.setdefault(name, []).append(column)
        if self._keeps_positions:
            self._positions.append(part.positions)
        for scorer in self._scorers:
            if not scorer.is_search:
                self._parts[scorer.name].append(scorer.predict(part))

    def _groups(self, positions: Any) -> dict[str, NDArray[Any]]:
        """Group positions by what the game gives to learning."""
        if self._learning is None:
            return {}
        found = {"phase": (self._learning.phases.names, self._learning.phases.of(positions))}
        found |= {name: group(positions) for name, group in self._learning.groupings.items()}
        self._group_names |= {name: tuple(names) for name, (names, _) in found.items()}
        return {f"by {name}": np.asarray(group, np.int16) for name, (_, group) in found.items()}

    def _column(self, name: str) -> NDArray[Any]:
        return np.concatenate(self._columns[name])

    def check(self, summaries: Sequence[FileSummary]) -> None:
        """Raise an error that says why where there is nothing."""
        if not self._columns:
            raise BadInputError(f"no position is left to grade: {why_nothing_is_left(summaries)}")

    def drawishness_rows(self, prediction: Prediction) -> DrawishnessRows:
        """Return what a drawishness of a scorer's values is fitted to."""
        assert self._learning is not None
        return DrawishnessRows(
            self._column("features"),
            self._column("by phase"),
            len(self._learning.phases),
            prediction.value,
            np.sign(self._column("label")).astype(np.int8),
            self._column("game key"),
        )

    def graded_positions(self) -> GradedPositions:
        label, side = self._column("label"), self._column("side")
        result = np.sign(label).astype(np.int8)
        groupings = {
            name: Grouping(names, self._column(f"by {name}"), True) for name, names in self._group_names.items()
        }
        groupings |= game_groupings(self._column("ply"), self._column("length"))
        groupings |= rating_groupings(self._column("rating"))
        groupings["result"] = result_grouping(result)
        margins = margin_grouping(self._game, label)
        if margins is not None:
            groupings["margin"] = margins
        return GradedPositions(result, self._column("game"), side if side.all() else None, groupings)

    def predictions(self, progress: Progress) -> dict[str, Prediction]:
        found = {}
        searched = self._searched() if self._keeps_positions else None
        for scorer in self._scorers:
            if scorer.is_search:
                assert searched is not None
                prediction = scorer.predict(searched, progress=progress)
            else:
                prediction = _joined(self._parts.pop(scorer.name))
            found[scorer.name] = scorer.complete(prediction) if isinstance(scorer, CollectingScorer) else prediction
        return found

    def _searched(self) -> Positions:
        columns = (np.concatenate(parts) for parts in zip(*self._positions, strict=True))
        positions = self._game.position_type(*columns)
        label, record, ply = (self._column(name) for name in ("label", "game", "ply"))
        return Positions(self._game, positions, label, record=record, ply=ply, extra={"side": self._column("side")})


def _joined(parts: Sequence[Prediction]) -> Prediction:
    own = parts[0].drawishness
    if any(np.ndim(part.drawishness) for part in parts):
        own = np.concatenate([np.broadcast_to(part.drawishness, len(part.value)) for part in parts])
    return attrs.evolve(parts[0], value=np.concatenate([part.value for part in parts]), drawishness=own)


def grade_collection(
    game: Game,
    files: Sequence[str | os.PathLike[str]],
    scorers: Sequence[Scorer],
    *,
    rule: SelectionRule = PAPER_RULE,
    settings: GradingSettings | None = None,
    scales: Sequence[float | str | None] = (None,),
    drawishness: Sequence[float | str | None] = (None,),
    tuning: Sequence[str | os.PathLike[str]] = (),
    tuning_rule: SelectionRule | None = None,
    skip_bad: bool = False,
    jobs: int = 1,
    observe: Callable[[Positions], None] | None = None,
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
        What is graded, of distinct names; one that is a :class:`CollectingScorer` or a :class:`ReportingScorer` is
        treated as such.
    rule
        Which positions of each game.
    settings
        How grades are taken.
    scales, drawishness
        b and alpha of each scorer: a number, :data:`FIT`, or :data:`OWN` or None for the evaluation's own, fitted where
        it has none; a single entry is for all of them. A number for alpha yields to an evaluation's own drawishness.
        :data:`FEATURES` for alpha fits one from features of the positions, in place of an evaluation's own.
    tuning
        Files with the games that a drawishness from features is fitted to; none divides the graded games and fits for
        each part to the others.
    tuning_rule
        Which of their positions; ``rule`` if None.
    skip_bad
        Leave bad records out instead of stopping.
    jobs
        Files that are read at a time; the result does not depend on it.
    observe
        Is shown the selected positions, part by part in the order of the files; their games are numbered from 0 in
        each file.
    progress
        Display.

    Raises
    ------
    BadInputError
        No positions are left, positions were merged, a file is bad, scorers share a name, a drawishness is none, or no
        scorer has a value. One that has none is left out, and told in the remarks, where another has some.
    """
    names = [scorer.name for scorer in scorers]
    if not names or len(set(names)) < len(names):
        raise BadInputError(f"evaluations need names of their own (name=...), got {', '.join(names) or 'none'}")
    given_scales, given_drawishness = _one_each("scale", scales, names), _one_each("drawishness", drawishness, names)
    for alpha in given_drawishness:
        if isinstance(alpha, float | int) and not 0 <= alpha <= 1:
            raise BadInputError(f"drawishness must be between 0 and 1, got {alpha:g}")
    featured = frozenset(name for name, alpha in zip(names, given_drawishness, strict=True) if alpha == FEATURES)
    learning = _learning_of(game)
    if featured and learning is None:
        raise BadInputError(f"{game.name} has no features that a drawishness could be fitted from; fit one constant")
    if tuning and not featured:
        raise BadInputError(f"tuning games serve to fit a drawishness: give {FEATURES!r} for that of an evaluation")
    every = [*tuning, *files]
    names_of_files = dict(zip(every, distinct_names(every), strict=True))
    reader = _Reader(game, learning, names_of_files, skip_bad, max(1, jobs), progress)
    tuned: dict[str, DrawishnessRows] = {}
    if tuning:
        wanted = [scorer for scorer in scorers if scorer.name in featured]
        columns, _, _ = reader.read(tuning, wanted, rule if tuning_rule is None else tuning_rule, is_featured=True)
        tuned = {name: columns.drawishness_rows(found) for name, found in columns.predictions(progress).items()}
    columns, summaries, counts = reader.read(files, scorers, rule, is_featured=bool(featured), observe=observe)
    positions = columns.graded_positions()
    predictions = {
        name: _with_parameters(prediction, scale, alpha)
        for (name, prediction), scale, alpha in zip(
            columns.predictions(progress).items(), given_scales, given_drawishness, strict=True
        )
    }
    reporting = [scorer for scorer in scorers if isinstance(scorer, ReportingScorer)]
    told = [text for one in reporting for text in one.remarks()]
    ungraded = [name for name, prediction in predictions.items() if not prediction.is_known.any()]
    if len(ungraded) == len(names):
        raise BadInputError(_without_values(ungraded, positions) + "".join(f"; {text}" for text in told))
    for name in ungraded:
        del predictions[name]
    chosen = GradingSettings() if settings is None else settings
    fitted: list[FeaturedDrawishness] = []
    for name in [name for name in predictions if name in featured]:
        assert learning is not None
        rows = columns.drawishness_rows(predictions[name])
        how = DrawishnessSettings(seed=chosen.seed, floor=chosen.floor)
        fitted.append(featured_drawishness(name, learning.drawishness, rows, tuned.get(name), how))
        predictions[name] = attrs.evolve(predictions[name], drawishness=fitted[-1].alpha)
    grading = grade_predictions(positions, predictions, chosen)
    remarks = [*_fitted_here(scorers, files), *_remarks(summaries, counts, rule), *_missing(grading)]
    if ungraded:
        remarks.insert(0, f"{_without_values(ungraded, positions)}: not graded")
    return CollectionGrading(
        grading,
        rule,
        counts,
        tuple(sorted({summary.label_kind for summary in summaries})),
        (*remarks, *(one.remark for one in fitted), *told),
        (*(table for one in reporting for table in one.tables()), *(one.table for one in fitted)),
        featured,
        "" if learning is None else learning.phases.description,
    )


@define(frozen=True, eq=False)
class _Reader:
    """Reads the selected positions of files, and lets scorers give them values."""

    game: Game
    learning: Learning | None
    names: Mapping[str | os.PathLike[str], str]
    skip_bad: bool
    threads: int
    progress: Progress

    def read(
        self,
        files: Sequence[str | os.PathLike[str]],
        scorers: Sequence[Scorer],
        rule: SelectionRule,
        *,
        is_featured: bool,
        observe: Callable[[Positions], None] | None = None,
    ) -> tuple[_Columns, list[FileSummary], SelectionCounts]:
        for scorer in scorers:
            if isinstance(scorer, CollectingScorer):
                scorer.begin()
        columns = _Columns(self.game, self.learning, scorers, is_featured=is_featured)
        summaries: list[FileSummary] = []
        games = 0

        def opened(file: str | os.PathLike[str]) -> Callable[[], Iterator[Positions | FileSummary]]:
            return lambda: read_selected(self.game, file, rule, skip_bad=self.skip_bad, name=self.names[file])

        with self.progress("Reading", len(files)) as bar:
            bar.note(Path(files[0]).name if files else "")
            for part in read_ahead([opened(file) for file in files], threads=self.threads):
                if isinstance(part, Positions):
                    if observe is not None:
                        observe(part)
                    columns.add(part, games)
                    continue
                summaries.append(part)
                games += part.games
                bar.advance()
                bar.note(Path(files[min(len(summaries), len(files) - 1)]).name)
        counts = SelectionCounts()
        for summary in summaries:
            counts.add(summary.counts)
        columns.check(summaries)
        return columns, summaries, counts


def _one_each(what: str, given: Sequence[float | str | None], names: Sequence[str]) -> Sequence[float | str | None]:
    words = (OWN, FIT) if what == "scale" else (OWN, FIT, FEATURES)
    for value in given:
        if isinstance(value, str) and value not in words:
            raise BadInputError(f"a {what} is a number, {' or '.join(map(repr, words))}, got {value!r}")
    if len(given) == 1:
        return [given[0]] * len(names)
    if len(given) != len(names):
        raise BadInputError(f"{len(names)} evaluations were given {len(given)} values of {what}; give one, or one each")
    return given


def _with_parameters(prediction: Prediction, scale: float | str | None, alpha: float | str | None) -> Prediction:
    chosen: Any = {}
    if scale == FIT:
        chosen["scale"] = None
    elif isinstance(scale, float | int):
        chosen["scale"] = scale
    if alpha in (FIT, FEATURES):
        chosen["drawishness"] = None
        if alpha == FEATURES:
            # The scale that probabilities have goes with the drawishness that they have.
            chosen.setdefault("scale", None)
    elif isinstance(alpha, float | int) and prediction.drawishness is None:
        chosen["drawishness"] = alpha
    return attrs.evolve(prediction, **chosen)


def _learning_of(game: Game) -> Learning | None:
    try:
        return load_learning(game.name)
    except PluginError:
        return None


def _remarks(summaries: Sequence[FileSummary], counts: SelectionCounts, rule: SelectionRule) -> list[str]:
    others = sorted({summary.label_kind for summary in summaries} - {"result"})
    found = []
    if others:
        found.append(
            f"labels are of the kind {', '.join(others)}: their sign is graded, which need not be the game's result "
            "(glem positions --label result)"
        )
    if counts.without:
        found.append(f"{counted(counts.without, 'game')} without any position that the selection leaves")
    if counts.incomplete and rule.skip_end:
        found.append(
            f"{counted(counts.incomplete, 'game')} with positions missing: the last {rule.skip_end:.0%} is counted "
            "from the last one that is there"
        )
    if counts.unknown_ply:
        found.append(f"{counted(counts.unknown_ply, 'position')} of unknown ply, not left out for it")
    if counts.without_result:
        found.append(f"{counted(counts.without_result, 'game')} without a result left out")
    return found + reading_remarks(summaries)


def _fitted_here(scorers: Sequence[Scorer], files: Sequence[str | os.PathLike[str]]) -> list[str]:
    provenances = {scorer.name: scorer.provenance for scorer in scorers if isinstance(scorer, FittedScorer)}
    return [
        f"{name} was fitted to {' and '.join(found)}: its grade there says little about other games"
        for name, found in fitted_among(provenances, files).items()
    ]


def _without_values(names: Sequence[str], positions: GradedPositions) -> str:
    have = "has" if len(names) == 1 else "have"
    return f"{' and '.join(names)} {have} no value for any of the {len(positions.result):,} positions"


def _missing(grading: Grading) -> list[str]:
    found = [
        f"{one.name} has no value for {one.missing:,} of {counted(one.missing + one.grade.positions, 'position')}, "
        "left out of its grade and of its comparisons"
        for one in grading.evaluations
        if one.missing
    ]
    return found + [f"{first} and {second} have no position in common" for first, second in grading.uncompared]
