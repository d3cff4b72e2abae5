"""glem learns evaluation functions for board games from positions and game records.

Every name below is loaded when you first use it: ``import glem`` itself imports nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from glem.core.errors import GlemError, __version__

if TYPE_CHECKING:
    from glem.boards import Board, board
    from glem.classifiers import FisherDiscriminant, LogisticDiscriminant, QuadraticDiscriminant
    from glem.core.evaluation.named import load_evaluation
    from glem.core.features.learning import load_learning
    from glem.core.features.own import feature
    from glem.core.fitting.fitters.fitter import Fit, Fitter
    from glem.core.game.game import load_game
    from glem.core.grading.calibrating import calibrate
    from glem.core.grading.collection import grade
    from glem.core.positions.files import read_positions, write_positions
    from glem.core.positions.positions import Positions
    from glem.core.tasks.settings import setting
    from glem.functions import (
        discover,
        evaluate,
        fit,
        generate,
        label,
        match,
        positions_of_games,
        read_games,
        register,
        search,
        solve,
        tournament,
        train_test_split,
        tune,
    )
    from glem.regressor import PatternRegressor

__all__ = [
    "Board",
    "FisherDiscriminant",
    "Fit",
    "Fitter",
    "GlemError",
    "LogisticDiscriminant",
    "PatternRegressor",
    "Positions",
    "QuadraticDiscriminant",
    "__version__",
    "board",
    "calibrate",
    "discover",
    "evaluate",
    "feature",
    "fit",
    "generate",
    "grade",
    "label",
    "load_evaluation",
    "load_game",
    "load_learning",
    "match",
    "positions_of_games",
    "read_games",
    "read_positions",
    "register",
    "search",
    "setting",
    "solve",
    "tournament",
    "train_test_split",
    "tune",
    "write_positions",
]

_HOMES = {
    "Board": "boards",
    "FisherDiscriminant": "classifiers",
    "Fit": "core.fitting.fitters.fitter",
    "Fitter": "core.fitting.fitters.fitter",
    "LogisticDiscriminant": "classifiers",
    "PatternRegressor": "regressor",
    "Positions": "core.positions.positions",
    "QuadraticDiscriminant": "classifiers",
    "board": "boards",
    "calibrate": "core.grading.calibrating",
    "feature": "core.features.own",
    "grade": "core.grading.collection",
    "load_evaluation": "core.evaluation.named",
    "load_game": "core.game.game",
    "load_learning": "core.features.learning",
    "setting": "core.tasks.settings",
    "read_positions": "core.positions.files",
    "write_positions": "core.positions.files",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'functions')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
