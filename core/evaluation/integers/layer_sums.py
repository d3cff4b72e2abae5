"""Values of hidden layers over patterns, for evaluations in the search.

Every content of a pattern has a row of 16-bit weights, one for each unit. The rows that the indices of a position name
are added up in registers, :data:`LANES` units at a time; nothing is kept from move to move, since a move changes most
of the indices.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from glem.core.compiling.borrowed import item_pointer
from glem.core.compiling.forwarding import compiled_as
from glem.core.compiling.kernels import inlined, llvm_call
from glem.core.configurations.matching.lanes import splat
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.network import ONE_UNIT, SUMS

LANES = SUMS

_INDEX_VALUES = 1 << 16
_WORD = ir.IntType(64)
_UNIT = ir.IntType(16)
_UNITS = ir.VectorType(_UNIT, LANES)
_PRODUCT = ir.IntType(32)
_WIDE = ir.VectorType(_PRODUCT, LANES)
_UNIT_BYTES = 2


class LayerTables(NamedTuple):
    """A hidden layer of H units over E contents of patterns, in K phases.

    Parameters
    ----------
    units
        int64: H, a multiple of :data:`LANES`; 0 where there is no layer.
    rows
        int16 [(E + 1 + 2^16) * H]: the weights of every content, then of none, which are 0. No index leads out of the
        array, whatever the features are.
    start
        int16 [H]: units where nothing is.
    output
        int16 [K * H].
    fine
        int64: :data:`.ONE_UNIT` times 2^fine make a unit of 1.
    scale
        float64: steps of a product of squared units and output.
    """

    units: np.int64
    fine: np.int64
    rows: NDArray[np.int16]
    start: NDArray[np.int16]
    output: NDArray[np.int16]
    scale: np.float64


NO_LAYER = LayerTables(
    np.int64(0), np.int64(0), np.zeros(1, np.int16), np.zeros(1, np.int16), np.zeros(1, np.int16), np.float64(0.0)
)


def unit_sums(
    words: Any,
    first: np.int64,
    count: np.int64,
    starts: Any,
    rows: Any,
    size: np.int64,
    start: Any,
    output: Any,
    at: np.int64,
    fine: np.int64,
) -> np.int64:
    """Sum of the products of squared units, of which :data:`.ONE_UNIT` squared make 1, and their outputs.

    Parameters
    ----------
    words, first, count
        uint16 array; its ``count`` (int64) words from ``first`` (int64) on are indices.
    starts
        int32 [count at least]: the row at which the table of each index begins.
    rows
        int16: rows of ``size`` (int64, a multiple of :data:`LANES`) weights.
    start
        int16 [size].
    output, at
        int16 array; the outputs are the ``size`` ones from ``at`` (int64) on.
    fine
        int64: see :class:`LayerTables`.
    """
    units = start[:size].astype(np.int64)
    for place in range(count):
        row = int(size) * (int(starts[place]) + int(words[first + place]))
        units = units + rows[row : row + size]
    units = units.clip(0, ONE_UNIT << int(fine))
    return np.int64((units * units >> 2 * int(fine)) @ np.asarray(output[at : at + size], np.int64))


@intrinsic
def _unit_sums(
    _typing_context: Any,
    words: Any,
    _first: Any,
    _count: Any,
    starts: Any,
    rows: Any,
    _size: Any,
    start: Any,
    output: Any,
    _at: Any,
    _fine: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words_type, _, _, starts_type, rows_type, _, start_type, output_type, *_ = signature.args
        words, first, count, starts, rows, size, start, output, at, fine = arguments
        fine = builder.trunc(fine, _PRODUCT)
        least, most = (
            ir.Constant(_WIDE, None),
            splat(builder, _WIDE, builder.shl(ir.Constant(_PRODUCT, ONE_UNIT), fine)),
        )
        twice = splat(builder, _WIDE, builder.add(fine, fine))
        zero, lanes = ir.Constant(_WORD, 0), ir.Constant(_WORD, LANES)
        indices = item_pointer(context, builder, words_type, words, first)
        tables = item_pointer(context, builder, starts_type, starts, zero)

        def load(kind: Any, array: Any, place: Any) -> Any:
            pointer = item_pointer(context, builder, kind, array, place)
            return builder.load(builder.bitcast(pointer, _UNITS.as_pointer()), align=_UNIT_BYTES)

        total = cgutils.alloca_once_value(builder, ir.Constant(_WIDE, None))
        units = cgutils.alloca_once_value(builder, ir.Constant(_UNITS, None))
        with cgutils.for_range_slice(builder, zero, size, lanes, intp=_WORD) as (block, _):
            builder.store(load(start_type, start, block), units)
            with cgutils.for_range(builder, count, intp=_WORD) as loop:
                index = builder.zext(builder.load(builder.gep(indices, [loop.index])), _WORD)
                table = builder.sext(builder.load(builder.gep(tables, [loop.index])), _WORD)
                row = builder.add(builder.mul(builder.add(table, index), size), block)
                builder.store(builder.add(builder.load(units), load(rows_type, rows, row)), units)
            found = builder.sext(builder.load(units), _WIDE)
            found = builder.select(builder.icmp_signed("<", found, least), least, found)
            found = builder.select(builder.icmp_signed(">", found, most), most, found)
            found = builder.ashr(builder.mul(found, found), twice)
            by = load(output_type, output, builder.add(at, block))
            product = builder.mul(found, builder.sext(by, _WIDE))
            builder.store(builder.add(builder.load(total), product), total)
        whole = builder.sext(builder.load(total), ir.VectorType(_WORD, LANES))
        return llvm_call(builder, f"llvm.vector.reduce.add.v{LANES}i64", _WORD, whole)

    integer = types.int64
    return integer(words, integer, integer, starts, rows, integer, start, output, integer, integer), generate


compiled_as(_unit_sums)(unit_sums)


@inlined
def layer_steps(
    words: Any, first: np.int64, count: np.int64, starts: Any, layer: LayerTables, phase: np.int64
) -> np.int64:
    """Give the value of a layer in steps; for the first arguments see :func:`unit_sums`."""
    at = phase * layer.units
    total = unit_sums(words, first, count, starts, layer.rows, layer.units, layer.start, layer.output, at, layer.fine)
    return np.int64(np.rint(np.float64(total) * layer.scale))


def build_layer(evaluation: LinearEvaluation, steps: float) -> LayerTables:
    """Build the tables of the layer of an evaluation, if it has one over patterns.

    Parameters
    ----------
    steps
        Of a score, a label unit.

    Raises
    ------
    BadInputError
        See :meth:`.Network.in_play`.
    """
    network, patterns = evaluation.network, evaluation.patterns
    if network is None or patterns is None:
        return NO_LAYER
    played = network.in_play(evaluation.layer_bound)
    # Further units of weight 0, so that vectors are full.
    hidden, spare = network.bias.size, (0, -network.bias.size % LANES)
    entries = int(patterns.table_sizes.sum()) + 1
    rows = np.zeros((entries + _INDEX_VALUES, hidden + spare[1]), np.int16)
    first = 0
    for place, size in enumerate(patterns.table_sizes.tolist()):
        rows[first : first + size, :hidden] = played.weights[patterns.weight_starts[place] + patterns.fold(place)]
        first += size
    return LayerTables(
        units=np.int64(hidden + spare[1]),
        fine=np.int64(played.fine),
        rows=rows.ravel(),
        start=np.pad(played.bias, spare),
        output=np.pad(played.output, ((0, 0), spare)).ravel(),
        scale=np.float64(steps / (played.scale * ONE_UNIT**2)),
    )
