"""Position sets as Parquet files, larger than memory if need be.

A file has one column per field of the game's positions (``position_FIELD``) and the columns of
:class:`~glem.core.positions.positions.Positions`. The key ``glem.positions`` of the file's metadata holds a JSON
header::

    {"version": 1, "game": "some_game", "label_kind": "result",
     "score": {"view": "side to move", "bounds": [-64, 64]}, "sources": ["WTH_2001.wtb"]}

Pages carry checksums, so that a damaged file is noticed.
"""

import contextlib
import json
import logging
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, GlemError, reading
from glem.core.files.addresses import open_binary
from glem.core.files.atomic import atomic_path, temporary_folder
from glem.core.files.made import made
from glem.core.game.equal_positions import position_keys, scatter
from glem.core.game.families import check_named_by_file
from glem.core.game.game import Game, game_names, load_game
from glem.core.machine.large_arrays import let_go, new_array
from glem.core.positions.positions import Merger, Positions
from glem.core.tasks.counts import counted

_log = logging.getLogger(__name__)

_KEY = b"glem.positions"
_VERSION = 1
_ROW_GROUP, _LEAST_ROW_GROUP = 1 << 18, 1 << 16
_LONGEST_HEADER = 1 << 24
_MOST_PARTS = 256
# Values that repeat or run; positions and keys are nearly random and only grow by a dictionary.
_DICTIONARY_COLUMNS = ("label", "weight", "record", "ply", "source", "game_key")


@define(frozen=True)
class PositionHeader:
    """What a file of positions says of itself.

    Parameters
    ----------
    game
        The game's name.
    label_kind
        What the labels are.
    score_bounds
        Least and greatest final score of the game as its rules count.
    sources
        Names of the files that the positions come from.
    count
        Number of positions.
    made
        The command that made the file (:mod:`glem.core.files.made`), as the file has it.
    """

    game: str
    label_kind: str
    score_bounds: tuple[int, int]
    sources: tuple[str, ...]
    count: int
    made: Any = None


def _json_header(path: str | os.PathLike[str], game: Game, label_kind: str, sources: list[str]) -> str:
    return json.dumps(
        {
            "version": _VERSION,
            "game": game.name,
            "label_kind": label_kind,
            "score": {"view": "side to move", "bounds": list(game.score_bounds)},
            "sources": sources,
            **made(path),
        }
    )


class PositionWriter:
    """Writes a file of positions part by part; it appears under its name only when the block ends without error.

    Parameters
    ----------
    path
        The Parquet file; its folder exists.
    game
        The game of all parts.
    label_kind
        The label kind of all parts.
    packed
        Whether to compress and to keep small parts for a while, which takes longer and more memory.
    """

    def __init__(self, path: str | os.PathLike[str], game: Game, label_kind: str, *, packed: bool = True) -> None:
        self._path = path
        self._packed = packed
        self._game = game
        self._label_kind = label_kind
        self._sources: list[str] = []
        self._stack = contextlib.ExitStack()
        self._temporary: Path | None = None
        self._file: Any = None
        self._waiting: list[Any] = []
        self._waiting_rows = 0
        self.count = 0
        """Number of positions written so far."""

    def __enter__(self) -> Self:
        self._temporary = self._stack.enter_context(atomic_path(self._path))
        return self

    def append(self, part: Positions) -> None:
        """Write some positions; the first part decides whether the file has a label spread.

        Raises
        ------
        BadInputError
            Another game or label kind, or a label spread in some parts only.
        """
        if part.game.name != self._game.name or part.label_kind != self._label_kind:
            raise BadInputError(
                f"{self._path} holds {self._game.name} positions with {self._label_kind!r} labels, "
                f"not {part.game.name} with {part.label_kind!r}"
            )
        columns = part.columns()
        columns["source"] = part.renumbered_sources(self._sources)
        file = self._open(columns)
        if file.schema.names != list(columns):
            raise BadInputError(f"{self._path}: some parts have a label spread and some have none")
        # Small parts are written together, as a file of many row groups is slow to read, but for those of many files
        # that are written at the same time and read once.
        self._waiting.append(pa.table(columns, schema=file.schema))
        self._waiting_rows += len(part)
        if self._waiting_rows >= _LEAST_ROW_GROUP or not self._packed:
            self._write()
        self.count += len(part)

    def _write(self) -> None:
        if self._waiting:
            self._file.write_table(pa.concat_tables(self._waiting), row_group_size=_ROW_GROUP)
        self._waiting, self._waiting_rows = [], 0

    def _open(self, columns: dict[str, NDArray[Any]]) -> Any:
        if self._temporary is None:
            raise RuntimeError("PositionWriter is used outside of its with block")
        if self._file is None:
            schema = pa.schema(
                [pa.field(name, pa.from_numpy_dtype(column.dtype), nullable=False) for name, column in columns.items()]
            )
            # Stubs of pyarrow know no list of columns here.
            with_dictionary: Any = [name for name in schema.names if name in _DICTIONARY_COLUMNS and self._packed]
            # Not by its name, which for pyarrow must be text.
            self._file = pq.ParquetWriter(
                self._stack.enter_context(self._temporary.open("wb")),
                schema,
                compression="zstd" if self._packed else "none",
                compression_level=1 if self._packed else None,
                use_dictionary=with_dictionary,
                write_statistics=False,
                write_page_checksum=True,
                store_schema=False,
            )
            self._stack.push(self._close)
        return self._file

    def _close(self, kind: Any, *_unused: Any) -> None:
        if kind is None:
            self._write()
            header = _json_header(self._path, self._game, self._label_kind, self._sources)
            self._file.add_key_value_metadata({_KEY: header.encode()})
        self._file.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if kind is None and self._file is None:
            self.append(Positions.empty(self._game, label_kind=self._label_kind))
        return self._stack.__exit__(kind, error, trace)


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str], game: Game | None) -> Iterator[tuple[Any, PositionHeader, Game]]:
    with contextlib.ExitStack() as stack:
        stack.enter_context(reading(path, "Parquet file of positions"))
        content = stack.enter_context(open_binary(path))
        _log.info("reading %s", path)
        # Without the buffer, which keeps what was read until the file is closed.
        file = stack.enter_context(pq.ParquetFile(content, page_checksum_verification=True, pre_buffer=False))
        metadata = file.metadata.metadata or {}
        if _KEY not in metadata:
            raise BadInputError(_without_header(path, file.schema_arrow.names, game))
        header = _checked_header(path, metadata[_KEY], file.metadata.num_rows)
        if game is not None and game.name != header.game:
            raise BadInputError(f"{path} holds positions of {header.game}, not of {game.name}")
        owner = load_game(check_named_by_file(header.game, path)) if game is None else game
        if header.score_bounds != tuple(owner.score_bounds):
            raise BadInputError(
                f"{path}: scores run from {header.score_bounds[0]} to {header.score_bounds[1]}, "
                f"those of {owner.name} from {owner.score_bounds[0]} to {owner.score_bounds[1]}"
            )
        _check_schema(path, file.schema_arrow, owner)
        yield file, header, owner


def _without_header(path: str | os.PathLike[str], columns: Sequence[str], game: Game | None) -> str:
    """Say that a file has no header, and which command gives one to positions that another program wrote again."""
    own = {name for name in columns if name.startswith("position_")}
    fitting = []
    for name in game_names() if game is None else [game.name]:
        with contextlib.suppress(GlemError):
            if own and own == {f"position_{field}" for field in load_game(name).position_type._fields}:
                fitting.append(name)
    told = f"{path} is a Parquet file without the header {_KEY.decode()!r}: glem did not write it"
    if not fitting:
        return told
    file = json.dumps(os.fspath(path))
    code = (
        f"import glem, pyarrow.parquet as pq; glem.write_positions({file}, glem.Positions.from_arrow("
        f'pq.read_table({file}), "{fitting[-1]}", label_kind="result"))'
    )
    return (
        f"{told}, or another program wrote it again; this restores it, with the game ({' or '.join(fitting)}) and the "
        f"kind of labels as you name them: python -c {shlex.quote(code)}"
    )


def _checked_header(path: str | os.PathLike[str], text: bytes, count: int) -> PositionHeader:
    with reading(f"{os.fspath(path)}: the header {_KEY.decode()!r}", "header of positions"):
        if len(text) > _LONGEST_HEADER:
            raise ValueError(f"it has {len(text)} bytes")
        header = json.loads(text)
        if header["version"] != _VERSION:
            raise ValueError(f"format version {header['version']!r}, this glem reads {_VERSION}")
        if header["score"]["view"] != "side to move":
            raise ValueError(f"scores from the view {header['score']['view']!r}")
        low, high = header["score"]["bounds"]
        names = (header["game"], header["label_kind"], *header["sources"])
        if not isinstance(header["sources"], list) or not all(isinstance(name, str) for name in names):
            raise TypeError("a name is no text")
        return PositionHeader(names[0], names[1], (int(low), int(high)), names[2:], count, header.get("made"))


def _check_schema(path: str | os.PathLike[str], schema: Any, game: Game) -> None:
    expected = {name: pa.from_numpy_dtype(column.dtype) for name, column in Positions.empty(game).columns().items()}
    found = dict(zip(schema.names, schema.types, strict=True))
    if len(found) < len(schema.names):
        raise BadInputError(f"{path}: two columns have one name")
    optional = {"label_spread": pa.float32()}
    for name, kind in expected.items():
        if found.get(name) != kind:
            raise BadInputError(f"{path}: column {name!r} should be {kind}, it is {found.get(name, 'missing')}")
    for name, kind in found.items():
        if name not in expected and optional.get(name) != kind:
            raise BadInputError(f"{path}: unknown column {name!r} of type {kind}")


def read_header(path: str | os.PathLike[str], game: Game | None = None) -> PositionHeader:
    """Header of a file of positions, checked against the game; see :func:`read_positions` for the errors."""
    with _opened(path, game) as (_file, header, _game):
        return header


def stream_positions(
    path: str | os.PathLike[str], chunk: int = _ROW_GROUP, game: Game | None = None
) -> Iterator[Positions]:
    """Read a file of positions chunk by chunk; record and source numbers hold over the whole file.

    Parameters
    ----------
    path
        A Parquet file that :class:`PositionWriter` wrote.
    chunk
        Most positions in a set. Memory grows with the larger of the chunk and 2**18.
    game
        The game that is expected; default is the one that the header names.

    Yields
    ------
    Positions
        At least one, empty for an empty file.

    Raises
    ------
    BadInputError
        No such format, another game, or damage; the text names the file.
    """
    if chunk < 1:
        raise BadInputError(f"chunks must have at least one position, got {chunk}")
    with _opened(path, game) as (file, header, owner):
        done = 0
        for columns in _batches(file, chunk):
            try:
                part = Positions.from_columns(owner, columns, header.sources, header.label_kind)
            except BadInputError as error:
                raise BadInputError(f"{path}, positions from row {done} on: {error}") from error
            done += len(part)
            yield part
        if done != header.count:
            raise BadInputError(f"{path} announces {counted(header.count, 'position')} and holds {done}")
        if done == 0:
            empty = file.schema_arrow.empty_table()
            columns = {name: empty[name].to_numpy() for name in empty.column_names}
            yield Positions.from_columns(owner, columns, header.sources, header.label_kind)


def stream_provenance(
    path: str | os.PathLike[str], chunk: int = _ROW_GROUP, game: Game | None = None
) -> Iterator[dict[str, NDArray[Any]]]:
    """Read which games the positions of a file come from, chunk by chunk, several times as fast as the positions.

    Yields the columns ``record``, ``ply`` and ``game_key``; the arguments and errors are those of
    :func:`stream_positions`.
    """
    with _opened(path, game) as (file, _header, _game):
        yield from _batches(file, chunk, ["record", "ply", "game_key"])


def _batches(file: Any, chunk: int, names: list[str] | None = None) -> Iterator[dict[str, NDArray[Any]]]:
    for batch in file.iter_batches(batch_size=chunk, columns=names):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, column in columns.items():
            if column.null_count:
                raise ValueError(f"column {name!r} has missing values")
        yield {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}


def read_positions(path: str | os.PathLike[str], game: Game | None = None) -> Positions:
    """Read a whole file of positions.

    Columns that would take much of the memory that is left lie in files without a name, which go with them
    (:mod:`glem.core.machine.large_arrays`).

    Parameters
    ----------
    path
        A Parquet file that :class:`PositionWriter` wrote.
    game
        The game that is expected; default is the one that the header names.

    Raises
    ------
    BadInputError
        No such format, another game, or damage; the text names the file.
    GlemError
        More positions than memory and disk have room for.
    """
    return PositionFiles.of([path], game).read()


@define(frozen=True)
class PositionFiles:
    """Files of positions of one game as a set that need not fit in memory: a call gives the positions, part by part.

    Parameters
    ----------
    paths
        Parquet files.
    game
        Their game.
    headers
        What each says of itself.
    """

    paths: tuple[str | os.PathLike[str], ...]
    game: Game
    headers: tuple[PositionHeader, ...]

    @classmethod
    def of(cls, paths: Sequence[str | os.PathLike[str]], game: Game | None = None) -> Self:
        """Read the headers; the game is that of the first where none is expected.

        Raises
        ------
        BadInputError
            As of :func:`stream_positions`; there is no file, or labels are of different kinds.
        """
        if not paths:
            raise BadInputError("there are no files of positions")
        if game is None:
            game = load_game(check_named_by_file(read_header(paths[0]).game, paths[0]))
        headers = tuple(read_header(path, game) for path in paths)
        kinds = sorted({header.label_kind for header in headers})
        if len(kinds) > 1:
            raise BadInputError(f"sets of different kinds cannot be joined: labels {', '.join(kinds)}")
        return cls(tuple(paths), game, headers)

    def __len__(self) -> int:
        """Count the positions."""
        return sum(header.count for header in self.headers)

    def __call__(self) -> Iterator[Positions]:
        """Read the positions part by part."""
        for path in self.paths:
            yield from stream_positions(path, game=self.game)

    def read(self) -> Positions:
        """Read all positions; records are numbered through. Columns and errors are as of :func:`read_positions`."""
        whole: dict[str, NDArray[Any]] = {}
        sources: list[str] = []
        done = record = 0
        for path in self.paths:
            next_record = record
            for part in stream_positions(path, game=self.game):
                columns = part.columns()
                columns["source"] = part.renumbered_sources(sources)
                columns["record"] = np.where(part.record < 0, np.int32(-1), part.record + np.int32(record))
                next_record = max(next_record, record + 1 + int(part.record.max(initial=-1)))
                if not whole:
                    whole = {name: new_array(len(self), column.dtype) for name, column in columns.items()}
                # A label spread that not all parts have is left out.
                whole = {name: column for name, column in whole.items() if name in columns}
                for name, column in whole.items():
                    column[done : done + len(part)] = columns[name]
                let_go(*whole.values())
                done += len(part)
            record = next_record
        # Arrow would keep what it has freed: a quarter of a gigabyte beside eleven million positions.
        pa.default_memory_pool().release_unused()
        return Positions.from_columns(self.game, whole, tuple(sources), self.label_kind)

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the files that the positions come from."""
        return tuple(dict.fromkeys(source for header in self.headers for source in header.sources))

    @property
    def label_kind(self) -> str:
        """What the labels are."""
        return self.headers[0].label_kind


def write_positions(path: str | os.PathLike[str], positions: Positions) -> None:
    """Write a set of positions, or a table of them; see :class:`PositionWriter` for larger ones."""
    positions = Positions.of(positions)
    with PositionWriter(path, positions.game, positions.label_kind) as writer:
        writer.append(positions)


def merge_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    keep_spread: bool = False,
    positions_in_memory: int = 1 << 20,
) -> int:
    """Merge the duplicates of a file of any size into another file.

    The positions are dealt by their keys into temporary files, beside ``target``, so many that each has at most about
    ``positions_in_memory`` different positions, but at most 256; equal positions meet in one, and each is merged by
    itself. With more than one such file the order of the positions is by key first. 2**20 positions take about 150 MiB.

    Parameters
    ----------
    source, target
        Parquet files; they may be the same.
    keep_spread
        See :meth:`Positions.merge_duplicates <glem.core.positions.positions.Positions.merge_duplicates>`.
    positions_in_memory
        Different positions that are held at a time.

    Returns
    -------
    int
        Number of positions left.
    """
    header = read_header(source)
    game = load_game(header.game)
    parts = min(-(-header.count // positions_in_memory), _MOST_PARTS)
    with PositionWriter(target, game, header.label_kind) as writer, contextlib.ExitStack() as stack:
        paths = [Path(source)]
        if parts > 1:
            folder = stack.enter_context(temporary_folder(target))
            paths = [folder / f"{part}.parquet" for part in range(parts)]
            _deal(source, game, paths)
        for path in paths:
            merger = Merger(keep_spread=keep_spread)
            for chunk in stream_positions(path, positions_in_memory, game):
                merger.add(chunk)
            writer.append(merger.merged())
    return writer.count


def keep_unseen(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, training: str | os.PathLike[str]
) -> int:
    """Copy the positions that do not occur in a training file, mirror images too; return their number.

    See :meth:`Positions.without <glem.core.positions.positions.Positions.without>`. Memory holds the keys of the
    training positions, 8 bytes each.
    """
    header = read_header(source)
    game = load_game(header.game)
    known = np.unique(
        np.concatenate([position_keys(game, part.positions) for part in stream_positions(training, game=game)])
    )
    with PositionWriter(target, game, header.label_kind) as writer:
        for part in stream_positions(source, game=game):
            keys = position_keys(game, part.positions)
            places = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
            seen = known[places] == keys if len(known) else np.zeros(len(keys), np.bool_)
            writer.append(part.select(~seen))
    return writer.count


def _deal(source: str | os.PathLike[str], game: Game, paths: list[Path]) -> None:
    header = read_header(source, game)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(PositionWriter(path, game, header.label_kind, packed=False)) for path in paths]
        for chunk in stream_positions(source, game=game):
            keys = scatter(position_keys(game, chunk.positions), 0)
            places = (keys % np.uint64(len(paths))).astype(np.uint8)
            dealt = chunk.select(np.argsort(places, kind="stable"))
            ends = np.cumsum(np.bincount(places, minlength=len(paths))).tolist()
            for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                writer.append(dealt.select(slice(start, end)))
