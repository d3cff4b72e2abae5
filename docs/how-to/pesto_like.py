"""An evaluation of material and piece squares, tapered by phase, in the manner of R. Friederich's PeSTO (2019)."""

import json
import sys
from pathlib import Path

import numpy as np

from glem.core.compiling.kernels import trailing_zeros

PIECES = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
POINTS = np.array([0, 1, 1, 2, 4, 0])  # the phase is 1 at 24 of these, 0 without any
FOLDER = Path(__file__).parent


def squares(board):
    """Whether a bit is set, for boards [N]: int8 [N, 64], a1 first."""
    return np.unpackbits(board.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").astype(np.int8)


def coefficients(position):
    """Coefficients of the piece squares from the side to move, and the phase."""
    own = np.where(position.turn == 0, position.white, ~position.white)
    found, points = {}, 0
    for name, worth in zip(PIECES, POINTS, strict=True):
        board = getattr(position, name)
        mine, theirs = squares(board & own), squares(board & ~own)
        turned = np.arange(64) ^ 56
        found[name] = np.where(position.turn[:, None] == 0, mine - theirs[:, turned], mine[:, turned] - theirs)
        points = points + worth * (mine + theirs).sum(axis=1)
    return found, np.minimum(points, 24) / 24


def first_weights():
    """Material, and up to 30 hundredths of a pawn for squares near the centre; the king likes it in the endgame."""
    file, rank = np.meshgrid(np.arange(8), np.arange(8))
    centre = 30 - 8.5 * (abs(file - 3.5) + abs(rank - 3.5) - 1)
    values = dict(zip(PIECES, (100, 320, 330, 500, 950, 0), strict=True))
    ends = {name: (value + centre / 2, value + centre / 2) for name, value in values.items()} | {
        "kings": (-centre, centre)
    }
    return {name: [np.rint(end).astype(int).ravel().tolist() for end in pair] for name, pair in ends.items()}


def table(name):
    """Weights of a file beside this one as whole numbers: [2, 6, 64]."""
    path = FOLDER / name
    weights = json.loads(path.read_text()) if path.exists() else first_weights()
    return np.array([[weights[piece][end] for piece in PIECES] for end in (0, 1)], np.int64)


FIRST, TUNED = table("first.json"), table("tuned.json")


def value(position, weights):
    """Value of one position for the side to move, in hundredths of a pawn: plain Python that numba can compile."""
    boards = (position.pawns, position.knights, position.bishops, position.rooks, position.queens, position.kings)
    early, late, points = 0, 0, 0
    for kind in range(6):
        board = boards[kind]
        while board != np.uint64(0):
            square = np.uint64(trailing_zeros(board))
            white = (position.white >> square) & np.uint64(1) == np.uint64(1)
            place = np.int64(square) if white else np.int64(square) ^ 56
            sign = 1 if white == (position.turn == 0) else -1
            early += sign * weights[0, kind, place]
            late += sign * weights[1, kind, place]
            points += POINTS[kind]
            board &= board - np.uint64(1)
    points = min(points, 24)
    return (early * points + late * (24 - points)) // 24


def first(position):
    """Evaluate with the weights of first.json."""
    return value(position, FIRST)


def tuned(position):
    """Evaluate with the weights of tuned.json."""
    return value(position, TUNED)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(first_weights()))
