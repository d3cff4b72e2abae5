"""OBF, the format of Edax and of the FFO endgame suite: a position and the scores of its moves, one a line.

``<64 squares> X; E1:+0; F8:-2;`` with the squares a1, b1, ... h8, the side to move, and for each move the score from
the side to move's view, the empty squares counted for the winner. ``--`` is the pass; where the pass is not legal it
is a filler that some programs write, and skipped. Lines that begin with ``%`` are comments.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from glem.core.errors import BadInputError
from glem.core.files.packed import line_blocks
from glem.core.game.game import Game
from glem.core.game.records import ScoredPositions
from glem.games.othello.notation import parse_position, parse_square
from glem.games.othello.rules import PASS, Position, listed_moves

_FIRST_LINE = re.compile(
    rb"\s*(?:%[^\n]*\n\s*)*[-._XxOo*BbWw]{64}[ \t]*[XxOo*BbWw][ \t]*;[ \t]*(?:[A-Ha-h][1-8]|--|[Pp][AaSs]|\r?\n|$)"
)
_LONGEST_BOARD = 100
_MOVE_SCORE = re.compile(r"\s*([A-Ha-h][1-8]|--|[Pp][AaSs])\s*:\s*([+-]?\d{1,4}(?:\.\d{1,4})?)\s*", re.ASCII)


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like this format."""
    return _FIRST_LINE.match(head) is not None


def _parse_line(text: str, game: Game) -> tuple[Position, float]:
    """Position of a line, and the best of its moves' scores; nan where no move has one."""
    board, *entries = text.split(";")
    # A message must not quote a line of a megabyte; what is longer than this is no position either way.
    position: Position = parse_position(board.strip()[:_LONGEST_BOARD])
    legal = listed_moves(position)
    low, high = game.score_bounds
    scores: dict[int, float] = {}
    for entry in entries:
        if not entry.strip():
            continue
        match = _MOVE_SCORE.fullmatch(entry)
        if match is None:
            raise BadInputError(f"{entry.strip()[:20]!a} is no move with its score, like E1:+4")
        move, score = parse_square(match[1]), float(match[2])
        if move == PASS and PASS not in legal:
            continue
        if move not in legal:
            raise BadInputError(f"{match[1]} is no legal move there")
        if move in scores:
            raise BadInputError(f"{match[1]} has two scores")
        if not low <= score <= high:
            raise BadInputError(f"the score {match[2]} of {match[1]} is not between {low} and {high}")
        scores[move] = score
    return position, max(scores.values(), default=np.nan)


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
        for line in np.flatnonzero(block.ends > block.starts).tolist():
            text = block.text(line)
            if not text.strip() or text.lstrip().startswith("%"):
                continue
            found = True
            try:
                position, label = _parse_line(text, game)
            except BadInputError as error:
                problems.append(f"{path}:{block.first_number + line}: {error}")
                if not skip_bad:
                    raise BadInputError(problems[-1]) from None
                continue
            if unscored or not np.isnan(label):
                boards.append(position)
                labels.append(label)
        columns = np.array(boards, np.uint64).reshape(-1, 2).T.copy()
        yield ScoredPositions(game.position_type(*columns), np.array(labels, np.float32), tuple(problems))
    if not found:
        raise BadInputError(f"{path}: no positions; expected lines like <64 squares> X; E1:+4; F8:-2;")
