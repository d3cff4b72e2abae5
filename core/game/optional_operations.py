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

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, by_presence, generic_operation
from glem.core.game.equal_positions import contiguous_columns
from glem.core.game.game import Game, final_score, hash_key, is_over

_names: list[str] = []
"""Of the operations below, as they are made."""


def _operation(name: str, kind: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
    """Make the generic operation ``(rules, ...)`` of that name; ``kind`` is what its plain form returns."""

    def ask(rules: Operations, *arguments: Any) -> Any:
        found = rules[name](*arguments)
        return found if kind is None else kind(found)

    ask.__name__ = name
    _names.append(name)
    return generic_operation(ask)


tactical_moves = _operation("tactical_moves", int)
checking_moves = _operation("checking_moves", int)
extension = _operation("extension", int)
move_order = _operation("move_order", int)
no_moves_score = _operation("no_moves_score", int)
reversible_plies = _operation("reversible_plies", int)
plies_left = _operation("plies_left", int)
is_drawn = _operation("is_drawn", bool)
table_key = _operation("table_key")
move_hint = _operation("move_hint", int)
must_move = _operation("must_move", bool)
null_move = _operation("null_move")
can_pass = _operation("can_pass", bool)
is_quiet = _operation("is_quiet", bool)
gain = _operation("gain", int)
is_losing = _operation("is_losing", bool)
progress = _operation("progress", int)

OPTIONAL_OPERATIONS = tuple(_names)
"""Their names."""


def _write_plies_left(rules: Any, columns: Any, count: Any, left: Any) -> None:
    for row in range(count):
        left[row] = plies_left(rules, position_at(columns, row))


def plies_left_of(game: Game, positions: Any) -> NDArray[np.int16]:
    """Upper bound on the moves left in each of N positions, for games with the operation ``plies_left``: int16 [N]."""
    columns = contiguous_columns(game, positions)
    left = np.zeros(len(columns[0]), np.int16)
    compiled(_write_plies_left)(game.search_rules, columns, np.int64(len(left)), left)
    return left


def _same(rules: Any, position: Any) -> Any:
    return position


def _hint_before_move(rules: Any, position: Any, move: Any, after: Any) -> Any:
    return move_hint(rules, position, move)


def _may_stand(rules: Any, position: Any) -> Any:
    return not must_move(rules, position)


def _gains(rules: Any, position: Any, move: Any) -> Any:
    return gain(rules, position, move) > 0


extra_plies = by_presence("extension", extension, 0, np.int64)
"""Plies by which a move is searched deeper; 0 in a game without the operation."""

hint = by_presence("move_hint", _hint_before_move, by_presence("move_order", move_order, 0, np.int64), np.int64)
"""The game's hint for the order of moves, from ``(rules, position, move, after)``; 0 in a game without one.

``after`` is looked at only where :data:`must_play_to_hint`.
"""

must_play_to_hint = by_presence("move_hint", 0, 1, bool)
"""Whether the hint needs the position after the move."""

standing = by_presence("must_move", _may_stand, -1, np.int64)
"""Whether the side to move may stand still, before tactical moves are written: 1, 0, or -1 where only they tell."""

moves_of_quiescence = by_presence("tactical_moves", tactical_moves, 0, np.int64)
"""Moves that a static evaluation does not foresee, see :func:`tactical_moves`; none in a game without them."""

moves_of_first_ply = by_presence("checking_moves", checking_moves, 0, np.int64)
"""Moves that quiescence tries besides at its first ply, see :func:`checking_moves`; none in a game without them."""

is_over_at_leaf = by_presence("no_moves_score", 0, is_over, bool)
"""Whether the game is over, asked without generating moves; False where only generating them tells."""

score_without_moves = by_presence("no_moves_score", no_moves_score, final_score, np.int64)
"""Score of a position that has no moves, as a final score."""

earlier_plies = by_presence("reversible_plies", reversible_plies, 0, np.int64)
"""How many plies back an equal position may lie; 0 in a game without repetitions."""

is_drawn_by_rule = by_presence("is_drawn", is_drawn, 0, bool)
"""Whether a rule makes the position a draw; False in a game without such rules."""

may_pass = by_presence("null_move", can_pass, 0, bool)
"""Whether a null move may be tried; False in a game without it."""

passed = by_presence("null_move", null_move, _same, None)
"""Position after a null move."""

is_quiet_move = by_presence("is_quiet", is_quiet, 0, bool)
"""Whether a move may be reduced or left out; False in a game that does not tell."""

gain_of_move = by_presence("gain", gain, 1 << 20, np.int64)
"""What a tactical move takes at once; too much to rule any out in a game that does not tell."""

is_taking_move = by_presence("gain", _gains, 0, bool)
"""Whether a move that is not quiet takes anything; False in a game that does not tell."""

is_losing_move = by_presence("is_losing", is_losing, 0, bool)
"""Whether the piece that a quiet move puts somewhere is lost there; False in a game that does not tell."""

known_progress = by_presence("progress", progress, 0, np.int64)
"""How near the end of a won position is; 0 in a game that does not tell."""

stored_key = by_presence("table_key", table_key, hash_key, np.uint64)
"""Key of a position in the table: the hash key in a game without another one."""
