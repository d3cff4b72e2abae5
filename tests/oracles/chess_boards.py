"""Chess by python-chess, in the words of the tests: random games, moves as numbers, counts of files of perft."""

import lzma
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import chess

# Boards in Chess960 mode write castling as the king's move onto its rook, as the numbers of moves do.
_PROMOTIONS = {None: 0, chess.KNIGHT: 1, chess.BISHOP: 2, chess.ROOK: 3, chess.QUEEN: 4}


def number_of(move: chess.Move) -> int:
    """Number of a move of a board in Chess960 mode."""
    return move.from_square + 64 * move.to_square + 4096 * _PROMOTIONS[move.promotion]


def numbered_moves(board: chess.Board) -> dict[int, chess.Move]:
    """Legal moves by number; none after 75 moves of both sides without a capture or a pawn move."""
    if board.halfmove_clock >= 150:
        return {}
    return {number_of(move): move for move in board.legal_moves}


def first_board(seed: int) -> chess.Board:
    """The usual first position, or for every third seed one of Chess960, in Chess960 mode."""
    if seed % 3:
        return chess.Board(chess960=True)
    return chess.Board.from_chess960_pos(random.Random(seed).randrange(960))


def random_game(seed: int, plies: int, begin: str = "") -> Iterator[tuple[chess.Board, int | None]]:
    """Boards of a random game, from a FEN if one is given, and the move played on each, None on the last.

    The board changes afterwards.
    Captures are rarer, and castling, promotions and pawns' double steps more common, than chance would make them.
    """
    generator = random.Random(seed)
    board = chess.Board(begin, chess960=True) if begin else first_board(seed)
    for _ in range(plies):
        moves = numbered_moves(board)
        if not moves:
            break
        special = [number for number, move in moves.items() if board.is_castling(move) or board.is_en_passant(move)]
        quiet = [number for number, move in moves.items() if not board.is_capture(move)]
        choice = generator.random()
        preferred = special if choice < 0.5 else quiet if choice < 0.8 else []
        chosen = generator.choice(preferred or [*moves])
        yield board, chosen
        board.push(moves[chosen])
    yield board, None


class Counts(NamedTuple):
    """Leaves of a position by depth."""

    name: str
    fen: str
    leaves: dict[int, int]


def read_counts(path: Path) -> list[Counts]:
    """Read an EPD file with fields such as ``;D3 8902``, or blocks of ``id``, ``epd`` and ``perft`` lines."""
    found: list[Counts] = []
    with lzma.open(path, "rt") if path.suffix == ".xz" else path.open() as file:
        for line in map(str.strip, file):
            word, _, rest = line.partition(" ")
            if ";D1 " in line:
                fen, *counts = line.split(";")
                leaves = {int(count.split()[0][1:]): int(count.split()[1]) for count in counts}
                found.append(Counts(f"{path.name} {len(found) + 1}", fen.strip(), leaves))
            elif word == "id":
                found.append(Counts(f"{path.name} {rest}", "", {}))
            elif word == "epd":
                found[-1] = found[-1]._replace(fen=rest)
            elif word == "perft":
                depth, count = rest.split()
                found[-1].leaves[int(depth)] = int(count)
    return found


def bullet_record(board: chess.Board, score: int, result: int) -> bytes:
    """Write a position as a record of bullet's trainer: all as the side to move sees it, which moves upwards."""
    seen = board if board.turn else board.mirror()
    occupied, nibbles = 0, []
    for square in range(64):
        piece = seen.piece_at(square)
        if piece is not None:
            occupied |= 1 << square
            nibbles.append(piece.piece_type - 1 + (0 if piece.color else 8))
    nibbles += [0] * (32 - len(nibbles))
    pieces = bytes(low + 16 * high for low, high in zip(nibbles[::2], nibbles[1::2], strict=True))
    own, other = seen.king(chess.WHITE), seen.king(chess.BLACK)
    assert own is not None
    assert other is not None
    return struct.pack("<Q16shBBB3x", occupied, pieces, score, result, own, other ^ 56)
