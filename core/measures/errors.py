"""Errors of values: how far they are from labels."""

from __future__ import annotations

import math
from typing import ClassVar, Self

import numpy as np
from attrs import define, evolve, field

from glem.core.errors import check_arguments
from glem.core.evaluation.with_drawishness import value_part
from glem.core.measures.measure import Evaluation, Floats, Judged, Measure


class _Error(Measure):
    def unit_of(self, evaluation: Evaluation) -> str:
        """Give the unit of the values."""
        return value_part(evaluation).unit


class RootMeanSquareError(_Error):
    """Root mean square error."""

    heading: ClassVar[str] = "root mean square"

    def terms(self, judged: Judged) -> Floats:
        """Squares of errors."""
        return (judged.value - judged.label) ** 2

    def number(self, means: Floats) -> tuple[float, Floats]:
        """Take the root."""
        root = math.sqrt(means[0])
        return root, np.array([0.5 / root if root else 0.0])


class MeanAbsoluteError(_Error):
    """Mean absolute error."""

    heading: ClassVar[str] = "mean absolute"

    def terms(self, judged: Judged) -> Floats:
        """Sizes of errors."""
        return np.abs(judged.value - judged.label)


class MeanError(_Error):
    """Mean error, above 0 where values are too high."""

    heading: ClassVar[str] = "mean"
    form: ClassVar[str] = "+.3f"

    def terms(self, judged: Judged) -> Floats:
        """Errors."""
        return judged.value - judged.label


@define(frozen=True)
class CalibrationError(_Error):
    """Expected calibration error: by how much the mean value differs from the mean label among positions of like value.

    Positions are sorted by value into bins, between quantiles of the values in the first part of the positions, at most
    262,144; the sizes of the differences are averaged by the weights of the bins. With few positions in a bin chance
    alone makes it greater than 0.

    Parameters
    ----------
    bins
        Number of bins, 1 to 100; bins with equal borders are merged.
    """

    heading: ClassVar[str] = "calibration"
    bins: int = 20
    _borders: Floats | None = field(default=None, init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        check_arguments(self, bins=(1, 100))

    def begin(self, judged: Judged) -> Self:
        """Find the borders of the bins."""
        begun = evolve(self)
        borders = np.unique(np.quantile(judged.value, np.linspace(0, 1, self.bins + 1)[1:-1]))
        object.__setattr__(begun, "_borders", borders)
        return begun

    def terms(self, judged: Judged) -> Floats:
        """Errors, each in the column of its bin."""
        assert self._borders is not None
        found = np.zeros((len(judged), self.bins))
        place = np.searchsorted(self._borders, judged.value, side="right")
        found[np.arange(len(judged)), place] = judged.value - judged.label
        return found

    def number(self, means: Floats) -> tuple[float, Floats]:
        """Add the sizes up."""
        return float(np.abs(means).sum()), np.sign(means)
