"""The solver's hash table: bounds on exact scores and good moves of positions seen before.

An entry is two words: the key of 64 bits, and, 8 bits each from the low bits up, lower and upper bound plus
128, best and second best move (64 for none), the logarithm of the nodes that it took, the selective pass that found
the bounds (0 where they are proved), the number of the solution in which it was last written, and that of the table's
era. To forget everything is to begin an era: the keys of its entries are those of the positions xor its salt, so that
none of an earlier era is found, and these count as empty.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from glem.core.compiling.kernels import ZERO, kernel, leading_zeros
from glem.games.othello.solver.workspace import ERA, SOLUTION

_WORD = ir.IntType(64)
_DOUBLE_WORD = ir.IntType(128)
_OWN_SALT = np.uint64(0x9E3779B97F4A7C15)
_OPPONENT_SALT = np.uint64(0xD1B54A32D192ED03)
_BYTE = np.uint64(0xFF)
_OFFSET = 128


@intrinsic
def _folded_product(_typing_context: Any, _a: Any, _b: Any) -> Any:
    """High word of the 128-bit product of two words, xor its low word."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        a, b = (builder.zext(word, _DOUBLE_WORD) for word in arguments)
        product = builder.mul(a, b)
        high = builder.trunc(builder.lshr(product, ir.Constant(_DOUBLE_WORD, 64)), _WORD)
        return builder.xor(high, builder.trunc(product, _WORD))

    return types.uint64(types.uint64, types.uint64), generate


@kernel(inline=True)
def position_key(own: Any, opponent: Any) -> Any:
    """64-bit key of a position; never 0, which marks an empty entry."""
    return _folded_product(own ^ _OWN_SALT, opponent ^ _OPPONENT_SALT) | np.uint64(1)


@kernel(inline=True)
def entry_lower(entry: Any) -> Any:
    """Score that the position has at least."""
    return np.int64(entry & _BYTE) - _OFFSET


@kernel(inline=True)
def entry_upper(entry: Any) -> Any:
    """Score that the position has at most."""
    return np.int64((entry >> np.uint64(8)) & _BYTE) - _OFFSET


@kernel(inline=True)
def entry_first(entry: Any) -> Any:
    """Best move known; 64 for none."""
    return np.int64((entry >> np.uint64(16)) & _BYTE)


@kernel(inline=True)
def entry_second(entry: Any) -> Any:
    """Move that was best before; 64 for none."""
    return np.int64((entry >> np.uint64(24)) & _BYTE)


@kernel(inline=True)
def entry_pass(entry: Any) -> Any:
    """Tell the selective pass that found the bounds; 0 if they are proved."""
    return np.int64((entry >> np.uint64(40)) & _BYTE)


@kernel(inline=True)
def first_word(key: Any, mask: Any) -> Any:
    """Index of the first word of a key's bucket."""
    return np.int64((key >> np.uint64(32)) & mask) << 3


@kernel(inline=True)
def find(table: Any, start: Any, key: Any) -> Any:
    """Find the second word of a key's entry in the bucket that begins at word ``start``; 0 if there is none."""
    if table[start] == key:
        return table[start + 1]
    if table[start + 2] == key:
        return table[start + 3]
    if table[start + 4] == key:
        return table[start + 5]
    if table[start + 6] == key:
        return table[start + 7]
    return ZERO


@kernel
def store(
    workspace: Any, table: Any, start: Any, key: Any, alpha: Any, score: Any, move: Any, nodes: Any, selective: Any
) -> None:
    """Keep what a search with the window ``alpha, alpha + 1`` found, in the place of what took the fewest nodes.

    Entries of earlier solutions go first. Bounds of the same kind, proved or of one selective pass, are united.
    """
    effort = 64 - np.int64(leading_zeros(np.uint64(nodes)))
    solution, era = workspace.counters[SOLUTION], workspace.counters[ERA]
    key ^= workspace.salt[0]
    place = start
    least = np.int64(1 << 20)
    lower, upper, second, kept = -64, 64, 64, -1
    for at in range(start, start + 8, 2):
        known = table[at + 1]
        if table[at] == key:
            place = at
            kept = entry_pass(known)
            if kept == selective or kept == 0:
                lower, upper = entry_lower(known), entry_upper(known)
            first = entry_first(known)
            if move == 64:
                move, second = first, entry_second(known)
            else:
                second = first if first != move else entry_second(known)
            break
        value = np.int64((known >> np.uint64(32)) & _BYTE)
        if np.int64((known >> np.uint64(48)) & _BYTE) == solution:
            value += np.int64(256)
        if np.int64(known >> np.uint64(56)) != era:
            value = np.int64(-1)
        if value < least:
            least = value
            place = at
    if kept == 0 and selective != 0:
        # What is proved stays; only the move is news.
        selective = 0
    elif score > alpha:
        lower = max(lower, score)
    else:
        upper = min(upper, score)
    table[place] = key
    table[place + 1] = (
        np.uint64(lower + _OFFSET)
        | np.uint64(upper + _OFFSET) << np.uint64(8)
        | np.uint64(move) << np.uint64(16)
        | np.uint64(second) << np.uint64(24)
        | np.uint64(effort) << np.uint64(32)
        | np.uint64(selective) << np.uint64(40)
        | np.uint64(solution) << np.uint64(48)
        | np.uint64(era) << np.uint64(56)
    )
