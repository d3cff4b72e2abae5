"""Constant tables of chess, in one block of memory that compiled code reaches under one name.

A table frozen into a kernel is copied into every file of machine code, and the attacks of sliding pieces take 840 KB.
So the block is made when this module is imported and registered with LLVM as a symbol; machine code from the cache
finds it under that name. The digests of kernels cover this source, from which the words follow.
"""

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import mix

_SYMBOL = "glem_chess_tables"

# Places of the tables in the block, in words.
KNIGHT_STEPS = np.uint64(0)
"""[64]: squares that a knight reaches."""
KING_STEPS = np.uint64(64)
"""[64]: squares next to one."""
PIECE_KEYS = np.uint64(128)
"""[6 kinds, 2 colours, 64]: numbers of the hash key."""
CASTLING_KEYS = np.uint64(896)
"""[64]: those of rooks that may castle."""
EN_PASSANT_KEYS = np.uint64(960)
"""[64]: those of squares on which a pawn may be captured en passant."""
ROOK_WAYS = np.uint64(1024)
"""[64, 2]: squares whose occupation matters to a rook, and the place of its attacks in the block."""
BISHOP_WAYS = np.uint64(1152)
"""[64, 2]: the same for a bishop."""
ROOK_LINES = np.uint64(1280)
"""[64, 2 lines, 2]: rest of a file and of a rank, towards lower squares and towards higher ones."""
BISHOP_LINES = np.uint64(1536)
"""[64, 2 lines, 2]: the same for diagonals."""
BETWEEN = np.uint64(1792)
"""[64, 64]: squares strictly between two on a line."""
_ATTACKS = 5888

_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_ROOK = ((-1, 0), (1, 0), (0, -1), (0, 1))
_BISHOP = ((-1, -1), (1, 1), (-1, 1), (1, -1))
_KEY_SEED = 0x676C656D
_GOLDEN = 0x9E3779B97F4A7C15


def _ray(square: int, up: int, right: int, steps: int = 7) -> list[int]:
    """Squares in one direction, nearest first; ``up`` in ranks, ``right`` in files."""
    rank, file = divmod(square, 8)
    places = ((rank + up * step, file + right * step) for step in range(1, steps + 1))
    return [8 * y + x for y, x in places if 0 <= y < 8 and 0 <= x < 8]


def _bits(squares: list[int]) -> int:
    return sum(1 << square for square in squares)


def _key(number: int) -> np.uint64:
    return mix(np.uint64((_KEY_SEED + number * _GOLDEN) & (2**64 - 1)))


TURN_KEY = _key(1024)
"""Number of the hash key where Black is to move."""


def _slider(directions: tuple[tuple[int, int], ...], square: int) -> tuple[int, NDArray[np.uint64]]:
    """Squares whose occupation matters, and the attacks by the bits of the occupation that lie on them, gathered."""
    rays = [_ray(square, *direction) for direction in directions]
    squares = sorted(inner for ray in rays for inner in ray[:-1])
    places = np.arange(1 << len(squares))
    attacks = np.zeros(len(places), np.uint64)
    for ray in rays:
        open_way = np.ones(len(places), np.bool_)
        for reached in ray:
            attacks |= open_way.astype(np.uint64) << np.uint64(reached)
            if reached != ray[-1]:
                open_way &= places >> squares.index(reached) & 1 == 0
    return _bits(squares), attacks


def _words() -> NDArray[np.uint64]:
    words = np.zeros(_ATTACKS, np.uint64)
    for number in range(int(PIECE_KEYS), int(ROOK_WAYS)):
        words[number] = _key(number)
    attacks = []
    place = _ATTACKS
    for square in range(64):
        words[int(KNIGHT_STEPS) + square] = _bits([end for step in _KNIGHT for end in _ray(square, *step, steps=1)])
        words[int(KING_STEPS) + square] = _bits(
            [end for step in _ROOK + _BISHOP for end in _ray(square, *step, steps=1)]
        )
        for ways, lines, directions in ((ROOK_WAYS, ROOK_LINES, _ROOK), (BISHOP_WAYS, BISHOP_LINES, _BISHOP)):
            relevant, reached = _slider(directions, square)
            words[int(ways) + 2 * square : int(ways) + 2 * square + 2] = relevant, place
            attacks.append(reached)
            place += len(reached)
            for number, direction in enumerate(directions):
                ray = _ray(square, *direction)
                lower_or_higher = 0 if 8 * direction[0] + direction[1] < 0 else 1
                words[int(lines) + 4 * square + (number & 2) + lower_or_higher] = _bits(ray)
                for steps, end in enumerate(ray):
                    words[int(BETWEEN) + 64 * square + end] = _bits(ray[:steps])
    return np.concatenate([words, *attacks])


_WORDS = _words()
_WORDS.flags.writeable = False
llvm.add_symbol(_SYMBOL, _WORDS.ctypes.data)


@intrinsic
def _load(_typing_context: Any, _place: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = ir.ArrayType(ir.IntType(64), len(_WORDS))
        table: Any = builder.module.globals.get(_SYMBOL)
        if table is None:
            table = ir.GlobalVariable(builder.module, kind, name=_SYMBOL)
            table.global_constant = True
        place = builder.gep(table, [ir.Constant(ir.IntType(64), 0), arguments[0]], inbounds=True)
        return builder.load(place, align=8)

    return types.uint64(types.uint64), generate


@compiled_as(_load)
def table_word(place: np.uint64) -> np.uint64:
    """One word of the block; nothing checks that ``place`` lies within it."""
    return np.uint64(_WORDS[int(place)])
