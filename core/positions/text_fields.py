"""Kernels that take numbers and columns out of many lines of text at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling import characters as char
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError, reading
from glem.core.files.packed import LineBlock, bare_suffix, line_blocks
from glem.core.game.records import GameRecords, ScoredPositions

_GOOD, ABSENT, BAD = 0, 1, 2
"""What a line holds where a number is looked for."""


_Part = TypeVar("_Part", GameRecords, ScoredPositions)
"""What a reader hands out: good rows, and lines on the bad ones."""

_MAX_DIGITS = 9
_SHOWN = 16


@kernel(inline=True)
def skip_blanks(data: Any, at: int, end: int) -> int:
    """Index of the next byte that is no blank, tab, carriage return, comma or semicolon."""
    while at < end:
        byte = data[at]
        is_space = byte == char.SPACE or byte == char.TAB or byte == char.CARRIAGE_RETURN
        if not is_space and byte != char.COMMA and byte != char.SEMICOLON:
            break
        at += 1
    return at


@kernel
def number_at(data: Any, at: int, end: int) -> tuple[float, int]:
    """Decimal number at an index, with optional sign and fraction: its value and the index behind it.

    The index is the one given where there is no number, or one of more than nine digits.
    """
    place = at
    negative = False
    if place < end and (data[place] == char.PLUS_SIGN or data[place] == char.HYPHEN):
        negative = data[place] == char.HYPHEN
        place += 1
    digits = 0
    value = 0.0
    unit = 1.0
    fraction = False
    while place < end:
        byte = data[place]
        if byte == char.FULL_STOP and not fraction:
            fraction = True
        elif char.DIGIT_ZERO <= byte <= char.DIGIT_NINE:
            digits += 1
            value = value * 10.0 + (byte - char.DIGIT_ZERO)
            if fraction:
                unit *= 10.0
        else:
            break
        place += 1
    if digits == 0 or digits > _MAX_DIGITS:
        return 0.0, at
    value /= unit
    return (-value if negative else value), place


@kernel
def _numbers(data: Any, starts: Any, ends: Any, most: int, values: Any, state: Any) -> None:
    for line in range(starts.shape[0]):
        end = ends[line]
        at = skip_blanks(data, starts[line], end)
        values[line] = np.nan
        state[line] = ABSENT
        count = 0
        while at < end:
            value, after = number_at(data, at, end)
            if after == at or count == most:
                values[line] = np.nan
                state[line] = BAD
                break
            if count == 0:
                values[line] = value
                state[line] = _GOOD
            count += 1
            at = skip_blanks(data, after, end)


class Spans(NamedTuple):
    """Spans of a text, L of them; an empty one holds nothing.

    ``data`` is uint8 [B]; span ``i`` is ``data[starts[i]:ends[i]]`` (both int64 [L]).
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def behind(self, at: NDArray[np.int64]) -> "Spans":
        """Give the rest of each span from an index on: int64 [L]."""
        return self._replace(starts=at)

    def some(self, rows: slice) -> "Spans":
        """Give some of the spans."""
        return self._replace(starts=self.starts[rows], ends=self.ends[rows])

    def numbers(self, *, most: int = 1) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Read the first number out of each span, which may hold at most so many.

        Returns
        -------
        values
            float32 [L], nan where there is no number.
        state
            uint8 [L]: 0 for one number, :data:`ABSENT`, or :data:`BAD` for anything else than so many numbers.
        """
        values, state = np.empty(len(self.starts), np.float32), np.empty(len(self.starts), np.uint8)
        _numbers(*self, most, values, state)
        return values, state

    def is_blank(self) -> NDArray[np.bool_]:
        """Tell which spans hold nothing but blanks and separators: bool [L]."""
        return np.asarray(self.numbers()[1] == ABSENT)

    def text(self, index: int) -> str:
        """Text of a span; bytes that are no UTF-8 as question marks."""
        return self.data[self.starts[index] : self.ends[index]].tobytes().decode("utf-8", "replace")

    def excerpt(self, index: int) -> str:
        """Show the first characters of a span behind its blanks, readable on one line."""
        text = self.text(index).lstrip(" \t,;").removesuffix("\r")
        return f"{text[:_SHOWN]!a}{'...' if len(text) > _SHOWN else ''}"


def lines_of(block: LineBlock) -> Spans:
    """Whole lines of a block."""
    return Spans(block.data, block.starts, block.ends)


def not_empty(parts: Iterable[_Part], path: Path, expected: str) -> Iterator[_Part]:
    """Hand out what was read of a file, and raise :class:`BadInputError` behind it where nothing was, good or bad."""
    found = False
    for part in parts:
        rows = part.label if isinstance(part, ScoredPositions) else part
        found = found or len(rows) > 0 or len(part.problems) > 0
        yield part
    if not found:
        raise BadInputError(f"{path}: {expected}")


class Table(NamedTuple):
    """Some rows of a table: lines without the header, and where its columns are."""

    rows: LineBlock
    delimiter: str
    columns: Mapping[str, int]

    def column(self, thing: str) -> Spans:
        """Where a column lies; empty where a line has no such column.

        Quotes around a value are left out; a delimiter between quotes is not understood.
        """
        data, starts, ends = lines_of(self.rows)
        delimiters = np.append(np.flatnonzero(data == ord(self.delimiter)), len(data))
        # Of each line the delimiter behind the column, and the one before it.
        behind = np.searchsorted(delimiters, starts) + self.columns[thing]
        before, behind = (delimiters[np.minimum(place, len(delimiters) - 1)] for place in (behind - 1, behind))
        at = np.minimum(before + 1, ends) if self.columns[thing] else starts
        stop = np.minimum(behind, ends)
        at = at + ((at < stop) & (data[np.minimum(at, len(data) - 1)] == char.QUOTATION_MARK))
        for mark in (char.CARRIAGE_RETURN, char.QUOTATION_MARK):
            stop = stop - ((stop > at) & (data[stop - 1] == mark))
        return Spans(data, at, stop)


@define(frozen=True)
class TableFormat:
    """Tables with a header line, whose columns lie between commas, semicolons or tabs.

    Parameters
    ----------
    columns
        What is looked for, to the names that it goes by, in lower case.
    required
        What must be there.
    one_of
        Things of which one must be there at least.
    """

    columns: Mapping[str, tuple[str, ...]]
    required: Sequence[str]
    one_of: Sequence[str] = ()

    def recognizes(self, head: bytes) -> bool:
        """Whether the first bytes of a file look like such a table."""
        try:
            self._found_in(head.split(b"\n", 1)[0].decode("ascii", "replace"))
        except BadInputError:
            return False
        return True

    def _found_in(self, header: str) -> tuple[str, dict[str, int]]:
        """Find the delimiter of a header line, and what it names to its place, from 0.

        Raises
        ------
        BadInputError
            Two columns go by names of one thing, or a required one is missing.
        """
        delimiter = max(",;\t", key=header.count)
        names = [name.strip(' \t\r"').lower() for name in header.split(delimiter)]
        columns = {}
        for thing, known in self.columns.items():
            found = [place for place, name in enumerate(names) if name in known]
            if len(found) > 1:
                raise BadInputError(f"the header {header[:80]!a} has {len(found)} columns for the {thing}")
            if found:
                columns[thing] = found[0]
        for things in filter(None, (*((thing,) for thing in self.required), self.one_of)):
            if columns.keys().isdisjoint(things):
                right = ", ".join(name for thing in things for name in self.columns[thing])
                raise BadInputError(f"the header {header[:80]!a} names no {things[0]}; expected one of: {right}")
        return delimiter, columns

    def blocks(self, path: Path, *, lines: int, max_bytes: int) -> Iterator[Table]:
        """Read a table in blocks of rows; arguments as in :func:`glem.core.files.packed.line_blocks`.

        Raises
        ------
        BadInputError
            The file is empty, cannot be read, or its header is not as it must be.
        """
        delimiter, columns = "", dict[str, int]()
        if bare_suffix(path) == ".parquet":
            yield from self._blocks_of_parquet(path, lines)
            return
        for block in line_blocks(path, lines=lines, max_bytes=max_bytes):
            rows = block
            if block.first_number == 1:
                try:
                    delimiter, columns = self._found_in(block.text(0))
                except BadInputError as error:
                    raise BadInputError(f"{path}:1: {error}") from None
                rows = LineBlock(block.data, block.starts[1:], block.ends[1:], 2)
            yield Table(rows, delimiter, columns)
        if not columns:
            raise BadInputError(f"{path}: the file is empty, expected a header line")

    def _blocks_of_parquet(self, path: Path, lines: int) -> Iterator[Table]:
        """Read the columns that are looked for as if they stood in lines, with tabs between them."""
        # Imported late: few tables are Parquet.
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        with reading(path, "Parquet file"), path.open("rb") as content:
            file = pq.ParquetFile(content, pre_buffer=False)
            names = file.schema_arrow.names
            try:
                found = self._found_in("\t".join(names))[1]
            except BadInputError as error:
                raise BadInputError(f"{path}: {error}") from None
            number = 1
            for batch in file.iter_batches(lines, columns=[names[place] for place in found.values()]):
                texts = [batch[names[place]].cast(pa.large_string()).fill_null("") for place in found.values()]
                rows = pc.call_function("binary_join_element_wise", [*texts, pa.scalar("\t", pa.large_string())])
                ends = np.frombuffer(rows.buffers()[1], np.int64)[rows.offset : rows.offset + len(rows) + 1]
                data = np.frombuffer(rows.buffers()[2] or b"", np.uint8)
                yield Table(
                    LineBlock(data, ends[:-1], ends[1:], number), "\t", dict(zip(found, range(len(found)), strict=True))
                )
                number += len(rows)
