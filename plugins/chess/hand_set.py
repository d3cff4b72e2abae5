"""Evaluations of chess with weights set by hand, in several strengths, and a drawishness.

Weights are written in hundredths of a pawn, for the middlegame and for the endgame; a phase takes the share of either
that its material has. A pawn is worth 1 / 1.1 in log odds, about what engines' own scores are over their games
(``docs/explanation/chess-evaluation.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import Learning
from glem.plugins.chess.features.placement import KINDS

__all__ = ["evaluation_by_material", "evaluation_by_placement", "full_evaluation"]

_PAWNS_PER_LOG_ODDS = 1.1
_MIDDLEGAME_SHARES = (0.96, 0.81, 0.65, 0.48, 0.31, 0.17, 0.04)
"""By phase: what is left of 24 points, in the middle of the phase."""

_MATERIAL_KINDS = ("pawns", "knights", "bishops", "rooks", "queens")

_Weights = Mapping[str, tuple[float, float]]

_MATERIAL: _Weights = {
    "pawns": (85, 112),
    "knights": (325, 315),
    "bishops": (340, 335),
    "rooks": (475, 545),
    "queens": (980, 1010),
}
_TEMPO = (18.0, 12.0)

_TERMS: _Weights = {
    "bishop_pair": (28, 48),
    "knight_pair": (-6, -8),
    "rook_pair": (-14, -12),
    "knights_with_pawns": (4, 5),
    "rooks_with_pawns": (-5, -4),
    "pawnless_ahead": (-80, -190),
    "pawns_with_opposite_bishops": (-35, -42),
    "pawns_in_rook_ending": (0, -14),
    "knight_mobility": (4, 4),
    "bishop_mobility": (4.5, 5),
    "rook_mobility": (2.5, 5),
    "queen_mobility": (1.5, 4),
    "knight_trapped": (-20, -25),
    "bishop_trapped": (-22, -28),
    "rook_trapped": (-10, -18),
    "queen_trapped": (-5, -15),
    "king_zone_knights": (11, 2),
    "king_zone_bishops": (9, 2),
    "king_zone_rooks": (13, 4),
    "king_zone_queens": (13, 6),
    "king_zone_hits": (4.5, 1),
    "attackers_two": (10, 0),
    "attackers_three": (32, 5),
    "attackers_four": (65, 10),
    "king_zone_weak": (10, 2),
    "knight_checks": (32, 5),
    "bishop_checks": (18, 5),
    "rook_checks": (32, 8),
    "queen_checks": (22, 10),
    "doubled_pawns": (-8, -18),
    "isolated_pawns": (-8, -11),
    "isolated_unopposed": (-9, -6),
    "backward_pawns": (-6, -8),
    "backward_unopposed": (-9, -5),
    "connected_rank_2": (3, 0),
    "connected_rank_3": (6, 3),
    "connected_rank_4": (8, 7),
    "connected_rank_5": (15, 15),
    "connected_rank_6": (32, 38),
    "connected_rank_7": (55, 60),
    "passed_rank_2": (0, 10),
    "passed_rank_3": (2, 14),
    "passed_rank_4": (8, 28),
    "passed_rank_5": (24, 56),
    "passed_rank_6": (55, 105),
    "passed_rank_7": (105, 175),
    "passed_defended": (8, 14),
    "passed_together": (8, 14),
    "passed_blocked": (-10, -28),
    "passed_free": (8, 24),
    "passed_clear": (5, 14),
    "passed_rook_behind": (5, 14),
    "passed_hostile_rook_behind": (-8, -18),
    "passed_own_king": (-1, -6),
    "passed_hostile_king": (2, 9),
    "passed_unstoppable": (0, 450),
    "candidates": (4, 11),
    "pawn_islands": (-3, -5),
    "pawn_levers": (2, 2),
    "castling_kingside": (24, 0),
    "castling_queenside": (14, 0),
    "shelter_near": (17, 0),
    "shelter_far": (8, 0),
    "king_half_open_files": (-17, 0),
    "king_open_files": (-11, 0),
    "storm_near": (-11, 0),
    "storm_far": (-4, 0),
    "rook_open_file": (24, 12),
    "rook_half_open_file": (12, 9),
    "rook_seventh": (14, 24),
    "rooks_connected": (6, 3),
    "knight_outpost": (22, 12),
    "bishop_outpost": (12, 6),
    "minor_behind_pawn": (6, 1),
    "bishop_own_pawns": (-2.5, -4),
    "pawn_threats": (42, 34),
    "minor_threats": (28, 28),
    "rook_threats": (24, 18),
    "hanging_pieces": (32, 24),
    "hanging_pawns": (8, 11),
    "attacked_minors": (8, 8),
    "pawn_push_threats": (11, 8),
    "control": (1.2, 1.0),
    "space": (2, 0),
    "in_check": (-15, -15),
    "hanging_either_side": (9, 9),
    "pawn_threats_either_side": (9, 9),
}

_KING_FILES = (22, 30, 8, -14, -8, -8, 34, 26)
"""Middlegame value of a king on its first rank, a to h."""

_BASE_DRAWISHNESS = 2.3
_DRAWISHNESS: Mapping[str, float] = {
    "opposite_bishops_alone": 1.4,
    "opposite_bishops_rooks": 0.6,
    "opposite_bishops_others": 0.1,
    "insufficient_material": 6.0,
    "sides_without_pawns": 0.8,
    "stronger_pawnless": 1.5,
    "pawns_left": -0.02,
    "pawns_on_both_wings": -0.3,
    "pawns_locked": 0.05,
    "pawn_files_unshared": -0.08,
    "passed_pawns": -0.06,
    "queens_off": 0.2,
    "material_left": -0.004,
    "material_difference": -0.05,
    "material_even": 0.2,
    "piece_imbalance": -0.08,
    "kings_on_opposite_wings": -0.4,
    "clock": 0.005,
    "clock_late": 0.02,
}


def _placement(kind: str, square: int) -> tuple[float, float]:
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
        return (-9, 3, 7, 10)[ring] + long_diagonal + (4 if (file, rank) in ((1, 1), (6, 1)) else 0), (-7, 0, 4, 7)[
            ring
        ]
    if kind == "rook":
        return (-5, 0, 4, 7)[to_edge] + (8 if rank == 6 else 0), 4.0 if rank >= 4 else 0.0
    if kind == "queen":
        return (-4, 2, 4, 4)[ring] - (6 if 2 <= rank <= 3 else 0), (-13, 0, 11, 19)[ring]
    return _KING_FILES[file] - (12 + 17 * rank if rank else 0), (-26, 0, 15, 26)[ring] + (3 if rank >= 4 else 0)


def _squares(kind: str) -> dict[str, tuple[float, float]]:
    files = 8 if kind in ("pawn", "king") else 4
    ranks = range(1, 7) if kind == "pawn" else range(8)
    return {
        f"{kind}_{'abcdefgh'[file]}{rank + 1}": _placement(kind, 8 * rank + file)
        for rank in ranks
        for file in range(files)
    }


def _by_phase(middlegame: Any, endgame: Any) -> NDArray[np.float64]:
    """Log odds of weights in hundredths of a pawn: [phases, ...]."""
    shares = np.array(_MIDDLEGAME_SHARES)
    tapered = np.multiply.outer(shares, middlegame) + np.multiply.outer(1 - shares, endgame)
    return np.asarray(tapered / 100 / _PAWNS_PER_LOG_ODDS)


def _evaluation(learning: Learning, weights: _Weights, tempo: tuple[float, float], name: str) -> ResultEvaluation:
    names = tuple(feature.name for feature in learning.features.features if feature.name in weights)
    middlegame, endgame = np.array([weights[feature] for feature in names]).T
    provenance = {"weights": f"set by hand: {name}, of the plugin for chess"}
    value = LinearEvaluation(
        learning=learning,
        bias=_by_phase(*tempo).astype(np.float32),
        link=LOGISTIC,
        linear=tuple(learning.features.index(feature) for feature in names),
        linear_weights=_by_phase(middlegame, endgame).astype(np.float32),
        provenance=provenance,
    )
    phases = len(learning.phases)
    drawishness = LinearEvaluation(
        learning=learning,
        bias=np.full(phases, _BASE_DRAWISHNESS, np.float32),
        link=LOGISTIC,
        linear=tuple(learning.features.index(feature) for feature in _DRAWISHNESS),
        linear_weights=np.tile(np.array([*_DRAWISHNESS.values()], np.float32), (phases, 1)),
        provenance=provenance,
    )
    return ResultEvaluation(value, drawishness, provenance=provenance)


def evaluation_by_material(learning: Learning) -> ResultEvaluation:
    """Evaluate by counts of the pieces alone."""
    return _evaluation(learning, _MATERIAL, (0.0, 0.0), "material")


def evaluation_by_placement(learning: Learning) -> ResultEvaluation:
    """Evaluate by material and piece squares."""
    squares = {name: value for kind in KINDS for name, value in _squares(kind).items()}
    return _evaluation(learning, {**_MATERIAL, **squares}, _TEMPO, "piece-square")


def full_evaluation(learning: Learning) -> ResultEvaluation:
    """Evaluate by all terms."""
    squares = {name: value for kind in KINDS for name, value in _squares(kind).items()}
    return _evaluation(learning, {**_MATERIAL, **_TERMS, **squares}, _TEMPO, "default")
