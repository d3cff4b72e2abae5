"""Texts of chess: FEN for positions; for moves UCI, which needs no position, and SAN, which people write."""

import re

import chess

from glem.core.errors import BadInputError
from glem.games.chess.boards import board_of_fen, from_board, move_number, move_of, problems_of, to_board
from glem.games.chess.rules.generation import count_moves_on_board
from glem.games.chess.rules.position import Position

MAX_MOVES = 218
"""Largest number of legal moves in a position that a game can lead to (Petrovic 1964)."""
MOVE_COUNT = 5 << 12
"""Moves are below this: two squares, and no promotion or one of four."""

_UCI = re.compile(r"([a-h][1-8])([a-h][1-8])([nbrq]?)")
_PROMOTIONS = ("", "n", "b", "r", "q")
# A right without its rook, or a square where nothing can be captured, is no more than a slip of whoever wrote the FEN;
# checks that no last move could give occur in collections of positions, and the rules hold there too.
_FORGIVEN = chess.STATUS_BAD_CASTLING_RIGHTS | chess.STATUS_INVALID_EP_SQUARE | chess.STATUS_IMPOSSIBLE_CHECK


def format_position(position: Position) -> str:
    """FEN of a position: castling as X-FEN, an en-passant square only where the capture is legal, the move number 1."""
    return to_board(position, chess960=True).fen()


def parse_position(text: str) -> Position:
    """Position of a FEN, whose last fields may be missing.

    ``K``, ``Q``, ``k`` and ``q`` are the outermost rooks (X-FEN), letters of files any (Shredder-FEN): Chess960 and
    chess are read alike. The number of the move is not kept, nor are castling rights without their king and rook and
    en-passant squares without a legal capture.

    Raises
    ------
    BadInputError
        The text is no FEN, or no game of chess can lead to the position as far as that is easy to see.
    """
    try:
        board = board_of_fen(text)
    except ValueError as error:
        raise BadInputError(f"{text!r} is no position of chess: {error} (a FEN is expected)") from None
    if board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    if problems := problems_of(board, ~_FORGIVEN):
        raise BadInputError(f"no game of chess leads to {text!r}: {problems}")
    most_promoted = 0
    for name, pieces in (("White", board.occupied_co[chess.WHITE]), ("Black", board.occupied_co[chess.BLACK])):
        promoted = sum(
            max((board_of_kind & pieces).bit_count() - usual, 0)
            for board_of_kind, usual in ((board.knights, 2), (board.bishops, 2), (board.rooks, 2), (board.queens, 1))
        )
        most_promoted = max(most_promoted, promoted)
        pawns = (board.pawns & pieces).bit_count()
        if promoted + pawns > 8:
            raise BadInputError(
                f"no game of chess leads to {text!r}: {name} has {promoted} promoted pieces and {pawns} pawns, "
                "8 of both at most are possible"
            )
    position = from_board(board)
    # The pieces of the beginning have 107 moves at most, and eight pawns no more than 96.
    if most_promoted and count_moves_on_board(position) > MAX_MOVES:
        raise BadInputError(f"no game of chess leads to {text!r}: it has more than {MAX_MOVES} legal moves")
    return position


def format_move(move: int) -> str:
    """Squares and promotion, such as ``e2e4`` or ``a7a8q``; castling is the king's move onto its rook, ``e1h1``."""
    return chess.SQUARE_NAMES[move & 63] + chess.SQUARE_NAMES[move >> 6 & 63] + _PROMOTIONS[move >> 12]


def parse_move(text: str) -> int:
    """Move of a text that :func:`format_move` writes; :class:`~glem.core.errors.BadInputError` otherwise."""
    parts = _UCI.fullmatch(text)
    if parts is None:
        raise BadInputError(f"{text!r} is no move: two squares and perhaps a promotion are needed, as in e2e4, a7a8q")
    origin, target, promotion = parts.groups()
    squares = chess.SQUARE_NAMES.index(origin) | chess.SQUARE_NAMES.index(target) << 6
    return squares | _PROMOTIONS.index(promotion) << 12


def san_of(position: Position, move: int) -> str:
    """Legal move as people write it, such as ``Nf3``, ``exd6``, ``e8=Q+`` or ``O-O``."""
    return to_board(position, chess960=True).san(move_of(move))


def parse_move_at(position: Position, text: str) -> int:
    """Legal move of a text as engines or people write it: UCI, where castling may be written either way, or SAN.

    Signs behind SAN such as ``+``, ``#`` and ``!`` may be missing or wrong.

    Raises
    ------
    BadInputError
        The text is no move, the move is not legal, or several moves are written so.
    """
    board = to_board(position, chess960=True)
    try:
        move = board.parse_uci(text) if _UCI.fullmatch(text) else board.parse_san(text.rstrip("!?"))
    except chess.AmbiguousMoveError:
        raise BadInputError(f"{text!r} may be several moves in {format_position(position)}") from None
    except ValueError:
        move = chess.Move.null()
    if not move:
        legal = ", ".join(sorted(board.san(move) for move in board.legal_moves)) or "none, the game is over"
        raise BadInputError(f"{text!r} is no legal move in {format_position(position)}; legal: {legal}")
    return move_number(board, move)
