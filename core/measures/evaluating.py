"""Evaluations measured on scored positions: every measure by phase and by the moves left, and the differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.with_drawishness import value_part
from glem.core.game.optional_operations import plies_left_of
from glem.core.measures.measure import Evaluation, Floats, Measure, games_of, judged_by
from glem.core.measures.named import measures_of
from glem.core.measures.sums import CLUSTERS, Division, Numbers, Sums
from glem.core.measures.whole_games import Parts
from glem.core.positions.positions import CHOICES
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

ERRORS = ("rmse", "mae", "mean-error")
"""Measures of scored positions where none is named."""

OF_CHOICES = ("choice-error", "best-move", "rank-correlation")
"""Further ones of a choice set."""

PHASE, MOVES_LEFT, ALL = "phase", "moves left", "all"

_KEYS = dict(zip(ERRORS, ("rmse", "mean_absolute", "mean"), strict=True))
_OF_CHOICES_KEYS = dict(zip(OF_CHOICES, ("error", "best", "rank_correlation"), strict=True))


@define(frozen=True, eq=False)
class Grouped:
    """What was measured in each of K groups of the positions.

    Parameters
    ----------
    name
        :data:`PHASE`, or :data:`MOVES_LEFT`.
    groups
        Names of the groups, then :data:`ALL`.
    counts, weights
        int64 and float64 [K + 1], positions and their weights.
    numbers
        Name of a measure to its numbers.
    """

    name: str
    groups: tuple[str, ...]
    counts: NDArray[np.int64]
    weights: Floats
    numbers: Mapping[str, Numbers]


@define(frozen=True, eq=False, repr=False)
class Evaluated:
    """Evaluations measured on the same positions.

    Parameters
    ----------
    evaluations
        Their names; differences are to the first.
    unit
        Unit of their values.
    measures
        Name of a measure to the measure.
    units
        Name of a measure to the unit of its numbers, empty for none.
    groupings
        By phase and, where the game can say how many moves are left at most, by their number.
    remarks
        What a reader should know about the positions, one sentence each.
    """

    evaluations: tuple[str, ...]
    unit: str
    measures: Mapping[str, Measure]
    units: Mapping[str, str]
    groupings: tuple[Grouped, ...]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name} {self.cell(name, numbers.value[0, -1])}" for name, numbers in self.groupings[0].numbers.items()
        )
        return f"Evaluated({counted(int(self.groupings[0].counts[-1]), 'position')}: {self.evaluations[0]} {shown})"

    def __str__(self) -> str:
        return "\n\n".join([*(table.text() for table in self.tables()), *(f"note: {text}" for text in self.remarks)])

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables())

    def cell(self, measure: str, value: float, error: float = math.nan, form: str | None = None) -> str:
        """Write a number of a measure, with its error; nothing for nan."""
        own = self.measures[measure].form if form is None else form
        if math.isnan(value):
            return ""
        return f"{value:{own}}" + ("" if math.isnan(error) else f" ± {error:{own.lstrip('+')}}")

    def tables(self) -> list[Table]:
        """Make a table by phase for each kind of thing that is counted, and of the differences.

        Moves left have too many rows for a page, and most games count their phases by them: they are in the JSON.
        """
        kinds: dict[str, list[str]] = {}
        for name, measure in self.measures.items():
            kinds.setdefault(measure.counts, []).append(name)
        # Choices first: errors count what all moves of a choice have in common as well.
        order = sorted(kinds, key=lambda kind: kind == Measure.counts)
        found = [self._table(kind, kinds[kind]) for kind in order]
        if len(self.evaluations) > 1:
            found += [self._table(kind, kinds[kind], of_differences=True) for kind in order]
        return found

    def _table(self, kind: str, names: Sequence[str], *, of_differences: bool = False) -> Table:
        is_plain, grouping = kind == Measure.counts, self.groupings[0]
        numbers = {name: grouping.numbers[name] for name in names}
        counts = grouping.counts if is_plain else numbers[names[0]].counts
        weighted = is_plain and not np.array_equal(grouping.weights, grouping.counts)
        shown = [place for place in range(len(counts)) if counts[place] or is_plain]
        columns: list[tuple[str, list[str]]] = []
        for place, evaluation in list(enumerate(self.evaluations))[of_differences:]:
            for name, one in numbers.items():
                form = self.measures[name].form
                values, errors = one.value[place], one.error[place]
                if of_differences:
                    form, values, errors = f"+{form.lstrip('+')}", one.difference[place], one.difference_error[place]
                # Of two with other settings the names differ, not the headings.
                heading = name if "," in name else self.measures[name].heading or name
                cells = [self.cell(name, values[group], errors[group], form) for group in shown]
                columns.append((f"{evaluation}\n{heading}", cells))
        what = counted(2, kind).removeprefix("2 ").capitalize() + " by"
        if of_differences:
            what = f"Differences to {self.evaluations[0]} by"
        elif is_plain:
            what = "Errors by" if {*names} <= {*ERRORS} else "Measures by"
        unit = ", ".join(dict.fromkeys(filter(None, (self.units[name] for name in names))))
        rows = [
            (
                grouping.groups[group],
                f"{counts[group]:,}",
                *((f"{grouping.weights[group]:,.0f}",) if weighted else ()),
                *(cells[row] for _, cells in columns),
            )
            for row, group in enumerate(shown)
        ]
        return Table(
            f"{what} {grouping.name}{'' if is_plain else ' after the move'}{f' ({unit})' if unit else ''}",
            (
                grouping.name,
                counted(2, kind).removeprefix("2 "),
                *(("weight",) if weighted else ()),
                *(head for head, _ in columns),
            ),
            rows,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return every number as a row of a table: measure, evaluation, grouping, group, count, value, error and so on.

        ``pandas.DataFrame(evaluated.rows())`` makes a frame of them.
        """
        return [
            {
                "measure": name,
                "evaluation": evaluation,
                "grouping": grouping.name,
                "group": group,
                "count": int(one.counts[at]),
                "value": float(one.value[place, at]),
                "error": float(one.error[place, at]),
                "difference": float(one.difference[place, at]),
                "difference_error": float(one.difference_error[place, at]),
            }
            for grouping in self.groupings
            for name, one in grouping.numbers.items()
            for place, evaluation in enumerate(self.evaluations)
            for at, group in enumerate(grouping.groups)
        ]

    def to_pandas(self) -> Any:
        """Make a pandas frame of :meth:`rows`."""
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]

        return pd.DataFrame(self.rows())

    def as_json(self) -> dict[str, Any]:
        """Return all of it as ``glem evaluate --json`` prints it; arrays end with what holds over all positions."""
        phases, *others = self.groupings
        found = {"unit": self.unit, "phases": phases.groups, **self._figures(phases)}
        for grouping in others:
            moves = [*range(len(grouping.groups) - 1), ALL]
            found["moves_left"] = {"moves": moves, **self._figures(grouping)}
        return found | {"remarks": self.remarks}

    def _figures(self, grouping: Grouped) -> dict[str, Any]:
        numbers = grouping.numbers

        def by_evaluation(values: Floats) -> dict[str, Floats]:
            return dict(zip(self.evaluations, values, strict=True))

        found: dict[str, Any] = {"counts": grouping.counts, "weights": grouping.weights}
        found |= {key: by_evaluation(numbers[name].value) for name, key in _KEYS.items() if name in numbers}
        if all(name in numbers for name in OF_CHOICES):
            choices = numbers[OF_CHOICES[0]]
            found["choices"] = {
                evaluation: {
                    "counts": choices.counts,
                    "standard_error": choices.error[place],
                    **{key: numbers[name].value[place] for name, key in _OF_CHOICES_KEYS.items()},
                }
                for place, evaluation in enumerate(self.evaluations)
            }
        parts = ("value", "error", "difference", "difference_error")[: 2 if len(self.evaluations) == 1 else 4]
        found["measures"] = {
            name: {"unit": self.units[name], "counts": one.counts}
            | {part: by_evaluation(getattr(one, part)) for part in parts}
            for name, one in numbers.items()
        }
        return found


class _Groups:
    """What adds up of the positions in the groups of a grouping."""

    def __init__(
        self, name: str, measures: Mapping[str, Sequence[Measure]], names: Sequence[str] = (), *, together: bool
    ) -> None:
        self._name, self._names = name, tuple(names)
        self._sums = {measure: Sums(measure, begun, together=together) for measure, begun in measures.items()}
        self._totals: Floats = np.zeros((2, len(names)))

    def add(self, judged: Sequence[Any], group: NDArray[np.integer]) -> None:
        division = Division.of(group, judged[0].game, self._totals.shape[1])
        self._totals = np.pad(self._totals, ((0, 0), (0, division.groups - self._totals.shape[1])))
        for row, weights in enumerate((None, judged[0].weight)):
            self._totals[row] += np.bincount(division.group, weights, division.groups)
        for sums in self._sums.values():
            sums.add(judged, division)

    def grouping(self) -> Grouped:
        count = self._totals.shape[1]
        counts, weights = (np.append(each, each.sum()) for each in self._totals)
        numbers = {name: sums.numbers(count) for name, sums in self._sums.items()}
        groups = (*(self._names or map(str, range(count))), ALL)
        return Grouped(self._name, groups, counts.astype(np.int64), weights, numbers)


def evaluate_positions(
    evaluations: Mapping[str, Evaluation],
    parts: Parts,
    measures: Mapping[str, Measure] | None = None,
    *,
    observe: Callable[[NDArray[np.float32]], None] | None = None,
    remarks: Callable[[], Sequence[str]] = list,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Evaluated | None:
    """Measure evaluations on the same positions; memory grows with the largest part alone.

    Parameters
    ----------
    evaluations
        Name to evaluation, at least one.
    parts
        Positions part by part (:func:`~glem.core.measures.whole_games.whole_games`).
    measures
        Name to measure; None for :data:`ERRORS`, and :data:`OF_CHOICES` of a choice set.
    observe
        Called with the values [N] of the first evaluation, part by part.
    remarks
        Asked for remarks after the last part.
    jobs
        Threads; the result does not depend on them.

    Returns
    -------
    Evaluated
        None where there are no positions.

    Raises
    ------
    BadInputError
        The evaluations have different units, or a measure does not fit.
    """
    values = [value_part(evaluation) for evaluation in evaluations.values()]
    units = {value.unit for value in values}
    if len(units) > 1:
        raise BadInputError(f"the models have different units, evaluate them apart: {', '.join(sorted(units))}")
    learning, game = values[0].learning, values[0].learning.game
    # Of evaluations that are fitted to different labels, all are compared with those of the hidden layers.
    judge = next((value for value in values if value.network is not None), values[0])
    groups: list[_Groups] = []
    count = 0
    with progress("evaluate", 1) as task:
        for part in parts.parts:
            if not len(part):
                continue
            count += len(part)
            task.note(counted(count, "position"))
            games, label = games_of(part), judge.labels_of(part.label)
            if not parts.together:
                games = np.where(part.record < 0, np.arange(count - len(part), count), part.record) % CLUSTERS
            judged = [judged_by(each, part, game=games, label=label, jobs=jobs) for each in evaluations.values()]
            if not groups:
                names = (*ERRORS, *(OF_CHOICES if part.label_kind == CHOICES else ()))
                measures = measures_of(names) if measures is None else measures
                begun = {name: [each.begin(one) for one in judged] for name, each in measures.items()}
                groups.append(_Groups(PHASE, begun, learning.phases.names, together=parts.together))
                if "plies_left" in game.search_rules:
                    groups.append(_Groups(MOVES_LEFT, begun, together=parts.together))
            groups[0].add(judged, learning.phases.of(part.positions))
            for more in groups[1:]:
                more.add(judged, plies_left_of(game, part.positions))
            if observe is not None:
                observe(judged[0].value.astype("<f4"))
        task.advance()
    if measures is None or not groups:
        return None
    first = next(iter(evaluations.values()))
    return Evaluated(
        tuple(evaluations),
        values[0].unit,
        measures,
        {name: measure.unit_of(first) for name, measure in measures.items()},
        tuple(each.grouping() for each in groups),
        tuple(remarks()),
    )
