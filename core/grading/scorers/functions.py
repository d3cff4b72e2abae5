"""Grading a function of the user's own: Python code that gives values to positions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features.functions import failure_of
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.scorer import Scorer
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress


class FunctionScorer(Scorer):
    """A function of positions.

    It is called with a position of columns [N] of the game, and returns N values from the side to move, or a pair of
    these and a drawishness, one or N, between 0 and 1. nan stands for no value.

    Parameters
    ----------
    name
        For people.
    unit
        Unit of its values, for people.
    """

    def __init__(self, name: str, function: Callable[..., Any], *, unit: str = "") -> None:
        self.name = name
        self._function, self._unit = function, unit

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Call the function.

        Raises
        ------
        BadInputError
            It fails, or gives something else than values of the positions.
        """
        count = len(selected)
        try:
            found = self._function(selected.positions)
        except Exception as error:
            raise BadInputError(
                f"{self.name}: the function failed on {counted(count, 'position')}, which it gets in columns, "
                "not one by one "
                f"as in a search: {failure_of(error)}"
            ) from error
        value, drawishness = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
        values = self._column(value, "values", count)
        if drawishness is None:
            return Prediction(values, unit=self._unit)
        if np.ndim(drawishness) == 0:
            drawishness = np.full(count, drawishness)
        alpha = self._column(drawishness, "drawishness", count)
        wrong = alpha[(alpha < 0) | (alpha > 1)]
        if len(wrong):
            raise BadInputError(f"{self.name}: drawishness must be between 0 and 1, the function gave {wrong[0]:g}")
        return Prediction(values, alpha, unit=self._unit)

    def _column(self, found: Any, what: str, count: int) -> NDArray[np.float64]:
        wanted = f"{self.name}: expected an array of {count:,} {what}, the function gave"
        try:
            column = np.asarray(found, np.float64)
        except (TypeError, ValueError):
            raise BadInputError(f"{wanted} a {type(found).__name__}") from None
        if column.shape != (count,):
            shape = " x ".join(map(str, column.shape))
            raise BadInputError(f"{wanted} one of shape {shape}" if shape else f"{wanted} a single number")
        return column
