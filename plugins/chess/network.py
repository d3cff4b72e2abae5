"""A hidden layer in the search of chess: both views of the board, from move to move.

The accumulator of a ply holds the hidden units of White's view and of Black's, before they are clipped and squared. A
move changes two or three of the rows of weights that each is the sum of. Units are integers of which
:data:`~glem.core.evaluation.network.ONE_UNIT` make 1.
"""

from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.kernels import ONE, ZERO, trailing_zeros
from glem.core.compiling.operations import Operations
from glem.core.evaluation.integers.recomputing import score_limit, search_unit
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.evaluation.network import ONE_UNIT, Network
from glem.core.features.evaluators import Evaluator
from glem.games.chess.rules.position import Position, kind_at, occupied_squares
from glem.plugins.chess.features.relations import VIEWS
from glem.plugins.chess.incremental import NO_PIECE, changed_pieces, piece_of
from glem.plugins.chess.phases import PHASE_COUNT, phase_of
from glem.plugins.chess.vectors import TERMS_TOGETHER, change_rows, unit_products

_BLACK_PIECE = NO_PIECE // 2
_STEPS = 1024.0
"""Steps of a score in log odds."""


class NetworkTables(NamedTuple):
    """A hidden layer of H units as the functions below read it.

    Parameters
    ----------
    hidden
        int64: H, a multiple of 32.
    rows
        int16 [(2 * 6 * 64 + 1) * H]: weights of the pieces as :func:`.piece_of` numbers them, in White's view; the last
        row is zero.
    start
        int16 [H]: units of an empty board.
    output
        int16 [phases * 2 * H]: of the mover's view, then of the opponent's.
    bias
        float64 [phases], in steps.
    scale
        float64: steps of a product of squared units and output.
    limit
        int64: greatest absolute score.
    """

    hidden: np.int64
    rows: NDArray[np.int16]
    start: NDArray[np.int16]
    output: NDArray[np.int16]
    bias: NDArray[np.float64]
    scale: np.float64
    limit: np.int64


def _turned(piece: np.int64) -> np.int64:
    """Give a piece its number in the other view: its square turned over, the colours exchanged."""
    if piece == np.int64(NO_PIECE):
        return piece
    return (piece ^ np.int64(56)) + np.int64(_BLACK_PIECE if piece < np.int64(_BLACK_PIECE) else -_BLACK_PIECE)


def _change(
    data: NetworkTables, words: Any, source: np.int64, target: np.int64, less: np.int64, too: np.int64, more: np.int64
) -> None:
    """Take two pieces away and put one down, in both views."""
    size = data.hidden
    change_rows(words, source, target, data.rows, less * size, too * size, more * size, size)
    less, too, more = _turned(less) * size, _turned(too) * size, _turned(more) * size
    change_rows(words, source + size, target + size, data.rows, less, too, more, size)


def start(position: Position, data: NetworkTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of a ply."""
    size = data.hidden
    target = np.int64(ply) * np.int64(2) * size
    for unit in range(size):
        accumulators[target + np.int64(unit)] = np.uint16(data.start[unit])
        accumulators[target + size + np.int64(unit)] = np.uint16(data.start[unit])
    pieces = occupied_squares(position)
    nothing = np.int64(NO_PIECE)
    while pieces != ZERO:
        square = np.uint64(trailing_zeros(pieces))
        pieces &= pieces - ONE
        black = np.int64((~position.white >> square) & ONE)
        piece = piece_of(black, np.int64(kind_at(position, square)), np.int64(square))
        _change(data, accumulators, target, target, nothing, nothing, piece)


def update(before: Position, move: int, after: Position, data: NetworkTables, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of the next ply."""
    width = np.int64(2) * data.hidden
    source = np.int64(ply) * width
    less, less_too, more, more_too = changed_pieces(before, move)
    _change(data, accumulators, source, source + width, less, less_too, more)
    if more_too != np.int64(NO_PIECE):
        nothing = np.int64(NO_PIECE)
        _change(data, accumulators, source + width, source + width, nothing, nothing, more_too)


def static_score(position: Position, data: NetworkTables, accumulators: Any, ply: int) -> np.int64:
    """Score by both views."""
    size = data.hidden
    own = (np.int64(2) * np.int64(ply) + np.int64(position.turn)) * size
    other = (np.int64(2) * np.int64(ply) + np.int64(1) - np.int64(position.turn)) * size
    phase = np.int64(phase_of(position))
    weights = phase * (size + size)
    total = unit_products(accumulators, own, data.output, weights, size)
    total += unit_products(accumulators, other, data.output, weights + size, size)
    score = np.int64(np.rint(np.float64(total) * data.scale + data.bias[phase]))
    return min(max(score, -data.limit), data.limit)


_OPERATIONS = Operations(
    "chess-network", {"start": start, "update": update, "static_score": static_score, "search_phase": phase_of}
)


def network_evaluator(evaluation: LinearEvaluation, network: Network) -> Evaluator | None:
    """Fast form of an evaluation for the search.

    Returns
    -------
    Evaluator or None
        None where there are other terms than the bias, or a link other than the identity or the logistic one.

    Raises
    ------
    BadInputError
        See :meth:`.Network.in_play`.
    """
    if evaluation.terms or evaluation.configurations is not None or evaluation.link not in (IDENTITY, LOGISTIC):
        return None
    played = network.in_play()
    # Further units of weight 0, so that vectors are full.
    spare = (0, -network.bias.size % TERMS_TOGETHER)
    size = network.bias.size + spare[1]
    limit = score_limit(evaluation, _STEPS)
    tables = NetworkTables(
        hidden=np.int64(size),
        rows=np.pad(played.weights, ((0, 1), spare)).ravel(),
        start=np.pad(played.bias, spare),
        output=np.pad(played.output.reshape(-1, network.bias.size), ((0, 0), spare)).ravel(),
        bias=_STEPS * evaluation.bias.astype(np.float64),
        scale=np.float64(_STEPS / (played.scale * ONE_UNIT**2)),
        limit=np.int64(limit),
    )
    return Evaluator(
        name="hidden layer",
        operations=_OPERATIONS,
        data=tables,
        width=2 * size,
        phase_count=PHASE_COUNT,
        steps_per_unit=_STEPS,
        limit=limit,
        unit=search_unit(evaluation),
        result_only=True,
        keeps_scores=True,
        swing=max(0, round(_STEPS * _pawn(network))),
    )


def _pawn(network: Network) -> float:
    """Value of a pawn: what the first position loses without one, on the mean of all pawns and phases."""
    men = sorted(chess.Board().piece_map().items())
    pieces = np.array(
        [64 * (man.piece_type - 1) + square + (0 if man.color else _BLACK_PIECE) for square, man in men], np.int64
    )

    def values(active: NDArray[np.int64]) -> Any:
        units = [network.bias + network.weights[view].sum(axis=0) for view in (active, VIEWS.exchanged[active])]
        return network.output @ np.concatenate(units).clip(0, 1) ** 2

    return float(np.mean([np.mean(values(pieces) - values(pieces[pieces != pawn])) for pawn in range(8, 16)]))
