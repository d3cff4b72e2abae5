"""A UCI engine whose options have a known optimum: ``Skill`` 60, ``Blind`` false.

Its scores are the material, plus noise that grows with the distance from the optimum. It plays a mate, but misses it,
and moves its a-pawn instead, the more often the farther it is from there. All chance is a function of the position and
of the options.
"""

import sys
import zlib

import chess

SKILL = 60
VALUES = (1, 3, 3, 5, 9, 0)

options = {"Skill": "20", "Blind": "true"}


def chance(board: chess.Board) -> float:
    """A number from 0 to 1."""
    return zlib.crc32(f"{board.fen()} {options}".encode()) / 2**32


def distance() -> float:
    return abs(int(options["Skill"]) - SKILL) / 100 + (0.3 if options["Blind"] == "true" else 0.0)


def material(board: chess.Board) -> int:
    """Pawns by which the side to move is ahead."""
    ahead = [len(board.pieces(kind, True)) - len(board.pieces(kind, False)) for kind in chess.PIECE_TYPES]
    return sum(value * each for value, each in zip(VALUES, ahead, strict=True)) * (1 if board.turn else -1)


def best(board: chess.Board) -> chess.Move:
    moves = sorted(board.legal_moves, key=lambda move: (chess.square_file(move.from_square), move.uci()))
    mates = []
    for move in moves:
        board.push(move)
        if board.is_checkmate():
            mates.append(move)
        board.pop()
    return mates[0] if mates and chance(board) >= distance() else moves[0]


def main() -> None:
    board = chess.Board()
    for line in sys.stdin:
        word, *words = line.split() or [""]
        if word == "uci":
            print("option name Skill type spin default 20 min 0 max 100")
            print("option name Blind type check default true")
            print("option name Style type combo default calm var calm var wild")
            print("uciok", flush=True)
        elif word == "isready":
            print("readyok", flush=True)
        elif word == "setoption":
            options[words[1]] = words[3]
        elif word == "position":
            place = words.index("moves") if "moves" in words else len(words)
            board = chess.Board() if words[0] == "startpos" else chess.Board(" ".join(words[1:place]))
            for text in words[place + 1 :]:
                board.push_uci(text)
        elif word == "go":
            score = 100 * material(board) + 3000 * distance() * (chance(board) - 0.5)
            print(f"info depth 1 nodes 1 score cp {round(score)}")
            print(f"bestmove {best(board).uci()}", flush=True)
        elif word == "quit":
            return


if __name__ == "__main__":
    main()
