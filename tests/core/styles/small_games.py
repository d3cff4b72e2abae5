"""Small collections of chess games by players with a taste, as PGN: one takes what can be taken, one pushes pawns."""

import random
from pathlib import Path

import chess
import chess.pgn

TAKER, PUSHER, DRIFTER = "Taker, Tom", "Pusher, Ann", "Drifter, Eve"


def wish(name: str, board: chess.Board, move: chess.Move) -> float:
    """What a player gives a move."""
    if name == TAKER:
        return 3.0 * board.is_capture(move)
    return 3.0 * (board.piece_type_at(move.from_square) == chess.PAWN) if name == PUSHER else 0.0


def small_game(white: str, black: str, seed: int, plies: int = 44, **tags: str) -> str:
    """One game, unfinished, drawn."""
    source, board = random.Random(seed), chess.Board()
    while board.ply() < plies and not board.is_game_over():
        name = white if board.turn else black
        moves = list(board.legal_moves)
        board.push(max(moves, key=lambda move: wish(name, board, move) + source.gauss(0, 1)))
    game = chess.pgn.Game.from_board(board)
    game.headers.update({"White": white, "Black": black, "Result": "1/2-1/2", **tags})
    return str(game) + "\n\n"


def write_small_games(path: Path, count: int = 40) -> Path:
    """Games of the taker and the pusher against the drifter, and some between the two."""
    texts = []
    for number in range(count):
        for seed, name in enumerate((TAKER, PUSHER)):
            pair = (name, DRIFTER) if number % 2 else (DRIFTER, name)
            date = f"{2000 + number // 10}.01.01"
            texts.append(small_game(*pair, 10 * number + seed, Date=date, WhiteElo="2500", BlackElo="2400"))
        if number % 4 == 0:
            pair = (TAKER, PUSHER) if number % 8 else (PUSHER, TAKER)
            texts.append(small_game(*pair, 10 * number + 7, Event="Rapid match"))
    path.write_text("".join(texts))
    return path
