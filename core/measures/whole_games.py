"""Positions part by part, so cut that all positions of a game are in one part: games are what is independent."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.game.game import Game
from glem.core.positions.positions import Positions
from glem.core.positions.reading import is_position_file, stream_scored

_CHUNK = 1 << 13


def are_together(records: Iterable[NDArray[np.integer]]) -> bool:
    """Whether the positions of each game follow one another, by the games' numbers in parts; -1 is no game.

    Memory grows with the number of games, 8 bytes each.
    """
    starts, last = [np.zeros(0, np.int64)], -1
    for part in records:
        record = part.astype(np.int64)
        starts.append(record[(np.diff(record, prepend=last) != 0) & (record >= 0)])
        last = int(record[-1]) if len(record) else last
    begun = np.concatenate(starts)
    return len(np.unique(begun)) == len(begun)


def whole_games(parts: Iterable[Positions], *, together: bool) -> Iterator[Positions]:
    """Move the first positions of a game whose others are in the next part there; the order stays.

    Parameters
    ----------
    parts
        Parts of one set, whose records have numbers over the whole set.
    together
        What :func:`are_together` says; if not, all positions are one part.
    """
    if not together:
        yield Positions.concatenate(list(parts), renumber=False)
        return
    waiting: Positions | None = None
    for part in parts:
        joined = part
        if waiting is not None and len(waiting):
            record = waiting.record
            others = np.flatnonzero(record != record[-1])
            cut = len(record) if record[-1] < 0 else int(others[-1]) + 1 if len(others) else 0
            if cut:
                yield waiting.select(slice(0, cut))
            if cut < len(record):
                joined = Positions.concatenate([waiting.select(slice(cut, None)), part], renumber=False)
        waiting = joined
    if waiting is not None:
        yield waiting


def stream_whole_games(
    game: Game,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 # as in read_records
    **reading: Any,
) -> Iterator[Positions]:
    """Read scored positions of any format, all of a game in one part.

    Arguments and errors are those of :func:`~glem.core.positions.reading.stream_scored`. Where the positions of a game
    do not follow one another, all are one part.
    """
    together = True
    if format is None and is_position_file(path):
        # Imported late: what reads other files, where no position has a game, needs no Parquet.
        from glem.core.positions.files import stream_provenance

        together = are_together(columns["record"] for columns in stream_provenance(path, _CHUNK, game))
    yield from whole_games(stream_scored(game, path, format=format, **reading), together=together)
