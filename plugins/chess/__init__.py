"""What chess gives to learning: features, phases, drawishness, evaluations."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from glem.core.features.learning import Learning
from glem.games.chess import CHESS as GAME
from glem.plugins.chess.features.drawishness import DRAWISHNESS
from glem.plugins.chess.features.features import FEATURES
from glem.plugins.chess.features.material import PIECE_COUNTS
from glem.plugins.chess.features.placement import PLACEMENT
from glem.plugins.chess.features.relations import VIEWS
from glem.plugins.chess.features.terms import TERMS
from glem.plugins.chess.material_balance import MATERIAL_LEFT, group_by_material
from glem.plugins.chess.phases import PHASES

if TYPE_CHECKING:
    from glem.core.evaluation.linear import LinearEvaluation
    from glem.core.evaluation.with_drawishness import ResultEvaluation
    from glem.core.features.evaluators import Evaluator


_MATERIAL = tuple(term.feature.name for term in PIECE_COUNTS)
_PLACEMENT = tuple(feature.name for feature in PLACEMENT)


def _make_evaluator(evaluation: LinearEvaluation) -> Evaluator | None:
    # Imported late: learning does without the search.
    if evaluation.network is not None:
        from glem.plugins.chess.network import network_evaluator

        return network_evaluator(evaluation, evaluation.network)
    from glem.plugins.chess.incremental import incremental_evaluator

    return incremental_evaluator(evaluation)


def _hand_set(name: str) -> ResultEvaluation:
    # Imported late: features and phases do without it.
    from glem.plugins.chess.hand_set import hand_set_evaluation

    return hand_set_evaluation(CHESS, name)


def _fitted(name: str) -> ResultEvaluation:
    """Load an evaluation that ``docs/explanation/chess-experiments.md`` tells how to make."""
    from glem.core.evaluation.with_drawishness import ResultEvaluation

    return ResultEvaluation.load(Path(__file__).with_name(f"{name}.npz"))


def _style() -> Learning:
    # Imported late: few ask for it.
    from glem.plugins.chess.style import STYLE

    return STYLE


CHESS = Learning(
    game=GAME,
    features=FEATURES,
    phases=PHASES,
    pattern_sets={},
    linear=(*(feature.name for feature in TERMS), *_PLACEMENT),
    baselines={"constant": (), "material": _MATERIAL, "piece-square": (*_MATERIAL, *_PLACEMENT)},
    label_unit="wins",
    make_evaluator=_make_evaluator,
    default_evaluation=partial(_hand_set, "default"),
    evaluations={
        **{name: partial(_fitted, name) for name in ("network", "played")},
        **{name: partial(_hand_set, name) for name in ("material", "piece-square")},
    },
    strongest="network",
    drawishness=tuple(feature.name for feature in DRAWISHNESS),
    groupings={"material": group_by_material},
    covariates={"material": MATERIAL_LEFT},
    views=VIEWS,
    feature_sets={"style": _style},
)
"""Registered under the entry-point group ``glem.learning``."""
