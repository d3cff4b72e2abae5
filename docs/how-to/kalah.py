"""Kalah, in which a side moves again: six pits a side, four stones a pit."""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import mix
from glem.core.errors import BadInputError
from glem.core.game.game import Game

PITS = 6
STORE = PITS
PASS = PITS
STONES = 48

_BYTE = np.uint64(8)
_STONES = np.uint64(0xFF)
_ONE = np.uint64(1)
_NO_STONES = np.uint64(0)
_FOUR_EACH = np.uint64(0x040404040404)
_ALL_PITS = np.uint64(0xFFFFFFFFFFFF)


class Position(NamedTuple):
    """A byte for each pit and, the highest, for the store of each side; whether the opponent moves again."""

    own: np.uint64
    opponent: np.uint64
    again: np.uint8


def stones_in(side: np.uint64, pit: int) -> int:
    """Stones in a pit, or in the store."""
    return int((side >> (_BYTE * np.uint64(pit))) & _STONES)


def all_stones(side: np.uint64) -> int:
    """Stones in the pits and the store of a side."""
    count = 0
    for pit in range(PITS + 1):
        count += stones_in(side, pit)
    return count


def legal_moves(position: Position, moves: Any, start: int) -> int:
    """Write the pits with stones; only the pass where the opponent moves again."""
    if is_over(position):
        return 0
    if position.again != np.uint8(0):
        moves[start] = PASS
        return 1
    count = 0
    for pit in range(PITS):
        if stones_in(position.own, pit) > 0:
            moves[start + count] = pit
            count += 1
    return count


def play(position: Position, move: int) -> Position:
    """Sow the stones of a pit, as the other side sees it; after a pass, the side that moved moves again."""
    if move == PASS:
        return Position(position.opponent, position.own, np.uint8(0))
    own, opponent = position.own, position.opponent
    in_hand = stones_in(own, move)
    own &= ~(_STONES << (_BYTE * np.uint64(move)))
    place = move
    for _ in range(in_hand):
        place = (place + 1) % (2 * PITS + 1)  # the opponent's store is left out
        if place <= STORE:
            own += _ONE << (_BYTE * np.uint64(place))
        else:
            opponent += _ONE << (_BYTE * np.uint64(place - PITS - 1))
    if place < PITS and stones_in(own, place) == 1:
        opposite = PITS - 1 - place
        captured = stones_in(opponent, opposite)
        if captured > 0:
            own &= ~(_STONES << (_BYTE * np.uint64(place)))
            opponent &= ~(_STONES << (_BYTE * np.uint64(opposite)))
            own += np.uint64(captured + 1) << (_BYTE * np.uint64(STORE))
    return Position(opponent, own, np.uint8(1) if place == STORE else np.uint8(0))


def is_over(position: Position) -> bool:
    """Whether a side has no stone in its pits."""
    return position.own & _ALL_PITS == _NO_STONES or position.opponent & _ALL_PITS == _NO_STONES


def final_score(position: Position) -> int:
    """Count own stones minus the opponent's; what lies in the pits belongs to their side."""
    return all_stones(position.own) - all_stones(position.opponent)


def hash_key(position: Position) -> np.uint64:
    """64-bit key of all three fields."""
    return mix(position.own ^ mix(position.opponent ^ mix(np.uint64(position.again) + _ONE)))


def format_position(position: Position) -> str:
    """Write own stones, the opponent's, pits first, and what the side to move does: ``moves`` or ``passes``."""
    own, opponent = (
        ",".join(str(stones_in(side, pit)) for pit in range(PITS + 1)) for side in (position.own, position.opponent)
    )
    return f"{own} {opponent} {'passes' if position.again else 'moves'}"


def parse_position(text: str) -> Position:
    """Read what :func:`format_position` writes."""
    words = text.split()
    sides = [[int(word) for word in side.split(",") if word.isdecimal()] for side in words[:2]]
    if (
        len(words) != 3
        or words[2] not in {"moves", "passes"}
        or any(len(side) != PITS + 1 for side in sides)
        or sum(map(sum, sides)) != STONES
    ):
        raise BadInputError(f"{text!r} is no position: two times 7 numbers that sum to 48, and moves or passes")
    own, opponent = (np.uint64(sum(count << 8 * pit for pit, count in enumerate(side))) for side in sides)
    return Position(own, opponent, np.uint8(words[2] == "passes"))


def format_move(move: int) -> str:
    """``1`` to ``6`` for the pits, ``pass``."""
    return "pass" if move == PASS else str(move + 1)


def parse_move(text: str) -> int:
    """Move of a text."""
    if text == "pass":
        return PASS
    if len(text) != 1 or text not in "123456":
        raise BadInputError(f"{text!r} is no pit (1 to 6)")
    return int(text) - 1


def has_all_stones(position: Position) -> bool:
    """Whether no stone is lost."""
    return all_stones(position.own) + all_stones(position.opponent) == STONES


KALAH = Game(
    name="kalah",
    title="Kalah",
    initial_position=Position(_FOUR_EACH, _FOUR_EACH, np.uint8(0)),
    legal_moves=legal_moves,
    play=play,
    is_over=is_over,
    final_score=final_score,
    hash_key=hash_key,
    max_moves=PITS,
    move_count=PITS + 1,
    max_plies=500,
    score_bounds=(-STONES, STONES),
    format_position=format_position,
    parse_position=parse_position,
    format_move=format_move,
    parse_move=parse_move,
    pass_move=PASS,
    invariants={"the stones sum to 48": has_all_stones},
)
