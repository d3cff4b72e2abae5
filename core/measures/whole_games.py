"""Positions part by part, so cut that all positions of a game are in one part: games are what is independent."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glem.core.game.game import Game
from glem.core.positions.positions import CHOICES, Positions
from glem.core.positions.reading import is_position_file, stream_scored

_CHUNK = 1 << 13


class Parts(NamedTuple):
    """Positions part by part.

    Parameters
    ----------
    parts
        Parts of one set, whose records have numbers over the whole set.
    together
        Whether all positions of a game are in one part.
    """

    parts: Iterable[Positions]
    together: bool


def are_in_order(records: Iterable[NDArray[np.integer]]) -> bool:
    """Whether the positions of each game follow one another and numbers of games ascend, but for -1, which is no game.

    Parameters
    ----------
    records
        Numbers of the games, in parts.
    """
    last, greatest = -1, -1
    for part in records:
        record = part.astype(np.int64)
        starts = record[(np.diff(record, prepend=last) != 0) & (record >= 0)]
        if (np.diff(starts, prepend=greatest) <= 0).any():
            return False
        last, greatest = (int(each[-1]) if len(each) else old for each, old in ((record, last), (starts, greatest)))
    return True


def whole_games(parts: Iterable[Positions], *, in_order: bool) -> Parts:
    """Move the first positions of a game whose others are in the next part there; the order stays.

    Parameters
    ----------
    parts
        Parts of one set.
    in_order
        What :func:`are_in_order` says. If not, the parts stay as they are, but a choice set becomes one part, since no
        choice can be measured by halves.
    """
    if in_order:
        return Parts(_moved(parts), True)
    given = iter(parts)
    first = next(given)
    if first.label_kind == CHOICES:
        return Parts([Positions.concatenate([first, *given], renumber=False)], True)
    return Parts(chain([first], given), False)


def _moved(parts: Iterable[Positions]) -> Iterator[Positions]:
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
) -> Parts:
    """Read scored positions of any format by :func:`whole_games`.

    Arguments and errors are those of :func:`~glem.core.positions.reading.stream_scored`.
    """
    in_order = True
    if format is None and is_position_file(path):
        # Imported late: what reads other files, where no position has a game, needs no Parquet.
        from glem.core.positions.files import stream_provenance

        in_order = are_in_order(columns["record"] for columns in stream_provenance(path, _CHUNK, game))
    return whole_games(stream_scored(game, path, format=format, **reading), in_order=in_order)
