"""Positions with results, one a line or a row of a table, in the customs of those who tune engines.

A line has a FEN, with or without its two numbers, and the result: before it, behind it at any place, or as the operand
of an EPD operation. Blanks, ``| ; , [ ] ( ) { }`` and quotes stand between fields:

========================================= ================================================
``FEN c9 "1/2-1/2";``                     an operation of EPD, whatever its name
``FEN [0.5]``, ``FEN [0.5] -35``          the first field behind the FEN
``FEN | -35 | 0.5``, ``FEN;1-0``          the last field
``1-0 FEN``                               the field before it
``fen FEN``, ``result 1``, ``e``          lines of :mod:`~glem.games.chess.plain_records`
========================================= ================================================

Which field it is, and whether numbers run from 0 to 1 or from -1 to 1, is found by the first lines of each file: the
field that is a result in most of them, a text like ``1-0`` before a number. A number that is the same in all of them is
none, nor are the operands of EPD's own operations, such as ``hmvc`` and ``dm``. Texts are White's results. Numbers, and
``w``, ``d`` and ``l`` for won, drawn and lost, may be White's or the mover's: where Black is to move and one side is
ahead by a piece, White's results go with White's material, the mover's against it. Tables (CSV, TSV, Parquet) have a
header and such columns.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling import characters as char
from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError, GlemWarning
from glem.core.files.packed import LineBlock, bare_suffix, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import ScoredPositions
from glem.core.positions.text_fields import Spans, TableFormat, lines_of, not_empty, number_at
from glem.core.positions.validation import BadRecords
from glem.games.chess import plain_records
from glem.games.chess.fen import GOOD, REASONS, SEPARATORS, field_end, read_fen, skip_separators
from glem.games.chess.pgn.results import UNKNOWN_RESULT, result_text, score_of_result
from glem.games.chess.rules.position import Position

_RESULTS = ("result", "wdl", "outcome", "label")
TABLE = TableFormat(
    {"position": ("fen", "epd", "position"), **{name: (name,) for name in _RESULTS}},
    required=("position",),
    one_of=_RESULTS,
)

WHITE, MOVER = "white", "mover"
"""Whose results numbers are."""

_NO_LINE, _NO_RESULT, _NO_FEN = 100, 101, 102
_FIRST, _LAST, _OPERAND, _COLUMN, _NOWHERE = -1, -2, -3, -4, -5
"""Where the result stands; other places are numbers of fields behind the FEN, from 0."""
_TEXT, _NUMBER = 1, 2
_ROOM_BEHIND = 16
_SAMPLE = 20_000
_SHOWN_LINES = 400
_MOST_FIELDS = 8
_AHEAD = 3
_SURE = 3
"""Standard errors by which one view must fit better than the other."""
_HEAD_LINES = 20
_LETTERS = b"ldw"
_HALVES = char.places(_LETTERS, _LETTERS.upper())
_FIELD = re.compile(rb"[^" + re.escape(SEPARATORS) + rb"]+")
_FEN = re.compile(
    rb"(?:[1-8PNBRQKpnbrqk~]+/){7}[1-8PNBRQKpnbrqk~]+[ \t]+[wb][ \t]+(?:-|[A-Ka-kQq]{1,4})[ \t]+(?:-|[a-h][1-8])"
    rb"(?:[ \t]+\d{1,6}[ \t]+\d{1,6}(?=[\s|;,\[\](){}\"]|$))?"
)
_PARTS = {_FIRST: "the field before the FEN", _LAST: "the last field", _NOWHERE: "none"}
_OPERATION = re.compile(rb'(?:"[^"]*"?|[^;|"])+')
_STANDARD_OPCODES = frozenset(
    b"acd acn acs am bm ce dm draw_accept draw_claim draw_offer draw_reject eco fmvn hmvc id nic noop pm pv rc resign "
    b"sm tcgs tcri tcsi".split()
)
"""Those of EPD (PGN standard, section 16.2.5) but the ones for comments and variables, which may be results."""
_FREE_OPCODE = re.compile(rb"[cv][0-9]")
_Place = tuple[int, bytes]
"""Where a result stands, and the name of its operation or column."""


@define(frozen=True)
class Custom:
    """How the lines of a file tell the result.

    Parameters
    ----------
    place
        Number of the field behind the FEN, from 0, or one of the places above.
    operation
        Name of the operation whose operand it is, or of the column.
    least
        What a lost game is as a number: 0 or -1.
    view
        Whose results numbers are.
    how
        How the view was found, or why there is no place, for people.
    is_doubtful
        Whether the view is a guess.
    """

    place: int
    operation: bytes = b""
    least: int = 0
    view: str = WHITE
    how: str = ""
    is_doubtful: bool = False

    def __str__(self) -> str:
        return f"result: {_part_at(self.place, self.operation)}{self.how}"


_PLAIN = Custom(_COLUMN, b"result", -1, MOVER, ", -1 to 1, the mover's as in all such records")


def _part_at(place: int, name: bytes) -> str:
    if place in (_OPERAND, _COLUMN):
        return f"{'operation' if place == _OPERAND else 'column'} {name.decode('ascii', 'replace')}"
    return _PARTS.get(place, f"field {place + 1} behind the FEN")


def _value_at(data: Any, at: int, end: int) -> tuple[float, int]:
    """Value of the field that begins at an index, and whether it is a text or a number; 0 for neither."""
    length, score = result_text(data, at)
    if score != UNKNOWN_RESULT and at + length == end:
        return float(score), _TEXT
    halves = int(_HALVES[data[at]])
    if halves >= 0 and end - at == 1:
        return halves / 2, _NUMBER
    value, behind = number_at(data, at, end)
    if behind == end and end > at and (value == 0.0 or value == 0.5 or abs(value) == 1.0):
        return value, _NUMBER
    return 0.0, 0


def _result_behind(data: Any, at: int, end: int, place: int, operation: Any) -> tuple[int, int]:
    """Where the result begins and ends in what is behind the FEN; an empty span where there is none."""
    number = 0
    found = stop = end
    while True:
        at = skip_separators(data, at, end)
        if at >= end:
            break
        behind = field_end(data, at, end)
        if place in (_LAST, number):
            found, stop = at, behind
        if place == _OPERAND and behind - at == operation.shape[0]:
            same = True
            for letter in range(behind - at):
                same = same and data[at + letter] == operation[letter]
            if same:
                found = skip_separators(data, behind, end)
                return found, field_end(data, found, end)
        at = behind
        number += 1
    return found, stop


def _read_lines(
    data: Any,
    starts: Any,
    ends: Any,
    result_starts: Any,
    result_ends: Any,
    place: int,
    operation: Any,
    columns: Any,
    values: Any,
    kinds: Any,
    state: Any,
    at: Any,
) -> None:
    boards = np.zeros(8, np.uint64)
    for line in range(starts.shape[0]):
        begin, end = skip_separators(data, starts[line], ends[line]), ends[line]
        values[line], kinds[line], at[line] = 0.0, 0, begin
        if begin == end or data[begin] == char.NUMBER_SIGN or data[begin] == char.PERCENT_SIGN:
            state[line] = _NO_LINE
            continue
        if place == _FIRST:
            behind = field_end(data, begin, end)
            values[line], kinds[line] = _value_at(data, begin, behind)
            begin = skip_separators(data, behind, end)
        found, behind = read_fen(data, begin, end, columns, line, boards)
        state[line], at[line] = found, behind
        if found == GOOD and place != _FIRST:
            if result_starts.shape[0] > 0:
                first, last = skip_separators(data, result_starts[line], result_ends[line]), result_ends[line]
                values[line], kinds[line] = _value_at(data, first, field_end(data, first, last))
                if skip_separators(data, behind, end) < end:
                    state[line] = _NO_FEN
            else:
                first, last = _result_behind(data, behind, end, place, operation)
                values[line], kinds[line] = _value_at(data, first, last)
                at[line] = first


def _material(columns: Any) -> NDArray[np.int64]:
    """White's material less Black's [N], in pawns."""
    balance = np.zeros(len(columns.white), np.int64)
    minors = columns.knights | columns.bishops
    for value, pieces in ((1, columns.pawns), (3, minors), (5, columns.rooks), (9, columns.queens)):
        count, white = (np.bitwise_count(board).astype(np.int64) for board in (pieces, pieces & columns.white))
        balance += value * (2 * white - count)
    return balance


@define(frozen=True, eq=False)
class _Read:
    """What was found in some lines: positions, the values of results and their kinds, and where each line fails."""

    columns: Position
    values: NDArray[np.float32]
    kinds: NDArray[np.uint8]
    state: NDArray[np.uint8]
    at: NDArray[np.int64]

    @classmethod
    def of(cls, game: Game, lines: Spans, results: Spans | None, custom: Custom) -> _Read:
        count = len(lines.starts)
        nothing = np.zeros(0, np.int64)
        found = cls(
            game.empty_columns(count),
            np.empty(count, np.float32),
            np.empty(count, np.uint8),
            np.empty(count, np.uint8),
            np.empty(count, np.int64),
        )
        # What looks at a few bytes behind a field may look there.
        data = np.concatenate([lines.data, np.full(_ROOM_BEHIND, char.NEWLINE, np.uint8)])
        compiled(_read_lines)(
            data,
            lines.starts,
            lines.ends,
            nothing if results is None else results.starts,
            nothing if results is None else results.ends,
            custom.place,
            np.frombuffer(custom.operation, np.uint8),
            *(found.columns, found.values, found.kinds, found.state, found.at),
        )
        return found

    def labels(self, custom: Custom) -> NDArray[np.float32]:
        """Results of the side to move, 1, 0 or -1; nan where there is none."""
        is_number = self.kinds == _NUMBER
        value = np.where(is_number & (custom.least == 0), 2 * self.values - 1, self.values)
        turned = (self.columns.turn == 1) & ~(is_number & (custom.view == MOVER))
        # A half is no result where a lost game is -1, and neither is -1 where it is 0.
        good = (self.kinds > 0) & (np.abs(value) <= 1) & (value == np.rint(value))
        return np.where(good, np.where(turned, -value, value) + 0.0, np.nan).astype(np.float32)


def _result_of(field: bytes) -> tuple[int, float] | None:
    """Kind and value of a field; None where it is no result."""
    if re.fullmatch(rb"[+-]?(?:1(?:\.0*)?|0?\.50*|0(?:\.0*)?)", field):
        return _NUMBER, float(field) + 0.0
    if len(field) == 1 and field.lower() in _LETTERS:
        return _NUMBER, _LETTERS.index(field.lower()) / 2
    score = score_of_result(field.decode("utf-8", "replace"))
    return None if np.isnan(score) else (_TEXT, score)


def _results_of(line: bytes) -> dict[_Place, tuple[int, float]] | None:
    """Results in a line by their places; None where there is no FEN."""
    found = _FEN.search(line)
    if found is None:
        return None
    before, behind = _FIELD.findall(line[: found.start()]), list[bytes]()
    for operation in _OPERATION.findall(line[found.end() :]):
        fields = _FIELD.findall(operation)
        own = 0
        if fields and fields[0] in _STANDARD_OPCODES:
            own = next((at for at, field in enumerate(fields) if _FREE_OPCODE.fullmatch(field)), len(fields))
        # Operands of the standard keep their numbers and are no results.
        behind += [b""] * own + fields[own:]
    places = [((_OPERAND, name), operand) for name, operand in pairwise(behind) if re.fullmatch(rb"[A-Za-z]\w*", name)]
    places += [((number, b""), field) for number, field in enumerate(behind[:_MOST_FIELDS])]
    places += [((_LAST, b""), field) for field in behind[-1:]]
    places += [((_FIRST, b""), field) for field in before if len(before) == 1]
    return {place: result for place, field in places if (result := _result_of(field)) is not None}


def _is_constant_number(results: Sequence[tuple[int, float]]) -> bool:
    return len(results) > 1 and len(set(results)) == 1 and results[0][0] == _NUMBER


def _place_among(results: Mapping[_Place, Sequence[tuple[int, float]]], lines: int, *, constant: bool) -> Custom:
    """Choose the place of the result: texts before numbers, then an operation, the first field, the last, any other.

    Parameters
    ----------
    results
        Kinds and values that stand at each place.
    lines
        Of so many lines half must have a text at the place, or two thirds a number.
    constant
        Whether a number that never varies will do where nothing else is found.
    """
    order = {_OPERAND: 4, _FIRST: 3, 0: 2, _LAST: 1}

    def is_text(place: _Place) -> bool:
        return 2 * sum(kind == _TEXT for kind, _ in results[place]) > len(results[place])

    def rank(place: _Place) -> tuple[bool, bool, int, int]:
        found = results[place]
        return not _is_constant_number(found), is_text(place), len(found), order.get(place[0], 0)

    often = [place for place, found in results.items() if len(found) >= lines / (2 if is_text(place) else 1.5)]
    best = max(often, key=rank, default=None)
    if best is None:
        return Custom(_NOWHERE)
    if constant or not _is_constant_number(results[best]):
        return Custom(*best)
    count, value = len(results[best]), results[best][0][1]
    why = f", though {_part_at(*best)} is {value:g} in all of {count:,} lines: --format positions-white takes even that"
    return Custom(_NOWHERE, how=why)


def _place_in(lines: Iterable[bytes], *, constant: bool = False) -> Custom:
    """Find the place that has a result in most lines."""
    results, count = defaultdict[_Place, list[tuple[int, float]]](list), 0
    for line in lines:
        places = _results_of(line)
        count += places is not None
        for place, result in (places or {}).items():
            results[place].append(result)
    return _place_among(results, count, constant=constant)


def _with_scale_and_view(found: _Read, custom: Custom, view: str | None) -> Custom:
    """Tell by a sample what numbers are, and whose."""
    good = (found.state == GOOD) & (found.kinds == _NUMBER)
    if not good.any():
        return custom
    values, columns = found.values[good], rows_of(found.columns, good)
    least = -1 if (values < 0).sum() > (values == 0.5).sum() else 0
    scale = "0 to 1" if least == 0 else "-1 to 1"
    if view is not None:
        return evolve(custom, least=least, view=view, how=f", {scale}, {view}'s as told")
    material = _material(columns)
    result = values if least else 2 * values - 1
    telling = (columns.turn == 1) & (np.abs(material) >= _AHEAD) & (result != 0)
    agree, count = int((np.sign(material) == np.sign(result))[telling].sum()), int(telling.sum())
    view, known = WHITE, f"White's with {agree} of"
    is_doubtful = abs(2 * agree - count) <= _SURE * np.sqrt(count)
    if is_doubtful:
        known = f"taken for White's, theirs in {agree} of"
    elif 2 * agree < count:
        view, known = MOVER, f"the mover's, White's with {agree} of"
    how = f", {scale}, {known} {count:,} positions where Black is to move and a side is ahead"
    # Where White alone is to move, both views are one.
    matters = bool(((columns.turn == 1) & (result != 0)).any())
    return evolve(custom, least=least, view=view, how=how, is_doubtful=is_doubtful and matters)


def _custom_of(game: Game, lines: Spans, columns: Mapping[str, Spans], view: str | None) -> Custom:
    # A file may be sorted by its results.
    some = slice(None, None, max(len(lines.starts) // _SHOWN_LINES, 1))
    few = lines.some(some)
    if columns:
        results: dict[_Place, list[tuple[int, float]]] = {}
        for name, spans in columns.items():
            found = _Read.of(game, few, spans.some(some), Custom(_COLUMN, name.encode()))
            is_one = found.kinds > 0
            pairs = zip(found.kinds[is_one].tolist(), found.values[is_one].tolist(), strict=True)
            results[_COLUMN, name.encode()] = list(pairs)
        custom = _place_among(results, 0, constant=view is not None)
    else:
        texts = (few.data[start:end].tobytes() for start, end in zip(few.starts, few.ends, strict=True))
        custom = _place_in(
            (text for text in texts if text.strip() and text[:1] not in b"#%"), constant=view is not None
        )
    first = slice(_SAMPLE)
    column = columns[custom.operation.decode()].some(first) if custom.place == _COLUMN else None
    return _with_scale_and_view(_Read.of(game, lines.some(first), column, custom), custom, view)


class _Rows(NamedTuple):
    """Some rows of a file: their texts, their line numbers, their positions, and columns that may be their results."""

    block: LineBlock
    numbers: NDArray[np.int64]
    positions: Spans
    columns: Mapping[str, Spans]


def _blocks(path: Path, head: bytes, lines: int, max_bytes: int) -> Iterator[_Rows]:
    if plain_records.recognizes(head):
        for records in plain_records.record_blocks(path, lines=lines, max_bytes=max_bytes):
            yield _Rows(records.rows, records.numbers, records.positions, {_PLAIN.operation.decode(): records.results})
    elif bare_suffix(path) == ".parquet" or TABLE.recognizes(head):
        for table in TABLE.blocks(path, lines=lines, max_bytes=max_bytes):
            columns = {name: table.column(name) for name in table.columns if name in _RESULTS}
            yield _Rows(table.rows, _numbers(table.rows), table.column("position"), columns)
    else:
        for block in line_blocks(path, lines=lines, max_bytes=max_bytes):
            yield _Rows(block, _numbers(block), lines_of(block), {})


def _numbers(block: LineBlock) -> NDArray[np.int64]:
    return block.first_number + np.arange(len(block.starts))


def read_position_lines(
    game: Game,
    path: Path,
    /,
    *,
    skip_bad: bool,
    chunk_positions: int,
    max_bytes: int,
    view: str | None = None,
    unscored: bool = False,
) -> Iterator[ScoredPositions]:
    """Read positions with results; the module says how.

    Parameters
    ----------
    path
        Lines or a table, also packed; lines that are empty or begin with ``#`` or ``%`` are skipped.
    skip_bad
        Leave bad lines out and tell them in ``problems``.
    chunk_positions
        Most positions in one chunk.
    max_bytes
        Limit on the unpacked size.
    view
        Whose results numbers are, :data:`WHITE` or :data:`MOVER`; found out if not given.
    unscored
        Accept lines without a result: their label is nan.

    Yields
    ------
    ScoredPositions
        Labels are 1, 0 and -1 for games that the side to move won, drew and lost.

    Raises
    ------
    BadInputError
        The file cannot be read, has no positions or no results, or a bad line and ``skip_bad`` is false.
    """
    parts = _parts(game, path, skip_bad, chunk_positions, max_bytes, view, unscored)
    return not_empty(parts, path, "no positions; expected lines of a FEN and a result, or a table of them")


def _parts(
    game: Game, path: Path, skip_bad: bool, lines: int, max_bytes: int, view: str | None, unscored: bool
) -> Iterator[ScoredPositions]:
    is_text = bare_suffix(path) != ".parquet"
    head, custom = b"", None
    if is_text and (first := next(iter(line_blocks(path, lines=1, max_bytes=max_bytes)), None)) is not None:
        head = first.text(0).encode()
    if plain_records.recognizes(head):
        custom = _PLAIN if view is None else evolve(_PLAIN, view=view, how=f", -1 to 1, {view}'s as told")
    for block, numbers, positions, columns in _blocks(path, head, lines, max_bytes):
        if custom is None:
            custom = _custom_of(game, positions, columns, view)
            if custom.place == _NOWHERE and not unscored:
                raise BadInputError(
                    f"{path}: no field of the first lines is a result (1-0, 1/2-1/2, 0-1, or a number from 0 or -1 to "
                    f"1){custom.how}; the first: {block.text(0)[:100]!r}"
                )
            if custom.is_doubtful and not unscored:
                doubt = f"{path}: {custom}; --format positions-white or positions-mover says whose numbers are"
                warnings.warn(doubt, GlemWarning, stacklevel=2)
        results = columns[custom.operation.decode()] if custom.place == _COLUMN else None
        found = _Read.of(game, positions, results, custom)
        labels = found.labels(custom)
        blank = found.state == _NO_LINE
        if columns:
            # Of a table, a row without a FEN is one that lacks it, unless the whole line is nothing.
            blank[blank] = [is_text and _is_nothing(block.text(row)) for row in np.flatnonzero(blank).tolist()]
        bad = BadRecords(len(blank), partial(_place_of, path, numbers), skip_bad)
        rest = positions.behind(found.at)
        for state, reason in REASONS.items():
            bad.mark(found.state == state, partial(_excerpt_in, reason, rest))
        bad.mark((found.state == _NO_LINE) & ~blank, lambda _: "there is no FEN")
        bad.mark(found.state == _NO_FEN, partial(_excerpt_in, "{} stands behind the FEN in its column", rest))
        if not unscored:
            bad.mark(np.isnan(labels) & ~blank, partial(_excerpt_in, "{} is no result here", results or rest))
        problems = bad.problems(limit=len(blank))
        good = ~bad.mask & ~blank
        yield ScoredPositions(rows_of(found.columns, good), labels[good], problems, f"{path.name}: {custom}")


def _is_nothing(line: str) -> bool:
    return line.strip(" \r")[:1] in ("", "#", "%")


def _place_of(path: Path, numbers: NDArray[np.int64], index: int) -> str:
    return f"{path}:{numbers[index]}"


def _excerpt_in(text: str, spans: Spans, index: int) -> str:
    return text.format(spans.excerpt(index))


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like lines of positions with results, or a table of them."""
    if TABLE.recognizes(head) or plain_records.recognizes(head):
        return True
    lines = [line for line in islice(head.split(b"\n"), _HEAD_LINES) if line.strip() and line[:1] not in b"#%"]
    whole = lines[:-1] if len(lines) > 1 and not head.endswith(b"\n") else lines
    return bool(whole) and _place_in(whole).place != _NOWHERE
