"""A game with all that Othello lacks: cycles, results only, tactical moves, extensions.

Two sides have men on a row of cells. A man steps to a neighbouring cell and takes an enemy there. Who has lost all men
has lost; who cannot move has drawn. Every step but a capture can be taken back.
"""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import mix, popcount
from glem.core.compiling.operations import Operations
from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game

CELLS = 8
_ONE = np.uint64(1)
_CAPACITY = 100
_PATIENCE = 9


class Position(NamedTuple):
    """Men of the side to move and of the other, one bit a cell, and the plies since the last capture."""

    own: np.uint64
    opponent: np.uint64
    quiet: np.uint8


def _write_moves(position: Position, moves: Any, start: int, captures_only: bool) -> int:
    count = 0
    for cell in range(CELLS):
        if not position.own >> np.uint64(cell) & _ONE:
            continue
        for direction in range(2):
            target = cell + 2 * direction - 1
            if target < 0 or target >= CELLS:
                continue
            disc = _ONE << np.uint64(target)
            blocked = position.opponent & disc == np.uint64(0) if captures_only else position.own & disc != np.uint64(0)
            if not blocked:
                moves[start + count] = 2 * cell + direction
                count += 1
    return count


def legal_moves(position: Position, moves: Any, start: int) -> int:
    if position.opponent == np.uint64(0):
        return 0
    return _write_moves(position, moves, start, False)


def play(position: Position, move: int) -> Position:
    cell = np.int64(move) // np.int64(2)
    target = cell + np.int64(2) * (np.int64(move) % np.int64(2)) - np.int64(1)
    landed = _ONE << np.uint64(target)
    quiet = min(np.int64(position.quiet) + np.int64(1), np.int64(_CAPACITY))
    if position.opponent & landed != np.uint64(0):
        quiet = np.int64(0)
    own = position.own ^ (_ONE << np.uint64(cell)) ^ landed
    return Position(position.opponent & ~landed, own, np.uint8(quiet))


def is_over(position: Position) -> bool:
    own, opponent = position.own, position.opponent
    if own == np.uint64(0) or opponent == np.uint64(0):
        return True
    row = _ONE << np.uint64(CELLS)
    near = ((own << _ONE) | (own >> _ONE)) & (row - _ONE)
    return bool(near & ~own == np.uint64(0))


def final_score(position: Position) -> int:
    if position.own == np.uint64(0):
        return -1
    return 1 if position.opponent == np.uint64(0) else 0


def hash_key(position: Position) -> np.uint64:
    return mix(mix(position.own) ^ (position.opponent << np.uint64(32)))


def tactical_moves(position: Position, moves: Any, start: int) -> int:
    return _write_moves(position, moves, start, True)


def cornered_moves(position: Position, moves: Any, start: int) -> int:
    """As above, but a last man next to an enemy must move: no standing still."""
    if must_move(position):
        return ~legal_moves(position, moves, start)
    return _write_moves(position, moves, start, True)


def must_move(position: Position) -> bool:
    """Where ``cornered_moves`` returns a complement."""
    near = (position.opponent << _ONE) | (position.opponent >> _ONE)
    return popcount(position.own) == 1 and bool(position.own & near != np.uint64(0))


def extension(before: Position, move: int, after: Position) -> int:
    """Captures are searched a ply deeper."""
    return 1 if popcount(before.opponent) != popcount(after.own) else 0


def move_order(position: Position, move: int, after: Position) -> int:
    return 100 if after.quiet == np.uint8(0) else 0


def move_hint(position: Position, move: int) -> int:
    target = np.int64(move) // np.int64(2) + np.int64(2) * (np.int64(move) % np.int64(2)) - np.int64(1)
    return 100 if position.opponent >> np.uint64(target) & _ONE else 0


def reversible_plies(position: Position) -> int:
    return int(position.quiet)


def is_drawn(position: Position) -> bool:
    """Nothing was taken for long, or three men are left; a win stands."""
    if position.own == np.uint64(0) or position.opponent == np.uint64(0):
        return False
    return bool(position.quiet >= np.uint8(_PATIENCE)) or popcount(position.own | position.opponent) <= 3


def table_key(position: Position) -> np.uint64:
    """The hash key, and the counter that may soon end the game."""
    return hash_key(position) ^ mix(np.uint64(position.quiet) + np.uint64(1))


def _format_position(position: Position) -> str:
    return f"{int(position.own)} {int(position.opponent)} {int(position.quiet)}"


def _parse_position(text: str) -> Position:
    own, opponent, quiet = (int(word) for word in text.split())
    return Position(np.uint64(own), np.uint64(opponent), np.uint8(quiet))


def duel(*functions: Any, **named: Any) -> Game:
    """The game, searched with these optional operations, which have their own names or the given ones."""
    search_functions = {**{function.__name__: function for function in functions}, **named}
    return Game(
        name="-".join(["duel", *(function.__name__ for function in search_functions.values())]),
        title="Duel",
        initial_position=Position(np.uint64(0b00010011), np.uint64(0b11001000), np.uint8(0)),
        legal_moves=legal_moves,
        play=play,
        is_over=is_over,
        final_score=final_score,
        hash_key=hash_key,
        max_moves=2 * CELLS,
        move_count=2 * CELLS,
        max_plies=1000,
        score_bounds=(-1, 1),
        format_position=_format_position,
        parse_position=_parse_position,
        format_move=str,
        parse_move=int,
        search_functions=search_functions,
    )


class Weights(NamedTuple):
    men: Any
    cells: Any


def start(position: Position, data: Weights, accumulators: Any, ply: int) -> None:
    accumulators[2 * ply] = popcount(position.own)
    accumulators[2 * ply + 1] = popcount(position.opponent)


def update(before: Position, move: int, after: Position, data: Weights, accumulators: Any, ply: int) -> None:
    accumulators[2 * ply + 2] = popcount(after.own)
    accumulators[2 * ply + 3] = accumulators[2 * ply]


def static_score(position: Position, data: Weights, accumulators: Any, ply: int) -> int:
    total = data.men[0] * (np.int64(accumulators[2 * ply]) - np.int64(accumulators[2 * ply + 1]))
    for cell in range(CELLS):
        total += data.cells[cell] * np.int64(position.own >> np.uint64(cell) & _ONE)
        total -= data.cells[cell] * np.int64(position.opponent >> np.uint64(cell) & _ONE)
    return min(max(total, np.int64(-1000)), np.int64(1000))


def search_phase(position: Position) -> int:
    return 0


MEN = Evaluator(
    name="men and cells",
    operations=Operations(
        "duel-men",
        {"start": start, "update": update, "static_score": static_score, "search_phase": search_phase},
    ),
    data=Weights(np.array([100], np.int64), np.array([0, 3, 5, 9, 10, 7, 4, 1], np.int16)),
    width=2,
    phase_count=1,
    steps_per_unit=100.0,
    limit=1000,
    unit="result",
)
