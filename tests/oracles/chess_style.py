"""The 140 features of styles (Levene and Fenner 2009, section 3.1) by name, square by square with python-chess."""

from itertools import combinations

import chess

from glem.plugins.chess.hand_set import square_value

VALUES = {chess.PAWN: 4, chess.KNIGHT: 13, chess.BISHOP: 13, chess.ROOK: 20, chess.QUEEN: 39, chess.KING: 0}
FILES = "abcdefgh"


def style_of(board: chess.Board) -> dict[str, int]:
    """All features of a position by name; a Black mover's board is mirrored first."""
    view = board if board.turn == chess.WHITE else board.mirror()
    own, other = one_side(view), one_side(view.mirror())
    return {name: own[name] - other[name] for name in own}


def one_side(board: chess.Board) -> dict[str, int]:
    """What White counts; the board is turned to White by a mirror where Black counts."""
    men = {square: piece for square, piece in board.piece_map().items() if piece.color == chess.WHITE}
    pawns = {chess.square_name(square) for square, piece in men.items() if piece.piece_type == chess.PAWN}
    others = {chess.square_name(square) for square in board.pieces(chess.PAWN, chess.BLACK)}
    kinds = [piece.piece_type for piece in men.values()]
    bishops = board.pieces(chess.BISHOP, chess.WHITE)
    dark = {(chess.square_file(square) + chess.square_rank(square)) % 2 for square in bishops}
    found = {
        "material": sum(VALUES[kind] for kind in kinds),
        "pseudo_mobility": pseudo_moves(board),
        "piece_squares": sum(
            round(square_value(chess.piece_name(piece.piece_type), square)[0]) for square, piece in men.items()
        ),
        "bishop_pair": int(len(dark) == 2),
        "knight_pair": int(kinds.count(chess.KNIGHT) >= 2),
        "bishop_for_knight": int(kinds.count(chess.BISHOP) == 1 and chess.KNIGHT not in kinds),
        "knight_for_bishop": int(kinds.count(chess.KNIGHT) == 1 and chess.BISHOP not in kinds),
        "castled": castled(board),
        "doubled_pawns": sum(any(ahead(pawn, other) for other in pawns) for pawn in pawns),
        "saddled_pawns": -sum(
            any(ahead(pawn, other) for other in pawns) and not any(neighbours(pawn[0], other[0]) for other in pawns)
            for pawn in pawns
        ),
        "queenside_majority": int(on(pawns, "abcd") > on(others, "abcd")),
        "kingside_majority": int(on(pawns, "efgh") > on(others, "efgh")),
        "expansion": sum(chess.square_rank(square) + 1 for square in men),
    }
    names = {chess.square_name(square) for square in men}
    for ranks in ("123", "45", "678"):
        for files in ("abc", "de", "fgh"):
            corner = f"complex_{files[0]}{ranks[0]}_{files[-1]}{ranks[-1]}"
            found[corner] = sum(name[0] in files and name[1] in ranks for name in names)
    for one, other in combinations(chess.SQUARE_NAMES[8:56], 2):
        if neighbours(one[0], other[0]) and abs(int(one[1]) - int(other[1])) <= 1:
            found[f"pawns_{one}_{other}"] = int({one, other} <= pawns)
    files = {pawn[0] for pawn in pawns}
    found["isolated_d_pawn"] = int("d" in files and not {"c", "e"} & files)
    found["d4_without_c"] = int("d4" in pawns and "c" not in files and "e" in files)
    found["d4_without_e"] = int("d4" in pawns and "e" not in files and "c" in files)
    found["maroczy_bind"] = int({"c4", "e4"} <= pawns and "d" not in files)
    found["e4_without_d"] = int("e4" in pawns and "c4" not in pawns and "d" not in files)
    off_d4 = any(pawn[0] == "d" and pawn != "d4" for pawn in pawns)
    found["half_open_c"] = int("c" not in files and off_d4 and "e" in files)
    return found


def ahead(pawn: str, other: str) -> bool:
    return pawn[0] == other[0] and pawn[1] < other[1]


def neighbours(file: str, other: str) -> bool:
    return abs(FILES.index(file) - FILES.index(other)) == 1


def on(pawns: set[str], files: str) -> int:
    return sum(pawn[0] in files for pawn in pawns)


def castled(board: chess.Board) -> int:
    king = board.king(chess.WHITE)
    assert king is not None
    if not board.pieces(chess.QUEEN, chess.BLACK) or board.castling_rights & chess.BB_RANK_1:
        return 0
    if chess.square_rank(king) != 0 or chess.square_file(king) not in (0, 1, 2, 6, 7):
        return 0
    file = chess.square_file(king)
    beyond = range(file + 1, 8) if file > 4 else range(file)
    rook = chess.Piece(chess.ROOK, chess.WHITE)
    return int(not any(board.piece_at(square) == rook for square in beyond))


def pseudo_moves(board: chess.Board) -> int:
    """Pseudo-legal moves of White without castling and en passant, a promotion once."""
    turned = board.copy(stack=False)
    turned.turn, turned.castling_rights, turned.ep_square = chess.WHITE, chess.BB_EMPTY, None
    return len({(move.from_square, move.to_square) for move in turned.pseudo_legal_moves})
