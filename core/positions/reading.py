"""Reading game records and scored positions from the files of a game's formats."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
from attrs import define

from glem.core.errors import BadInputError, check_regular, reading
from glem.core.files.addresses import is_address, open_binary
from glem.core.files.names import distinct_names
from glem.core.files.packed import BEGINNING, MAX_BYTES, bare_suffix, open_bounded
from glem.core.game.game import Game, PositionFormat, RecordFormat
from glem.core.game.records import CHUNK_SIZE, MAX_PROBLEMS, GameRecords, ScoredPositions
from glem.core.positions.game_lines import GAME_LINES
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

T = TypeVar("T")
_SHOWN = 40
_COLUMNS = (b"position_", b"label", b"weight")
_LONGEST_DESCRIPTION = 1 << 26


def _chunks(
    path: Path,
    formats: Mapping[str, Any],
    name: str | None,
    kind: str,
    read: Callable[[Any], Iterator[T]],
    nothing: Callable[[str], T],
    *,
    skip_bad: bool,
) -> Iterator[T]:
    """Read by the format that a file has; with ``skip_bad`` an error ends the file with a chunk that only tells it."""
    try:
        with reading(path, kind):
            yield from read(formats[name] if name is not None else _chosen(formats, path, kind))
    except BadInputError as error:
        if not skip_bad:
            raise
        yield nothing(str(error))


def format_of(game: Game, path: str | os.PathLike[str], name: str | None = None) -> RecordFormat | PositionFormat:
    """Find the format of a file of game records or of scored positions.

    Raises
    ------
    BadInputError
        No such file or format, or nothing tells which it is.
    """
    source = Path(path)
    formats = {**game.position_formats, **record_formats(game)}
    _check_arguments(source, name, formats, 1, 1)
    every: list[RecordFormat | PositionFormat] = [*record_formats(game).values(), *game.position_formats.values()]
    # Formats of both kinds may have one name: then the file tells.
    named = [known for known in every if known.name == name]
    if len(named) == 1:
        return named[0]
    candidates = {str(place): each for place, each in enumerate(named or every)}
    chosen: RecordFormat | PositionFormat = _chosen(candidates, source, "game records or positions")
    return chosen


def _chosen(formats: Mapping[str, Any], path: Path, kind: str) -> Any:
    head = head_of(path)
    if GAME_LINES in formats.values() and GAME_LINES.recognizes(head):
        # Whatever the file is called: other formats of the game may have its suffix.
        return GAME_LINES
    suffix = bare_suffix(path)
    candidates = [known for known in formats.values() if suffix in known.suffixes]
    if len(candidates) != 1:
        candidates = [known for known in candidates or formats.values() if known.recognizes(head)]
    if len(candidates) == 1:
        return candidates[0]
    names = ", ".join(dict.fromkeys(known.name for known in formats.values())) or "none"
    first = next(filter(None, map(str.strip, head.decode("utf-8", "replace").splitlines())), "")
    if not first:
        raise BadInputError(f"{path}: holds nothing but blanks" if head else f"{path}: is empty")
    raise BadInputError(
        f"{path}: neither its name nor its first line, {first[:_SHOWN]!a}, tells which format of {kind} it has; "
        f"name one with --format: {names}"
    )


def _check_arguments(path: Path, name: str | None, formats: Mapping[str, Any], chunk: int, max_bytes: int) -> None:
    if name is not None and name not in formats:
        raise BadInputError(f"there is no format {name!r}; known here: {', '.join(formats) or 'none'}")
    if chunk < 1:
        raise BadInputError(f"a chunk must hold at least 1 record, got {chunk}")
    if max_bytes < 1:
        raise BadInputError(f"the limit on a file's size must be positive, got {max_bytes}")
    check_regular(path)
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
    keep_replay: bool = False,
) -> Iterator[GameRecords]:
    """Read and check the game records of a file, chunk by chunk, also from ``.gz``, ``.xz`` and ``.zst``.

    Every game is replayed by the game's own rules. Finished games have the score of their last position,
    unfinished ones nan; what the file said is ``extra["stored_score"]``. Formats of games that end by resignation, a
    claim or agreement differ: what the file says is the score.

    Parameters
    ----------
    game
        Whose formats are tried.
    format
        Name of a format in ``game.record_formats``, or ``games`` for glem's own
        (:mod:`glem.core.positions.game_lines`); guessed from suffix and content if not given.
    skip_bad
        Leave bad records out, count them and say why in ``problems``, instead of raising. A file that breaks off
        gives its good records, then an empty chunk with the problem. A file that is not there raises always.
    chunk_games
        Most games in one chunk.
    max_bytes
        Limit on the unpacked size of the file.
    name
        ``GameRecords.source``, its own name by default; files of equal names need others to be told apart
        (:func:`glem.core.files.names.distinct_names`, :func:`read_all_records`).
    keep_replay
        Hand out the reader's replay of the games, if it makes one, as ``GameRecords.played``: 25 bytes a position.

    Returns
    -------
    iterator of GameRecords
        In the order of the file.

    Raises
    ------
    BadInputError
        No such file or format; while iterating, a bad record: the text names file and record.
    """
    source, formats = Path(path), record_formats(game)
    _check_arguments(source, format, formats, chunk_games, max_bytes)

    def read(chosen: RecordFormat) -> Iterator[GameRecords]:
        for records in chosen.read(game, source, skip_bad=skip_bad, chunk_games=chunk_games, max_bytes=max_bytes):
            yield attrs.evolve(records, source=name or records.source, played=records.played if keep_replay else None)

    def nothing(problem: str) -> GameRecords:
        return GameRecords.empty(source=name or source.name, problems=(problem,), skipped=1)

    return _chunks(source, formats, format, "game records", read, nothing, skip_bad=skip_bad)


def read_all_records(
    game: Game,
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    skip_bad: bool = False,
    keep_replay: bool = False,
    progress: Progress = SILENT,
) -> Iterator[GameRecords]:
    """Read the game records of several files, whose sources are distinct; see :func:`read_records`."""
    with progress("Reading games", len(paths)) as task:
        for path, name in zip(paths, distinct_names(paths), strict=True):
            task.note(name)
            yield from read_records(game, path, format=format, skip_bad=skip_bad, name=name, keep_replay=keep_replay)
            task.advance()


def is_position_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a Parquet file as :mod:`glem.core.positions.files` writes them, be it a damaged one.

    One whose header another program has left out is such a file, too. A Parquet file ends with its description, the
    length of that in four bytes, and ``PAR1``.
    """
    source = Path(path)
    if source.suffix.lower() != ".parquet" or not (is_address(path) or source.is_file()):
        return False
    with reading(path), open_binary(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        if magic != b"PAR1" or length > size - 8:
            return True
        file.seek(size - 8 - length)
        description = file.read(min(length, _LONGEST_DESCRIPTION))
        return b"glem.positions" in description or all(name in description for name in _COLUMNS)


def head_of(path: str | os.PathLike[str]) -> bytes:
    """First bytes of a file, unpacked, by which formats recognize it; of Parquet the names of its columns, as a line.

    Raises
    ------
    BadInputError
        The file cannot be read.
    """
    if bare_suffix(path) != ".parquet":
        with open_bounded(path) as file:
            return file.read(BEGINNING)
    # Imported late: few tables are Parquet.
    import pyarrow.parquet as pq

    with reading(path, "Parquet file"), Path(path).open("rb") as content:
        return "\t".join(pq.ParquetFile(content, pre_buffer=False).schema_arrow.names).encode()


def record_formats(game: Game) -> Mapping[str, RecordFormat]:
    """Return the formats of a game and the one that every game has."""
    return {**game.record_formats, GAME_LINES.name: GAME_LINES}


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
    source, formats = Path(path), game.position_formats
    _check_arguments(source, format, formats, chunk_positions, max_bytes)

    def read(chosen: PositionFormat) -> Iterator[ScoredPositions]:
        reader = chosen.read_unscored if unscored and chosen.read_unscored is not None else chosen.read
        return reader(game, source, skip_bad=skip_bad, chunk_positions=chunk_positions, max_bytes=max_bytes)

    def nothing(problem: str) -> ScoredPositions:
        return ScoredPositions(game.empty_columns(0), np.zeros(0, np.float32), (problem,))

    return _chunks(source, formats, format, "scored positions", read, nothing, skip_bad=skip_bad)


@define
class ReadingNotes:
    """What a reader of positions tells beside them; adds up from part to part.

    Parameters
    ----------
    skipped
        Bad records that were left out.
    problems
        Why, at most a hundred lines.
    understood
        How files were understood whose readers had to find out.
    """

    skipped: int = 0
    problems: tuple[str, ...] = ()
    understood: tuple[str, ...] = ()

    def add(self, part: ScoredPositions) -> None:
        """Add what is told with some positions."""
        self.skipped += len(part.problems)
        self.problems = (*self.problems, *part.problems)[:MAX_PROBLEMS]
        if part.remark and part.remark not in self.understood:
            self.understood = (*self.understood, part.remark)

    def texts(self) -> list[str]:
        """Say it for people."""
        if not self.skipped:
            return [*self.understood]
        return [*self.understood, f"{counted(self.skipped, 'bad record')} skipped, the first: {self.problems[0]}"]


def stream_scored(
    game: Game,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    skip_bad: bool = False,
    name: str | None = None,
    label_kind: str | None = None,
    notes: ReadingNotes | None = None,
) -> Iterator[Positions]:
    """Read scored positions of any format, glem's own Parquet among them, part by part.

    Parameters
    ----------
    game, path, format, skip_bad
        As in :func:`read_records`.
    name
        What distinguishes the file from others, its own name by default.
    label_kind
        What labels are, in place of what the format says.
    notes
        What was left out, and how the file was understood, is added there.

    Raises
    ------
    BadInputError
        As of :func:`read_scored_positions`, or of :func:`~glem.core.positions.files.stream_positions`.
    """
    if format is None and is_position_file(path):
        # Imported late: what reads other files needs no Parquet.
        from glem.core.positions.files import stream_positions

        yield from stream_positions(path, game=game)
        return
    chosen = format_of(game, path, format)
    if not isinstance(chosen, PositionFormat):
        raise BadInputError(f"{os.fspath(path)}: holds game records; make positions of them with glem positions")
    source = Path(path).name if name is None else name
    for part in read_scored_positions(game, path, format=chosen.name, skip_bad=skip_bad):
        if notes is not None:
            notes.add(part)
        # Each counts as a game of its own, so that equal ones fall on the same side of a split.
        yield Positions.from_positions(
            game, part.positions, part.label, source=source, label_kind=label_kind or chosen.label_kind
        )
