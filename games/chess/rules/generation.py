"""Legal moves of chess, counted or written, without trying any of them.

Which squares resolve a check and which lie on the ray of a pin is found once, from the king's square; every piece then
moves within these masks, so that what is generated is legal (Pinned pieces keep to the rays of their own kind, straight
or diagonal: two such rays of one kind meet only in the king, so that one mask serves all of them.) A pawn set moves as
a whole, by a rotation that depends on its colour.

A move is ``origin | target << 6 | promotion << 12`` with promotion 1 to 4 for knight, bishop, rook, queen. Castling is
the king's move onto its own rook, in Chess960 too.
"""

from typing import Any

import numpy as np

from glem.core.compiling.kernels import ONE, ZERO, inlined, kept, popcount, trailing_zeros
from glem.games.chess.rules.attacks import (
    NOT_A_FILE,
    NOT_H_FILE,
    between,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks,
    rook_attacks,
)
from glem.games.chess.rules.position import Position, occupied_squares, own_squares

# Typed constants: a literal would make one more specialization of the generator.
LEGAL = np.int64(0)
"""All legal moves, for :func:`write_moves`."""
TACTICAL = np.int64(1)
"""Those that quiescence asks for."""
MOST_CLOCK = np.uint8(150)
"""Plies without a capture or a pawn move after which the game is over (75 moves of both sides, FIDE 9.6.2)."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LAST_RANKS = np.uint64(0xFF000000000000FF)
_AFTER_FIRST_STEP = np.uint64(0x0000FF0000FF0000)
_LAST_SQUARE = np.uint64(63)
_QUEEN = np.uint64(4 << 12)


@inlined
def _rotate(board: np.uint64, squares: np.uint64) -> np.uint64:
    """Move a board by 1 to 63 squares; what leaves at one end comes in at the other."""
    return (board << squares) | (board >> (np.uint64(64) - squares))


@inlined
def _lowest(board: np.uint64) -> np.uint64:
    return np.uint64(trailing_zeros(board))


@inlined
def _rays(king: np.uint64, sliders: np.uint64, own: np.uint64, resolving: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Squares that resolve the checks of some sliders too, and the rays of their pins."""
    pinning = ZERO
    while sliders != ZERO:
        ray = between(king, _lowest(sliders)) | (sliders & (~sliders + ONE))
        blockers = ray & own
        if blockers == ZERO:
            resolving &= ray
        elif blockers & (blockers - ONE) == ZERO:
            pinning |= ray
        sliders &= sliders - ONE
    return resolving, pinning


@inlined
def _checks_and_pins(
    position: Position, own: np.uint64, opponent: np.uint64, king: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Squares that resolve every check (all without a check), rays of straight pins, rays of diagonal pins.

    The rays hold the pinning piece, not the king.
    """
    resolving = _ALL
    leapers = knight_attacks(king) & position.knights & opponent
    leapers |= pawn_attacks(ONE << king, position.turn != np.uint8(0)) & position.pawns & opponent
    if leapers != ZERO:
        # No move captures two of them; that no game leads there does not keep files from having such positions.
        resolving = leapers if leapers & (leapers - ONE) == ZERO else ZERO
    sliders = rook_attacks(king, opponent) & (position.rooks | position.queens) & opponent
    resolving, straight = _rays(king, sliders, own, resolving)
    sliders = bishop_attacks(king, opponent) & (position.bishops | position.queens) & opponent
    resolving, diagonal = _rays(king, sliders, own, resolving)
    return resolving, straight, diagonal


@inlined
def _attacked(position: Position, side: np.uint64, black: bool, occupied: np.uint64) -> np.uint64:
    """All squares that a side attacks, its own pieces' included."""
    squares = pawn_attacks(position.pawns & side, black)
    pieces = position.knights & side
    while pieces != ZERO:
        squares |= knight_attacks(_lowest(pieces))
        pieces &= pieces - ONE
    pieces = (position.rooks | position.queens) & side
    while pieces != ZERO:
        squares |= rook_attacks(_lowest(pieces), occupied)
        pieces &= pieces - ONE
    pieces = (position.bishops | position.queens) & side
    while pieces != ZERO:
        squares |= bishop_attacks(_lowest(pieces), occupied)
        pieces &= pieces - ONE
    return squares | king_attacks(_lowest(position.kings & side))


@inlined
def king_attackers(position: Position, side: np.uint64, black: bool) -> np.uint64:
    """Pieces that attack the king of a side, the other king left out; ``black`` says whose king it is."""
    occupied = occupied_squares(position)
    king = _lowest(position.kings & side)
    attackers = knight_attacks(king) & position.knights
    attackers |= pawn_attacks(ONE << king, black) & position.pawns
    attackers |= rook_attacks(king, occupied) & (position.rooks | position.queens)
    attackers |= bishop_attacks(king, occupied) & (position.bishops | position.queens)
    return attackers & ~side


def in_check(position: Position) -> bool:
    """Whether the king of the side to move is attacked."""
    return bool(king_attackers(position, own_squares(position), position.turn != np.uint8(0)) != ZERO)


def en_passant_pawns(
    pawns: np.uint64, square: np.uint64, king: np.uint64, straight: np.uint64, diagonal: np.uint64, occupied: np.uint64
) -> np.uint64:
    """Those of some pawns beside the captured one whose capture en passant leaves their king safe.

    Parameters
    ----------
    pawns
        The pawns that attack the square.
    square
        Where the capturing pawn would arrive.
    king
        Square of the capturing side's king.
    straight, diagonal
        The other side's rooks and queens, bishops and queens.
    occupied
        Occupied squares before the capture.
    """
    legal = ZERO
    captured = ONE << (square ^ np.uint64(8))
    while pawns != ZERO:
        pawn = pawns & (~pawns + ONE)
        after = (occupied ^ pawn ^ captured) | (ONE << square)
        attackers = (rook_attacks(king, after) & straight) | (bishop_attacks(king, after) & diagonal)
        if attackers == ZERO:
            legal |= pawn
        pawns ^= pawn
    return legal


@inlined
def castling_targets(king: np.uint64, rook: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Squares on which king and rook stand after castling."""
    rank = king & np.uint64(56)
    if rook > king:
        return rank | np.uint64(6), rank | np.uint64(5)
    return rank | np.uint64(2), rank | np.uint64(3)


@inlined
def _castling_rooks(
    rooks: np.uint64, king: np.uint64, occupied: np.uint64, attacked: np.uint64, straight: np.uint64
) -> np.uint64:
    """Those of a side's rooks with the right to castle that can do so now; the king is not in check."""
    able = ZERO
    while rooks != ZERO:
        rook = _lowest(rooks)
        both = (ONE << rook) | (ONE << king)
        king_target, rook_target = castling_targets(king, rook)
        king_way = between(king, king_target) | (ONE << king_target)
        rook_way = between(rook, rook_target) | (ONE << rook_target)
        free = (king_way | rook_way) & occupied & ~both == ZERO
        # Only where it is pinned along the rank, which takes Chess960, does the rook's leaving uncover the king.
        if free and king_way & attacked == ZERO and straight & (ONE << rook) == ZERO:
            able |= ONE << rook
        rooks &= rooks - ONE
    return able


def castling_rooks(position: Position) -> np.uint64:
    """Rooks with which the side to move can castle."""
    own = own_squares(position)
    occupied = occupied_squares(position)
    king = _lowest(position.kings & own)
    resolving, straight, _ = _checks_and_pins(position, own, occupied & ~own, king)
    if resolving != _ALL:
        return ZERO
    attacked = _attacked(position, occupied & ~own, position.turn == np.uint8(0), occupied ^ (ONE << king))
    return _castling_rooks(position.castling & own, king, occupied, attacked, straight)


@inlined
def _pawn_targets(
    position: Position, own: np.uint64, occupied: np.uint64, straight: np.uint64, diagonal: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Squares of a step, of two steps, of captures towards the a file and towards the h file; the rotation of a step.

    Checks are not looked at; captures are of any of the other side's pieces, not en passant.
    """
    forward = np.uint64(8) if position.turn == np.uint8(0) else np.uint64(56)
    pawns = position.pawns & own
    free = pawns & ~(straight | diagonal)
    single = (_rotate(free, forward) | (_rotate(pawns & straight, forward) & straight)) & ~occupied
    double = _rotate(single & _AFTER_FIRST_STEP, forward) & ~occupied
    double &= np.uint64(0x000000FFFF000000)
    opponent = occupied & ~own
    bound = pawns & diagonal
    west = _rotate(free & NOT_A_FILE, forward - ONE)
    west |= _rotate(bound & NOT_A_FILE, forward - ONE) & diagonal
    east = _rotate(free & NOT_H_FILE, forward + ONE)
    east |= _rotate(bound & NOT_H_FILE, forward + ONE) & diagonal
    return single, double, west & opponent, east & opponent, forward


@inlined
def _capturing_en_passant(
    position: Position, own: np.uint64, occupied: np.uint64, king: np.uint64, square: np.uint64
) -> np.uint64:
    pawns = pawn_attacks(ONE << square, position.turn == np.uint8(0)) & position.pawns & own
    straight = (position.rooks | position.queens) & ~own
    diagonal = (position.bishops | position.queens) & ~own
    return en_passant_pawns(pawns, square, king, straight, diagonal, occupied)


@inlined
def _write(moves: Any, place: np.int64, origin: np.uint64, targets: np.uint64) -> np.int64:
    if moves is None:
        return place + np.int64(popcount(targets))
    while targets != ZERO:
        moves[place] = origin | (_lowest(targets) << np.uint64(6))
        place += np.int64(1)
        targets &= targets - ONE
    return place


def _write_pawn_moves(moves: Any, place: np.int64, targets: np.uint64, step: np.uint64, queens: bool) -> np.int64:
    """Write moves of pawns that arrive on some squares by a rotation; ``queens``: promote to nothing else."""
    if moves is None:
        return place + np.int64(popcount(targets) + 3 * popcount(targets & LAST_RANKS))
    while targets != ZERO:
        target = _lowest(targets)
        # Two turns of the board more: plain numpy warns of numbers below 0.
        move = ((target + np.uint64(128) - step) & _LAST_SQUARE) | (target << np.uint64(6))
        if targets & (~targets + ONE) & LAST_RANKS == ZERO:
            moves[place] = move
            place += np.int64(1)
        else:
            moves[place] = move | _QUEEN
            place += np.int64(1)
            if not queens:
                moves[place] = move | np.uint64(3 << 12)
                moves[place + np.int64(1)] = move | np.uint64(2 << 12)
                moves[place + np.int64(2)] = move | np.uint64(1 << 12)
                place += np.int64(3)
        targets &= targets - ONE
    return place


@inlined
def _generate(position: Position, moves: Any, start: np.int64, kind: np.int64) -> np.int64:
    """Do as :func:`write_moves`, and where ``moves`` is None, which is compiled apart, count alone."""
    own = own_squares(position)
    occupied = occupied_squares(position)
    opponent = occupied & ~own
    king = _lowest(position.kings & own)
    resolving, straight, diagonal = _checks_and_pins(position, own, opponent, king)
    attacked = _attacked(position, opponent, position.turn == np.uint8(0), occupied ^ (ONE << king))
    evading = resolving != _ALL
    captures_only = kind == TACTICAL and not evading
    wanted = opponent if captures_only else ~own
    place = start

    if resolving != ZERO:
        single, double, west, east, forward = _pawn_targets(position, own, occupied, straight, diagonal)
        place = _write_pawn_moves(moves, place, west & resolving, forward - ONE, captures_only)
        place = _write_pawn_moves(moves, place, east & resolving, forward + ONE, captures_only)
        if position.en_passant != np.uint8(0):
            square = np.uint64(position.en_passant)
            pawns = _capturing_en_passant(position, own, occupied, king, square)
            while pawns != ZERO:
                place = _write(moves, place, _lowest(pawns), ONE << square)
                pawns &= pawns - ONE
        if captures_only:
            single &= LAST_RANKS
            double = ZERO
        place = _write_pawn_moves(moves, place, single & resolving, forward, captures_only)
        place = _write_pawn_moves(moves, place, double & resolving, forward + forward, captures_only)

        allowed = resolving & wanted
        pieces = position.knights & own & ~(straight | diagonal)
        while pieces != ZERO:
            square = _lowest(pieces)
            place = _write(moves, place, square, knight_attacks(square) & allowed)
            pieces &= pieces - ONE
        pieces = (position.bishops | position.queens) & own & ~straight
        while pieces != ZERO:
            square = _lowest(pieces)
            within = allowed & diagonal if diagonal & (ONE << square) != ZERO else allowed
            place = _write(moves, place, square, bishop_attacks(square, occupied) & within)
            pieces &= pieces - ONE
        pieces = (position.rooks | position.queens) & own & ~diagonal
        while pieces != ZERO:
            square = _lowest(pieces)
            within = allowed & straight if straight & (ONE << square) != ZERO else allowed
            place = _write(moves, place, square, rook_attacks(square, occupied) & within)
            pieces &= pieces - ONE
        if not evading and not captures_only and position.castling & own != ZERO:
            rooks = _castling_rooks(position.castling & own, king, occupied, attacked, straight)
            place = _write(moves, place, king, rooks)
    place = _write(moves, place, king, king_attacks(king) & wanted & ~attacked)
    count = place - start
    return ~count if kind == TACTICAL and evading else count


@kept
def write_moves(position: Position, moves: Any, start: np.int64, kind: np.int64) -> np.int64:
    """Write moves, captures by pawns first and the king's last; the clock is not looked at.

    Parameters
    ----------
    position
        The position.
    moves
        Integers [n], written from ``start`` on.
    start
        First place.
    kind
        ``LEGAL`` or ``TACTICAL``, which is captures and promotions to a queen, but all moves in check.

    Returns
    -------
    int64
        Their number; its complement where tactical moves are asked for and the side to move is in check.
    """
    return _generate(position, moves, start, kind)


@kept
def count_moves_on_board(position: Position) -> int:
    """Count the moves that the pieces have; the clock ends no game here."""
    return int(_generate(position, None, np.int64(0), LEGAL))


def legal_moves(position: Position, moves: Any, start: int) -> int:
    """Write the legal moves; none once the clock has run out."""
    if position.clock >= MOST_CLOCK:
        return 0
    return int(write_moves(position, moves, np.int64(start), LEGAL))


def count_moves(position: Position) -> int:
    """Count the legal moves."""
    return 0 if position.clock >= MOST_CLOCK else count_moves_on_board(position)
