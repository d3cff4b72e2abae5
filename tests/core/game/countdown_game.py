"""The smallest game that shows the interface: take one to three stones, who takes the last one wins."""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import mix
from glem.core.errors import BadInputError
from glem.core.game.game import Game

STONES = 9


class Position(NamedTuple):
    stones: np.uint8


def legal_moves(position: Position, moves: Any, start: int) -> int:
    count = min(np.int64(position.stones), np.int64(3))
    for taken in range(count):
        moves[start + taken] = taken
    return int(count)


def play(position: Position, move: int) -> Position:
    return Position(np.uint8(np.int64(position.stones) - np.int64(move) - np.int64(1)))


def is_over(position: Position) -> bool:
    return position.stones == np.uint8(0)


def final_score(position: Position) -> int:
    return -1


def hash_key(position: Position) -> np.uint64:
    return mix(np.uint64(position.stones))


def format_position(position: Position) -> str:
    return f"{position.stones} stones"


def parse_position(text: str) -> Position:
    words = text.split()
    if len(words) != 2 or words[1] != "stones" or not words[0].isdecimal() or int(words[0]) > STONES:
        raise BadInputError(f"{text!r} is no number of stones")
    return Position(np.uint8(int(words[0])))


def format_move(move: int) -> str:
    return f"take{move + 1}"


def parse_move(text: str) -> int:
    if text not in {"take1", "take2", "take3"}:
        raise BadInputError(f"{text!r} is no move")
    return int(text[-1]) - 1


FACTS: dict[str, Any] = {
    "name": "countdown",
    "title": "Countdown",
    "initial_position": Position(np.uint8(STONES)),
    "legal_moves": legal_moves,
    "play": play,
    "is_over": is_over,
    "final_score": final_score,
    "hash_key": hash_key,
    "max_moves": 3,
    "move_count": 3,
    "max_plies": STONES,
    "score_bounds": (-1, 1),
    "format_position": format_position,
    "parse_position": parse_position,
    "format_move": format_move,
    "parse_move": parse_move,
}

COUNTDOWN = Game(**FACTS)
