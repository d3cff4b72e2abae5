"""Evaluations of chess with weights set by hand, in several strengths, and a drawishness.

The weights of terms stand beside their features (:mod:`~glem.plugins.chess.features.rows`), in hundredths of a pawn,
for the middlegame and for the endgame; a phase takes the share of either that its material has. A pawn is worth
1 / 1.1 in log odds, about what engines' own scores are over their games (``docs/explanation/chess-evaluation.md``).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Learning
from glem.plugins.chess.features.drawishness import DRAWISHNESS_WEIGHTS
from glem.plugins.chess.features.material import PIECE_COUNTS
from glem.plugins.chess.features.placement import PLACEMENT, PLACEMENT_SQUARES
from glem.plugins.chess.features.rows import Weights
from glem.plugins.chess.features.terms import TERM_WEIGHTS

_PAWNS_PER_LOG_ODDS = 1.1
_MIDDLEGAME_SHARES = (0.96, 0.81, 0.65, 0.48, 0.31, 0.17, 0.04)
"""By phase: what is left of 24 points, in the middle of the phase."""

_MATERIAL: Mapping[str, Weights] = {term.feature.name: term.weights for term in PIECE_COUNTS}
_TEMPO = (18.0, 12.0)

_KING_FILES = (22, 30, 8, -14, -8, -8, 34, 26)
"""Middlegame value of a king on its first rank, a to h."""

_BASE_DRAWISHNESS = 2.3


def square_value(kind: str, square: int) -> Weights:
    """Value of a square to a piece, in the middlegame and in the endgame."""
    file, rank = square & 7, square >> 3
    to_edge = min(file, 7 - file)
    ring = min(to_edge, rank, 7 - rank)
    if kind == "pawn":
        advance = rank - 1
        middle = (-6, 0, 4, 12)[to_edge] * (0.4 + 0.3 * min(advance, 3)) + (-14 if advance == 0 and to_edge == 3 else 0)
        return middle, 4.0 * advance - 8
    if kind == "knight":
        forward = max(-2, min(rank - 3, 2))
        return (-36, -9, 8, 17)[ring] + 4 * forward, (-26, -7, 6, 14)[ring] + 2 * forward
    if kind == "bishop":
        long_diagonal = 6 if file in (rank, 7 - rank) else 0
        fianchetto = 4 if (file, rank) in ((1, 1), (6, 1)) else 0
        return (-9, 3, 7, 10)[ring] + long_diagonal + fianchetto, (-7, 0, 4, 7)[ring]
    if kind == "rook":
        return (-5, 0, 4, 7)[to_edge] + (8 if rank == 6 else 0), 4.0 if rank >= 4 else 0.0
    if kind == "queen":
        return (-4, 2, 4, 4)[ring] - (6 if 2 <= rank <= 3 else 0), (-13, 0, 11, 19)[ring]
    return _KING_FILES[file] - (12 + 17 * rank if rank else 0), (-26, 0, 15, 26)[ring] + (3 if rank >= 4 else 0)


_PLACEMENT: Mapping[str, Weights] = {
    feature.name: square_value(*place) for feature, place in zip(PLACEMENT, PLACEMENT_SQUARES, strict=True)
}


def _by_phase(middlegame: Any, endgame: Any) -> NDArray[np.float64]:
    """Log odds of weights in hundredths of a pawn: [phases, ...]."""
    shares = np.array(_MIDDLEGAME_SHARES)
    tapered = np.multiply.outer(shares, middlegame) + np.multiply.outer(1 - shares, endgame)
    return np.asarray(tapered / 100 / _PAWNS_PER_LOG_ODDS)


_CHOICES: Mapping[str, tuple[Mapping[str, Weights], Weights]] = {
    "material": (_MATERIAL, (0.0, 0.0)),
    "piece-square": ({**_MATERIAL, **_PLACEMENT}, _TEMPO),
    "default": ({**TERM_WEIGHTS, **_PLACEMENT}, _TEMPO),
}
"""Weights of features, and what the move itself is worth."""


def _linear(
    learning: Learning, bias: NDArray[np.float64], names: Iterable[str], weights: NDArray[np.float64], provenance: Any
) -> LinearEvaluation:
    return LinearEvaluation(
        learning=learning,
        bias=bias.astype(np.float32),
        link=LOGISTIC,
        linear=tuple(learning.features.index(feature) for feature in names),
        linear_weights=weights.astype(np.float32),
        provenance=provenance,
    )


def hand_set_evaluation(learning: Learning, name: str) -> ResultEvaluation:
    """Make one of the evaluations: ``material``, ``piece-square``, or ``default``, which has all terms."""
    weights, tempo = _CHOICES[name]
    names = [feature.name for feature in learning.features.features if feature.name in weights]
    middlegame, endgame = np.array([weights[feature] for feature in names]).T
    provenance = {"weights": f"set by hand: {name}, of the plugin for chess"}
    phases = len(learning.phases)
    return ResultEvaluation(
        _linear(learning, _by_phase(*tempo), names, _by_phase(middlegame, endgame), provenance),
        _linear(
            learning,
            np.full(phases, _BASE_DRAWISHNESS),
            DRAWISHNESS_WEIGHTS,
            np.tile([*DRAWISHNESS_WEIGHTS.values()], (phases, 1)),
            provenance,
        ),
        provenance=provenance,
    )
