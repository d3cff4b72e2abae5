"""What Othello gives to the search: rules for one position at a time, a hint for the order of moves, the plies left.

The four directions of a board are the four words of a vector.

:mod:`~glem.games.othello.rules` is written so that a loop over many positions becomes vector code. A search has one
position in hand; here LLVM vectors of ``<4 x i64>`` hold its four lines through a square, or the board shifted along
four directions. They are the same functions otherwise: uncompiled, they *are* those of the rules. The vector code is
generic, so that every processor runs it; AVX2, and the leading-zero count of AVX-512 CD, make it fast.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import ONE, ZERO, llvm_call, popcount, trailing_zeros
from glem.core.compiling.operations import bound
from glem.games.othello import rules

_WORD = ir.IntType(64)
_LANES = 4
_VECTOR = ir.VectorType(_WORD, _LANES)
# The lines of a square: row, column and the two diagonals, by their shifts.
_DIRECTIONS = ((0, 1, 1), (1, 0, 8), (1, -1, 7), (1, 1, 9))
_RAYS = "glem_othello_rays"

_REPLY = 24
"""What a reply less is worth, where 1000 stands for the greatest static score: a disc and a half."""


def ray(square: int, down: int, right: int) -> int:
    """Squares from ``square`` to the border in one direction, without it, as a bitboard."""
    row, column = divmod(square, 8)
    squares = 0
    while 0 <= (row := row + down) < 8 and 0 <= (column := column + right) < 8:
        squares |= 1 << (8 * row + column)
    return squares


def _rays() -> list[int]:
    """Eight words a square: its rays towards higher squares in the order of the directions, then the opposite ones."""
    return [
        ray(square, sign * down, sign * right)
        for square in range(64)
        for sign in (1, -1)
        for down, right, _ in _DIRECTIONS
    ]


def _words(*values: int) -> Any:
    return ir.Constant(_VECTOR, [value & (2**64 - 1) for value in values])


def _every(value: int) -> Any:
    return _words(*[value] * _LANES)


def _broadcast(builder: Any, word: Any) -> Any:
    lanes = ir.VectorType(ir.IntType(32), _LANES)
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, word, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(lanes, [0] * _LANES))


def _united(builder: Any, vector: Any) -> Any:
    return llvm_call(builder, "llvm.vector.reduce.or.v4i64", _WORD, vector)


def _rays_of(builder: Any, square: Any) -> tuple[Any, Any]:
    """Load the rays of a square towards higher and towards lower squares."""
    kind = ir.ArrayType(_WORD, 64 * 2 * _LANES)
    table: Any = builder.module.globals.get(_RAYS)
    if table is None:
        table = ir.GlobalVariable(builder.module, kind, name=_RAYS)
        # Kernels that are linked together share one copy.
        table.linkage = "linkonce_odr"
        table.global_constant = True
        table.align = 64
        table.initializer = ir.Constant(kind, _rays())
    first = builder.gep(table, [ir.Constant(_WORD, 0), builder.shl(square, ir.Constant(_WORD, 3))], inbounds=True)
    upper = builder.bitcast(first, _VECTOR.as_pointer())
    lower = builder.gep(upper, [ir.Constant(_WORD, 1)], inbounds=True)
    return builder.load(upper, align=32), builder.load(lower, align=32)


@intrinsic
def _flips(_typing_context: Any, _own: Any, _opponent: Any, _square: Any) -> Any:
    """Find on each ray the first square that is not the opponent's; if an own disc is there, all before it turn."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        upper, lower = _rays_of(builder, arguments[2])
        own = _broadcast(builder, arguments[0])
        other = _broadcast(builder, builder.not_(arguments[1]))
        zero, one, highest = _every(0), _every(1), _every(1 << 63)

        ends = builder.and_(other, upper)
        first = builder.and_(builder.and_(ends, builder.sub(zero, ends)), own)
        found = builder.icmp_unsigned("!=", first, zero)
        turned_up = builder.and_(builder.select(found, builder.sub(first, one), zero), upper)

        # A ray without an end has 64 leading zeros; 63 of them taken instead, its end is square 63, above which
        # nothing turns. (A shift by 64 would be undefined.)
        defined = ir.Constant(ir.IntType(1), 0)
        zeros = llvm_call(builder, "llvm.ctlz.v4i64", _VECTOR, builder.and_(other, lower), defined)
        zeros = builder.and_(zeros, _every(63))
        last = builder.and_(builder.lshr(highest, zeros), own)
        turned_down = builder.and_(builder.sub(zero, builder.shl(last, one)), lower)
        return _united(builder, builder.or_(turned_up, turned_down))

    return types.uint64(types.uint64, types.uint64, types.int64), generate


@intrinsic
def _mobility(_typing_context: Any, _own: Any, _opponent: Any) -> Any:
    """Extend own discs over runs of the opponent's, as ``rules.mobility`` does, in the four directions at once."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        inner_columns = 0x7E7E7E7E7E7E7E7E
        shifts = _words(*(shift for _, _, shift in _DIRECTIONS))
        doubles = _words(*(2 * shift for _, _, shift in _DIRECTIONS))
        borders = _words(*(inner_columns if right else -1 for _, right, _ in _DIRECTIONS))
        own = _broadcast(builder, arguments[0])
        inner = builder.and_(_broadcast(builder, arguments[1]), borders)

        left = builder.and_(inner, builder.shl(own, shifts))
        right = builder.and_(inner, builder.lshr(own, shifts))
        left = builder.or_(left, builder.and_(inner, builder.shl(left, shifts)))
        right = builder.or_(right, builder.and_(inner, builder.lshr(right, shifts)))
        left_runs = builder.and_(inner, builder.shl(inner, shifts))
        right_runs = builder.lshr(left_runs, shifts)
        for _ in range(2):
            left = builder.or_(left, builder.and_(left_runs, builder.shl(left, doubles)))
            right = builder.or_(right, builder.and_(right_runs, builder.lshr(right, doubles)))
        reached = _united(builder, builder.or_(builder.shl(left, shifts), builder.lshr(right, shifts)))
        return builder.and_(reached, builder.not_(builder.or_(arguments[0], arguments[1])))

    return types.uint64(types.uint64, types.uint64), generate


@compiled_as(_flips)
def flips_one(own: np.uint64, opponent: np.uint64, square: int | np.int64) -> np.uint64:
    """Opponent discs that a disc placed on the empty ``square`` turns over; 0 where it may not be placed."""
    return rules.flips(own, opponent, int(square))


@compiled_as(_mobility)
def mobility_one(own: np.uint64, opponent: np.uint64) -> np.uint64:
    """Squares where the side that holds ``own`` may place a disc."""
    return rules.mobility(own, opponent)


def move_order(position: rules.Position, move: int, after: rules.Position) -> int:
    """Hint for the order of moves: few replies first, those into corners counted twice."""
    places = mobility_one(after.own, after.opponent)
    return -_REPLY * (popcount(places) + popcount(places & rules.CORNERS))


def plies_left(position: rules.Position) -> int:
    """Count the empty squares."""
    return 64 - popcount(position.own | position.opponent)


def corner_moves(position: rules.Position, moves: Any, start: int) -> int:
    """Write the moves into corners; they come to an end, for there are four."""
    places = mobility_one(position.own, position.opponent) & rules.CORNERS
    count = 0
    while places != ZERO:
        moves[start + count] = trailing_zeros(places)
        count += 1
        places &= places - ONE
    return count


SEARCH_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "legal_moves": bound(rules.legal_moves, mobility=mobility_one),
    "count_moves": bound(rules.count_moves, mobility=mobility_one),
    "play": bound(rules.play, flips=flips_one),
    "is_over": bound(rules.is_over, mobility=mobility_one),
    "move_order": move_order,
    "plies_left": plies_left,
}
"""By operation name (``Game.search_functions``)."""
