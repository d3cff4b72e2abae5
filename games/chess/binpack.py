"""Games in Stockfish's ``binpack``, the training data of nnue-pytorch, read by a compiled pass over its bits.

A file is a row of chunks: ``BINP``, their size as uint32, little-endian, and as many bytes. A chunk is a row of lines
of play, each with a position, the moves that were played from there, and a score of the side to move before each. All
further numbers are big-endian::

    occupied    uint64: squares with a piece, a1 is bit 0
    pieces      uint8 [16]: four bits for each of them, the lower half of a byte first: 2 kind + colour, for a pawn,
                knight, bishop, rook, queen, king, White's or Black's; 12 for a pawn that has just moved two squares,
                13 and 14 for a rook of White and Black that may castle, 15 for Black's king where Black is to move
    move        uint16: 2 bits for a usual one, a promotion, castling (onto the rook) or en passant; 6 for the origin,
                6 for the target, 2 for a knight, bishop, rook or queen; 0 for none
    score       uint16, the sign in the lowest bit
    ply, result uint16: 14 bits, and 2 for the result of the side to move, the sign in the lowest bit
    clock       uint16: plies since the last capture or pawn move
    moves       uint16: how many follow

Each of these is the number of a piece of the side to move, of as many bits as the number of its pieces takes, the
number of one of its targets in the same way, and what is added to the last score, in blocks of four bits with one more
that says whether another follows. Targets are the squares that a piece reaches, by pins and checks or not, in the order
of their bits; four for each where a pawn promotes; for a king castling at last, the long one first.

The layout is that of T. Sobczyk's ``binpack.h``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import store_position
from glem.core.compiling.kernels import ONE, ZERO, compiled, popcount, trailing_zeros
from glem.core.errors import BadInputError
from glem.core.files.packed import open_bounded
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.games.chess.fen import is_possible, legal_en_passant
from glem.games.chess.notation import MAX_MOVES
from glem.games.chess.pgn.comments import CE, NO_SCORE
from glem.games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, pawn_attacks, rook_attacks
from glem.games.chess.rules.generation import count_moves_on_board, legal_moves
from glem.games.chess.rules.playing import play
from glem.games.chess.rules.position import Position, kind_at, occupied_squares, own_squares, with_key

_MAGIC, _HEADER = b"BINP", 8
_LONGEST_CHUNK = 100 << 20
_LINE_BYTES = 34
_MOST_LINE = 1 << 16
_MOVES_AT_ONCE = 1 << 20
_NO_VALUE = 32002
_SCORE_BITS, _MOST_BLOCKS = 4, 4
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(6)
_WHITE, _CASTLING = 6, 7
_GOOD, _CUT, _IMPOSSIBLE, _ILLEGAL, _NO_RESULT = range(5)
_REASONS = {
    _CUT: "the chunk ends within its moves",
    _IMPOSSIBLE: "no game of chess leads to its first position",
    _ILLEGAL: "one of its moves is illegal",
    _NO_RESULT: "its result is none of won, drawn and lost",
}
_FILE_A_H, _FILE_E = np.uint64(0x8100000000000081), np.uint64(0x1000000000000010)
_RANK_4_5 = np.uint64(0x000000FFFF000000)


class _Lines(NamedTuple):
    """Lines of play: where the moves of each end and the rest begins, results as White sees them, what is wrong."""

    ends: NDArray[np.int64]
    results: NDArray[np.float32]
    states: NDArray[np.uint8]


class _Moves(NamedTuple):
    """Moves with the scores of those who made them."""

    moves: NDArray[np.int16]
    scores: NDArray[np.float32]


def _signed(word: int) -> int:
    """Give the number of 16 bits whose sign is the lowest one."""
    value = word >> 1
    return -value - 1 if word & 1 else value


def _bits(data: Any, bit: int, count: int) -> int:
    """Read a number of up to 8 bits that begin at a bit, the highest first; behind the data there are zeros."""
    byte = bit >> 3
    word = np.int64(data[byte]) << 8 if byte < data.shape[0] else np.int64(0)
    if byte + 1 < data.shape[0]:
        word |= np.int64(data[byte + 1])
    return int((word >> np.int64(16 - (bit & 7) - count)) & np.int64((1 << count) - 1))


def _width(count: int) -> int:
    """Bits of the greatest of so many numbers from 0."""
    width = 0
    while count > 1 << width:
        width += 1
    return width


def _bit_of(board: np.uint64, number: int) -> np.uint64:
    """Square of a board by its number in the order of squares; nothing where there are not as many."""
    for _ in range(number):
        board &= board - ONE if board != ZERO else ZERO
    return board & (~board + ONE)


def _first_position(data: Any, at: int, boards: Any) -> tuple[bool, Position]:
    """Read the position that begins at an index, without its clock; whether it may be one."""
    boards[:] = ZERO
    occupied = ZERO
    for byte in range(8):
        occupied = (occupied << np.uint64(8)) | np.uint64(data[at + byte])
    left, number, turn, en_passant = occupied, 0, 0, -1
    if popcount(occupied) > 32:
        left = ZERO
    while left != ZERO:
        square = left & (~left + ONE)
        left ^= square
        piece = (np.int64(data[at + 8 + (number >> 1)]) >> np.int64(4 * (number & 1))) & np.int64(15)
        number += 1
        kind, white = int(piece >> 1), piece & 1 == 0
        if piece == 12:
            kind, white = _PAWN, trailing_zeros(square) < 32
            en_passant = trailing_zeros(square) + (-8 if white else 8) if square & _RANK_4_5 != ZERO else -2
        elif piece == 13 or piece == 14:
            kind, white = _ROOK, piece == 13
            boards[_CASTLING] |= square
        elif piece == 15:
            kind, white, turn = _KING, False, 1
        boards[kind] |= square
        if white:
            boards[_WHITE] |= square
    pawns, knights, bishops, rooks, queens, kings, white_pieces, castling = boards
    state = np.uint8(0), np.uint8(turn), np.uint8(0)
    position = Position(pawns, knights, bishops, rooks, queens, kings, white_pieces, castling, ZERO, *state)
    good = en_passant != -2 and pawns | knights | bishops | rooks | queens | kings == occupied
    good = good and castling & ~_FILE_A_H == ZERO and is_possible(position)
    for rank in (np.uint64(0xFF), np.uint64(0xFF) << np.uint64(56)):
        # White's rooks are on its own rank and so is its king, and Black's.
        own = white_pieces if rank == np.uint64(0xFF) else ~white_pieces
        good = good and (castling & rank & ~own == ZERO)
        good = good and (castling & rank == ZERO or kings & own & rank & _FILE_E != ZERO)
    state = legal_en_passant(position, en_passant), np.uint8(turn), np.uint8(0)
    return good, Position(pawns, knights, bishops, rooks, queens, kings, white_pieces, castling, ZERO, *state)


def _targets(position: Position, square: np.uint64) -> np.uint64:
    """Squares that the piece on a square of the side to move reaches, whatever becomes of its king; no castling."""
    black = position.turn != np.uint8(0)
    occupied, own = occupied_squares(position), own_squares(position)
    place = np.uint64(trailing_zeros(square))
    kind = int(kind_at(position, place))
    if kind == _PAWN:
        enemies = occupied & ~own
        if position.en_passant != np.uint8(0):
            enemies |= ONE << np.uint64(position.en_passant)
        targets = pawn_attacks(square, black) & enemies
        ahead = (square >> np.uint64(8) if black else square << np.uint64(8)) & ~occupied
        targets |= ahead
        is_first = int(place) >> 3 == (6 if black else 1)
        if is_first:
            targets |= (ahead >> np.uint64(8) if black else ahead << np.uint64(8)) & ~occupied
        return targets
    if kind == _KNIGHT:
        return knight_attacks(place) & ~own
    if kind == _KING:
        return king_attacks(place) & ~own
    targets = ZERO
    if kind != _ROOK:
        targets |= bishop_attacks(place, occupied)
    if kind != _BISHOP:
        targets |= rook_attacks(place, occupied)
    return targets & ~own


def _next_move(data: Any, bit: int, position: Position) -> tuple[int, int]:
    """Read a move, -1 where there is no such one, and where its score begins."""
    own = own_squares(position)
    count = _width(popcount(own))
    origin = _bit_of(own, _bits(data, bit, count))
    bit += count
    if origin == ZERO:
        return -1, bit
    targets = _targets(position, origin)
    place = np.uint64(trailing_zeros(origin))
    kind = int(kind_at(position, place))
    known = popcount(targets)
    rooks = ZERO
    if kind == _KING:
        rooks = position.castling & own
    promotes = kind == _PAWN and int(place) >> 3 == (1 if position.turn != np.uint8(0) else 6)
    count = _width(4 * known if promotes else known + popcount(rooks))
    number = _bits(data, bit, count)
    bit += count
    promotion = 0
    if promotes:
        number, promotion = number >> 2, (number & 3) + 1
    target = _bit_of(targets, number) if number < known else _bit_of(rooks, number - known)
    if target == ZERO:
        return -1, bit
    return int(place) + 64 * trailing_zeros(target) + 4096 * promotion, bit


def _is_legal(position: Position, move: int, buffer: Any) -> bool:
    found = False
    for place in range(legal_moves(position, buffer, 0)):
        found = found or buffer[place] == move
    return found


def _read_line(
    data: Any, at: int, starts: Any, line: int, first: int, moves: Any, scores: Any, boards: Any, buffer: Any
) -> tuple[int, int, int, float]:
    """Read the line of play that begins at an index; its state, where it ends, its moves and its result for White."""
    good, position = _first_position(data, at, boards)
    word = (int(data[at + 24]) << 8) | int(data[at + 25])
    score = _signed((int(data[at + 26]) << 8) | int(data[at + 27]))
    result = _signed(int(data[at + 28]) >> 6)
    clock = min((int(data[at + 30]) << 8) | int(data[at + 31]), 255)
    further = (int(data[at + 32]) << 8) | int(data[at + 33])
    begin = at + _LINE_BYTES
    state = position.en_passant, position.turn, np.uint8(clock)
    position = with_key(Position(*position[:9], *state))
    if not good or count_moves_on_board(position) > MAX_MOVES:
        return _IMPOSSIBLE, begin, 0, 0.0
    if result < -1 or result > 1:
        return _NO_RESULT, begin, 0, 0.0
    store_position(starts, line, position)
    white = float(result if position.turn == np.uint8(0) else -result)
    move = ((word >> 8) & 63) + 64 * ((word >> 2) & 63) + (4096 * ((word & 3) + 1) if word >> 14 == 1 else 0)
    bit, found = 8 * begin, 0
    if word == 0:
        return (_GOOD if further == 0 else _ILLEGAL), begin, 0, white
    while True:
        if not _is_legal(position, move, buffer):
            return _ILLEGAL, begin, 0, 0.0
        moves[first + found] = move
        scores[first + found] = np.nan if score == _NO_VALUE else score
        found += 1
        if found > further:
            break
        position = play(position, move)
        move, bit = _next_move(data, bit, position)
        change, shift = 0, 0
        more = 1
        while more and shift < _SCORE_BITS * _MOST_BLOCKS:
            block = _bits(data, bit, _SCORE_BITS + 1)
            bit += _SCORE_BITS + 1
            change |= (block & 15) << shift
            more = block >> _SCORE_BITS
            shift += _SCORE_BITS
        if bit > 8 * data.shape[0]:
            return _CUT, begin, 0, 0.0
        if move < 0 or more:
            return _ILLEGAL, begin, 0, 0.0
        # In 16 bits, as the writer has it.
        score = (-score + _signed(change) + 0x8000) % 0x10000 - 0x8000
    return _GOOD, (bit + 7) >> 3, found, white


def _read_chunk(data: Any, at: int, starts: Any, lines: Any, moves: Any, buffer: Any) -> tuple[int, int]:
    """Read lines of play from an index on while there is room; where the next begins, and how many were read.

    A bad line is the last one: nothing says where the next begins.
    """
    boards = np.zeros(8, np.uint64)
    count = used = 0
    while (
        at + _LINE_BYTES <= data.shape[0] and count < lines.ends.shape[0] and used + _MOST_LINE < moves.moves.shape[0]
    ):
        state, at, found, result = _read_line(data, at, starts, count, used, moves.moves, moves.scores, boards, buffer)
        used += found
        lines.ends[count], lines.results[count], lines.states[count] = used, result, state
        count += 1
        if state != _GOOD:
            return data.shape[0], count
    return at, count


def read_binpack(
    game: Game, path: Path, /, *, skip_bad: bool, chunk_games: int, max_bytes: int
) -> Iterator[GameRecords]:
    """Read and check the lines of play of a binpack; each is a game, or a part of one.

    A line is bad when its first position is none, a move is illegal or cut off, or its result is none. What follows it
    in its chunk cannot be read then.

    Parameters
    ----------
    path
        The file.
    skip_bad
        Leave bad lines out, with the rest of their chunks, and count them.
    chunk_games
        Most lines in one set of records.
    max_bytes
        Limit on the unpacked size.

    Yields
    ------
    GameRecords
        ``score`` is White's by the result. Column: ``number`` int64. Columns of moves as PGN has them
        (:func:`~glem.games.chess.pgn.reading.read_pgn`), with the scores of the sides that moved, in the writer's unit.

    Raises
    ------
    BadInputError
        The file cannot be read, is no binpack, or has a bad line and ``skip_bad`` is false.
    """
    reader = _Reader(game, path, skip_bad, chunk_games)
    with open_bounded(path, max_bytes=max_bytes) as file:
        number = 0
        while header := file.read(_HEADER):
            number += 1
            size = _size_of(path, number, header)
            content = file.read(size)
            data, is_cut = np.frombuffer(content, np.uint8).copy(), len(content) < size
            yield from reader.records(data, is_cut=is_cut)
            if is_cut:
                raise BadInputError(
                    f"{path}: chunk {number} should have {size:,} bytes, the file ends after {len(content):,}"
                )
    if number == 0:
        raise BadInputError(f"{path}: is empty; expected a binpack")


def _size_of(path: Path, number: int, header: bytes) -> int:
    size = int.from_bytes(header[4:], "little")
    if header[:4] != _MAGIC or len(header) < _HEADER or size > _LONGEST_CHUNK:
        raise BadInputError(
            f"{path}: chunk {number} begins with {header!r}, expected BINP and a size of up to {_LONGEST_CHUNK:,} bytes"
        )
    return size


@define(eq=False)
class _Reader:
    """Reads chunks; knows how many lines it has seen."""

    game: Game
    path: Path
    skip_bad: bool
    most: int
    number: int = 0

    def records(self, data: NDArray[np.uint8], *, is_cut: bool) -> Iterator[GameRecords]:
        """Read the lines of a chunk; the last one of a chunk that is cut is none."""
        at, buffer = 0, np.zeros(MAX_MOVES, np.int32)
        while at + _LINE_BYTES <= len(data):
            room = min(self.most, (len(data) - at) // _LINE_BYTES)
            starts = self.game.empty_columns(room)
            lines = _Lines(np.zeros(room, np.int64), np.zeros(room, np.float32), np.zeros(room, np.uint8))
            most = min(_MOVES_AT_ONCE, 8 * len(data) // (_SCORE_BITS + 1) + room) + _MOST_LINE + 1
            moves = _Moves(np.empty(most, np.int16), np.empty(most, np.float32))
            at, count = compiled(_read_chunk)(data, at, starts, lines, moves, buffer)
            if is_cut and lines.states[count - 1] != _GOOD:
                count, at = count - 1, len(data)
            yield self._records(count, starts, lines, moves)

    def _records(self, count: int, starts: Any, lines: _Lines, moves: _Moves) -> GameRecords:
        first, self.number = self.number + 1, self.number + count
        state = int(lines.states[count - 1]) if count else _GOOD
        problems: tuple[str, ...] = ()
        if state != _GOOD:
            count -= 1
            problems = (f"{self.path}: line of play {first + count}: {_REASONS[state]}; the rest of its chunk is lost",)
            if not self.skip_bad:
                raise BadInputError(problems[0])
        used = int(lines.ends[count - 1]) if count else 0
        scores = moves.scores[:used].copy()
        starts = type(starts)(*(column[:count].copy() for column in starts))
        return GameRecords.from_moves(
            moves.moves[:used].copy(),
            np.concatenate([np.zeros(1, np.int64), lines.ends[:count]]),
            lines.results[:count].copy(),
            extra={"number": np.arange(first, first + count, dtype=np.int64)},
            starts=starts,
            start_side=np.where(starts.turn == 0, 1, -1).astype(np.int8),
            move_columns={
                "comment_score": scores,
                "comment_mate": np.zeros(used, np.int16),
                "comment_kind": np.where(np.isnan(scores), NO_SCORE, CE).astype(np.uint8),
                "book": np.zeros(used, np.bool_),
            },
            source=self.path.name,
            problems=problems,
            skipped=len(problems),
        )


def recognizes(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a binpack."""
    return head.startswith(_MAGIC)
