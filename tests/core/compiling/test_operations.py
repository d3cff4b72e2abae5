"""Generic operations and columns: the same answers in both worlds."""

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.failures import UncompilableError
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, generic_operation, has_operation
from glem.core.errors import PluginError
from tests.core.game.countdown_game import COUNTDOWN


class Mixed(NamedTuple):
    bits: np.uint64
    level: np.int8
    share: np.float32
    flag: np.bool_


def _columns(*fields: Any) -> Any:
    return Mixed(*fields)


def _copy_backwards(source: Any, target: Any) -> None:
    count = source[0].shape[0]
    for row in range(count):
        store_position(target, count - 1 - row, position_at(source, row))


@pytest.mark.parametrize("in_world", [lambda function: function, compiled], ids=["plain", "compiled"])
def test_columns_of_any_types_and_strides(in_world):
    rng = np.random.default_rng(0)
    wide = _columns(
        rng.integers(0, 2**64 - 1, 18, np.uint64), rng.integers(-128, 127, 18, np.int8), rng.random(18, np.float32),
        rng.random(18) < 0.5,
    )  # fmt: skip
    for source in (wide, wide._replace(bits=np.repeat(wide.bits, 2)[::2])):
        target = _columns(*(np.zeros_like(column) for column in source))
        in_world(_copy_backwards)(source, target)
        for column, copy in zip(source, target, strict=True):
            assert np.array_equal(column[::-1], copy)
        assert isinstance(position_at(source, 3), Mixed)


@generic_operation
def shift(operations: Operations, number: int) -> Any:
    """Test operation."""
    return operations["shift"](number)


def up(number: int) -> int:
    return number + 1


def down(number: int) -> int:
    return number - 1


def _shift_twice(operations: Any, number: Any) -> Any:
    return shift(operations, shift(operations, number))


def test_each_set_of_functions_gets_its_own_code():
    rising, falling = Operations("steps", {"shift": up}), Operations("steps", {"shift": down})
    for function in (_shift_twice, compiled(_shift_twice)):
        assert (function(rising, np.int64(5)), function(falling, np.int64(5))) == (7, 3)
    assert rising.numba_type.key != falling.numba_type.key
    assert rising.numba_type.key == Operations("steps", {"shift": up}).numba_type.key


def test_the_two_ways_to_miss_an_operation():
    empty = Operations("empty", {"shift": None})
    assert "shift" not in empty
    assert not has_operation(empty.numba_type, "shift")
    assert has_operation(Operations("full", {"shift": up}).numba_type, "shift")
    with pytest.raises(PluginError, match="empty has no operation 'shift'"):
        _shift_twice(empty, 1)
    with pytest.raises(UncompilableError, match="empty has no operation 'shift'"):
        compiled(_shift_twice)(empty, np.int64(1))


def test_operations_reach_another_process():
    copy = pickle.loads(pickle.dumps(COUNTDOWN.rules))
    assert copy.name == "countdown"
    assert copy.functions == COUNTDOWN.rules.functions
    assert copy.numba_type.key == COUNTDOWN.rules.numba_type.key
