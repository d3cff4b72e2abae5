"""The 140 features of players' styles in chess (Levene and Fenner 2009, section 3.1).

Every one is a count for the side to move less the same count for the opponent with the board turned over, so that an
evaluation is worth as much to one side as it costs the other, and any search can use it. The paper, which values
positions for one player alone, need not ask for that. What its text leaves open is read so:

- *material*: Kaufman's values (1999), in quarters of a pawn; *piece_squares*: the squares' values in the middlegame of
  the evaluation that ships, in hundredths (the paper's come from another program's games against itself).
- *castled* is no function of a position. What stands for it: a king that may not castle, on its first rank on the
  files a to c, g or h, with no own rook between it and the edge, and an opponent with a queen.
- Of bishops and knights each side counts what it has, which keeps both preferences apart.
- Doubled pawns are counted twice, too: all of them, and those without own pawns on the files beside, which are the ones
  that an opponent can be saddled with.
- A complex of squares counts all men. The opponent's men in it are counted by the complex that it is for the opponent.
- Adjacent pawns stand side by side (42 pairs) or on neighbouring squares of a diagonal (70 pairs).
"""

from collections.abc import Iterable
from typing import Any

import chess
import numpy as np
from chess import SQUARE_NAMES

from glem.core.compiling.kernels import ONE, ZERO, inlined, popcount, trailing_zeros
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning
from glem.games.chess import CHESS as GAME
from glem.games.chess.rules.attacks import NOT_A_FILE, NOT_H_FILE, king_attacks
from glem.games.chess.rules.position import Position, byte_swap
from glem.plugins.chess.features.placement import KINDS
from glem.plugins.chess.features.sides import (
    EIGHT,
    FILE_A,
    RANK_1,
    Pieces,
    beside,
    boards_of,
    file_fill,
    has,
    piece_attacks,
    south_fill,
    turned_over_pieces,
    union,
)
from glem.plugins.chess.hand_set import square_value
from glem.plugins.chess.phases import PHASES

_SQUARES = np.array(
    [
        [0 if kind == "pawn" and not 8 <= square < 56 else round(square_value(kind, square)[0]) for square in range(64)]
        for kind in KINDS
    ],
    np.int16,
).ravel()
"""Hundredths of a pawn by kind and square."""

_DARK = np.uint64(0xAA55AA55AA55AA55)
_RANK_3 = RANK_1 << np.uint64(16)
_WINGS = np.uint64(0xC7)
"""Files a to c, g and h of the first rank."""
_QUEENSIDE = np.uint64(0x0F0F0F0F0F0F0F0F)
_FILE_C, _FILE_D, _FILE_E = (FILE_A << np.uint64(file) for file in (2, 3, 4))
_C4, _D4, _E4 = (ONE << np.uint64(square) for square in (26, 27, 28))

_ROWS = (
    ("material", 800, "Men by Kaufman's values, in quarters of a pawn.", "4k3/8/8/8/8/8/3P4/4K3 w - - 0 1"),
    ("pseudo_mobility", 400, "Moves, pins and checks disregarded.", "4k3/p7/8/8/3N4/8/8/4K3 w - - 0 1"),
    ("piece_squares", 4000, "Values of the men's squares, in hundredths of a pawn.", "k7/8/8/3N4/8/8/8/n5K1 w - - 0 1"),
    ("bishop_pair", 1, "1 with bishops on squares of both colours.", "4k3/8/8/8/8/8/8/2B1KB2 w - - 0 1"),
    ("knight_pair", 1, "1 with two knights or more.", "4k3/8/8/8/8/8/8/1N2K1N1 w - - 0 1"),
    ("bishop_for_knight", 1, "1 with a single bishop and no knight.", "4k1n1/8/8/8/8/8/8/4KB2 w - - 0 1"),
    ("knight_for_bishop", 1, "1 with a single knight and no bishop.", "4kb2/8/8/8/8/8/8/4K1N1 w - - 0 1"),
    (
        "castled",
        1,
        "1 with a king as after castling while the opponent has a queen.",
        "3qk3/8/8/8/8/8/8/5RK1 w - - 0 1",
    ),
    ("doubled_pawns", 8, "Pawns behind another of their file.", "4k3/8/8/8/4P3/3P4/3P4/4K3 w - - 0 1"),
    (
        "saddled_pawns",
        8,
        "The opponent's doubled pawns without a pawn of his on the files beside, less the own.",
        "4k3/2p5/2p5/8/8/8/8/4K3 w - - 0 1",
    ),
    (
        "queenside_majority",
        1,
        "1 with more pawns than the opponent on files a to d.",
        "4k3/8/8/8/8/8/PP6/4K3 w - - 0 1",
    ),
    ("kingside_majority", 1, "1 with more pawns than the opponent on files e to h.", "4k3/8/8/8/8/8/6PP/4K3 w - - 0 1"),
    ("expansion", 256, "Sum of the ranks of all men (Shashin).", "4k3/p7/8/3N4/8/8/8/4K3 w - - 0 1"),
)
"""The first thirteen: names, greatest values, descriptions, a position that shows each."""

_COMPLEX_SQUARES = tuple(
    (files[0], ranks[0], files[-1], ranks[-1]) for ranks in ("123", "45", "678") for files in ("abc", "de", "fgh")
)
_FORMATIONS = (
    ("isolated_d_pawn", "1 with a pawn on the d-file and none on the files beside.", "4k3/8/8/8/3P4/8/8/4K3 w - - 0 1"),
    ("d4_without_c", "1 with pawns on d4 and the e-file, none on the c-file.", "4k3/8/8/8/3P4/4P3/8/4K3 w - - 0 1"),
    ("d4_without_e", "1 with pawns on d4 and the c-file, none on the e-file.", "4k3/8/8/8/3P4/2P5/8/4K3 w - - 0 1"),
    ("maroczy_bind", "1 with pawns on c4 and e4, none on the d-file.", "4k3/8/8/8/2P1P3/8/8/4K3 w - - 0 1"),
    ("e4_without_d", "1 with a pawn on e4, none on c4 or the d-file.", "4k3/8/8/8/4P3/8/8/4K3 w - - 0 1"),
    (
        "half_open_c",
        "1 with pawns on the e-file and on a square of the d-file other than d4, none on the c-file.",
        "4k3/8/8/8/4P3/3P4/8/4K3 w - - 0 1",
    ),
)


def _text_of(pawns: Iterable[int]) -> str:
    """FEN of White's pawns and two kings out of their way."""
    board = chess.Board(None)
    for square in (chess.E1, *pawns):
        board.set_piece_at(square, chess.Piece(chess.KING if square == chess.E1 else chess.PAWN, chess.WHITE))
    king = next(square for square in (chess.E8, chess.A8, chess.H8) if not board.is_attacked_by(chess.WHITE, square))
    board.set_piece_at(king, chess.Piece(chess.KING, chess.BLACK))
    return board.fen()


PAIRS = (
    *((square, square + 1) for square in range(8, 56) if square % 8 < 7),
    *(
        (min(pair), max(pair))
        for square in range(8, 48)
        if square % 8 < 7
        for pair in ((square, square + 9), (square + 1, square + 8))
    ),
)
"""Squares of adjacent pawns: side by side on ranks 2 to 7, then on diagonals."""

_PAIR_BOARDS = np.array([(1 << one) | (1 << other) for one, other in PAIRS], np.uint64)
_COMPLEX_BOARDS = np.array(
    [
        sum(
            1 << (8 * rank + file)
            for rank in range(int(low) - 1, int(high))
            for file in range("abcdefgh".index(left), "abcdefgh".index(right) + 1)
        )
        for left, low, right, high in _COMPLEX_SQUARES
    ],
    np.uint64,
)


def _features() -> tuple[AtomicFeature, ...]:
    rows = [
        *((name, most, text, "style", example) for name, most, text, example in _ROWS),
        *(
            (
                f"complex_{left}{low}_{right}{high}",
                16,
                f"Men on the squares from {left}{low} to {right}{high}.",
                "complexes",
                _text_of(square for square in range(8, 56) if int(board) >> square & 1),
            )
            for (left, low, right, high), board in zip(_COMPLEX_SQUARES, _COMPLEX_BOARDS, strict=True)
        ),
        *(
            (
                f"pawns_{SQUARE_NAMES[one]}_{SQUARE_NAMES[other]}",
                1,
                f"1 with pawns on {SQUARE_NAMES[one]} and {SQUARE_NAMES[other]}.",
                "pawn_pairs",
                _text_of((one, other)),
            )
            for one, other in PAIRS
        ),
        *((name, 1, text, "formations", example) for name, text, example in _FORMATIONS),
    ]
    return tuple(
        AtomicFeature(
            name,
            -most,
            most,
            text if name == "saddled_pawns" else f"{text[:-1]}; own less the opponent's.",
            group=group,
            example=example,
        )
        for name, most, text, group, example in rows
    )


def _pseudo_moves(own: Pieces, others: np.uint64) -> int:
    """Count moves of pieces and pawns going up, without castling and en passant; a promotion counts once."""
    all_own = union(own)
    occupied = all_own | others
    pushes = (own.pawns << EIGHT) & ~occupied
    count = popcount(pushes) + popcount(((pushes & _RANK_3) << EIGHT) & ~occupied)
    count += popcount(((own.pawns & NOT_A_FILE) << np.uint64(7)) & others)
    count += popcount(((own.pawns & NOT_H_FILE) << np.uint64(9)) & others)
    count += popcount(king_attacks(np.uint64(trailing_zeros(own.king))) & ~all_own)
    for kind in range(4):
        pieces = own[kind + 1]
        while pieces != ZERO:
            count += popcount(piece_attacks(kind, np.uint64(trailing_zeros(pieces)), occupied) & ~all_own)
            pieces &= pieces - ONE
    return count


@inlined
def _add_side(own: Pieces, other: Pieces, castling: np.uint64, sign: int, values: Any) -> None:
    """Add ``sign`` times what a side counts whose pawns go up."""
    pawns, all_own, others = own.pawns, union(own), union(other)
    values[1] += sign * _pseudo_moves(own, others)
    bishops, knights = popcount(own.bishops), popcount(own.knights)
    values[0] += sign * (4 * popcount(pawns) + 13 * (knights + bishops))
    values[0] += sign * (20 * popcount(own.rooks) + 39 * popcount(own.queens))
    values[3] += sign * has(own.bishops & _DARK) * has(own.bishops & ~_DARK)
    values[4] += sign * (1 if knights >= 2 else 0)
    values[5] += sign * (1 if bishops == 1 and knights == 0 else 0)
    values[6] += sign * (1 if knights == 1 and bishops == 0 else 0)
    king = own.king & _WINGS
    if king != ZERO and castling & RANK_1 == ZERO and other.queens != ZERO:
        higher = ~(king | (king - ONE)) & RANK_1
        beyond = higher if king > np.uint64(16) else king - ONE
        values[7] += sign * (1 - has(beyond & own.rooks))
    doubled = pawns & south_fill(pawns >> EIGHT)
    files = file_fill(pawns)
    values[8] += sign * popcount(doubled)
    values[9] -= sign * popcount(doubled & ~beside(files))
    values[10] += sign * (1 if popcount(pawns & _QUEENSIDE) > popcount(other.pawns & _QUEENSIDE) else 0)
    values[11] += sign * (1 if popcount(pawns & ~_QUEENSIDE) > popcount(other.pawns & ~_QUEENSIDE) else 0)
    for rank in range(8):
        values[12] += sign * (rank + 1) * popcount(all_own & (RANK_1 << (EIGHT * np.uint64(rank))))
    for place in range(9):
        values[13 + place] += sign * popcount(all_own & _COMPLEX_BOARDS[place])
    for place in range(112):
        board = _PAIR_BOARDS[place]
        values[22 + place] += sign * (1 if pawns & board == board else 0)
    c_pawns, d_pawns, e_pawns = pawns & _FILE_C, pawns & _FILE_D, pawns & _FILE_E
    is_d4 = pawns & _D4 != ZERO
    values[134] += sign * (1 if d_pawns != ZERO and c_pawns | e_pawns == ZERO else 0)
    values[135] += sign * (1 if is_d4 and c_pawns == ZERO and e_pawns != ZERO else 0)
    values[136] += sign * (1 if is_d4 and e_pawns == ZERO and c_pawns != ZERO else 0)
    values[137] += sign * (1 if pawns & _C4 != ZERO and pawns & _E4 != ZERO and d_pawns == ZERO else 0)
    values[138] += sign * (1 if pawns & _E4 != ZERO and d_pawns == ZERO and pawns & _C4 == ZERO else 0)
    values[139] += sign * (1 if c_pawns == ZERO and e_pawns != ZERO and d_pawns & ~_D4 != ZERO else 0)


def write_style(position: Position, values: Any) -> None:
    """Write the value of every feature, in the order of :data:`STYLE_FEATURES`."""
    boards = boards_of(position)
    for place in range(140):
        values[place] = 0
    own, other, castling = boards.own, boards.other, boards.castling
    # One loop, not two calls: the functions are inlined once.
    for waits in range(2):
        sign = 1 - 2 * waits
        _add_side(own, other, castling, sign, values)
        for kind in range(6):
            pieces = own[kind]
            while pieces != ZERO:
                values[2] += sign * _SQUARES[64 * kind + trailing_zeros(pieces)]
                pieces &= pieces - ONE
        own, other, castling = turned_over_pieces(other), turned_over_pieces(own), byte_swap(castling)


_NAMES = _features()

STYLE = Learning(
    game=GAME,
    features=AtomicFeatures(
        game=GAME,
        features=_NAMES,
        write=write_style,
        # The colour flip gives the mover the same view.
        symmetries=np.tile(np.arange(len(_NAMES), dtype=np.intp), (2, 1)),
    ),
    phases=PHASES,
    pattern_sets={},
    linear=tuple(feature.name for feature in _NAMES),
    baselines={"constant": (), "material": ("material",), "piece-square": ("material", "piece_squares")},
    label_unit="wins",
    feature_set="style",
)
"""The feature set ``style`` of chess."""
