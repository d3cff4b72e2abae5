"""The transposition table: bounds on the values of positions that were searched before.

An entry is two words, ``key ^ data`` and ``data``: an entry that two threads wrote half each does not give back the
key it is asked for and is not found (Hyatt and Mann 2002, A lock-less transposition-table implementation for
parallel search). Four entries fill a cache line, the bucket of a position.

``data`` holds, from the high bits down: era (6 bits), score + 2^25 (26), move + 1 (16), depth (8), bound (2), age (6).
An entry of another era than the asking one counts as empty, so that a table is forgotten without a word being written.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.vectors import resident_words

LOWER_BOUND = 1
"""The value is at least the score."""
UPPER_BOUND = 2
"""The value is at most the score."""
ANY_BOUND = 3
"""Both: the score is the value."""

AGES = 64
"""Searches are numbered modulo this."""
ERAS = 64
"""A table's eras are numbered from 1 to one less than this; the words of a new table are of era 0."""
GREATEST_SCORE = (1 << 25) - 1
"""Greatest absolute score that an entry can hold."""
GREATEST_DEPTH = 255
"""Remaining depth that an entry can hold."""

_BUCKET_WORDS = 8
_ENTRY_WORDS = 2
_MEGABYTE = 1 << 20
_SCORE_OFFSET = 1 << 25
_LOW_26 = np.uint64(0x3FFFFFF)
_MOST_WORTH = 1 << 40
_LOW_16 = np.uint64(0xFFFF)
_LOW_8 = np.uint64(0xFF)
_LOW_6 = np.uint64(0x3F)
_LOW_2 = np.uint64(3)


def new_table(megabytes: int) -> NDArray[np.uint64]:
    """Empty table: a uint64 array of a power of two of buckets in at most so many megabytes; one bucket for 0."""
    buckets = max(1, megabytes * _MEGABYTE // (8 * _BUCKET_WORDS))
    return resident_words(_BUCKET_WORDS << (buckets.bit_length() - 1))


def pack_entry(era: Any, score: Any, move: Any, depth: Any, bound: Any, age: Any) -> np.uint64:
    """Put the facts about a position into one word."""
    return (
        np.uint64(era) << np.uint64(58)
        | np.uint64(score + np.int64(_SCORE_OFFSET)) << np.uint64(32)
        | np.uint64(move + np.int64(1)) << np.uint64(16)
        | np.uint64(depth) << np.uint64(8)
        | np.uint64(bound) << np.uint64(6)
        | np.uint64(age)
    )


def entry_score(data: np.uint64) -> np.int64:
    """Score of an entry."""
    return np.int64((data >> np.uint64(32)) & _LOW_26) - np.int64(_SCORE_OFFSET)


def entry_move(data: np.uint64) -> np.int64:
    """Best move of an entry; -1 for none."""
    return np.int64((data >> np.uint64(16)) & _LOW_16) - np.int64(1)


def entry_depth(data: np.uint64) -> np.int64:
    """Remaining depth to which the position was searched."""
    return np.int64((data >> np.uint64(8)) & _LOW_8)


def entry_bound(data: np.uint64) -> np.int64:
    """Tell what the score of an entry says: a sum of ``LOWER_BOUND`` and ``UPPER_BOUND``."""
    return np.int64((data >> np.uint64(6)) & _LOW_2)


def _entry_era(data: np.uint64) -> np.int64:
    return np.int64(data >> np.uint64(58))


def find_entry(words: Any, mask: np.uint64, era: Any, key: np.uint64) -> Any:
    """Look up the data word of a position in an era, 0 for none; ``mask`` is the number of buckets less one."""
    first = np.int64(key & mask) * np.int64(_BUCKET_WORDS)
    for place in range(first, first + np.int64(_BUCKET_WORDS), np.int64(_ENTRY_WORDS)):
        data = words[place + np.int64(1)]
        if words[place] ^ data == key and _entry_era(data) == era:
            return data
    return np.uint64(0)


def prefetch(words: Any, place: np.int64) -> None:
    """Ask for the word at a place, which is to be read soon; as plain Python this does nothing."""


@intrinsic
def _prefetch(_typing_context: Any, words: Any, _place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        pointer = builder.bitcast(item_pointer(context, builder, signature.args[0], *arguments), byte)
        # To read, to be kept in all caches, data.
        builder.call(instruction, [pointer, *(ir.Constant(flag, choice) for choice in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(words, types.int64), generate


compiled_as(_prefetch)(prefetch)


def prefetch_bucket(words: Any, mask: np.uint64, key: np.uint64) -> None:
    """Ask for the bucket of a position that is to be looked up soon."""
    prefetch(words, np.int64(key & mask) * np.int64(_BUCKET_WORDS))


def store_entry(words: Any, mask: np.uint64, key: np.uint64, data: np.uint64) -> None:
    """Write an entry over the position's own, one of another era, or the least valuable one of its bucket.

    Least valuable is what was searched least deep, each search that has passed since counting as four plies.
    """
    first: Any = np.int64(key & mask) * np.int64(_BUCKET_WORDS)
    era, age = _entry_era(data), data & _LOW_6
    chosen = first
    least: Any = np.int64(_MOST_WORTH)
    for place in range(first, first + np.int64(_BUCKET_WORDS), np.int64(_ENTRY_WORDS)):
        known = words[place + np.int64(1)]
        if _entry_era(known) != era or words[place] ^ known == key:
            chosen = place
            break
        passed = (np.int64(age) - np.int64(known & _LOW_6)) & np.int64(AGES - 1)
        worth = entry_depth(known) - np.int64(4) * passed
        if worth < least:
            least = worth
            chosen = place
    words[chosen] = key ^ data
    words[chosen + np.int64(1)] = data
