"""Files of Othello games, read whole: for the tests of their formats."""

import gzip
import lzma
from pathlib import Path

import pytest

from glem.core.errors import BadInputError
from glem.core.game.records import CHUNK_SIZE, GameRecords
from glem.core.positions.reading import read_records
from glem.games.othello import OTHELLO

PACKINGS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
"""What packs the bytes of a file with such an ending."""


def packed_by_name(path: Path, content: bytes) -> None:
    """Write a file, packed if its name says so."""
    path.write_bytes(PACKINGS.get(path.suffix, bytes)(content))


def read_all(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
) -> GameRecords:
    chunks = read_records(OTHELLO, path, format=format, skip_bad=skip_bad, chunk_games=chunk_games)
    return GameRecords.concatenate(list(chunks))


def games_of(records: GameRecords) -> list[list[int]]:
    return [records.moves_of(game).tolist() for game in range(len(records))]


def fails(path: Path, text: str, *, format: str | None = None) -> None:  # noqa: A002 # as in read_records
    """The file is refused in one line that names it."""
    with pytest.raises(BadInputError, match=text) as caught:
        read_all(path, format=format)
    assert "\n" not in str(caught.value)
    assert str(path.parent) in str(caught.value)
