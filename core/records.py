"""Game records: many games in columns, and how a game's file formats are reached."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.file_names import distinct_names
from glem.core.record_columns import added_remarks, columns_or_missing, united_names, united_starts
from glem.core.record_files import MAX_BYTES, bare_suffix, open_bounded

if TYPE_CHECKING:
    from glem.core.game import Game

__all__ = [
    "CHUNK_SIZE",
    "GameRecords",
    "PositionFormat",
    "ReadPositions",
    "ReadRecords",
    "RecordFormat",
    "ScoredPositions",
    "WriteRecords",
    "read_all_records",
    "read_records",
    "read_scored_positions",
    "record_formats",
]

CHUNK_SIZE = 200_000
"""Default for the most games, or positions, that a reader hands out at once."""

_HEAD_BYTES = 4096
_MAX_PROBLEMS = 100


@define(frozen=True, eq=False)
class GameRecords:
    """Games in columns; G games with M moves in all.

    Scores are final scores in the game's own convention (``game.final_score``) from the view of the *first
    player*, the one who moves first in the game's initial position.

    Parameters
    ----------
    moves
        uint8 or int16 [M]: the moves of all games, one game after the other. A forced pass is there only if the
        file writes it; :func:`glem.core.replay.replay` inserts the others.
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

    def __attrs_post_init__(self) -> None:
        count = len(self.offsets) - 1
        ends = (0, len(self.moves))
        if count < 0 or (self.offsets[0], self.offsets[-1]) != ends or np.any(np.diff(self.offsets) < 0):
            raise BadInputError(f"offsets of game records must rise from 0 to the {len(self.moves)} moves")
        columns: dict[str, NDArray[Any]] = {
            "score": self.score,
            "theoretical_score": self.theoretical_score,
            "theoretical_ply": self.theoretical_ply,
            **self.extra,
        }
        if (self.starts is None) != (self.start_side is None):
            raise BadInputError("game records need both the positions that games begin in and the sides to move there")
        if self.starts is not None and self.start_side is not None:
            columns["start_side"] = self.start_side
            columns |= dict(zip((f"starts.{name}" for name in self.starts._fields), self.starts, strict=True))
        for name, column in columns.items():
            if len(column) != count:
                raise BadInputError(f"column {name!r} of game records has {len(column)} values for {count} games")
        for name, column in self.move_columns.items():
            if len(column) != len(self.moves):
                raise BadInputError(
                    f"column {name!r} of game records has {len(column)} values for {len(self.moves)} moves"
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

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Recorded moves of each game: int64 [G]."""
        return np.diff(self.offsets)

    def moves_of(self, game: int) -> NDArray[Any]:
        """Return the recorded moves of one game."""
        return self.moves[self.offsets[game] : self.offsets[game + 1]]

    def select(self, chosen: NDArray[Any] | slice) -> GameRecords:
        """Pick some of the games, by mask [G], indices or slice; problems and their number stay."""
        indices = np.arange(len(self))[chosen]
        lengths = self.lengths[indices]
        offsets = np.zeros(len(indices) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(self.offsets[indices] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return attrs.evolve(
            self,
            moves=self.moves[places],
            offsets=offsets,
            score=self.score[indices],
            theoretical_score=self.theoretical_score[indices],
            theoretical_ply=self.theoretical_ply[indices],
            extra={name: column[indices] for name, column in self.extra.items()},
            starts=None if self.starts is None else type(self.starts)(*(column[indices] for column in self.starts)),
            start_side=None if self.start_side is None else self.start_side[indices],
            move_columns={name: column[places] for name, column in self.move_columns.items()},
        )

    def start_of(self, game: int) -> Any:
        """Position in which one game begins; None stands for the game's initial position."""
        return None if self.starts is None else type(self.starts)(*(column[game] for column in self.starts))

    @staticmethod
    def concatenate(parts: Sequence[GameRecords], *, initial_position: Any = None) -> GameRecords:
        """All games of several records, in order.

        A column of ``extra`` or ``move_columns`` that a part lacks is filled with -1 (nan where it holds floats, false
        where it holds truths); names are united and the numbers that index them renumbered. At most a hundred problem
        lines are kept.

        Parameters
        ----------
        parts
            The records.
        initial_position
            Where games of parts without ``starts`` begin; needed only if other parts have them.

        Raises
        ------
        BadInputError
            Some parts have ``starts``, others not, and no initial position is given.
        """
        if not parts:
            return GameRecords.empty()
        starts = np.cumsum([0, *(len(part.moves) for part in parts)])
        offsets = np.concatenate(
            [np.zeros(1, np.int64), *(part.offsets[1:] + start for part, start in zip(parts, starts, strict=False))]
        )
        extra = {}
        names: dict[str, tuple[str, ...]] = {}
        for column in dict.fromkeys(name for part in parts for name in part.extra):
            values = columns_or_missing([part.extra for part in parts], [len(part) for part in parts], column)
            names_of_parts = [part.names.get(column) for part in parts]
            if any(names_of_parts):
                values, names[column] = united_names(values, names_of_parts)
            extra[column] = np.concatenate(values)
        move_columns = {
            column: np.concatenate(
                columns_or_missing([part.move_columns for part in parts], [len(part.moves) for part in parts], column)
            )
            for column in dict.fromkeys(name for part in parts for name in part.move_columns)
        }
        beginnings, start_side = united_starts(
            [(part.starts, part.start_side) for part in parts], [len(part) for part in parts], initial_position
        )
        return GameRecords(
            moves=np.concatenate([part.moves for part in parts]),
            offsets=offsets,
            score=np.concatenate([part.score for part in parts]),
            theoretical_score=np.concatenate([part.theoretical_score for part in parts]),
            theoretical_ply=np.concatenate([part.theoretical_ply for part in parts]),
            extra=extra,
            names=names,
            starts=beginnings,
            start_side=start_side,
            move_columns=move_columns,
            source=", ".join(dict.fromkeys(part.source for part in parts if part.source)),
            problems=tuple(problem for part in parts for problem in part.problems)[:_MAX_PROBLEMS],
            skipped=sum(part.skipped for part in parts),
            remarks=added_remarks(*(part.remarks for part in parts)),
        )


class ScoredPositions(NamedTuple):
    """Positions with scores from outside, N of them.

    ``positions`` is a position of columns, ``label`` float32 [N] the score from the side to move's view,
    ``problems`` holds one line per skipped position.
    """

    positions: Any
    label: NDArray[np.float32]
    problems: tuple[str, ...]


class ReadRecords(Protocol):
    """Reader of one format of game records."""

    def __call__(
        self, game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
    ) -> Iterator[GameRecords]:
        """Read, check and hand out the games of a file, at most ``chunk_games`` at once.

        Every game is replayed. A record that is malformed, has an illegal move or contradicts its own score
        raises :class:`~glem.core.errors.BadInputError`, or is left out and counted with ``skip_bad``. Damage to
        the file as a whole raises after the good records before it were handed out.
        """
        ...


class WriteRecords(Protocol):
    """Writer of one format of game records."""

    def __call__(self, game: Game, records: GameRecords, /) -> Iterator[bytes]:
        """Yield the bytes of a file of some games, all of whose moves are legal.

        Of what the records hold a format writes what it has room for. Games that were played
        (:mod:`glem.core.tournament.transcripts`) have, beside what all have, the columns ``first_player`` and
        ``second_player`` (into names), ``result`` (float32: 1, 0, -1 for the first player, nan unknown) and ``end``
        (into names: why it ended), and the columns of moves ``comment_score`` (float32: what the mover expected, nan
        unknown), ``known_result`` (float32: 1, 0, -1 where the mover knew it), ``depth``, ``seconds`` and ``book`` (the
        move was given). Raises :class:`~glem.core.errors.BadInputError` where it has no room for a game.
        """
        ...


class ReadPositions(Protocol):
    """Reader of one format of scored positions."""

    def __call__(
        self, game: Game, path: Path, /, *, skip_bad: bool, chunk_positions: int, max_bytes: int
    ) -> Iterator[ScoredPositions]:
        """Read, check and hand out the positions of a file, at most ``chunk_positions`` at once."""
        ...


@define(frozen=True)
class RecordFormat:
    """A file format of game records.

    Parameters
    ----------
    name
        Short unique name.
    description
        One sentence for people.
    suffixes
        File name suffixes in lower case, with the dot and without that of a packing; may be empty.
    read
        The reader: replays every game. A bad record raises :class:`~glem.core.errors.BadInputError` with file and
        record, or is counted with ``skip_bad``.
    recognizes
        Whether the first 4,096 bytes of an unpacked file look like this format and none of the game's others; decides
        where suffixes do not.
    write
        The writer (:mod:`glem.core.record_writing`); None where the format is only read. It raises
        :class:`~glem.core.errors.BadInputError` where the format has no room for a game.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    read: ReadRecords
    recognizes: Callable[[bytes], bool]
    write: WriteRecords | None = None


@define(frozen=True)
class PositionFormat:
    """A file format of scored positions; the fields are those of :class:`RecordFormat`, but for the last one.

    Parameters
    ----------
    read_unscored
        The reader that also hands out positions without a score, their label nan; None where ``read`` serves.
    """

    name: str
    description: str
    suffixes: tuple[str, ...]
    read: ReadPositions
    recognizes: Callable[[bytes], bool]
    read_unscored: ReadPositions | None = None


def _choose(formats: Mapping[str, Any], path: Path, name: str | None, game: str, kind: str) -> Any:
    if name is not None:
        return formats[name]
    suffix = bare_suffix(path)
    candidates = [known for known in formats.values() if suffix in known.suffixes]
    if len(candidates) == 1:
        return candidates[0]
    with open_bounded(path) as file:
        head = file.read(_HEAD_BYTES)
    candidates = [known for known in candidates or formats.values() if known.recognizes(head)]
    if len(candidates) == 1:
        return candidates[0]
    raise BadInputError(
        f"{path}: neither its name nor its first bytes tell which {kind} format of {game} it has; "
        f"name one of: {', '.join(formats) or 'none'}"
    )


def _check_arguments(path: Path, name: str | None, formats: Mapping[str, Any], chunk: int, max_bytes: int) -> None:
    if name is not None and name not in formats:
        raise BadInputError(f"there is no format {name!r}; known here: {', '.join(formats) or 'none'}")
    if chunk < 1:
        raise BadInputError(f"a chunk must hold at least 1 record, got {chunk}")
    if max_bytes < 1:
        raise BadInputError(f"the limit on a file's size must be positive, got {max_bytes}")
    if not path.is_file():
        raise BadInputError(f"{path}: no such file")


def read_records(
    game: Game,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 # the word of the command line and of the field
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
    name: str | None = None,
) -> Iterator[GameRecords]:
    """Read and check the game records of a file, chunk by chunk, also from ``.gz``, ``.xz`` and ``.zst``.

    Every game is replayed by the game's own rules. Finished games have the score of their last position,
    unfinished ones nan; what the file said is ``extra["stored_score"]``. Formats of games that end by resignation, a
    claim or agreement differ: what the file says is the score.

    Parameters
    ----------
    game
        Whose formats are tried.
    path
        The file.
    format
        Name of a format in ``game.record_formats``, or ``games`` for glem's own (:mod:`glem.core.game_lines`); guessed
        from suffix and content if not given.
    skip_bad
        Leave bad records out, count them and say why in ``problems``, instead of raising. A file that breaks off
        gives its good records, then an empty chunk with the problem. A file that is not there raises always.
    chunk_games
        Most games in one chunk.
    max_bytes
        Limit on the unpacked size of the file.
    name
        ``GameRecords.source``, its own name by default; files of equal names need others to be told apart
        (:func:`glem.core.file_names.distinct_names`, :func:`read_all_records`).

    Returns
    -------
    iterator of GameRecords
        In the order of the file.

    Raises
    ------
    BadInputError
        No such file or format; while iterating, a bad record: the text names file and record.
    """
    source = Path(path)
    _check_arguments(source, format, record_formats(game), chunk_games, max_bytes)
    found = _records(game, source, format, skip_bad, chunk_games, max_bytes)
    return found if name is None else (attrs.evolve(records, source=name) for records in found)


def read_all_records(
    game: Game,
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    skip_bad: bool = False,
) -> Iterator[GameRecords]:
    """Read the game records of several files, whose sources are distinct; see :func:`read_records`."""
    for path, name in zip(paths, distinct_names(paths), strict=True):
        yield from read_records(game, path, format=format, skip_bad=skip_bad, name=name)


def record_formats(game: Game) -> Mapping[str, RecordFormat]:
    """Return the formats of a game and the one that every game has."""
    # Imported late: it needs this module.
    from glem.core.game_lines import GAME_LINES

    return {**game.record_formats, GAME_LINES.name: GAME_LINES}


def _begins_as(known: RecordFormat, path: Path) -> bool:
    with open_bounded(path) as file:
        return known.recognizes(file.read(_HEAD_BYTES))


def _records(
    game: Game, path: Path, name: str | None, skip_bad: bool, chunk_games: int, max_bytes: int
) -> Iterator[GameRecords]:
    from glem.core.game_lines import GAME_LINES

    try:
        with reading(path, "game records"):
            if name is None and _begins_as(GAME_LINES, path):
                # Whatever the file is called: other formats of the game may have its suffix.
                name = GAME_LINES.name
            chosen: RecordFormat = _choose(record_formats(game), path, name, game.name, "record")
            yield from chosen.read(game, path, skip_bad=skip_bad, chunk_games=chunk_games, max_bytes=max_bytes)
    except BadInputError as error:
        if not skip_bad:
            raise
        yield GameRecords.empty(source=path.name, problems=(str(error),), skipped=1)


def read_scored_positions(
    game: Game,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    skip_bad: bool = False,
    unscored: bool = False,
    chunk_positions: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[ScoredPositions]:
    """Read positions with scores from outside, chunk by chunk; arguments and errors as in :func:`read_records`.

    With ``unscored`` also positions without a score, their label nan, where the format has such.
    """
    source = Path(path)
    _check_arguments(source, format, game.position_formats, chunk_positions, max_bytes)
    return _positions(game, source, format, skip_bad, unscored, chunk_positions, max_bytes)


def _positions(
    game: Game, path: Path, name: str | None, skip_bad: bool, unscored: bool, chunk_positions: int, max_bytes: int
) -> Iterator[ScoredPositions]:
    try:
        with reading(path, "scored positions"):
            chosen: PositionFormat = _choose(game.position_formats, path, name, game.name, "position")
            read = chosen.read_unscored if unscored and chosen.read_unscored is not None else chosen.read
            yield from read(game, path, skip_bad=skip_bad, chunk_positions=chunk_positions, max_bytes=max_bytes)
    except BadInputError as error:
        if not skip_bad:
            raise
        yield ScoredPositions(game.empty_columns(0), np.zeros(0, np.float32), (str(error),))
