"""Positions, moves and games from boards of python-chess, and back."""

from collections.abc import Sequence

import chess
import numpy as np

from glem.core.game.whole_numbers import whole_number
from glem.games.chess.rules.position import Position, position_key

_MOST_CLOCK = 255
_PIECES = ("pawns", "knights", "bishops", "rooks", "queens", "kings")
_SQUARE_BITS = 6
_SQUARE_MASK = (1 << _SQUARE_BITS) - 1


def board_of_fen(text: str) -> chess.Board:
    """Board of a FEN, of Chess960 too; ValueError where it is none."""
    for number in text.split()[4:6]:
        if whole_number(number) is None:
            raise ValueError(f"{number[:20]!r} is no number of moves")
    # Castling rights that only Chess960 knows show themselves; without such the flag changes nothing.
    return chess.Board(text, chess960=True)


def from_board(board: chess.Board) -> Position:
    """Position of a board; what its moves before were is lost, the number of the move too.

    Castling rights without their rook or king are dropped, and so is an en-passant square on which no capture is legal.
    """
    position = Position(
        pawns=np.uint64(board.pawns),
        knights=np.uint64(board.knights),
        bishops=np.uint64(board.bishops),
        rooks=np.uint64(board.rooks),
        queens=np.uint64(board.queens),
        kings=np.uint64(board.kings),
        white=np.uint64(board.occupied_co[chess.WHITE]),
        castling=np.uint64(board.clean_castling_rights()),
        key=np.uint64(0),
        en_passant=np.uint8(board.ep_square if board.ep_square and board.has_legal_en_passant() else 0),
        turn=np.uint8(0 if board.turn == chess.WHITE else 1),
        clock=np.uint8(min(board.halfmove_clock, _MOST_CLOCK)),
    )
    return position._replace(key=position_key(position))


def to_board(position: Position, chess960: bool = False) -> chess.Board:
    """Board of a position, as its first move; ``chess960`` is the board's own flag, which decides on how it writes."""
    board = chess.Board(None, chess960=chess960)
    for name in _PIECES:
        setattr(board, name, int(getattr(position, name)))
    board.occupied = board.pawns | board.knights | board.bishops | board.rooks | board.queens | board.kings
    board.occupied_co = [board.occupied & ~int(position.white), int(position.white)]
    board.castling_rights = int(position.castling)
    board.ep_square = int(position.en_passant) or None
    board.turn = bool(position.turn == 0)
    board.halfmove_clock = int(position.clock)
    return board


def problems_of(board: chess.Board, among: int) -> str:
    """Names of what python-chess finds wrong with a board, of some flags of its status; "" for nothing."""
    found = board.status() & among
    return ", ".join(flag.name.lower().replace("_", " ") for flag in chess.Status if flag.name and flag & found)


def move_number(board: chess.Board, move: chess.Move) -> int:
    """Give the number of a legal move; castling is the king taking its own rook, however the board writes it."""
    promotion = 0 if move.promotion is None else move.promotion - chess.KNIGHT + 1
    return move.from_square | _target(board, move) << _SQUARE_BITS | promotion << 2 * _SQUARE_BITS


def _target(board: chess.Board, move: chess.Move) -> int:
    if not board.is_castling(move) or board.occupied_co[board.turn] & chess.BB_SQUARES[move.to_square]:
        return move.to_square
    rooks = board.clean_castling_rights() & (chess.BB_RANK_1 if board.turn == chess.WHITE else chess.BB_RANK_8)
    return chess.msb(rooks) if move.to_square > move.from_square else chess.lsb(rooks)


def move_of(number: int) -> chess.Move:
    """Move of a number, castling as the king's capture of its own rook; boards take it whatever way they write it."""
    promotion = number >> 2 * _SQUARE_BITS
    return chess.Move(
        number & _SQUARE_MASK,
        number >> _SQUARE_BITS & _SQUARE_MASK,
        promotion + chess.KNIGHT - 1 if promotion else None,
    )


def board_of(position: Position) -> chess.Board:
    """Board of a position; it is one of Chess960 only where its castling rights need that."""
    board = to_board(position)
    board.chess960 = board.has_chess960_castling_rights()
    return board


class GameBoard:
    """Board of a game that grows from move to move, so that its moves are looked for once."""

    def __init__(self) -> None:
        self._positions: list[Position] = []
        self._board = chess.Board()

    def board(self, position: Position, previous: Sequence[Position]) -> chess.Board:
        """Board of a position with the moves that led to it.

        Parameters
        ----------
        position
            The position.
        previous
            Those before it, oldest first. From the last two that no move joins, the moves are forgotten.

        Returns
        -------
        chess.Board
            The one that goes on growing: read it before the next call, and change nothing.
        """
        wanted = [*previous, position]
        known = len(self._positions)
        if not known or wanted[:known] != self._positions:
            self._positions, self._board = wanted[:1], board_of(wanted[0])
        for following in wanted[len(self._positions) :]:
            move = self._move_to(following)
            if move is None:
                self._board = board_of(following)
            else:
                self._board.push(move)
            self._positions.append(following)
        return self._board

    def _move_to(self, position: Position) -> chess.Move | None:
        board, white = self._board, int(position.white)
        pieces = [(name, int(getattr(position, name))) for name in _PIECES]
        black = sum(squares for _, squares in pieces) ^ white
        # A piece that moved left its square, unless it is a king that castles in Chess960.
        left = board.occupied_co[board.turn] & (~(white if board.turn else black) | board.kings)
        for move in board.generate_legal_moves(left) if board.turn == bool(position.turn) else ():
            board.push(move)
            found = (
                board.occupied_co[chess.WHITE] == white
                and all(getattr(board, name) == wanted for name, wanted in pieces)
                and board.clean_castling_rights() == int(position.castling)
            )
            board.pop()
            if found:
                return move
        return None
