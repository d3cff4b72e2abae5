"""OBF, the format of Edax and of the FFO endgame suite: a position and the scores of its moves, one a line.

``<64 squares> X; E1:+0; F8:-2;`` with the squares a1, b1, ... h8, the side to move, and for each move the score from
the side to move's view, the empty squares counted for the winner. ``--`` is the pass; where the pass is not legal it
is a filler that some programs write, and skipped. Lines that begin with ``%`` are comments.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from glem.core.errors import BadInputError
from glem.core.files.packed import line_blocks
from glem.core.game.game import Game
from glem.core.game.records import ScoredPositions
from glem.games.othello.formats.free_text import first_position, parse_scored_position
from glem.games.othello.rules import Position


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like this format."""
    first = first_position(head)
    return first is not None and first.is_obf


def read_obf(
    game: Game, path: Path, /, *, skip_bad: bool, unscored: bool = False, chunk_positions: int, max_bytes: int
) -> Iterator[ScoredPositions]:
    """Read positions labelled with the best score among their moves, also from ``.gz`` and ``.xz``.

    Parameters
    ----------
    path
        The file. A line may have no scores.
    skip_bad
        Leave bad lines out and tell them in ``problems``.
    unscored
        Keep positions without any score, labelled nan, which are left out otherwise.
    chunk_positions
        Most positions in one chunk.
    max_bytes
        Limit on the unpacked size.

    Raises
    ------
    BadInputError
        The file cannot be read, has no positions, or has a bad line and ``skip_bad`` is false: it is not of this
        form, scores an illegal move or one move twice, or a score is out of range.
    """
    found = False
    for block in line_blocks(path, lines=chunk_positions, max_bytes=max_bytes):
        boards: list[Position] = []
        labels: list[float] = []
        problems: list[str] = []
        remark = ""
        for line in np.flatnonzero(block.ends > block.starts).tolist():
            text = block.text(line)
            try:
                one = parse_scored_position(text)
            except BadInputError as error:
                found = True
                problems.append(f"{path}:{block.first_number + line}: {error}")
                if not skip_bad:
                    raise BadInputError(problems[-1]) from None
                continue
            if one is None:
                continue
            found, remark = True, one.remark or remark
            if unscored or not np.isnan(one.score):
                boards.append(one.position)
                labels.append(one.score)
        columns = np.array(boards, np.uint64).reshape(-1, 2).T.copy()
        yield ScoredPositions(game.position_type(*columns), np.array(labels, np.float32), tuple(problems), remark)
    if not found:
        raise BadInputError(f"{path}: no positions; expected lines like <64 squares> X; E1:+4; F8:-2;")
