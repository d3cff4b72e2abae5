"""What Othello gives to learning: features, patterns, phases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glem.core.features.evaluators import Evaluator
from glem.core.features.learning import Learning
from glem.core.positions.positions import Positions
from glem.games.othello import OTHELLO as GAME
from glem.plugins.othello.features import FEATURES
from glem.plugins.othello.patterns import PATTERN_SETS
from glem.plugins.othello.phases import PHASES, phases_of

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.quadratic import QuadraticEvaluation
    from glem.core.search.probcut import ProbCut


def _make_evaluator(evaluation: LinearEvaluation) -> Evaluator | None:
    # Imported late: learning does without the search.
    from glem.plugins.othello.incremental import incremental_evaluator

    return incremental_evaluator(evaluation)


def _make_quadratic_evaluator(evaluation: QuadraticEvaluation) -> Evaluator | None:
    from glem.plugins.othello.incremental import incremental_quadratic_evaluator

    return incremental_quadratic_evaluator(evaluation)


def _default_evaluation() -> LinearEvaluation:
    """Load the evaluation that :mod:`glem.plugins.othello.shipped_evaluation` has made."""
    from glem.core.evaluation.linear import LinearEvaluation

    return LinearEvaluation.load(Path(__file__).with_name("default.npz"))


def _layer() -> LinearEvaluation:
    """Load the hidden layer that :mod:`~glem.plugins.othello.shipped_evaluation` tells of."""
    from glem.core.evaluation.linear import LinearEvaluation

    return LinearEvaluation.load(Path(__file__).with_name("network.npz"))


def _default_probcut() -> ProbCut:
    from glem.core.search.probcut import ProbCut

    return ProbCut.load(Path(__file__).with_name("probcut.npz"))


def _sample() -> Positions:
    # Imported late: a search needs no readers.
    from glem.plugins.othello.sample import sample_positions

    return sample_positions()


OTHELLO = Learning(
    game=GAME,
    features=FEATURES,
    phases=PHASES,
    pattern_sets=PATTERN_SETS,
    linear=(
        *("mobility", "opponent_mobility", "potential_mobility", "opponent_potential_mobility", "parity"),
        *("frontier", "opponent_frontier", "corner_moves", "opponent_corner_moves"),
    ),
    baselines={"constant": (), "disc difference": ("disc_difference",), "mobility": ("mobility", "opponent_mobility")},
    label_unit="discs",
    make_evaluator=_make_evaluator,
    make_quadratic_evaluator=_make_quadratic_evaluator,
    default_evaluation=_default_evaluation,
    default_probcut=_default_probcut,
    evaluations={"network": _layer},
    strongest="network",
    sample=_sample,
    phases_of=phases_of,
)
"""Registered under the entry-point group ``glem.learning``."""
