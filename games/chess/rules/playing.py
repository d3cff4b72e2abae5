"""What a move of chess does to a position, and how games end."""

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.games.chess.rules.attacks import pawn_attacks
from glem.games.chess.rules.generation import (
    MOST_CLOCK,
    castling_targets,
    count_moves,
    count_moves_on_board,
    en_passant_pawns,
    in_check,
)
from glem.games.chess.rules.position import (
    Position,
    castling_key,
    kind_at,
    occupied_squares,
    own_squares,
    parts_of,
    piece_key,
    turned_over,
    with_key,
)
from glem.games.chess.rules.tables import EN_PASSANT_KEYS, TURN_KEY, table_word

DARK_SQUARES = np.uint64(0xAA55AA55AA55AA55)
"""a1 is one of them."""


@inlined
def moved(board: np.uint64, stay: np.uint64, origin: np.uint64, target: np.uint64) -> np.uint64:
    """Board after the piece of one square has gone to another; ``stay`` has the squares that are not cleared."""
    return (board & stay) | (((board >> origin) & ONE) << target)


def _castle(position: Position, king: np.uint64, rook: np.uint64, own: np.uint64) -> Position:
    king_target, rook_target = castling_targets(king, rook)
    leave = (ONE << king) | (ONE << rook)
    arrive = (ONE << king_target) | (ONE << rook_target)
    black = np.uint64(position.turn)
    key = position.key ^ TURN_KEY ^ castling_key(position.castling & own)
    key ^= piece_key(np.uint64(5), black, king) ^ piece_key(np.uint64(5), black, king_target)
    key ^= piece_key(np.uint64(3), black, rook) ^ piece_key(np.uint64(3), black, rook_target)
    if position.en_passant != np.uint8(0):
        key ^= table_word(EN_PASSANT_KEYS + np.uint64(position.en_passant))
    rooks = (position.rooks & ~leave) | (ONE << rook_target)
    kings = (position.kings & ~leave) | (ONE << king_target)
    white = (position.white & ~leave) | (arrive if black == ZERO else ZERO)
    state = np.uint8(0), np.uint8(ONE - black), np.uint8(position.clock + np.uint8(1))
    pawns, knights, bishops, queens = position.pawns, position.knights, position.bishops, position.queens
    return Position(pawns, knights, bishops, rooks, queens, kings, white, position.castling & ~own, key, *state)


def play(position: Position, move: int) -> Position:
    """Position after a legal move."""
    origin, target, promotion = parts_of(np.int64(move))
    origin_bit = ONE << origin
    target_bit = ONE << target
    own = own_squares(position)
    black = np.uint64(position.turn)
    moves_king = position.kings & origin_bit != ZERO
    if moves_king and own & target_bit != ZERO:
        return _castle(position, origin, target, own)

    moves_pawn = position.pawns & origin_bit != ZERO
    key = position.key ^ TURN_KEY
    captured = target_bit
    if position.en_passant != np.uint8(0):
        square = np.uint64(position.en_passant)
        key ^= table_word(EN_PASSANT_KEYS + square)
        if moves_pawn and target == square:
            captured = target_bit | (ONE << (target ^ np.uint64(8)))
            key ^= piece_key(ZERO, ONE - black, target ^ np.uint64(8))
    stay = ~(origin_bit | captured)
    captures = occupied_squares(position) & target_bit != ZERO

    kind = kind_at(position, origin)
    pawns = moved(position.pawns, stay, origin, target)
    knights = moved(position.knights, stay, origin, target)
    bishops = moved(position.bishops, stay, origin, target)
    rooks = moved(position.rooks, stay, origin, target)
    queens = moved(position.queens, stay, origin, target)
    kings = moved(position.kings, stay, origin, target)
    arrived = kind
    if promotion != ZERO:
        arrived = promotion
        pawns ^= target_bit
        if promotion == np.uint64(4):
            queens |= target_bit
        elif promotion == np.uint64(3):
            rooks |= target_bit
        elif promotion == np.uint64(2):
            bishops |= target_bit
        else:
            knights |= target_bit
    white = (position.white & stay) | (target_bit if black == ZERO else ZERO)
    key ^= piece_key(kind, black, origin) ^ piece_key(arrived, black, target)
    if captures:
        key ^= piece_key(kind_at(position, target), ONE - black, target)

    castling = position.castling & stay
    if moves_king:
        castling &= ~own
    if castling != position.castling:
        key ^= castling_key(position.castling ^ castling)

    en_passant = ZERO
    if moves_pawn and ((origin ^ target) == np.uint64(16)):
        side = (own ^ origin_bit) | target_bit
        other = (pawns | knights | bishops | rooks | queens | kings) & ~side
        middle = (origin + target) >> ONE
        capturing = pawn_attacks(ONE << middle, black != ZERO) & pawns & other
        if capturing != ZERO:
            king = np.uint64(trailing_zeros(kings & other))
            straight, diagonal = (rooks | queens) & side, (bishops | queens) & side
            if en_passant_pawns(capturing, middle, king, straight, diagonal, side | other) != ZERO:
                en_passant = middle
                key ^= table_word(EN_PASSANT_KEYS + en_passant)
    clock = np.uint8(0) if moves_pawn or captures else np.uint8(position.clock + np.uint8(1))
    state = np.uint8(en_passant), np.uint8(ONE - black), clock
    return Position(pawns, knights, bishops, rooks, queens, kings, white, castling, key, *state)


def is_over(position: Position) -> bool:
    """Whether the side to move is mated or stalemated, or 75 moves have passed without a capture or a pawn move."""
    return bool(position.clock >= MOST_CLOCK) or count_moves(position) == 0


def final_score(position: Position) -> int:
    """-1 where the side to move is mated, else 0; mate goes before the 75-move rule (FIDE 9.6.2)."""
    return -1 if in_check(position) and count_moves_on_board(position) == 0 else 0


def hash_key(position: Position) -> np.uint64:
    """64-bit key of everything but the clock (Zobrist 1970), kept up to date by :func:`play`."""
    return position.key


def insufficient_material(position: Position) -> bool:
    """Whether neither side has the material for any mate: bare kings, one knight, or bishops of one square colour."""
    if position.pawns | position.rooks | position.queens != ZERO:
        return False
    if position.knights != ZERO:
        return popcount(position.knights | position.bishops) == 1
    return bool(position.bishops & DARK_SQUARES == ZERO) or bool(position.bishops & ~DARK_SQUARES == ZERO)


def transform(position: Position, symmetry: int) -> Position:
    """Return the position itself under symmetry 0; under 1 that with ranks mirrored and colours exchanged."""
    return with_key(turned_over(position)) if symmetry else position


def transform_move(move: int, symmetry: int) -> int:
    """Where :func:`transform` takes a move: both its squares change ranks."""
    return move ^ (56 | 56 << 6) if symmetry else move
