"""Game records: many games in columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted

CHUNK_SIZE = 20_000
"""Default for the most games, or positions, that a reader hands out at once."""

MAX_PROBLEMS = 100

_COLUMNS = ("score", "theoretical_score", "theoretical_ply")
"""Columns that all games have."""


@define(frozen=True, eq=False, repr=False)
class GameRecords:
    """Games in columns; G games with M moves in all.

    Scores are final scores in the game's own convention (``game.final_score``) from the view of the *first
    player*, the one who moves first in the game's initial position.

    Parameters
    ----------
    moves
        uint8 or int16 [M]: the moves of all games, one game after the other. A forced pass is there only if the
        file writes it; :func:`glem.core.positions.replay.replay` inserts the others.
    offsets
        int64 [G + 1]: the moves of game ``g`` are ``moves[offsets[g]:offsets[g + 1]]``.
    score
        float32 [G]: final score; nan where it is unknown. An unfinished game has one where the format lets it stand: it
        was resigned, drawn by claim or agreement, or adjudicated.
    theoretical_score
        float32 [G]: exact value of the position after ``theoretical_ply`` recorded moves; nan where unknown.
    theoretical_ply
        int16 [G]: number of recorded moves before that position; -1 where unknown.
    extra
        Further columns of G values, for instance ``year``; ``number`` is the record's number in its file, from 1.
    names
        Column of ``extra`` to the names that its values index, for instance ``black_player``.
    starts
        Position of columns [G]: where each game begins; None where all begin in the game's initial position.
    start_side
        int8 [G], given along with ``starts``: side to move there, +1 the first player, -1 the second.
    move_columns
        Columns of M values, one for each recorded move, for instance what a comment says about it.
    source
        Where the games come from, for people.
    problems
        What was wrong with skipped records, one line each; the first hundred of a file's chunk.
    skipped
        Number of records left out.
    remarks
        What else a reader has to tell, for people: how many games it holds for, by its text, such as ``read by a
        slower reader``.
    played
        The replay of every position of these games (:mod:`glem.core.positions.replay`), where the reader has one;
        :meth:`concatenate` leaves it out.

    Raises
    ------
    BadInputError
        The columns do not fit together.
    """

    moves: NDArray[Any]
    offsets: NDArray[np.int64]
    score: NDArray[np.float32]
    theoretical_score: NDArray[np.float32]
    theoretical_ply: NDArray[np.int16]
    extra: Mapping[str, NDArray[Any]] = field(factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(factory=dict)
    starts: Any = None
    start_side: NDArray[np.int8] | None = None
    move_columns: Mapping[str, NDArray[Any]] = field(factory=dict)
    source: str = ""
    problems: tuple[str, ...] = ()
    skipped: int = 0
    remarks: Mapping[str, int] = field(factory=dict)
    played: Any = None

    def __attrs_post_init__(self) -> None:
        count = len(self.offsets) - 1
        ends = (0, len(self.moves))
        if count < 0 or (self.offsets[0], self.offsets[-1]) != ends or np.any(np.diff(self.offsets) < 0):
            raise BadInputError(f"offsets of game records must rise from 0 to the {len(self.moves)} moves")
        columns: dict[str, NDArray[Any]] = {
            **{name: getattr(self, name) for name in _COLUMNS},
            **self.extra,
        }
        if (self.starts is None) != (self.start_side is None):
            raise BadInputError("game records need both the positions that games begin in and the sides to move there")
        if self.starts is not None and self.start_side is not None:
            columns["start_side"] = self.start_side
            columns |= dict(zip((f"starts.{name}" for name in self.starts._fields), self.starts, strict=True))
        for name, column in columns.items():
            if len(column) != count:
                raise BadInputError(
                    f"column {name!r} of game records has {counted(len(column), 'value')} for {counted(count, 'game')}"
                )
        for name, column in self.move_columns.items():
            if len(column) != len(self.moves):
                raise BadInputError(
                    f"column {name!r} of game records has {counted(len(column), 'value')} for "
                    f"{counted(len(self.moves), 'move')}"
                )
        for name in self.names:
            if name not in self.extra:
                raise BadInputError(f"names of {name!r} are given, but game records have no such column")

    @classmethod
    def from_moves(
        cls, moves: NDArray[Any], offsets: NDArray[np.int64], score: NDArray[np.float32] | None = None, **columns: Any
    ) -> GameRecords:
        """Make records without theoretical scores, and without scores if none are given; other fields by name."""
        count = len(offsets) - 1
        return cls(
            moves=moves,
            offsets=offsets,
            score=np.full(count, np.nan, np.float32) if score is None else score,
            theoretical_score=np.full(count, np.nan, np.float32),
            theoretical_ply=np.full(count, -1, np.int16),
            **columns,
        )

    @classmethod
    def empty(cls, *, source: str = "", problems: tuple[str, ...] = (), skipped: int = 0) -> GameRecords:
        """No games, only what went wrong."""
        return cls.from_moves(
            np.zeros(0, np.uint8), np.zeros(1, np.int64), source=source, problems=problems, skipped=skipped
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        source = f" of {self.source!r}" if self.source else ""
        return (
            f"GameRecords({counted(len(self), 'game')}{source}, {counted(len(self.moves), 'move')}, {self.skipped} "
            "left out)"
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Recorded moves of each game: int64 [G]."""
        return np.diff(self.offsets)

    def moves_of(self, game: int) -> NDArray[Any]:
        """Return the recorded moves of one game."""
        return self.moves[self.offsets[game] : self.offsets[game + 1]]

    def name(self, column: str, game: int) -> str:
        """Return the name that a column of ``extra`` holds for one game; "" where it has none."""
        number = int(self.extra[column][game]) if column in self.names else -1
        return self.names[column][number] if number >= 0 else ""

    def select(self, chosen: NDArray[Any] | slice) -> GameRecords:
        """Pick some of the games, by mask [G], indices or slice; problems and their number stay."""
        indices = np.arange(len(self))[chosen]
        lengths = self.lengths[indices]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places = np.repeat(self.offsets[indices] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return attrs.evolve(
            self,
            moves=self.moves[places],
            offsets=offsets,
            **{name: getattr(self, name)[indices] for name in _COLUMNS},
            extra={name: column[indices] for name, column in self.extra.items()},
            starts=None if self.starts is None else rows_of(self.starts, indices),
            start_side=None if self.start_side is None else self.start_side[indices],
            move_columns={name: column[places] for name, column in self.move_columns.items()},
            played=None if self.played is None else self.played.select(indices, places),
        )

    def start_of(self, game: int) -> Any:
        """Position in which one game begins; None stands for the game's initial position."""
        return None if self.starts is None else rows_of(self.starts, game)

    @staticmethod
    def concatenate(parts: Sequence[GameRecords], *, initial_position: Any = None) -> GameRecords:
        """All games of several records, in order.

        A column of ``extra`` or ``move_columns`` that a part lacks is filled with -1 (nan where it holds floats, false
        where it holds truths); names are united and the numbers that index them renumbered. At most a hundred problem
        lines are kept.

        Parameters
        ----------
        initial_position
            Where games of parts without ``starts`` begin; needed only if other parts have them.

        Raises
        ------
        BadInputError
            Some parts have ``starts``, others not, and no initial position is given.
        """
        if not parts:
            return GameRecords.empty()
        lengths = np.concatenate([part.lengths for part in parts])
        extra = {}
        names: dict[str, tuple[str, ...]] = {}
        for column in dict.fromkeys(name for part in parts for name in part.extra):
            values = _columns_or_missing([part.extra for part in parts], [len(part) for part in parts], column)
            names_of_parts = [part.names.get(column) for part in parts]
            if any(names_of_parts):
                values, names[column] = _united_names(values, names_of_parts)
            extra[column] = np.concatenate(values)
        move_columns = {
            column: np.concatenate(
                _columns_or_missing([part.move_columns for part in parts], [len(part.moves) for part in parts], column)
            )
            for column in dict.fromkeys(name for part in parts for name in part.move_columns)
        }
        beginnings, start_side = _united_starts(
            [(part.starts, part.start_side) for part in parts], [len(part) for part in parts], initial_position
        )
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("moves", *_COLUMNS)
        }
        return GameRecords(
            **columns,
            offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            extra=extra,
            names=names,
            starts=beginnings,
            start_side=start_side,
            move_columns=move_columns,
            source=", ".join(dict.fromkeys(part.source for part in parts if part.source)),
            problems=tuple(problem for part in parts for problem in part.problems)[:MAX_PROBLEMS],
            skipped=sum(part.skipped for part in parts),
            remarks=added_remarks(*(part.remarks for part in parts)),
        )


class ScoredPositions(NamedTuple):
    """Positions with scores from outside, N of them.

    ``positions`` is a position of columns, ``label`` float32 [N] the score from the side to move's view,
    ``problems`` holds one line per skipped position; ``remark`` says how the file was understood, where the reader had
    to find that out.
    """

    positions: Any
    label: NDArray[np.float32]
    problems: tuple[str, ...]
    remark: str = ""


def added_remarks(*parts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the remarks of all parts with the sums of their counts."""
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part)
    return dict(sums)


def _columns_or_missing(
    parts: Sequence[Mapping[str, NDArray[Any]]], lengths: Sequence[int], column: str
) -> list[NDArray[Any]]:
    """Return one column of all parts, with values that say "missing" for those parts that lack it."""
    dtype = next(part[column].dtype for part in parts if column in part)
    missing: Any
    if dtype.kind == "f":
        missing = dtype.type(np.nan)
    elif dtype.kind == "b":
        missing = np.False_
    else:
        # -1 needs a sign: an unsigned column becomes the next wider signed one.
        missing = np.promote_types(dtype, np.int8).type(-1)
    return [
        part[column] if column in part else np.full(length, missing, missing.dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]


def _united_starts(
    parts: Sequence[tuple[Any, NDArray[np.int8] | None]], lengths: Sequence[int], initial_position: Any
) -> tuple[Any, NDArray[np.int8] | None]:
    """Return positions in which games begin, and the sides to move there, of all parts; None where no part has any."""
    some = next((starts for starts, _ in parts if starts is not None), None)
    if some is None:
        return None, None
    columns, sides = [], []
    for (starts, side), length in zip(parts, lengths, strict=True):
        if starts is None or side is None:
            if initial_position is None and length:
                raise BadInputError(
                    "some of these game records begin elsewhere than others: tell in which position the others begin"
                )
            position = initial_position or (0,) * len(some)
            starts = [np.full(length, value, column.dtype) for value, column in zip(position, some, strict=True)]
            side = np.ones(length, np.int8)
        columns.append(starts)
        sides.append(side)
    return type(some)(*(np.concatenate(column) for column in zip(*columns, strict=True))), np.concatenate(sides)


def _united_names(
    values: list[NDArray[Any]], known: Sequence[tuple[str, ...] | None]
) -> tuple[list[NDArray[Any]], tuple[str, ...]]:
    """Renumber columns of indices so that all of them index one tuple of names."""
    distinct = list(dict.fromkeys(names for names in known if names))
    if len(distinct) == 1:
        return values, distinct[0]
    union = dict.fromkeys(name for names in distinct for name in names)
    place = {name: index for index, name in enumerate(union)}
    renumbered = list(values)
    for part, names in enumerate(known):
        if names:
            table = np.array([*(place[name] for name in names), -1], np.int32)
            renumbered[part] = table[values[part]]
    return renumbered, tuple(union)
