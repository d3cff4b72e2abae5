"""Functions of the user's own, by name: they evaluate positions, or give their coefficients."""

import importlib
import importlib.util
import math
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.operations import Operations, bound
from glem.core.errors import BadInputError, likely
from glem.core.features.evaluators import Evaluator, only_phase, start_nothing, update_nothing
from glem.core.game.game import Game

_LARGEST_SCORE = 30_000
_STEPS = 100
_GLEM = Path(__file__).resolve().parents[1]


def load_function(text: str) -> Callable[..., Any]:
    """Load ``module:function``, the module installed or from the current folder, or ``file.py:function``.

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
        hint = likely(function_name, (name for name, own in vars(module).items() if callable(own)))
        hint = f"; {hint}" if function is None and hint else ""
        raise BadInputError(f"{module_name} {what} {function_name!r}{hint}")
    return function  # type: ignore[no-any-return]


def load_file(path: Path, module_name: str) -> Any:
    """Run a file of the user's own as a module of that name.

    Raises
    ------
    BadInputError
        It fails.
    """
    try:
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(module_name, module)
        # The last: a file beside it is found, and hides no module of glem's or Python's.
        sys.path.append(str(path.resolve().parent))
        try:
            spec.loader.exec_module(module)
        finally:
            sys.path.pop()
    except BadInputError:
        raise
    except Exception as error:
        raise BadInputError(f"{path} cannot be loaded: {failure_of(error)}") from error
    return module


def _module_of(name: str) -> Any:
    try:
        if name.endswith(".py"):
            path = Path(name)
            if not path.is_file():
                raise BadInputError(f"{name}: no such file")
            return load_file(path, path.stem)
        folder = os.getcwd()  # noqa: PTH109 # what sys.path holds is text
        if folder not in sys.path:
            # The last: what glem or a worker imports later is no stranger's file that lies here.
            sys.path.append(folder)
        return importlib.import_module(name)
    except BadInputError:
        raise
    except ModuleNotFoundError as error:
        raise BadInputError(f"{name}: {error}; modules are looked for in the current folder too") from error
    except Exception as error:
        raise BadInputError(f"{name} cannot be loaded: {failure_of(error)}") from error


def failure_of(error: Exception) -> str:
    """Say what a user's function raised, and in which line of its own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({Path(error.filename).name}:{error.lineno})"
    places = traceback.extract_tb(error.__traceback__)
    own = [place for place in places if _is_users(place.filename)]
    place = (own or places)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


def _is_users(filename: str) -> bool:
    path = Path(filename)
    return path.is_file() and "site-packages" not in path.parts and not path.resolve().is_relative_to(_GLEM)


class _Steps(NamedTuple):
    """Steps of an integer score for one unit of the function, and the greatest score."""

    steps: np.float64
    limit: np.int64


evaluate: Any = None
"""Stands for the user's function, in copies of the one below; see :func:`~glem.core.compiling.operations.bound`."""


def _static_score(position: Any, data: Any, accumulators: Any, ply: int) -> np.int64:
    return np.int64(min(max(np.rint(np.float64(evaluate(position)) * data.steps), -data.limit), data.limit))


def function_evaluator(game: Game, function: Callable[[Any], float]) -> Evaluator:
    """Make what the search uses of a function of one position, its value for the side to move.

    The function is dual: it runs as plain Python, and compiled where numba can. Where a game's scores tell more than
    who has won, values are in their unit and bounded as they are; else whole numbers in any, within 30,000, such as
    hundredths of a pawn; others are rounded.

    Raises
    ------
    BadInputError
        It fails on the game's first position, or gives no finite number there.
    """
    try:
        value = function(game.initial_position)
    except Exception as error:
        raise BadInputError(f"{function.__name__}: fails on the first position: {failure_of(error)}") from error
    is_number = isinstance(value, int | float | np.number)
    if not (is_number and math.isfinite(value)):
        given = value if is_number else f"a {type(value).__name__}"
        raise BadInputError(f"{function.__name__}: gives {given} for the first position, a finite number is needed")
    most = game.greatest_score
    is_graded = most > 1
    steps = _STEPS if is_graded else 1
    limit = most * steps if is_graded else _LARGEST_SCORE
    functions: dict[str, Callable[..., Any]] = {
        "start": start_nothing,
        "update": update_nothing,
        "static_score": bound(_static_score, evaluate=function),
        "search_phase": only_phase,
    }
    return Evaluator(
        name=function.__name__,
        operations=Operations(f"{game.name}-function", functions),
        data=_Steps(np.float64(steps), np.int64(limit)),
        width=0,
        phase_count=1,
        steps_per_unit=float(steps),
        limit=limit,
        unit="points",
        result_only=not is_graded,
        keeps_scores=True,
    )
