"""What grades say of single evaluations, in sentences: whom a calibration costs its rank, who tells next to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glem.core.grading.comparison import Comparison
from glem.core.grading.recalibration import FEWEST_GAMES

if TYPE_CHECKING:
    from glem.core.grading.grading import EvaluationGrade

__all__ = ["EQUAL", "FREQUENCIES", "notes_on"]

EQUAL = "equal probabilities"
"""The baseline that gives each result 1/3."""

FREQUENCIES = "result frequencies"
"""The baseline that knows how often the graded positions were won, drawn and lost, and nothing else."""


def notes_on(
    evaluations: Sequence[EvaluationGrade], comparisons: Sequence[Comparison], *, is_recalibrated: bool
) -> tuple[str, ...]:
    """Tell what is remarkable about the grades of single evaluations.

    Parameters
    ----------
    evaluations
        Graded, without baselines.
    comparisons
        Of pairs of them.
    is_recalibrated
        Whether grades were to be recalibrated.
    """
    found = [note for one in evaluations for note in (_costly(one, comparisons), _below(one)) if note]
    few = [one.name for one in evaluations if one.calibration is None]
    if few and is_recalibrated:
        found.append(
            f"{' and '.join(few)}: fewer than {FEWEST_GAMES} games are too few to recalibrate; what is graded and "
            "compared is the evaluation as given, its calibration included"
        )
    return tuple(found)


def _costly(one: EvaluationGrade, comparisons: Sequence[Comparison]) -> str:
    """Tell where a calibration costs an evaluation its rank; empty where it does not."""
    assert one.fit is not None
    assert one.as_given is not None
    own = [what for what in ("scale", "drawishness") if what not in one.fit.fitted]
    if not own or not one.cost > 2 * one.cost_error:
        return ""
    above = []
    for pair in comparisons:
        leader, other = (pair.first, pair.second) if pair.difference > 0 else (pair.second, pair.first)
        if leader == one.name and pair.is_reversed:
            above.append(other)
    marks = {FREQUENCIES: one.frequencies, EQUAL: 1 / 3}
    above += [name for name, mark in marks.items() if one.as_given.grade < mark < one.grade.grade]
    if not above:
        return ""
    return (
        f"{one.name}: the {' and '.join(own)} that it comes with cost{'s' * (len(own) == 1)} it "
        f"{1 - one.as_given.grade / one.grade.grade:.1%} of its grade and its rank: as given "
        f"({one.as_given.grade:.4f}) it is below {', '.join(above)}, recalibrated ({one.grade.grade:.4f}) above"
    )


def _below(one: EvaluationGrade) -> str:
    if one.grade.grade >= one.frequencies:
        return ""
    return (
        f"{one.name} grades below the {FREQUENCIES}, {one.grade.grade:.4f} against {one.frequencies:.4f}: its "
        "probabilities suit these results less than how often each of them occurs"
    )
