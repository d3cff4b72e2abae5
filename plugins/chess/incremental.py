"""Evaluations of chess for the search: piece squares and material from move to move, the rest at the leaves.

The accumulator of a ply holds, for every phase, the sum of the weights of all pieces on their squares from White's
view. A move changes two or three of its addends. An evaluation by more than that computes the other terms where it is
asked for a score, with the function that writes the features, and multiplies them with the weights of the phase.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import ONE, ZERO, inlined, trailing_zeros
from glem.core.compiling.operations import Operations
from glem.core.evaluation.integers.pattern_sums import values_in
from glem.core.evaluation.integers.recomputing import score_limit, search_unit
from glem.core.evaluation.linear import LinearEvaluation, PlayWeights
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.features.evaluators import NULL_MOVE, Evaluator
from glem.games.chess.rules.position import Position, kind_at, occupied_squares
from glem.plugins.chess.features.placement import PLACEMENT, PLACES
from glem.plugins.chess.features.sides import boards_of
from glem.plugins.chess.features.terms import TERMS, write_terms_and_sides
from glem.plugins.chess.phases import PHASE_COUNT, phase_of
from glem.plugins.chess.vectors import LANES, SUM_WORDS, TERMS_TOGETHER, change_sums, products, sum_of_lane

_MATERIAL = 5
"""The first terms: the kinds of pieces but the king."""
_TERM_WORDS = -(-len(TERMS) // TERMS_TOGETHER) * TERMS_TOGETHER
NO_PIECE = 2 * 6 * 64
"""Number that stands for no piece; its row of weights is zero."""
_NO_ROW = NO_PIECE * LANES
_LARGEST_WEIGHT = 32767
_WIDTH = SUM_WORDS + 2 * _TERM_WORDS


class ChessTables(NamedTuple):
    """An evaluation as the functions below read it.

    Parameters
    ----------
    rows
        int32 [(2 * 6 * 64 + 1) * 8]: for White's kinds, then Black's, and each square, what a piece adds in each phase;
        the last row is zero.
    weights
        int16 [phases * words]: weights of the terms, material left out.
    bias
        int64 [phases].
    limit
        int64: greatest absolute score.
    width
        int64: words of the accumulator of a ply; behind the sums there may be room for terms.
    """

    rows: NDArray[np.int32]
    weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    limit: np.int64
    width: np.int64


@inlined
def piece_of(black: np.int64, kind: np.int64, square: np.int64) -> np.int64:
    """Give a piece on a square its number: White's kinds, then Black's, and in each the squares."""
    return (np.int64(6) * black + kind) * np.int64(64) + square


@inlined
def changed_pieces(before: Position, move: int) -> tuple[np.int64, np.int64, np.int64, np.int64]:
    """Two pieces that a move takes away and two that it puts down, as :func:`piece_of` and :data:`NO_PIECE`."""
    squares = np.int64(move)
    begin = squares & np.int64(63)
    end = (squares >> np.int64(6)) & np.int64(63)
    promotion = squares >> np.int64(12)
    black = np.int64(before.turn)
    kind = np.int64(kind_at(before, np.uint64(begin)))
    nothing = np.int64(NO_PIECE)
    if move == NULL_MOVE:
        return nothing, nothing, nothing, nothing
    less, less_too = piece_of(black, kind, begin), nothing
    if (occupied_squares(before) >> np.uint64(end)) & ONE != ZERO:
        is_white = np.int64((before.white >> np.uint64(end)) & ONE)
        if is_white != black:
            # A king takes its own rook: castling.
            home = begin & np.int64(56)
            side = np.int64(1) if end > begin else np.int64(0)
            rook = piece_of(black, np.int64(3), home + np.int64(3) + np.int64(2) * side)
            king = piece_of(black, np.int64(5), home + np.int64(2) + np.int64(4) * side)
            return less, piece_of(black, np.int64(3), end), rook, king
        less_too = piece_of(np.int64(1) - black, np.int64(kind_at(before, np.uint64(end))), end)
    elif kind == np.int64(0) and before.en_passant != np.uint8(0) and end == np.int64(before.en_passant):
        less_too = piece_of(np.int64(1) - black, np.int64(0), end - np.int64(8) + np.int64(16) * black)
    return less, less_too, piece_of(black, promotion if promotion != np.int64(0) else kind, end), nothing


def _placement_score(
    position: Position, data: ChessTables, accumulators: Any, first: np.int64, phase: np.int64
) -> np.int64:
    total = sum_of_lane(accumulators, first, phase)
    bias: np.int64 = data.bias[phase]
    return bias - total if position.turn != np.uint8(0) else bias + total


def start(position: Position, data: ChessTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of a ply."""
    target = np.int64(ply) * data.width
    for word in range(SUM_WORDS):
        accumulators[target + word] = np.uint16(0)
    pieces = occupied_squares(position)
    nothing = np.int64(_NO_ROW)
    while pieces != ZERO:
        square = np.uint64(trailing_zeros(pieces))
        pieces &= pieces - ONE
        black = np.int64((~position.white >> square) & ONE)
        row = np.int64(LANES) * piece_of(black, np.int64(kind_at(position, square)), np.int64(square))
        change_sums(accumulators, target, target, data.rows, nothing, nothing, row)


def update(before: Position, move: int, after: Position, data: ChessTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of the next ply."""
    source = np.int64(ply) * data.width
    target = source + data.width
    lanes, nothing = np.int64(LANES), np.int64(_NO_ROW)
    less, less_too, more, more_too = changed_pieces(before, move)
    change_sums(accumulators, source, target, data.rows, less * lanes, less_too * lanes, more * lanes)
    if more_too != np.int64(NO_PIECE):
        change_sums(accumulators, target, target, data.rows, nothing, nothing, more_too * lanes)


def placement_score(position: Position, data: ChessTables, accumulators: Any, ply: int) -> np.int64:
    """Score of material and piece squares alone."""
    first = np.int64(ply) * np.int64(SUM_WORDS)
    total = _placement_score(position, data, accumulators, first, np.int64(phase_of(position)))
    return min(max(total, -data.limit), data.limit)


def full_score(position: Position, data: ChessTables, accumulators: Any, ply: int) -> np.int64:
    """Score of material, piece squares and all other terms."""
    first = np.int64(ply) * np.int64(_WIDTH)
    phase = np.int64(phase_of(position))
    total = _placement_score(position, data, accumulators, first, phase)
    first += np.int64(SUM_WORDS)
    words = np.int64(_TERM_WORDS)
    write_terms_and_sides(boards_of(position), values_in(accumulators, first, words + words), 0, _TERM_WORDS)
    total += products(accumulators, first, first + words, data.weights, phase * words, words)
    return min(max(total, -data.limit), data.limit)


_PLACEMENT_ALONE = Operations(
    "chess-placement", {"start": start, "update": update, "static_score": placement_score, "search_phase": phase_of}
)
_ALL = Operations(
    "chess-terms", {"start": start, "update": update, "static_score": full_score, "search_phase": phase_of}
)


def incremental_evaluator(evaluation: LinearEvaluation) -> Evaluator | None:
    """Fast form of an evaluation for the search.

    Returns
    -------
    Evaluator or None
        Its score is the sum of the 16-bit weights of :meth:`LinearEvaluation.in_play`. None for an evaluation with
        patterns or configurations, with other linear features than terms and piece squares, with one of
        them twice so that weights overflow, or with a link other than the identity or the logistic one.
    """
    covered = len(TERMS) + len(PLACEMENT)
    if evaluation.patterns is not None or evaluation.configurations is not None:
        return None
    if evaluation.link not in (IDENTITY, LOGISTIC) or any(feature >= covered for feature in evaluation.linear):
        return None
    played = evaluation.in_play()
    limit = score_limit(evaluation, played.scale)
    # Zero for those of the game's first features that do not enter; one may enter twice.
    by_feature = np.zeros((PHASE_COUNT, covered), np.int64)
    np.add.at(by_feature.T, list(evaluation.linear), played.linear.T)
    if np.abs(by_feature).max(initial=0) > _LARGEST_WEIGHT:
        return None
    placement_only = not by_feature[:, _MATERIAL : len(TERMS)].any()
    width = SUM_WORDS if placement_only else _WIDTH
    return Evaluator(
        name="material and piece squares" if placement_only else "terms and piece squares",
        operations=_PLACEMENT_ALONE if placement_only else _ALL,
        data=_tables(by_feature, played, limit, width),
        width=width,
        phase_count=PHASE_COUNT,
        steps_per_unit=played.scale,
        limit=limit,
        unit=search_unit(evaluation),
        result_only=True,
        keeps_scores=not placement_only,
        swing=max(0, round(float(by_feature[:, 0].mean()))),
    )


def _tables(by_feature: NDArray[np.int64], played: PlayWeights, limit: int, width: int) -> ChessTables:
    rows = np.zeros((2, 6, 64, LANES), np.int32)
    squares = np.arange(64)
    for kind in range(6):
        added = by_feature[:, len(TERMS) + PLACES[kind]]
        if kind == 0:
            # The table has no places for pawns on the first and last rank.
            added[:, (squares < 8) | (squares >= 56)] = 0
        if kind < _MATERIAL:
            added = added + by_feature[:, kind, None]
        rows[0, kind, :, :PHASE_COUNT] = added.T
        rows[1, kind, :, :PHASE_COUNT] = -added[:, squares ^ 56].T
    weights = np.zeros((PHASE_COUNT, _TERM_WORDS), np.int16)
    weights[:, _MATERIAL : len(TERMS)] = by_feature[:, _MATERIAL : len(TERMS)]
    return ChessTables(
        rows=np.concatenate([rows.ravel(), np.zeros(LANES, np.int32)]),
        weights=weights.ravel(),
        bias=played.bias.astype(np.int64),
        limit=np.int64(limit),
        width=np.int64(width),
    )
