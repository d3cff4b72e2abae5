"""A naive writer of binpacks, by python-chess and texts of bits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import chess

NO_VALUE = 32002


class Line(NamedTuple):
    """A line of play: where it begins, its moves with scores of those who made them, and the first one's result."""

    start: chess.Board
    moves: tuple[tuple[chess.Move, int], ...]
    result: int


def chunk(content: bytes) -> bytes:
    """Put the head of a chunk before its content."""
    return b"BINP" + len(content).to_bytes(4, "little") + content


def line_bytes(line: Line) -> bytes:
    """Write a line of play."""
    board = line.start.copy(stack=False)
    (move, score), *others = line.moves
    kind = 1 if move.promotion else 2 if board.is_castling(move) else 3 if board.is_en_passant(move) else 0
    target = _castled_rook(board, move) if kind == 2 else move.to_square
    word = kind << 14 | move.from_square << 8 | target << 2 | (move.promotion - 2 if move.promotion else 0)
    numbers = (word, _unsigned(score), board.ply() | _unsigned(line.result) << 14, board.halfmove_clock, len(others))
    bits = ""
    for following, next_score in others:
        board.push(move)
        bits += _move_bits(board, following)
        change = (next_score + score + 0x8000) % 0x10000 - 0x8000
        bits += "".join(_blocks(_unsigned(change)))
        move, score = following, next_score
    bits += "0" * (-len(bits) % 8)
    behind = bytes(int(bits[place : place + 8], 2) for place in range(0, len(bits), 8))
    return _packed(line.start) + b"".join(number.to_bytes(2, "big") for number in numbers) + behind


def _unsigned(number: int) -> int:
    return 2 * number if number >= 0 else 2 * (-number - 1) + 1


def _blocks(number: int) -> Iterator[str]:
    while True:
        yield f"{int(number > 15)}{number & 15:04b}"
        number >>= 4
        if not number:
            return


def _packed(board: chess.Board) -> bytes:
    nibbles = []
    for square in sorted(board.piece_map()):
        piece = board.piece_at(square)
        assert piece is not None
        nibble = 2 * (piece.piece_type - 1) + (not piece.color)
        pushed = board.ep_square is not None and board.has_legal_en_passant() and square == board.ep_square ^ 8
        if piece.piece_type == chess.PAWN and pushed:
            nibble = 12
        elif square in chess.SquareSet(board.clean_castling_rights()):
            nibble = 13 if piece.color else 14
        elif piece == chess.Piece(chess.KING, chess.BLACK) and not board.turn:
            nibble = 15
        nibbles.append(nibble)
    nibbles += [0] * (32 - len(nibbles))
    pairs = zip(nibbles[::2], nibbles[1::2], strict=True)
    return int(board.occupied).to_bytes(8, "big") + bytes(low + 16 * high for low, high in pairs)


def _castled_rook(board: chess.Board, move: chess.Move) -> int:
    rank = move.from_square & 56
    return rank if board.is_queenside_castling(move) else rank + 7


def _targets(board: chess.Board, origin: int) -> Sequence[int]:
    own = board.occupied_co[board.turn]
    targets = {square for square in board.attacks(origin) if not own >> square & 1}
    if board.piece_type_at(origin) == chess.PAWN:
        takes = {square for square in targets if board.occupied >> square & 1}
        if board.has_legal_en_passant() and board.ep_square in targets:
            takes.add(board.ep_square)
        step = 8 if board.turn else -8
        if not board.piece_at(origin + step):
            takes.add(origin + step)
            if chess.square_rank(origin) == (1 if board.turn else 6) and not board.piece_at(origin + 2 * step):
                takes.add(origin + 2 * step)
        return sorted(takes)
    if board.piece_type_at(origin) == chess.KING:
        rooks = [rook for rook in (0, 7, 56, 63) if board.clean_castling_rights() & own & 1 << rook]
        return [*sorted(targets), *rooks]
    return sorted(targets)


def _move_bits(board: chess.Board, move: chess.Move) -> str:
    pieces = [square for square in range(64) if board.occupied_co[board.turn] >> square & 1]
    targets = _targets(board, move.from_square)
    target = _castled_rook(board, move) if board.is_castling(move) else move.to_square
    number, count = targets.index(target), len(targets)
    if board.piece_type_at(move.from_square) == chess.PAWN and chess.square_rank(move.from_square) == (
        6 if board.turn else 1
    ):
        number, count = 4 * number + (move.promotion or 0) - 2, 4 * count
    return _number(pieces.index(move.from_square), len(pieces)) + _number(number, count)


def _number(number: int, count: int) -> str:
    width = (count - 1).bit_length()
    return f"{number:0{width}b}" if width else ""
