"""Two twins of one game: one in the Python that numba compiles, one in the Python that it does not.

Mirror Nim: two heaps, a move takes one to three stones from one heap; who takes the last stone wins. The twins have
equal positions, moves and keys, so that everything that is made of them is equal too.
"""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import mix
from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game

HEAP = 5
MOST_TAKEN = 3
_EIGHT = np.uint64(8)


class Position(NamedTuple):
    left: np.uint8
    right: np.uint8


def legal_moves(position: Position, moves: Any, start: int) -> int:
    count = np.int64(0)
    for taken in range(np.int64(0), np.int64(MOST_TAKEN)):
        if np.int64(position.left) > taken:
            moves[start + count] = taken
            count += np.int64(1)
    for taken in range(np.int64(0), np.int64(MOST_TAKEN)):
        if np.int64(position.right) > taken:
            moves[start + count] = np.int64(MOST_TAKEN) + taken
            count += np.int64(1)
    return int(count)


def play(position: Position, move: int) -> Position:
    taken = np.int64(move) % np.int64(MOST_TAKEN) + np.int64(1)
    if np.int64(move) < np.int64(MOST_TAKEN):
        return Position(np.uint8(np.int64(position.left) - taken), position.right)
    return Position(position.left, np.uint8(np.int64(position.right) - taken))


def is_over(position: Position) -> bool:
    return position.left == np.uint8(0) and position.right == np.uint8(0)


def final_score(position: Position) -> int:
    return -1


def hash_key(position: Position) -> np.uint64:
    return mix(np.uint64(position.left) | (np.uint64(position.right) << _EIGHT))


def transform(position: Position, symmetry: int) -> Position:
    if symmetry == 0:
        return position
    return Position(position.right, position.left)


def transform_move(move: int, symmetry: int) -> int:
    return move if symmetry == 0 else (move + MOST_TAKEN) % (2 * MOST_TAKEN)


def write_values(position: Position, values: Any) -> None:
    values[0] = position.left
    values[1] = position.right


def phase_of(position: Position) -> int:
    return 1 if np.int64(position.left) + np.int64(position.right) <= np.int64(HEAP) else 0


class Heaps:
    """A class as a stranger would write it."""

    def __init__(self, position: Position) -> None:
        self.stones = {"left": int(position.left), "right": int(position.right)}

    def moves(self) -> set[tuple[str, int]]:
        return {(heap, taken) for heap, stones in self.stones.items() for taken in range(1, MOST_TAKEN + 1)
                if taken <= stones}  # fmt: skip

    def without(self, heap: str, taken: int) -> Position:
        left = {**self.stones, heap: self.stones[heap] - taken}
        return Position(np.uint8(left["left"]), np.uint8(left["right"]))


_MOVES = {("left" if move < MOST_TAKEN else "right", move % MOST_TAKEN + 1): move for move in range(2 * MOST_TAKEN)}
_NAMES = {move: name for name, move in _MOVES.items()}


def plain_legal_moves(position: Position, moves: Any, start: int) -> int:
    found = sorted(_MOVES[move] for move in Heaps(position).moves())
    moves[start : start + len(found)] = found
    return len(found)


def plain_play(position: Position, move: int) -> Position:
    return Heaps(position).without(*_NAMES[move])


def plain_is_over(position: Position) -> bool:
    return not any(Heaps(position).stones.values())


def plain_final_score(position: Position) -> int:
    return -len({str(position)})


def plain_hash_key(position: Position) -> np.uint64:
    stones = Heaps(position).stones
    return mix(np.uint64(stones["left"] | stones["right"] << 8))


def plain_transform(position: Position, symmetry: int) -> Position:
    return Position(*reversed(position)) if symmetry else position


def plain_write_values(position: Position, values: Any) -> None:
    values[:2] = list(Heaps(position).stones.values())


def plain_phase_of(position: Position) -> int:
    return int(sum(Heaps(position).stones.values()) <= HEAP)


def _format_position(position: Position) -> str:
    return f"{position.left}+{position.right}"


def _parse_position(text: str) -> Position:
    words = text.split("+")
    if len(words) != 2 or not all(word.isdecimal() and int(word) <= HEAP for word in words):
        raise BadInputError(f"{text!r} is no pair of heaps")
    return Position(np.uint8(int(words[0])), np.uint8(int(words[1])))


def _format_move(move: int) -> str:
    heap, taken = _NAMES[move]
    return f"{heap[0]}{taken}"


def _parse_move(text: str) -> int:
    names = {_format_move(move): move for move in _NAMES}
    if text not in names:
        raise BadInputError(f"{text!r} is no move")
    return names[text]


def mirror_nim(name: str, **functions: Any) -> Game:
    """The game under a name, some of its functions replaced."""
    facts: dict[str, Any] = {
        "name": name,
        "title": "Mirror Nim",
        "initial_position": Position(np.uint8(HEAP), np.uint8(HEAP)),
        "legal_moves": legal_moves,
        "play": play,
        "is_over": is_over,
        "final_score": final_score,
        "hash_key": hash_key,
        "transform": transform,
        "transform_move": transform_move,
        "symmetry_count": 2,
        "max_moves": 2 * MOST_TAKEN,
        "move_count": 2 * MOST_TAKEN,
        "max_plies": 2 * HEAP,
        "score_bounds": (-1, 1),
        "format_position": _format_position,
        "parse_position": _parse_position,
        "format_move": _format_move,
        "parse_move": _parse_move,
    }
    return Game(**{**facts, **functions})


def learning_of(game: Game, write: Any = write_values, phase: Any = phase_of) -> Learning:
    """What the game gives to learning."""
    heaps = tuple(AtomicFeature(name, 0, HEAP, f"stones of the {name} heap", cell=None) for name in Position._fields)
    features = AtomicFeatures(game, heaps, write, np.array([[0, 1], [1, 0]], np.intp))
    return Learning(
        game=game,
        features=features,
        phases=Phases(game, ("many", "few"), phase),
        pattern_sets={"heaps": {"both": Position._fields}},
        linear=Position._fields,
        label_unit="results",
    )


COMPILED = mirror_nim("mirror_nim")
PLAIN = mirror_nim(
    "plain_nim",
    legal_moves=plain_legal_moves,
    play=plain_play,
    is_over=plain_is_over,
    final_score=plain_final_score,
    hash_key=plain_hash_key,
    transform=plain_transform,
)
COMPILED_LEARNING = learning_of(COMPILED)
PLAIN_LEARNING = learning_of(PLAIN, plain_write_values, plain_phase_of)
