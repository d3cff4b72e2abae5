"""What chess gives to the search: quiet ends, extensions, an order of moves, draws that the moves do not show."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, mix, trailing_zeros
from glem.games.chess.rules.attacks import bishop_attacks, knight_attacks, pawn_attacks, rook_attacks
from glem.games.chess.rules.exchanges import keeps_material, value_on
from glem.games.chess.rules.generation import LEGAL, MOST_CLOCK, TACTICAL, count_moves_on_board, in_check, write_moves
from glem.games.chess.rules.playing import final_score, insufficient_material, moved, play
from glem.games.chess.rules.position import Position, occupied_squares, own_squares, parts_of, piece_points
from glem.games.chess.rules.tables import EN_PASSANT_KEYS, TURN_KEY, table_word

_NO_PROMOTION = np.uint64(0)
_QUEEN = np.uint64(4)
_FIFTY_MOVES = np.uint8(100)
_LIGHT_SQUARES = np.uint64(0x55AA55AA55AA55AA)
_CLOCK_MATTERS = np.uint8(80)
"""Plies of the clock from which on the table tells positions apart by it."""


@inlined
def _is_en_passant(position: Position, origin: np.uint64, target: np.uint64) -> bool:
    return bool(
        position.en_passant != np.uint8(0)
        and target == np.uint64(position.en_passant)
        and (position.pawns >> origin) & np.uint64(1) != np.uint64(0)
    )


def tactical_moves(position: Position, moves: Any, start: int) -> int:
    """Write captures that do not lose material and promotions to a queen; in check all moves, and the complement.

    They come to an end: captures and promotions are at most 46 in a game, evasions stand between two of them, and the
    clock ends what checks against checks might leave over.
    """
    if position.clock >= MOST_CLOCK:
        return 0
    first = np.int64(start)
    count = write_moves(position, moves, first, TACTICAL)
    if count < np.int64(0):
        return int(count)
    kept = first
    for place in range(first, first + count):
        origin, target, promotion = parts_of(np.int64(moves[place]))
        if (
            promotion != _NO_PROMOTION
            or _is_en_passant(position, origin, target)
            or keeps_material(position, origin, target)
        ):
            moves[kept] = moves[place]
            kept += np.int64(1)
    return int(kept - first)


def all_captures(position: Position, moves: Any, start: int) -> int:
    """Write what :func:`tactical_moves` writes, captures that lose material besides."""
    return 0 if position.clock >= MOST_CLOCK else int(write_moves(position, moves, np.int64(start), TACTICAL))


def quiet_checks(position: Position, moves: Any, start: int) -> int:
    """Write the moves that give check and are none of :func:`all_captures`; none in check."""
    if position.clock >= MOST_CLOCK or in_check(position):
        return 0
    first = np.int64(start)
    kept = first
    for place in range(first, first + write_moves(position, moves, first, LEGAL)):
        move = np.int64(moves[place])
        origin, target, promotion = parts_of(move)
        castles = ((position.white >> origin) & np.uint64(1)) == ((position.white >> target) & np.uint64(1))
        is_quiet = promotion == _NO_PROMOTION and not _is_en_passant(position, origin, target)
        if is_quiet and (value_on(position, target) == np.int64(0) or castles) and in_check(play(position, int(move))):
            moves[kept] = moves[place]
            kept += np.int64(1)
    return int(kept - first)


def extension(before: Position, move: int, after: Position) -> int:
    """One ply for a check that does not lose the piece."""
    origin, target, _ = parts_of(np.int64(move))
    return 1 if in_check(after) and keeps_material(before, origin, target) else 0


def extension_of_checks(before: Position, move: int, after: Position) -> int:
    """One ply for a check."""
    return 1 if in_check(after) else 0


def must_move(position: Position) -> bool:
    """In check; a finished game has nothing to move."""
    return bool(position.clock < MOST_CLOCK) and in_check(position)


def move_hint(position: Position, move: int) -> int:
    """Hint for the search: promotions, captures by victim and attacker, quiet moves, captures that lose material."""
    origin, target, promotion = parts_of(np.int64(move))
    if promotion != _NO_PROMOTION:
        return 900 if promotion == _QUEEN else -500
    if _is_en_passant(position, origin, target):
        return 486
    victim = value_on(position, target)
    castles = ((position.white >> origin) & np.uint64(1)) == ((position.white >> target) & np.uint64(1))
    if victim == np.int64(0) or castles:
        return 0
    attacker = value_on(position, origin)
    if keeps_material(position, origin, target):
        return int(np.int64(450) + np.int64(40) * victim - np.int64(4) * attacker)
    return int(np.int64(10) * victim - np.int64(200))


def null_move(position: Position) -> Position:
    """Pass: the other side is to move, no capture en passant is left, and nothing from before comes back."""
    key = position.key ^ TURN_KEY
    if position.en_passant != np.uint8(0):
        key ^= table_word(EN_PASSANT_KEYS + np.uint64(position.en_passant))
    state = np.uint8(0), np.uint8(np.uint8(1) - position.turn), np.uint8(0)
    return Position(*position[:8], key, *state)


def can_pass(position: Position) -> bool:
    """Not in check, and with a piece: with pawns alone, a side may be glad to pass."""
    pieces = position.knights | position.bishops | position.rooks | position.queens
    return pieces & own_squares(position) != np.uint64(0) and not in_check(position)


@inlined
def _gives_check(position: Position, origin: np.uint64, target: np.uint64) -> bool:
    """Whether a piece that goes to an empty square attacks the other king, or another piece by its leaving."""
    own, stay = own_squares(position), ~(ONE << origin)
    king = np.uint64(trailing_zeros(position.kings & ~own))
    own = (own & stay) | (ONE << target)
    occupied = (occupied_squares(position) & stay) | (ONE << target)
    straight = moved(position.rooks | position.queens, stay, origin, target)
    diagonal = moved(position.bishops | position.queens, stay, origin, target)
    attackers = (rook_attacks(king, occupied) & straight) | (bishop_attacks(king, occupied) & diagonal)
    attackers |= knight_attacks(king) & moved(position.knights, stay, origin, target)
    attackers |= pawn_attacks(ONE << king, position.turn == np.uint8(0)) & moved(position.pawns, stay, origin, target)
    return bool(attackers & own != ZERO)


def is_quiet(position: Position, move: int) -> bool:
    """No capture, promotion or check."""
    origin, target, promotion = parts_of(np.int64(move))
    if promotion != _NO_PROMOTION or _is_en_passant(position, origin, target):
        return False
    if (occupied_squares(position) >> target) & ONE != ZERO:
        castles = ((position.white >> origin) & ONE) == ((position.white >> target) & ONE)
        return bool(castles) and not in_check(play(position, move))
    return not _gives_check(position, origin, target)


def gain(position: Position, move: int) -> int:
    """Pawns that a capture or promotion wins if nothing captures back."""
    origin, target, promotion = parts_of(np.int64(move))
    won = np.int64(1) if _is_en_passant(position, origin, target) else value_on(position, target)
    return int(won + (np.int64(8) if promotion == _QUEEN else np.int64(0)))


def is_losing(position: Position, move: int) -> bool:
    """Whether the other side wins material where the move's piece stands then."""
    origin, target, _ = parts_of(np.int64(move))
    return not keeps_material(position, origin, target)


def no_moves_score(position: Position) -> int:
    """-1 for a mate, 0 for a stalemate or the end by the 75-move rule."""
    if position.clock >= MOST_CLOCK:
        return final_score(position)
    return -1 if in_check(position) else 0


def reversible_plies(position: Position) -> int:
    """Plies since the last capture or pawn move: no position from before comes back."""
    return int(position.clock)


def is_drawn(position: Position) -> bool:
    """Whether a draw may be claimed by 50 moves without progress, unless it is mate, or neither side can mate."""
    if position.clock >= _FIFTY_MOVES:
        return not in_check(position) or count_moves_on_board(position) != 0
    return insufficient_material(position)


def progress(position: Position) -> int:
    """Where pawns are gone and a side is two minor pieces up, how near mate is: by its king, and where the other is.

    It is driven to the edge, by bishop and knight alone to a corner of the bishop's colour (Slate and Atkin 1977).
    """
    if position.pawns != ZERO:
        return 0
    white = np.int64(1)
    surplus = np.int64(piece_points(position, position.white) - piece_points(position, ~position.white))
    if surplus < np.int64(0):
        surplus, white = -surplus, np.int64(-1)
    strong = position.white if white > np.int64(0) else ~position.white
    if surplus < np.int64(2) or (position.bishops | position.rooks | position.queens) & strong == ZERO:
        return 0
    hunter = np.int64(trailing_zeros(position.kings & strong))
    hunted = np.int64(trailing_zeros(position.kings & ~strong))
    file, rank = hunted & np.int64(7), hunted >> np.int64(3)
    distance = max(abs(file - (hunter & np.int64(7))), abs(rank - (hunter >> np.int64(3))))
    near = np.int64(20) * (np.int64(7) - distance)
    if position.rooks | position.queens == ZERO and position.knights & strong != ZERO:
        if position.bishops & strong & _LIGHT_SQUARES != ZERO:
            file = np.int64(7) - file
        near += np.int64(50) * abs(np.int64(7) - file - rank)
    else:
        to_side, to_end = max(np.int64(3) - file, file - np.int64(4)), max(np.int64(3) - rank, rank - np.int64(4))
        near += np.int64(30) * (to_side + to_end)
    return int(near * white if position.turn == np.uint8(0) else -near * white)


def table_key(position: Position) -> np.uint64:
    """Hash key, from 80 plies without progress on another one for every count of them."""
    if position.clock < _CLOCK_MATTERS:
        return position.key
    return position.key ^ mix(np.uint64(position.clock))


SEARCH_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "tactical_moves": tactical_moves,
    "extension": extension,
    "must_move": must_move,
    "move_hint": move_hint,
    "no_moves_score": no_moves_score,
    "reversible_plies": reversible_plies,
    "is_drawn": is_drawn,
    "table_key": table_key,
    "null_move": null_move,
    "can_pass": can_pass,
    "is_quiet": is_quiet,
    "gain": gain,
    "is_losing": is_losing,
    "progress": progress,
}
"""By operation name (``Game.search_functions``)."""

QUIESCENCE: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "captures-and-checks": {
        "tactical_moves": all_captures,
        "checking_moves": quiet_checks,
        "extension": extension_of_checks,
    }
}
"""By name (``Game.quiescence``): that of Levene and Fenner (2009, section 3.1)."""
