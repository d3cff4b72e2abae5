"""Optional operations of a game that the search uses where they are there.

A game gives them in ``Game.search_functions``. Which of them exist is known when the search is compiled for the game,
so that an absent one costs nothing. All are dual functions; scores are from the side to move.

``tactical_moves(position, moves, start) -> count``
    Quiescence: writes the moves that a static evaluation does not foresee (captures, say). Where the side to move
    cannot stand still (it is in check), it writes all legal moves and returns the complement ``~count``, ``~0`` where
    it is mated. In a finished game it writes none. Such moves must come to an end: nothing else ends quiescence.
``checking_moves(position, moves, start) -> count``
    Writes the moves that quiescence tries besides at its first ply only: quiet moves that give check, say; none where
    the side to move cannot stand still.
``extension(before, move, after) -> plies``
    By how many plies a move is searched deeper: 0 for most, never less, or the search grows without end.
``move_order(position, move, after) -> int``
    Hint for the order of moves, greater for better ones, between -1000 and 1000. Wrong hints cost time, never a wrong
    score; it is asked for nearly every move.
``move_hint(position, move) -> int``
    The same from the position before the move alone. It takes the place of ``move_order``, and moves are then not
    played only to be ordered.
``must_move(position) -> bool``
    Whether ``tactical_moves`` would return a complement: known before, it saves writing the moves where standing still
    is good enough.
``no_moves_score(position) -> int``
    Final score of a position in which no move was found. With it the search never calls ``is_over`` and learns
    that a game is over by generating moves.
``reversible_plies(position) -> int``
    How many plies back an equal position may lie, 0 after a move that cannot be taken back. A position that occurs
    again is a draw.
``plies_left(position) -> int``
    Upper bound on the moves left, forced passes excluded: for the clock, and to decide whether to solve.
``is_drawn(position) -> bool``
    Whether the position is drawn by a rule that the moves do not show (too many plies without progress, too little
    material); players are taken to claim such draws. Never in a finished game that somebody has won. Repetitions are
    none of its business.
``null_move(position) -> position``
    The position after the side to move has passed, as the other side sees it, though no rule allows that. A selective
    search takes a side that is still well off after passing to be better off with a move (Beal 1989). No position from
    before may come back after it (``reversible_plies`` is 0).
``can_pass(position) -> bool``
    Whether passing may stand for any move there: False where a side may be glad to pass.
``is_quiet(position, move) -> bool``
    Whether a move changes little that a static score sees; selective search looks at such ones less deep where they
    come late, and not at all where the static score is far too low next to the leaves.
``gain(position, move) -> int``
    What a tactical move takes at once, in pawns or whatever the evaluator's ``swing`` measures: the static score after
    it is not much greater than this. Moves that take anything are no killers.
``is_losing(position, move) -> bool``
    Whether the piece that a quiet move puts somewhere is lost there.
``progress(position) -> int``
    In a position that is won by its material, how near the side to move (or, negative, the other side) is to the end,
    in hundredths of the evaluator's ``swing``, at most 500; 0 everywhere else. It is added to static scores: an
    evaluation that learns results sees all such positions alike, and finds no way from one to the next.
``table_key(position) -> uint64``
    Key of the position in the table, where the hash key leaves out what decides its value soon: a counter of plies
    that is about to make it a draw. Elsewhere it is the hash key.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, by_presence, generic_operation
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.game import Game, final_score, hash_key, is_over

OPTIONAL_OPERATIONS = (
    "tactical_moves",
    "checking_moves",
    "extension",
    "move_order",
    "no_moves_score",
    "reversible_plies",
    "plies_left",
    "is_drawn",
    "table_key",
    "move_hint",
    "must_move",
    "null_move",
    "can_pass",
    "is_quiet",
    "gain",
    "is_losing",
    "progress",
)


@generic_operation
def tactical_moves(rules: Operations, position: Any, moves: Any, start: int) -> int:
    """Write the moves for quiescence; the complement of the count where standing still is no choice."""
    return int(rules["tactical_moves"](position, moves, start))


@generic_operation
def checking_moves(rules: Operations, position: Any, moves: Any, start: int) -> int:
    """Write the moves that quiescence tries besides at its first ply."""
    return int(rules["checking_moves"](position, moves, start))


@generic_operation
def extension(rules: Operations, before: Any, move: int, after: Any) -> int:
    """Plies by which a move is searched deeper."""
    return int(rules["extension"](before, move, after))


@generic_operation
def move_order(rules: Operations, position: Any, move: int, after: Any) -> int:
    """Hint for the order of moves, greater for better ones."""
    return int(rules["move_order"](position, move, after))


@generic_operation
def move_hint(rules: Operations, position: Any, move: int) -> int:
    """Hint for the order of moves, without the position after the move."""
    return int(rules["move_hint"](position, move))


@generic_operation
def must_move(rules: Operations, position: Any) -> bool:
    """Whether the side to move cannot stand still."""
    return bool(rules["must_move"](position))


@generic_operation
def no_moves_score(rules: Operations, position: Any) -> int:
    """Score a position without moves."""
    return int(rules["no_moves_score"](position))


@generic_operation
def reversible_plies(rules: Operations, position: Any) -> int:
    """How many plies back an equal position may lie."""
    return int(rules["reversible_plies"](position))


@generic_operation
def plies_left(rules: Operations, position: Any) -> int:
    """Upper bound on the moves left, forced passes excluded."""
    return int(rules["plies_left"](position))


def _write_plies_left(rules: Any, columns: Any, count: Any, left: Any) -> None:
    for row in range(count):
        left[row] = plies_left(rules, position_at(columns, row))


def plies_left_of(game: Game, positions: Any) -> NDArray[np.int16]:
    """Upper bound on the moves left in each of N positions, for games with the operation ``plies_left``: int16 [N]."""
    columns = contiguous_columns(game, positions)
    left = np.zeros(len(columns[0]), np.int16)
    compiled(_write_plies_left)(game.search_rules, columns, np.int64(len(left)), left)
    return left


@generic_operation
def is_drawn(rules: Operations, position: Any) -> bool:
    """Whether a rule that the moves do not show makes the position a draw."""
    return bool(rules["is_drawn"](position))


@generic_operation
def null_move(rules: Operations, position: Any) -> Any:
    """Position after the side to move has passed."""
    return rules["null_move"](position)


@generic_operation
def can_pass(rules: Operations, position: Any) -> bool:
    """Whether passing may stand for any move."""
    return bool(rules["can_pass"](position))


@generic_operation
def is_quiet(rules: Operations, position: Any, move: int) -> bool:
    """Whether a move changes little that a static score sees."""
    return bool(rules["is_quiet"](position, move))


@generic_operation
def gain(rules: Operations, position: Any, move: int) -> int:
    """Tell what a tactical move takes at once."""
    return int(rules["gain"](position, move))


@generic_operation
def is_losing(rules: Operations, position: Any, move: int) -> bool:
    """Whether the piece that a quiet move puts somewhere is lost there."""
    return bool(rules["is_losing"](position, move))


@generic_operation
def progress(rules: Operations, position: Any) -> int:
    """How near the end of a won position is, in hundredths of a pawn."""
    return int(rules["progress"](position))


@generic_operation
def table_key(rules: Operations, position: Any) -> np.uint64:
    """Key of a position in the table."""
    return rules["table_key"](position)  # type: ignore[no-any-return]


# --------------------------------------------------------------------------- with what stands for absent ones


def _zero(rules: Any, *arguments: Any) -> int:
    return 0


def _most(rules: Any, *arguments: Any) -> int:
    return 1 << 20


def _one(rules: Any, *arguments: Any) -> int:
    return 1


def _minus_one(rules: Any, *arguments: Any) -> int:
    return -1


def _same(rules: Any, position: Any) -> Any:
    return position


def _unchanged(value: Any) -> Any:
    return value


def _hint_before_move(rules: Any, position: Any, move: Any, after: Any) -> Any:
    return move_hint(rules, position, move)


def _may_stand(rules: Any, position: Any) -> Any:
    return not must_move(rules, position)


def _gains(rules: Any, position: Any, move: Any) -> Any:
    return gain(rules, position, move) > 0


extra_plies = by_presence("extension", extension, _zero, np.int64)
"""Plies by which a move is searched deeper; 0 in a game without the operation."""

hint = by_presence("move_hint", _hint_before_move, by_presence("move_order", move_order, _zero, np.int64), np.int64)
"""The game's hint for the order of moves, from ``(rules, position, move, after)``; 0 in a game without one.

``after`` is looked at only where :data:`must_play_to_hint`.
"""

must_play_to_hint = by_presence("move_hint", _zero, _one, bool)
"""Whether the hint needs the position after the move."""

standing = by_presence("must_move", _may_stand, _minus_one, np.int64)
"""Whether the side to move may stand still, before tactical moves are written: 1, 0, or -1 where only they tell."""

moves_of_quiescence = by_presence("tactical_moves", tactical_moves, _zero, np.int64)
"""Moves that a static evaluation does not foresee, see :func:`tactical_moves`; none in a game without them."""

moves_of_first_ply = by_presence("checking_moves", checking_moves, _zero, np.int64)
"""Moves that quiescence tries besides at its first ply, see :func:`checking_moves`; none in a game without them."""

is_over_at_leaf = by_presence("no_moves_score", _zero, is_over, bool)
"""Whether the game is over, asked without generating moves; False where only generating them tells."""

score_without_moves = by_presence("no_moves_score", no_moves_score, final_score, np.int64)
"""Score of a position that has no moves, as a final score."""

earlier_plies = by_presence("reversible_plies", reversible_plies, _zero, np.int64)
"""How many plies back an equal position may lie; 0 in a game without repetitions."""

is_drawn_by_rule = by_presence("is_drawn", is_drawn, _zero, bool)
"""Whether a rule makes the position a draw; False in a game without such rules."""

may_pass = by_presence("null_move", can_pass, _zero, bool)
"""Whether a null move may be tried; False in a game without it."""

passed = by_presence("null_move", null_move, _same, _unchanged)
"""Position after a null move."""

is_quiet_move = by_presence("is_quiet", is_quiet, _zero, bool)
"""Whether a move may be reduced or left out; False in a game that does not tell."""

gain_of_move = by_presence("gain", gain, _most, np.int64)
"""What a tactical move takes at once; too much to rule any out in a game that does not tell."""

is_taking_move = by_presence("gain", _gains, _zero, bool)
"""Whether a move that is not quiet takes anything; False in a game that does not tell."""

is_losing_move = by_presence("is_losing", is_losing, _zero, bool)
"""Whether the piece that a quiet move puts somewhere is lost there; False in a game that does not tell."""

known_progress = by_presence("progress", progress, _zero, np.int64)
"""How near the end of a won position is; 0 in a game that does not tell."""

stored_key = by_presence("table_key", table_key, hash_key, np.uint64)
"""Key of a position in the table: the hash key in a game without another one."""
