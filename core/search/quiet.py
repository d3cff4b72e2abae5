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
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.evaluators import start, update
from glem.core.game.game import Game, play
from glem.core.game.optional_operations import is_drawn_by_rule, standing, tactical_moves
from glem.core.search.negascout import settle, static_value
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.state import AT

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


def _reply(rules: Any, evaluator: Any, state: Any, position: Any, ply: np.int64, value: np.int64) -> np.int64:
    """First tactical move that brings ``value``; -1 where none does, or where standing still brings it already."""
    stands = standing(rules, position)
    if stands > np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
        return np.int64(-1)
    first = ply * state.max_moves
    count = np.int64(tactical_moves(rules, position, state.moves, first))
    if count < np.int64(0):
        count = ~count
    elif stands < np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
        return np.int64(-1)
    below = ply + np.int64(1)
    for place in range(first, first + count):
        move = np.int64(state.moves[place])
        after = play(rules, position, move)
        if is_drawn_by_rule(rules, after):
            continue
        update(evaluator, position, move, after, state.evaluation, state.accumulators, ply)
        if -settle(rules, evaluator, state, after, below, -state.infinity, state.infinity) == value:
            return move
    return np.int64(-1)


def _write_settled(rules: Any, evaluator: Any, state: Any, columns: Any, count: int, plies: Any) -> None:
    state.counters[AT.NEXT_POLL] = _NEVER
    state.counters[AT.STOPPED] = 0
    for row in range(count):
        state.counters[AT.NODES] = 0
        position = position_at(columns, row)
        start(evaluator, position, state.evaluation, state.accumulators, np.int64(0))
        value = np.int64(settle(rules, evaluator, state, position, np.int64(0), -state.infinity, state.infinity))
        plies[row] = -1
        if abs(value) > state.proven:
            continue
        ply = np.int64(0)
        move = _reply(rules, evaluator, state, position, ply, value)
        while move >= np.int64(0):
            after = play(rules, position, move)
            # The accumulator below is that of the last move tried, which is this one.
            position, value, ply = after, -value, ply + np.int64(1)
            move = _reply(rules, evaluator, state, position, ply, value)
        stands = standing(rules, position)
        if stands != np.int64(0) and static_value(rules, evaluator, state, position, ply) == value:
            store_position(columns, row, position)
            plies[row] = ply


def settled_positions(evaluation: LinearEvaluation, positions: Any) -> tuple[Any, NDArray[np.int16]]:
    """Follow quiescence from N positions to those whose static scores it gives back.

    Parameters
    ----------
    evaluation
        What quiescence goes by, rounded as the search has it.
    positions
        Position of columns [N]; in a game without tactical moves they are all settled.

    Returns
    -------
    positions
        Position of columns [N]; rows without an end stay what they were.
    plies
        int16 [N]: tactical moves played; -1 where the best of them end the game, so that nothing is evaluated.
    """
    game = evaluation.learning.game
    count = len(positions[0])
    columns = type(positions)(*(np.array(column) for column in positions))
    plies = np.zeros(count, np.int16)
    if "tactical_moves" in game.search_functions:
        searcher = Searcher(game, evaluator_of(evaluation), SearchSettings(table_mb=0))
        rules, operations = game.search_rules, searcher.evaluator.operations
        compiled(_write_settled)(rules, operations, searcher.borrowed, columns, count, plies)
    return columns, plies
