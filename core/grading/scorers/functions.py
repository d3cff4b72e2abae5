"""Grading a function of the user's own: Python code that gives values to positions."""

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.scorer import Scorer
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress


def load_function(text: str) -> Callable[..., Any]:
    """Load ``module:function``, the module from the current folder or installed, or ``file.py:function``.

    Raises
    ------
    BadInputError
        There is no such module, file or function, or it fails when it is loaded.
    """
    module_name, colon, function_name = text.rpartition(":")
    if not colon or not module_name or not function_name:
        raise BadInputError(f"a function is named as module:function or file.py:function, got {text!r}")
    module = _module_of(module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        what = "has no" if function is None else "has something else than a function called"
        raise BadInputError(f"{module_name} {what} {function_name!r}")
    return function  # type: ignore[no-any-return]


def _module_of(name: str) -> Any:
    try:
        if name.endswith(".py"):
            path = Path(name)
            if not path.is_file():
                raise BadInputError(f"{name}: no such file")
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules.setdefault(path.stem, module)
            spec.loader.exec_module(module)
            return module
        folder = os.getcwd()  # noqa: PTH109 # what sys.path holds is text
        if folder not in sys.path:
            sys.path.insert(0, folder)
        return importlib.import_module(name)
    except BadInputError:
        raise
    except ModuleNotFoundError as error:
        raise BadInputError(f"{name}: {error}; modules are looked for in the current folder too") from error
    except Exception as error:
        raise BadInputError(f"{name} cannot be loaded: {_told(error)}") from error


def _told(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


class FunctionScorer(Scorer):
    """A function of positions.

    It is called with a position of columns [N] of the game, and returns N values from the side to move, or a pair of
    these and a drawishness, one or N, between 0 and 1. nan stands for no value.

    Parameters
    ----------
    name
        For people.
    function
        The function.
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
            raise BadInputError(f"{self.name}: the function failed on {count:,} positions: {_told(error)}") from error
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
