"""OBF, the format of Edax and of the FFO endgame suite: a position and the scores of its moves, one a line.

``<64 squares> X; E1:+0; F8:-2;`` with the squares a1, b1, ... h8, the side to move, and for each move the score from
the side to move's view, the empty squares counted for the winner. ``--`` is the pass; where the pass is not legal it
is a filler that some programs write, and skipped. Lines that begin with ``%`` are comments.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.files.packed import MAX_BYTES, LineBlock, line_blocks
from glem.core.game.game import Game
from glem.core.game.records import CHUNK_SIZE, ScoredPositions
from glem.games.othello.formats.text_fields import not_empty
from glem.games.othello.notation import parse_position, parse_square
from glem.games.othello.rules import PASS, Position, legal_moves

__all__ = ["SolvedPositions", "read_obf", "read_obf_labels", "recognizes"]

_FIRST_LINE = re.compile(
    rb"\s*(?:%[^\n]*\n\s*)*[-._XxOo*BbWw]{64}[ \t]*[XxOo*BbWw][ \t]*;[ \t]*(?:[A-Ha-h][1-8]|--|[Pp][AaSs]|\r?\n|$)"
)
_LONGEST_BOARD = 100
_MOVE_SCORE = re.compile(r"\s*([A-Ha-h][1-8]|--|[Pp][AaSs])\s*:\s*([+-]?\d{1,4}(?:\.\d{1,4})?)\s*", re.ASCII)


@define(frozen=True, eq=False)
class SolvedPositions:
    """N positions with scores of T moves in all.

    Parameters
    ----------
    positions
        Position of columns [N].
    moves
        uint8 [T]: squares, 64 for the pass, of all positions one after the other.
    scores
        float32 [T]: score of each move from the side to move's view, the empty squares counted for the winner.
    offsets
        int64 [N + 1]: the moves of position ``i`` are ``moves[offsets[i]:offsets[i + 1]]``, in the file's order.
    problems
        One line per skipped line of the file.
    """

    positions: Any
    moves: NDArray[np.uint8]
    scores: NDArray[np.float32]
    offsets: NDArray[np.int64]
    problems: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def best_score(self) -> NDArray[np.float32]:
        """Highest score of each position: float32 [N], nan where no move has one."""
        best = np.full(len(self), np.nan, np.float32)
        scored = np.diff(self.offsets) > 0
        if scored.any():
            best[scored] = np.maximum.reduceat(self.scores, self.offsets[:-1][scored])
        return best


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file look like this format."""
    return _FIRST_LINE.match(head) is not None


_Line: TypeAlias = tuple[Position, list[tuple[int, float]]]
"""Position, and moves with their scores."""


def _parse_line(text: str, game: Game) -> _Line:
    board, *entries = text.split(";")
    # A message must not quote a line of a megabyte; what is longer than this is no position either way.
    position: Position = parse_position(board.strip()[:_LONGEST_BOARD])
    buffer = np.zeros(game.max_moves, np.int32)
    legal = set(buffer[: legal_moves(position, buffer, 0)].tolist())
    moves: dict[int, float] = {}
    for entry in entries:
        if not entry.strip():
            continue
        match = _MOVE_SCORE.fullmatch(entry)
        if match is None:
            raise BadInputError(f"{entry.strip()[:20]!a} is no move with its score, like E1:+4")
        move, score = parse_square(match[1]), float(match[2])
        low, high = game.score_bounds
        if move == PASS and PASS not in legal:
            continue
        if move not in legal:
            raise BadInputError(f"{match[1]} is no legal move there")
        if move in moves:
            raise BadInputError(f"{match[1]} has two scores")
        if not low <= score <= high:
            raise BadInputError(f"the score {match[2]} of {match[1]} is not between {low} and {high}")
        moves[move] = score
    return position, list(moves.items())


def read_obf(
    game: Game,
    path: str | os.PathLike[str],
    *,
    skip_bad: bool = False,
    chunk_positions: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[SolvedPositions]:
    """Read positions with the scores of their moves, also from ``.gz`` and ``.xz``.

    Parameters
    ----------
    game
        Othello.
    path
        The file. A line may have no scores.
    skip_bad
        Leave bad lines out and tell them in ``problems``.
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
    chunks = (
        _solved(game, path, block, skip_bad) for block in line_blocks(path, lines=chunk_positions, max_bytes=max_bytes)
    )
    return not_empty(chunks, path, "no positions; expected lines like <64 squares> X; E1:+4; F8:-2;")


def _solved(game: Game, path: str | os.PathLike[str], block: LineBlock, skip_bad: bool) -> SolvedPositions:
    rows: list[_Line] = []
    problems: list[str] = []
    for line in np.flatnonzero(block.ends > block.starts).tolist():
        text = block.text(line)
        if not text.strip() or text.lstrip().startswith("%"):
            continue
        try:
            rows.append(_parse_line(text, game))
        except BadInputError as error:
            problem = f"{path}:{block.first_number + line}: {error}"
            if not skip_bad:
                raise BadInputError(problem) from None
            problems.append(problem)
    scored = [entry for _, moves in rows for entry in moves]
    return SolvedPositions(
        positions=game.position_type(
            np.array([position.own for position, _ in rows], np.uint64),
            np.array([position.opponent for position, _ in rows], np.uint64),
        ),
        moves=np.array([move for move, _ in scored], np.uint8),
        scores=np.array([score for _, score in scored], np.float32),
        offsets=np.cumsum([0, *(len(moves) for _, moves in rows)], dtype=np.int64),
        problems=tuple(problems),
    )


def read_obf_labels(
    game: Game,
    path: str | os.PathLike[str],
    *,
    skip_bad: bool = False,
    unscored: bool = False,
    chunk_positions: int = CHUNK_SIZE,
    max_bytes: int = MAX_BYTES,
) -> Iterator[ScoredPositions]:
    """Read positions labelled with the best score among their moves.

    Those without any score are left out, or with ``unscored`` labelled nan.
    """
    for chunk in read_obf(game, path, skip_bad=skip_bad, chunk_positions=chunk_positions, max_bytes=max_bytes):
        label = chunk.best_score
        known = ~np.isnan(label) | unscored
        positions = rows_of(chunk.positions, known)
        yield ScoredPositions(positions, label[known], chunk.problems)
