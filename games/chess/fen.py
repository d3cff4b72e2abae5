"""FEN out of the bytes of a text, by one compiled pass: what :func:`~glem.games.chess.notation.parse_position` reads.

The six fields are those of S. J. Edwards, "Standard: Portable Game Notation Specification and Implementation Guide",
1994, section 16.1; the two numbers may be missing, as in EPD.
"""

from typing import Any

import numpy as np

from glem.core.compiling import characters as char
from glem.core.compiling.columns import store_position
from glem.core.compiling.kernels import ONE, ZERO, leading_zeros, popcount, trailing_zeros
from glem.games.chess.notation import MAX_MOVES
from glem.games.chess.rules.attacks import king_attacks, knight_attacks, pawn_attacks
from glem.games.chess.rules.generation import count_moves_on_board, en_passant_pawns, king_attackers
from glem.games.chess.rules.position import Position, occupied_squares, own_squares, with_key

GOOD, NO_BOARD, NO_SIDE, NO_CASTLING, NO_EN_PASSANT, IMPOSSIBLE = range(6)
REASONS = {
    NO_BOARD: "{} stands where eight ranks of pieces and numbers, as in FEN, are needed",
    NO_SIDE: "{} stands where w or b should, the side to move",
    NO_CASTLING: "{} stands where castling rights such as KQkq or - should",
    NO_EN_PASSANT: "{} stands where an en-passant square or - should",
    IMPOSSIBLE: "no game of chess leads to this position",
}
"""What each state says, with the text that was found."""

SEPARATORS = b' \t\r|;,[](){}"'
"""What may stand between the fields of a line; only blanks and tabs stand within a FEN."""

_RANK_1, _RANK_8 = np.uint64(0xFF), np.uint64(0xFF00000000000000)
_FILE_A = np.uint64(0x0101010101010101)
_KINGS, _WHITE = 5, 6
_EMPTY, _SLASH, _PROMOTED = 16, 32, 33
_CONTENT = char.classes(
    *((letter.encode(), kind) for kind, letter in enumerate("PNBRQK")),
    *((letter.encode(), 8 | kind) for kind, letter in enumerate("pnbrqk")),
    *((str(count).encode(), _EMPTY | count) for count in range(1, 9)),
    (b"/", _SLASH),
    (b"~", _PROMOTED),
    other=255,
)
_IS_SEPARATOR = char.classes((SEPARATORS, 1))
_CLOCK_DIGITS = 6
_MOST_CLOCK = 255


def skip_separators(data: Any, at: int, end: int) -> int:
    """Index of the next byte that stands between no fields."""
    while at < end and _IS_SEPARATOR[data[at]]:
        at += 1
    return at


def field_end(data: Any, at: int, end: int) -> int:
    """Index behind the field that begins at an index."""
    while at < end and not _IS_SEPARATOR[data[at]]:
        at += 1
    return at


def _skip_spaces(data: Any, at: int, end: int) -> int:
    while at < end and (data[at] == char.SPACE or data[at] == char.TAB):
        at += 1
    return at


def _read_board(data: Any, at: int, end: int, boards: Any) -> tuple[bool, int]:
    """Read the pieces into ``boards`` [8]: six kinds, White's, castling rights; whether they are well written."""
    boards[:] = ZERO
    rank, file, before = 7, 0, _SLASH
    while at < end:
        content = _CONTENT[data[at]]
        if content == 255:
            break
        if content == _SLASH:
            if file != 8 or rank == 0:
                return False, at
            rank, file = rank - 1, 0
        elif content == _PROMOTED:
            if before >= _EMPTY:
                return False, at
        elif content > _EMPTY:
            file += content - _EMPTY
            if _EMPTY < before < _SLASH or file > 8:
                return False, at
        else:
            if file > 7:
                return False, at
            square = ONE << np.uint64(8 * rank + file)
            boards[content & 7] |= square
            if content < 8:
                boards[_WHITE] |= square
            file += 1
        before = content
        at += 1
    return rank == 0 and file == 8, at


def _read_castling(data: Any, at: int, end: int, boards: Any) -> tuple[bool, int]:
    """Read castling rights, also of X-FEN and Shredder-FEN, as the rooks that they belong to."""
    if at < end and data[at] == char.HYPHEN:
        return True, at + 1
    of_white = of_black = 0
    while at < end and not _IS_SEPARATOR[data[at]]:
        letter = data[at] | np.uint8(32)
        black = letter == data[at]
        of_white, of_black = of_white + (not black), of_black + black
        if (of_black and not black) or of_white > 2 or of_black > 2:
            return False, at
        rank = _RANK_8 if black else _RANK_1
        own = ~boards[_WHITE] if black else boards[_WHITE]
        rooks = boards[3] & own & rank
        king = boards[_KINGS] & own & rank
        if letter == char.SMALL_K:
            rook = ONE << np.uint64(63 - leading_zeros(rooks)) if rooks else ZERO
            boards[7] |= rook if king < rook else ZERO
        elif letter == char.SMALL_Q:
            rook = rooks & (~rooks + ONE)
            boards[7] |= rook if rook < king else ZERO
        elif char.SMALL_A <= letter <= char.SMALL_H:
            boards[7] |= (_FILE_A << np.uint64(letter - char.SMALL_A)) & rooks
        else:
            return False, at
        at += 1
    for rank in (_RANK_1, _RANK_8):
        # Castling is with the outermost rook that has the right on either side of the king.
        own = boards[_WHITE] if rank == _RANK_1 else ~boards[_WHITE]
        king, rooks = boards[_KINGS] & own & rank, boards[7] & rank
        boards[7] &= ~rank
        if king and rooks:
            first, last = rooks & (~rooks + ONE), ONE << np.uint64(63 - leading_zeros(rooks))
            boards[7] |= (first if first < king else ZERO) | (last if last > king else ZERO)
    return of_white + of_black > 0, at


def _read_square(data: Any, at: int, end: int) -> tuple[int, int]:
    """Square of a text like e3, -1 for ``-``, -2 for anything else; and the index behind it."""
    if at < end and data[at] == char.HYPHEN:
        return -1, at + 1
    if at + 1 < end and char.SMALL_A <= data[at] <= char.SMALL_H and char.DIGIT_ONE <= data[at + 1] <= char.DIGIT_EIGHT:
        return int(data[at] - char.SMALL_A) + 8 * int(data[at + 1] - char.DIGIT_ONE), at + 2
    return -2, at


def _whole_number(data: Any, at: int, end: int) -> tuple[int, int]:
    """Read a field that is a whole number, and where it ends; -1 for any other."""
    stop, number = at, 0
    while stop < end and char.DIGIT_ZERO <= data[stop] <= char.DIGIT_NINE:
        number = 10 * number + int(data[stop] - char.DIGIT_ZERO)
        stop += 1
    if stop == at or stop - at > _CLOCK_DIGITS or (stop < end and not _IS_SEPARATOR[data[stop]]):
        return -1, at
    return number, stop


def legal_en_passant(position: Position, square: int) -> np.uint8:
    """Give the square where a pawn can be captured en passant, 0 where none can."""
    black = position.turn != np.uint8(0)
    if square < 0 or square >> 3 != (2 if black else 5):
        return np.uint8(0)
    occupied, own = occupied_squares(position), own_squares(position)
    target = np.uint64(square)
    pushed = ONE << (target ^ np.uint64(8))
    origin = ONE << (target ^ np.uint64(24))
    if position.pawns & ~own & pushed == ZERO or occupied & (ONE << target | origin) != ZERO:
        return np.uint8(0)
    capturing = pawn_attacks(ONE << target, not black) & position.pawns & own
    king = np.uint64(trailing_zeros(position.kings & own))
    leapers = knight_attacks(king) & position.knights
    leapers |= pawn_attacks(ONE << king, black) & position.pawns & ~pushed
    if leapers & ~own != ZERO:
        return np.uint8(0)
    straight = (position.rooks | position.queens) & ~own
    diagonal = (position.bishops | position.queens) & ~own
    if en_passant_pawns(capturing, target, king, straight, diagonal, occupied) == ZERO:
        return np.uint8(0)
    return np.uint8(square)


def is_possible(position: Position) -> bool:
    """Whether a game may lead to a position, as far as that is easy to see; its castling rights are good."""
    occupied = occupied_squares(position)
    for white in (True, False):
        side = position.white if white else occupied & ~position.white
        pawns = popcount(position.pawns & side)
        promoted = max(popcount(position.queens & side) - 1, 0)
        for pieces in (position.knights, position.bishops, position.rooks):
            promoted += max(popcount(pieces & side) - 2, 0)
        if popcount(position.kings & side) != 1 or popcount(side) > 16 or pawns + promoted > 8:
            return False
    if position.pawns & (_RANK_1 | _RANK_8) != ZERO:
        return False
    own, black = own_squares(position), position.turn != np.uint8(0)
    king = np.uint64(trailing_zeros(position.kings))
    hanging = king_attackers(position, occupied & ~own, not black) | (king_attacks(king) & position.kings)
    return bool(hanging == ZERO) and popcount(king_attackers(position, own, black)) <= 2


def read_fen(data: Any, at: int, end: int, columns: Any, row: int, boards: Any) -> tuple[int, int]:
    """Read the FEN that begins at an index into a row of columns.

    Parameters
    ----------
    data
        uint8 [B].
    at, end
        Where the FEN begins, and where its line ends.
    columns, row
        Position of columns to write to; only good positions are written.
    boards
        uint64 [8], room to work in.

    Returns
    -------
    state
        :data:`GOOD`, or one of :data:`REASONS`.
    at
        Index behind the FEN, or where it is no FEN. A number alone behind four fields is none of the FEN.
    """
    good, behind = _read_board(data, at, end, boards)
    if not good:
        return NO_BOARD, at
    at = _skip_spaces(data, behind, end)
    if at + 1 >= end or at == behind or (data[at] != char.SMALL_W and data[at] != char.SMALL_B):
        return NO_SIDE, at
    turn = np.uint8(data[at] == char.SMALL_B)
    behind = at + 1
    at = _skip_spaces(data, behind, end)
    if at == behind:
        return NO_SIDE, at - 1
    good, behind = _read_castling(data, at, end, boards)
    if not good:
        return NO_CASTLING, at
    at = _skip_spaces(data, behind, end)
    if at == behind:
        return NO_CASTLING, at
    square, behind = _read_square(data, at, end)
    if square == -2 or (behind < end and not _IS_SEPARATOR[data[behind]]):
        return NO_EN_PASSANT, at
    clock, stop = _whole_number(data, _skip_spaces(data, behind, end), end)
    number, stop = _whole_number(data, _skip_spaces(data, stop, end), end)
    if clock >= 0 and number >= 0:
        behind = stop
    else:
        clock = 0
    pawns, knights, bishops, rooks, queens, kings, white, castling = boards
    state = np.uint8(0), turn, np.uint8(min(clock, _MOST_CLOCK))
    position = Position(pawns, knights, bishops, rooks, queens, kings, white, castling, ZERO, *state)
    if not is_possible(position):
        return IMPOSSIBLE, behind
    en_passant = legal_en_passant(position, square)
    state = en_passant, turn, np.uint8(min(clock, _MOST_CLOCK))
    position = with_key(Position(pawns, knights, bishops, rooks, queens, kings, white, castling, ZERO, *state))
    if count_moves_on_board(position) > MAX_MOVES:
        return IMPOSSIBLE, behind
    store_position(columns, row, position)
    return GOOD, behind
