"""Borrowed arrays: the same reads and writes as with the arrays themselves."""

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest

from glem.core.compiling.borrowed import Borrowed, load_shared
from glem.core.compiling.failures import UncompilableError
from glem.core.compiling.kernels import compiled
from glem.core.errors import GlemError


class Inner(NamedTuple):
    weights: Any
    scale: Any


class Outer(NamedTuple):
    counts: Any
    offset: Any
    inner: Inner
    flags: Any
    ratio: Any


def walk(block: Any, place: Any, depth: Any) -> Any:
    """A recursion that reads and writes everything."""
    if depth <= np.int64(0):
        block.counts[place] += np.int64(1)
        return np.int64(block.inner.weights[place]) * block.inner.scale + block.offset
    total = np.int64(0)
    for step in range(3):
        total += walk(block, (place + np.int64(step)) % np.int64(5), depth - np.int64(1))
    if load_shared(block.flags, 1) == np.uint8(3) and block.ratio > 0.5:
        total += np.int64(1000)
    return total


def example() -> Outer:
    inner = Inner(np.array([-3, 5, 7, -11, 13], np.int16), np.int64(-2))
    return Outer(np.zeros(5, np.int64), np.int32(17), inner, np.array([1, 3], np.uint8), np.float64(0.75))


def test_borrowed_and_plain_agree():
    kept_alive = Borrowed(example())
    plain = example()
    expected = walk(plain, np.int64(0), np.int64(5))
    lent = example()
    block = Borrowed(lent)
    twin: Any = compiled(walk)
    assert twin(block, np.int64(0), np.int64(5)) == expected
    assert lent.counts.tolist() == plain.counts.tolist()
    lent.inner.weights[0] = 100
    assert twin(block, np.int64(0), np.int64(0)) == walk(lent, np.int64(0), np.int64(0))
    # The arrays live as long as the block.
    gc.collect()
    assert twin(kept_alive, np.int64(2), np.int64(0)) == -2 * 7 + 17
    assert len(twin.signatures) == 1


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(8)[::2], np.zeros((2, 2)), 5, np.array("text")[()]],
    ids=["strided", "two dimensions", "Python number", "text"],
)
def test_what_cannot_be_borrowed_is_named(wrong):
    with pytest.raises(GlemError, match=r"Outer\.inner\.weights"):
        Borrowed(example()._replace(inner=Inner(wrong, np.int64(1))))


def test_unknown_attributes_are_compile_errors():
    with pytest.raises(UncompilableError, match="nowhere"):
        compiled(_misled)(Borrowed(example()))


def _misled(block: Any) -> Any:
    return block.nowhere
