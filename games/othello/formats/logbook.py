"""The format of Logistello's opening book, ``logbook.gam``: ``+d3-c3+c4...: -04 10``, one game a line.

Each move carries its side, ``+`` black and ``-`` white; passes are left out. Behind the colon stand the plain disc
difference for black at the end of the game and a number that is 10 on every line of the published book.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from glem.core.files.packed import MAX_BYTES, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import CHUNK_SIZE, GameRecords
from glem.games.othello.formats.move_text import colored_lines
from glem.games.othello.formats.text_fields import not_empty
from glem.games.othello.formats.transcripts import checked_lines

__all__ = ["read_logbook", "recognizes"]

_FIRST_MOVE = re.compile(rb"\s*[+-][a-h][1-8]")


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like this format."""
    return _FIRST_MOVE.match(head) is not None


def read_logbook(
    game: Game,
    path: str | os.PathLike[str],
    *,
    skip_bad: bool = False,
    chunk_games: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[GameRecords]:
    """Read and check games in Logistello's format, also from ``.gz`` and ``.xz``.

    A line is bad when it is not of this form, has an illegal move or one of the wrong side, or a score that a
    finished game's moves contradict. Arguments, columns and errors are those of
    :func:`glem.games.othello.formats.transcripts.read_transcripts`.
    """
    blocks = line_blocks(path, lines=chunk_games, max_bytes=max_bytes)
    lines = ((block, colored_lines(block.data, block.starts, block.ends)) for block in blocks)
    records = checked_lines(game, path, lines, convention="raw", skip_bad=skip_bad)
    return not_empty(records, path, "no games; expected lines like +d3-c3+c4: -04 10")
