"""WTHOR, the database of the French federation: ``.wtb`` games, ``.JOU`` player and ``.TRN`` tournament names.

All three are a header of 16 bytes, little-endian, and records of one size::

    century, year, month, day      uint8 each: when the file was made
    N1                             uint32: number of game records (0 in .JOU and .TRN)
    N2                             uint16: number of names in .JOU and .TRN
    year of the games              uint16
    P1, P2, P3, reserved           uint8 each: board size (0 means 8), 0 for games and 1 for single positions,
                                   empty squares at which the theoretical score holds

A game is 68 bytes: three uint16 indices of tournament, black and white player; black's final disc count and its
theoretical one, the empty squares counted for the winner; 60 moves of ``10 * row + column``, 0 behind the last. A
name is 20 bytes (player) or 26 (tournament), Latin-1, ended by a zero byte. Passes are not written.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.packed import BoundedFile, open_bounded
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.replay import replay
from glem.core.positions.validation import BadRecords, validated
from glem.core.tasks.counts import counted
from glem.games.othello.formats.transcripts import check_starts

_HEADER = np.dtype(
    [
        ("date", "u1", 4),
        ("records", "<u4"),
        ("names", "<u2"),
        ("year", "<u2"),
        ("size", "u1"),
        ("kind", "u1"),
        ("depth", "u1"),
        ("reserved", "u1"),
    ]
)
_GAME = np.dtype(
    [
        ("tournament", "<u2"),
        ("black_player", "<u2"),
        ("white_player", "<u2"),
        ("discs", "u1"),
        ("theoretical_discs", "u1"),
        ("moves", "u1", 60),
    ]
)
_NAME_BYTES = {"player": 20, "tournament": 26}
_MOST_NAME_BYTES = 1 << 26
_NAME_SUFFIXES = {"player": ".jou", "tournament": ".trn"}
_SQUARES = 64
_LONGEST = 60


_BYTES = 10 * (np.arange(_SQUARES) // 8 + 1) + np.arange(_SQUARES) % 8 + 1
"""Move byte of each square."""
_SQUARE_OF_BYTE = np.full(256, 255, np.uint8)
"""Square of each move byte, 255 for bytes that are no move."""
_SQUARE_OF_BYTE[_BYTES] = np.arange(_SQUARES)


def _read_header(file: BoundedFile) -> Any:
    """Read the header as a numpy record of :data:`_HEADER`."""
    head = file.read(_HEADER.itemsize)
    if len(head) < _HEADER.itemsize:
        raise BadInputError(f"{file.path}: {len(head)} bytes are no WTHOR file, its header has {_HEADER.itemsize}")
    return np.frombuffer(head, _HEADER)[0]


def _header_problem(header: Any) -> str | None:
    if header["size"] not in {0, 8}:
        return f"byte 12, the board size, is {header['size']}, expected 8"
    if header["kind"] != 0:
        return f"byte 13, the kind of records, is {header['kind']}, expected 0 for games"
    if header["depth"] > _LONGEST:
        return f"byte 14, the empty squares at the theoretical score, is {header['depth']}, expected at most 60"
    if header["names"] != 0:
        return f"bytes 8-9 announce {header['names']} names, expected 0 in a file of games"
    return None


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file may be a WTHOR file of games."""
    if len(head) < _HEADER.itemsize + _GAME.itemsize:
        return False
    header = np.frombuffer(head, _HEADER, 1)[0]
    first = np.frombuffer(head, _GAME, 1, _HEADER.itemsize)[0]
    return _header_problem(header) is None and bool(_SQUARE_OF_BYTE[first["moves"][0]] < _SQUARES)


def _read_names(path: Path, kind: str) -> tuple[str, ...]:
    """Read the names of a ``.JOU`` or ``.TRN`` file, of a ``player`` or ``tournament``, also from ``.gz`` and ``.xz``.

    Raises
    ------
    BadInputError
        The file cannot be read, or its length is not what its header announces.
    """
    size = _NAME_BYTES[kind]
    with open_bounded(path, max_bytes=_MOST_NAME_BYTES) as file:
        count = int(_read_header(file)["names"])
        content = file.read(count * size + 1)
    if len(content) != count * size:
        found = "more" if len(content) > count * size else f"{len(content):,} bytes"
        raise BadInputError(
            f"{path}: the header announces {count:,} {kind} names of {size} bytes, expected {count * size:,} bytes "
            f"behind it, found {found}"
        )
    return tuple(
        content[start : start + size].split(b"\0", 1)[0].decode("latin-1").strip()
        for start in range(0, len(content), size)
    )


def _names_file(games: Path, kind: str) -> Path | None:
    """File of names beside the games: ``WTH.JOU`` or one with the games' own stem, in any case, perhaps packed."""
    stems = ("wth", games.name.split(".")[0].lower())
    wanted = [f"{stem}{_NAME_SUFFIXES[kind]}{packing}" for stem in stems for packing in ("", ".gz", ".xz")]
    try:
        present = {entry.name.lower(): entry for entry in games.parent.iterdir()}
    except OSError:
        # A folder that may be entered but not listed: names are optional.
        return None
    return next((present[name] for name in wanted if name in present), None)


def read_wthor(game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int) -> Iterator[GameRecords]:
    """Read and check the games of a ``.wtb`` file, also from ``.gz`` and ``.xz``.

    A record is bad when it has a byte that is no move, a move behind the end, an illegal move, no move at all, a
    disc count above 64, a finished game's count that is not the replayed one, or a player or tournament that the
    files of names do not have. The year and the names cannot be checked further.

    Parameters
    ----------
    path
        The games.
    skip_bad
        Leave bad records out and count them. A file whose length is not what its header announces still gives all
        its whole records, and damaged files of names are done without; each counts as one problem.
    chunk_games
        Most games in one chunk.
    max_bytes
        Limit on the unpacked size.

    Yields
    ------
    GameRecords
        Columns ``number``, ``year``, ``tournament``, ``black_player``, ``white_player`` and ``stored_score``; the
        theoretical score is that of the position with ``P3`` empty squares, unknown for games that end before.

    Raises
    ------
    BadInputError
        The file is no WTHOR file, is cut or damaged, or has a bad record and ``skip_bad`` is false.
    """
    with open_bounded(path, max_bytes=max_bytes) as file:
        header = _read_header(file)
        problem = _header_problem(header)
        if problem is not None:
            raise BadInputError(f"{path}: no WTHOR file of 8x8 games: {problem}")
        announced = int(header["records"])
        try:
            files = {kind: _names_file(path, kind) for kind in _NAME_BYTES}
            names = {kind: _read_names(file, kind) if file else () for kind, file in files.items()}
        except BadInputError as error:
            if not skip_bad:
                raise
            names = dict.fromkeys(_NAME_BYTES, ())
            yield GameRecords.empty(source=path.name, problems=(str(error),), skipped=1)
        count = 0
        while True:
            # With skip_bad a wrong count in the header must not hide whole records behind it.
            wanted = chunk_games if skip_bad else min(chunk_games, announced - count)
            content = file.read(wanted * _GAME.itemsize)
            whole = len(content) // _GAME.itemsize
            if whole:
                chunk = np.frombuffer(content, _GAME, whole)
                yield _check_games(path, game, header, names, chunk, count, skip_bad)
            count += whole
            if len(content) < wanted * _GAME.itemsize or not content:
                break
        rest = len(content) % _GAME.itemsize
        more = file.read(1)
    if count != announced or rest or more:
        found = "more" if more else f"{count:,} and {rest} bytes of another" if rest else f"{count:,}"
        raise BadInputError(f"{path}: the header announces {counted(announced, 'game record')}, the file holds {found}")


def _check_games(
    path: Path, game: Game, header: Any, names: Mapping[str, tuple[str, ...]], chunk: Any, before: int, skip_bad: bool
) -> GameRecords:
    """Turn raw game records into checked ones; ``before`` records of the file came earlier."""
    name_columns = {"tournament": names["tournament"], "black_player": names["player"], "white_player": names["player"]}
    bad = BadRecords(len(chunk), lambda index: f"{path}: record {before + index + 1}", skip_bad)
    squares, written = _check_moves(chunk["moves"], bad)
    _check_range(bad, "black's disc count", chunk["discs"], _SQUARES)
    _check_range(bad, "black's theoretical disc count", chunk["theoretical_discs"], _SQUARES)
    for column, known in name_columns.items():
        if known:
            _check_range(bad, f"the {column.replace('_', ' ')} number", chunk[column], len(known) - 1)
    # A record that is bad already is replayed as an empty game: its moves may be no squares.
    written = written & ~bad.mask[:, None]
    lengths = np.count_nonzero(written, axis=1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    theoretical_ply = _LONGEST - int(header["depth"])
    is_known = (lengths >= theoretical_ply) & (header["depth"] > 0)
    theoretical_score = _score_of_discs(chunk["theoretical_discs"])
    theoretical_score[~is_known] = np.nan
    records = GameRecords(
        moves=squares[written],
        offsets=offsets,
        score=_score_of_discs(chunk["discs"]),
        theoretical_score=theoretical_score,
        theoretical_ply=np.where(is_known, theoretical_ply, -1).astype(np.int16),
        extra={
            "number": np.arange(before + 1, before + len(chunk) + 1, dtype=np.int64),
            "year": np.full(len(chunk), header["year"], np.int32),
            **{column: chunk[column].astype(np.int32) for column in name_columns},
        },
        names={column: known for column, known in name_columns.items() if known},
        source=path.name,
    )
    reached = replay(game, records)
    return validated(game, records, reached, reached.final_score.astype(np.float32), bad)


def write_wthor(game: Game, records: GameRecords, /) -> Iterator[bytes]:
    """Yield the header and the games, all of tournament 0 and by players 0, whose names WTHOR keeps in other files.

    Of a game that its moves did not end the score is the exact one of its last position, else 64 discs for the winner,
    or 32 where nothing is known.

    Raises
    ------
    BadInputError
        A game does not begin at the start.
    """
    check_starts(game, records, "WTHOR files")
    score = np.where(
        np.isnan(records.score) & (records.theoretical_ply == records.lengths), records.theoretical_score, records.score
    )
    score = np.where(np.isnan(score), _SQUARES * records.extra.get("result", np.float32(np.nan)), score)
    header = np.zeros(1, _HEADER)
    header["records"], header["size"] = len(records), 8
    yield header.tobytes()
    written = np.zeros(len(records), _GAME)
    written["discs"] = written["theoretical_discs"] = (_SQUARES + np.nan_to_num(score)) // 2
    is_disc = records.moves != game.pass_move
    owner = np.repeat(np.arange(len(records)), records.lengths)[is_disc]
    squares = records.moves[is_disc]
    first = np.concatenate([[0], np.cumsum(is_disc)])[records.offsets[:-1]]
    written["moves"][owner, np.arange(len(squares)) - first[owner]] = _BYTES[squares]
    yield written.tobytes()


def _score_of_discs(discs: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Score for black of black's disc count, the empty squares counted for the winner."""
    return 2 * discs.astype(np.float32) - np.float32(_SQUARES)


def _check_moves(moves: NDArray[np.uint8], bad: BadRecords) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Squares of the move bytes [N, 60], and where there is a move."""
    squares = _SQUARE_OF_BYTE[moves]
    written = moves != 0
    no_square = written & (squares >= _SQUARES)
    gap = (written[:, 1:] & ~written[:, :-1]).any(axis=1)

    def wrong_byte(index: int) -> str:
        at = int(np.argmax(no_square[index]))
        return f"move {at + 1} is byte {moves[index, at]}, expected 10 * row + column with both from 1 to 8"

    bad.mark(~written.any(axis=1), lambda _: "it has no moves")
    bad.mark(gap, lambda index: f"there is a move behind move {int(np.argmin(written[index])) + 1}, which is missing")
    bad.mark(no_square.any(axis=1), wrong_byte)
    return squares, written


def _check_range(bad: BadRecords, what: str, values: NDArray[np.unsignedinteger[Any]], most: int) -> None:
    bad.mark(values > most, lambda index: f"{what} is {values[index]}, expected at most {most}")
