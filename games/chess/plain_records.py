"""Positions in the plain text of nnue-pytorch and Stockfish's tools: a value a line, behind its name.

A record has the lines ``fen FEN``, ``move``, ``score``, ``ply`` and ``result`` (1, 0 or -1 for the side to move), and
ends with ``e``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.files.packed import LineBlock, line_blocks
from glem.core.positions.text_fields import Spans

_MOST_LINES = 64
"""Lines of a record that may be in two blocks."""


class Records(NamedTuple):
    """Some records: their first lines, the numbers of these in the file (int64), their positions and their results."""

    rows: LineBlock
    numbers: NDArray[np.int64]
    positions: Spans
    results: Spans


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like such records."""
    return head.startswith(b"fen ")


def record_blocks(path: Path, *, lines: int, max_bytes: int) -> Iterator[Records]:
    """Read records in blocks; arguments and errors as of :func:`glem.core.files.packed.line_blocks`."""
    rest = LineBlock(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), 1)
    for block in line_blocks(path, lines=lines, max_bytes=max_bytes):
        whole = rest.joined(block)
        begins = np.flatnonzero(_begins(whole))
        last = int(begins[-1])
        if len(whole.starts) - last > _MOST_LINES:
            last = len(whole.starts)
        if last:
            yield _records(whole, begins, last)
        rest = whole.since(last)
    if len(rest.starts):
        yield _records(rest, np.flatnonzero(_begins(rest)), len(rest.starts))


def _named(block: LineBlock, name: bytes) -> NDArray[np.bool_]:
    """Lines [L] that begin with a name."""
    named: NDArray[np.bool_] = block.ends - block.starts >= len(name)
    for place, byte in enumerate(name):
        named &= block.data[np.minimum(block.starts + place, len(block.data) - 1)] == byte
    return named


def _begins(block: LineBlock) -> NDArray[np.bool_]:
    """Lines [L] with which a record begins: a position, or what stands behind an end."""
    begins = _named(block, b"fen ")
    begins[1:] |= (_named(block, b"e") & (block.ends - block.starts <= len("e\r")))[:-1]
    begins[:1] = True
    return begins


def _records(block: LineBlock, begins: NDArray[np.int64], last: int) -> Records:
    """Give the records whose first lines lie before a line."""
    begins = begins[begins < last]
    is_fen = _named(block, b"fen ")[begins]
    starts, ends = block.starts[begins], block.ends[begins]
    lines = np.flatnonzero(_named(block, b"result ")[:last])
    owner = np.searchsorted(begins, lines, "right") - 1
    result_starts, result_ends = starts.copy(), starts.copy()
    result_starts[owner], result_ends[owner] = block.starts[lines] + len(b"result "), block.ends[lines]
    return Records(
        LineBlock(block.data, starts, ends, block.first_number),
        block.first_number + begins,
        Spans(block.data, starts + len(b"fen ") * is_fen, np.where(is_fen, ends, starts)),
        Spans(block.data, result_starts, result_ends),
    )
