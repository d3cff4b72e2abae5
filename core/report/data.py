"""What a report of a discovery shows, as plain values: nothing here knows how it is drawn."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import asdict, define, field

from glem.core.game.game import BoardLayout


@define(frozen=True)
class LearningCurve:
    """Error after each iteration of a fit.

    Parameters
    ----------
    name
        What was fitted, e.g. a phase.
    iterations
        Numbers of the iterations, ascending.
    training, validation
        Root mean square errors in label units, one per iteration; nan where none was taken.
    """

    name: str
    iterations: Sequence[int]
    training: Sequence[float]
    validation: Sequence[float]

    @property
    def best(self) -> tuple[int, float] | None:
        """Iteration and error of the least validation error; None when there is none."""
        finite = [pair for pair in zip(self.validation, self.iterations, strict=True) if math.isfinite(pair[0])]
        if not finite:
            return None
        error, iteration = min(finite)
        return iteration, error


@define(frozen=True)
class PhaseErrors:
    """Errors of several models by phase, on the same positions.

    Parameters
    ----------
    phases
        Names of the phases, in order.
    counts
        Positions in each phase.
    models
        Model name to its root mean square error in each phase; nan where it has none.
    unit
        Unit of the errors, for people.
    baselines
        Names of those models that are there to be beaten; they are drawn quietly.
    weights
        Weight of the positions in each phase, with which the errors are taken; empty where every position counts once.
    """

    phases: Sequence[str]
    counts: Sequence[int]
    models: Mapping[str, Sequence[float]]
    unit: str
    baselines: Sequence[str] = ()
    weights: Sequence[float] = ()

    def overall(self, model: str) -> float:
        """Root mean square error over the positions of all phases in which the model has one; nan when in none."""
        graded = [
            (weight, error)
            for weight, error in zip(self.weights or self.counts, self.models[model], strict=True)
            if weight > 0 and math.isfinite(error)
        ]
        total = sum(weight for weight, _ in graded)
        return math.sqrt(sum(weight * error * error for weight, error in graded) / total) if total else math.nan

    @property
    def is_weighted(self) -> bool:
        """Whether positions count with weights other than 1."""
        return bool(self.weights) and list(self.weights) != list(self.counts)


@define(frozen=True)
class Calibration:
    """Mean label observed where a model predicted a value.

    Parameters
    ----------
    model
        Name of the model.
    predicted, observed
        Mean prediction and mean label of each bin, in label units; nan in an empty bin.
    counts
        Positions in each bin.
    unit
        Unit of labels, for people.
    """

    model: str
    predicted: Sequence[float]
    observed: Sequence[float]
    counts: Sequence[int]
    unit: str

    @property
    def filled(self) -> tuple[tuple[float, float, int], ...]:
        """Prediction, observation and count of the bins that hold positions."""
        bins = zip(self.predicted, self.observed, self.counts, strict=True)
        return tuple(one for one in bins if one[2] > 0 and math.isfinite(one[0]) and math.isfinite(one[1]))


@define(frozen=True)
class Item:
    """One configuration or pattern.

    Parameters
    ----------
    kind
        Which of the two.
    name
        Its name for people.
    cells
        Board cell (row-major from the top left) to the name of the value it must have, in the order of the cells.
    other
        Conditions that lie on no cell, e.g. ``mobility=3``.
    weights
        Weight in each phase, in label units; nan where it has none. Empty when unknown.
    match_counts
        Matching positions in each phase. Empty when unknown.
    q_value
        Share of chance findings among all items that are at least as sure; None where nobody has tested it.
    note
        A sentence of its own, or empty.
    """

    kind: Literal["configuration", "pattern"]
    name: str
    cells: Mapping[int, str]
    other: Sequence[str]
    weights: Sequence[float]
    match_counts: Sequence[int]
    q_value: float | None = None
    note: str = ""


@define(frozen=True)
class Added:
    """Patterns that were designed for what others leave, and what they add to these.

    Parameters
    ----------
    items
        The patterns, the most important ones first.
    differences, errors
        Error with them less that without, in each phase and over all, with standard errors; nan where unknown.
    """

    items: Sequence[Item]
    differences: Sequence[float]
    errors: Sequence[float]


@define(frozen=True)
class CellMap:
    """A number for every cell of the board, e.g. what a piece of one's own is worth there.

    Parameters
    ----------
    name
        What it shows, e.g. a phase.
    values
        One per cell, row-major from the top left; nan where there is none.
    """

    name: str
    values: Sequence[float]


@define(frozen=True)
class Glyph:
    """How a value of a cell is drawn.

    Parameters
    ----------
    shape
        A filled ``disc``, a small ``ring``, a bare ``mark`` on the cell, or the ``text``.
    tone
        Whose it is; neutral when nobody's.
    text
        One or two characters, for the shape ``text`` or on a disc.
    """

    shape: Literal["disc", "ring", "mark", "text"]
    tone: Literal["own", "opponent", "neutral"] = "neutral"
    text: str = ""


DEFAULT_GLYPHS: Mapping[str, Glyph] = {
    "own": Glyph("disc", "own"),
    "opponent": Glyph("disc", "opponent"),
    "empty": Glyph("ring"),
    "": Glyph("mark"),
}
"""Glyphs of the usual values; one without is drawn as a piece of its side, or as letters that no other value has."""


@define(frozen=True)
class DiscoveryReport:
    """Everything that a report of a discovery shows.

    Parameters
    ----------
    title, game_title
        Names for people.
    layout
        The game's board; None draws none.
    summary
        What was found, with the key numbers, in one paragraph of words.
    facts
        Name to text: data, sizes, seeds, times, versions.
    phases
        Names of the phases that the items' weights and match counts go with.
    phase_description
        What these names say, e.g. ``discs on the board``, or empty.
    curves
        Learning curves, one small chart each.
    errors
        Errors by phase, baselines included.
    calibrations
        One small chart each.
    configurations, patterns
        The most important ones first.
    unit
        Unit of labels and weights, for people.
    added
        What was designed for what the patterns leave.
    pattern_source
        Whose patterns these are, e.g. ``the set lines of the game``.
    how_to_read
        Paragraphs, separated by blank lines, for readers new to it; or None.
    cell_maps
        Optional heat maps of the board, drawn on one common scale.
    cell_map_title
        What the maps show, as a sentence.
    glyphs
        Value name to its drawing.
    cell_names
        Board cell to its name for people; a cell without one is named by row and column.
    """

    title: str
    game_title: str
    layout: BoardLayout | None
    summary: str
    facts: Mapping[str, str]
    phases: Sequence[str]
    curves: Sequence[LearningCurve]
    errors: PhaseErrors
    calibrations: Sequence[Calibration]
    configurations: Sequence[Item]
    patterns: Sequence[Item]
    unit: str
    added: Added | None = None
    pattern_source: str = ""
    how_to_read: str | None = None
    cell_maps: Sequence[CellMap] = ()
    cell_map_title: str = ""
    glyphs: Mapping[str, Glyph] = DEFAULT_GLYPHS
    cell_names: Mapping[int, str] = field(factory=dict)
    phase_description: str = ""


def to_json(report: DiscoveryReport) -> dict[str, Any]:
    """Return the report as plain data for :func:`json.dumps`; numbers that JSON lacks (nan, inf) become null."""

    def plain(_owner: Any, _attribute: Any, value: Any) -> Any:
        if isinstance(value, BoardLayout):
            return {"rows": value.rows, "columns": value.columns}
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return asdict(report, value_serializer=plain)
