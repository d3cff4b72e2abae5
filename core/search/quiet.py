"""Positions that a static evaluation can be asked about.

In the middle of an exchange the piece that is about to be taken back counts as won. Fitted to such positions, material
loses its worth. The search never evaluates them: quiescence comes first. So what is fitted for the search leaves them
out (:func:`quiet_positions`), or goes on to where the exchanges are played out (:func:`settled_positions`): quiescence
answers a position with the static score of another one, at the end of the tactical moves that it holds to be best. That
is the position for whose value the game's result speaks. To leave out is simpler, but it leaves out all positions in
which anything can be taken, whether that is good or not, and with them what tells the worth of threats.
"""

from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.evaluators import Evaluator, start, update
from glem.core.game.game import Game, play
from glem.core.game.optional_operations import (
    is_drawn_by_rule,
    moves_of_first_ply,
    moves_of_quiescence,
    standing,
    tactical_moves,
)
from glem.core.search.negascout import leaf_value, negascout, settle, static_value
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.state import AT

STATIC = -1
"""Depth of a search that looks at nothing but the position."""

_NEVER = np.int64(1 << 62)


def _write_quiet(rules: Any, columns: Any, count: int, buffer: Any, quiet: Any) -> None:
    for row in range(count):
        quiet[row] = tactical_moves(rules, position_at(columns, row), buffer, 0) == 0


def quiet_positions(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Tell which of N positions have no tactical move and may stand still: bool [N].

    Parameters
    ----------
    game
        The game; without the operation ``tactical_moves`` (:mod:`glem.core.game.optional_operations`) all are quiet.
    positions
        Position of columns [N].
    """
    count = len(positions[0])
    if "tactical_moves" not in game.search_functions:
        return np.ones(count, np.bool_)
    quiet = np.zeros(count, np.bool_)
    columns = type(positions)(*(np.ascontiguousarray(column) for column in positions))
    compiled(_write_quiet)(game.search_rules, columns, count, np.zeros(game.max_moves, np.int32), quiet)
    return quiet


def _reply(rules: Any, evaluator: Any, state: Any, position: Any, ply: np.int64, value: np.int64, first: bool) -> Any:
    """First tactical move that brings ``value``; -1 where none does, or where standing still brings it already.

    ``first`` says that quiescence begins here, so that moves of its first ply alone count.
    """
    stands = standing(rules, position)
    if stands > np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
        return np.int64(-1)
    begin = ply * state.max_moves
    count = np.int64(moves_of_quiescence(rules, position, state.moves, begin))
    if count < np.int64(0):
        count = ~count
    elif stands < np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
        return np.int64(-1)
    if first:
        count += moves_of_first_ply(rules, position, state.moves, begin + count)
    below = ply + np.int64(1)
    for place in range(begin, begin + count):
        move = np.int64(state.moves[place])
        after = play(rules, position, move)
        if is_drawn_by_rule(rules, after):
            continue
        update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
        if -settle(rules, evaluator, state, after, below, -state.infinity, state.infinity, np.int64(0)) == value:
            return move
    return np.int64(-1)


def _store_end(
    rules: Any, evaluator: Any, state: Any, position: Any, ply: np.int64, value: np.int64, columns: Any, row: int
) -> np.int64:
    """Go on from where quiescence gave ``value``, put the end in its row, and tell its ply; -1 where there is none."""
    move = _reply(rules, evaluator, state, position, ply, value, True)
    while move >= np.int64(0):
        after = play(rules, position, move)
        # The accumulator below is that of the last move tried, which is this one.
        position, value, ply = after, -value, ply + np.int64(1)
        move = _reply(rules, evaluator, state, position, ply, value, False)
    stands = standing(rules, position)
    if stands != np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
        store_position(columns, row, position)
        return ply
    return np.int64(-1)


def _begin(state: Any) -> None:
    state.counters[AT.NEXT_POLL] = _NEVER
    state.counters[AT.STOPPED] = 0
    state.counters[AT.FIRST_MOVE] = -1


def _write_settled(rules: Any, evaluator: Any, state: Any, columns: Any, count: int, plies: Any, scores: Any) -> None:
    _begin(state)
    ply = np.int64(0)
    for row in range(count):
        state.counters[AT.NODES] = 0
        position = position_at(columns, row)
        start(evaluator, position, state.evaluation, state.accumulators, ply)
        value = np.int64(leaf_value(rules, evaluator, state, position, ply, -state.infinity, state.infinity))
        plies[row], scores[row] = -1, value
        if abs(value) <= state.proven:
            plies[row] = _store_end(rules, evaluator, state, position, ply, value, columns, row)


def _write_static(rules: Any, evaluator: Any, state: Any, columns: Any, count: int, scores: Any) -> None:
    ply = np.int64(0)
    for row in range(count):
        position = position_at(columns, row)
        start(evaluator, position, state.evaluation, state.accumulators, ply)
        scores[row] = static_value(rules, evaluator, state, position, ply)


def _write_leaves(
    rules: Any, evaluator: Any, state: Any, columns: Any, count: int, depth: np.int64, plies: Any, scores: Any
) -> None:
    _begin(state)
    for row in range(count):
        state.counters[AT.NODES] = 0
        position = position_at(columns, row)
        ply = np.int64(0)
        start(evaluator, position, state.evaluation, state.accumulators, ply)
        state.variation_lengths[0] = 0
        value = np.int64(negascout(rules, evaluator, state, position, ply, depth, -state.infinity, state.infinity))
        plies[row], scores[row] = -1, value
        if abs(value) > state.proven:
            continue
        while ply < np.int64(state.variation_lengths[0]):
            move = np.int64(state.variations[ply])
            after = play(rules, position, move)
            update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
            position, value, ply = after, -value, ply + np.int64(1)
        plies[row] = _store_end(rules, evaluator, state, position, ply, value, columns, row)


@define(frozen=True, eq=False)
class LeafSearch:
    """Follows the principal variation of a search, quiescence included, to the position whose score it gives back.

    Parameters
    ----------
    evaluation
        What the search goes by, rounded as the search has it.
    depth
        Plies before quiescence, or :data:`STATIC`: positions are their own leaves.
    quiescence
        Name of one of :attr:`Game.quiescence <glem.core.game.game.Game.quiescence>`; "" for the game's own, if any.
    evaluator
        The evaluation's form for the search; :func:`.evaluator_of` it by default.
    """

    evaluation: LinearEvaluation
    depth: int = 0
    quiescence: str = ""
    evaluator: Evaluator | None = field(default=None, repr=False)
    searcher: Searcher = field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        settings = SearchSettings(table_mb=0, quiescence=self.quiescence)
        evaluator = evaluator_of(self.evaluation) if self.evaluator is None else self.evaluator
        searcher = Searcher(self.evaluation.learning.game, evaluator, settings)
        object.__setattr__(self, "searcher", searcher)

    def leaves(self, positions: Any) -> tuple[Any, NDArray[np.int16], NDArray[np.int32]]:
        """Follow N positions, given as a position of columns.

        Returns
        -------
        positions
            Position of columns [N]; rows without an end stay what they were.
        plies
            int16 [N]: moves played; -1 where the best of them end the game, so that nothing is evaluated.
        scores
            int32 [N]: score of each of the N positions, in steps from the side to move.
        """
        count = len(positions[0])
        columns = type(positions)(*(np.array(column) for column in positions))
        plies, scores = np.zeros(count, np.int16), np.zeros(count, np.int32)
        searcher = self.searcher
        common = searcher.rules, searcher.evaluator.operations, searcher.borrowed, columns, count
        if self.depth == STATIC:
            compiled(_write_static)(*common, scores)
        elif self.depth:
            compiled(_write_leaves)(*common, np.int64(self.depth), plies, scores)
        else:
            compiled(_write_settled)(*common, plies, scores)
        return columns, plies, scores


def leaf_signs(plies: NDArray[np.int16]) -> NDArray[np.int16]:
    """Tell whether the side to move at a leaf is that of its position, int16 [N]: 1, also for no leaf, or -1."""
    return np.where((plies > 0) & (plies % 2 == 1), -1, 1).astype(np.int16)


def settled_positions(evaluation: LinearEvaluation, positions: Any) -> tuple[Any, NDArray[np.int16]]:
    """Follow quiescence alone from N positions, given as a position of columns; see :meth:`LeafSearch.leaves`."""
    if "tactical_moves" not in evaluation.learning.game.search_functions:
        return positions, np.zeros(len(positions[0]), np.int16)
    return LeafSearch(evaluation).leaves(positions)[:2]
