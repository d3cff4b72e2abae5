"""Features of chess by name, square by square with python-chess; a Black mover's board is mirrored first."""

from collections.abc import Iterable

import chess
from chess import square_file as file_of
from chess import square_rank as rank_of

KINDS = {chess.piece_name(kind): kind for kind in chess.PIECE_TYPES}
POINTS = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
PIECES = (chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)


def features_of(board: chess.Board) -> dict[str, int]:
    """All features of a position by name."""
    view = board if board.turn == chess.WHITE else board.mirror()
    own, other = one_side(view, waits=False), one_side(view.mirror(), waits=True)
    found = {name: own[name] - other[name] for name in own}
    found["in_check"] = int(view.is_check())
    found["hanging_either_side"] = own["hanging_pieces"] + other["hanging_pieces"]
    found["pawn_threats_either_side"] = own["pawn_threats"] + other["pawn_threats"]
    return found | placement(view) | drawishness(view) | relations(view)


def of(board: chess.Board, kind: int, color: chess.Color = chess.WHITE) -> list[int]:
    return list(board.pieces(kind, color))


def pieces(board: chess.Board, color: chess.Color, kinds: Iterable[int] = PIECES) -> list[int]:
    return [square for kind in kinds for square in of(board, kind, color)]


def attacked(board: chess.Board, square: int, color: chess.Color, kinds: Iterable[int] = tuple(KINDS.values())) -> bool:
    return any(board.piece_type_at(attacker) in tuple(kinds) for attacker in board.attackers(color, square))


def material(board: chess.Board, color: chess.Color) -> int:
    return sum(points * len(of(board, kind, color)) for kind, points in POINTS.items())


def is_dark(square: int) -> bool:
    return (file_of(square) + rank_of(square)) % 2 == 0


def opposite_bishops(board: chess.Board) -> bool:
    colours = [{is_dark(square) for square in of(board, chess.BISHOP, color)} for color in (True, False)]
    return len(colours[0]) == len(colours[1]) == 1 and colours[0] != colours[1]


def only(board: chess.Board, *kinds: int) -> bool:
    """Whether there is no other kind of piece than kings, pawns and these."""
    return all(piece.piece_type in (chess.KING, chess.PAWN, *kinds) for piece in board.piece_map().values())


def one_side(board: chess.Board, waits: bool) -> dict[str, int]:
    """What is counted for White."""
    return {
        **material_terms(board),
        **mobility_terms(board),
        **pawn_terms(board, waits),
        **king_terms(board),
        **piece_terms(board),
    }


def material_terms(board: chess.Board) -> dict[str, int]:
    counts = {name: len(of(board, kind)) for name, kind in KINDS.items()}
    ahead = material(board, chess.WHITE) - material(board, chess.BLACK)
    single_bishops = len(of(board, chess.BISHOP)) == len(of(board, chess.BISHOP, chess.BLACK)) == 1
    bishops_alone = single_bishops and opposite_bishops(board) and only(board, chess.BISHOP)
    rooks_alone = only(board, chess.ROOK) and bool(of(board, chess.ROOK)) and bool(of(board, chess.ROOK, chess.BLACK))
    return {
        **{f"{name}s": counts[name] for name in ("pawn", "knight", "bishop", "rook", "queen")},
        "bishop_pair": int(len({is_dark(square) for square in of(board, chess.BISHOP)}) == 2),
        "knight_pair": int(counts["knight"] >= 2),
        "rook_pair": int(counts["rook"] >= 2),
        "knights_with_pawns": counts["knight"] * (counts["pawn"] - 5),
        "rooks_with_pawns": counts["rook"] * (counts["pawn"] - 5),
        "pawnless_ahead": int(counts["pawn"] == 0 and 0 < ahead < 5),
        "pawns_with_opposite_bishops": counts["pawn"] if bishops_alone else 0,
        "pawns_in_rook_ending": counts["pawn"] if rooks_alone else 0,
    }


def zone_of(board: chess.Board, color: chess.Color) -> set[int]:
    king = board.king(color)
    assert king is not None
    return {king, *board.attacks(king)}


def mobility_terms(board: chess.Board) -> dict[str, int]:
    found = {"king_zone_hits": 0}
    zone = zone_of(board, chess.BLACK)
    for most, (name, kind) in enumerate(list(KINDS.items())[1:5], start=1):
        mobility, trapped, attackers = 0, 0, 0
        for square in of(board, kind):
            reached = [
                target
                for target in board.attacks(square)
                if board.color_at(target) != chess.WHITE and not attacked(board, target, chess.BLACK, [chess.PAWN])
            ]
            mobility += len(reached)
            trapped += len(reached) <= most
            hits = len(zone & set(board.attacks(square)))
            attackers += hits > 0
            found["king_zone_hits"] += hits
        found |= {f"{name}_mobility": mobility, f"{name}_trapped": trapped, f"king_zone_{name}s": attackers}
    return found


def is_passed(board: chess.Board, square: int) -> bool:
    """Whether White's pawn is passed, and the first of its file."""
    ahead = [(file, rank) for file in range(8) for rank in range(rank_of(square) + 1, 8)]
    for file, rank in ahead:
        piece = board.piece_at(chess.square(file, rank))
        if piece is None or piece.piece_type != chess.PAWN:
            continue
        if file == file_of(square) or (piece.color == chess.BLACK and abs(file - file_of(square)) == 1):
            return False
    return True


def is_opposed(board: chess.Board, square: int) -> bool:
    others = of(board, chess.PAWN, chess.BLACK)
    return any(file_of(other) == file_of(square) and rank_of(other) > rank_of(square) for other in others)


def is_isolated(board: chess.Board, square: int) -> bool:
    return not any(abs(file_of(other) - file_of(square)) == 1 for other in of(board, chess.PAWN))


def is_backward(board: chess.Board, square: int) -> bool:
    if is_isolated(board, square) or not attacked(board, square + 8, chess.BLACK, [chess.PAWN]):
        return False
    beside = [other for other in of(board, chess.PAWN) if abs(file_of(other) - file_of(square)) == 1]
    return all(rank_of(other) > rank_of(square) for other in beside)


def is_candidate(board: chess.Board, square: int) -> bool:
    pawns, others = of(board, chess.PAWN), of(board, chess.PAWN, chess.BLACK)
    on_file = any(file_of(p) == file_of(square) and rank_of(p) > rank_of(square) for p in (*pawns, *others))
    if on_file or is_passed(board, square):
        return False
    helpers = [p for p in pawns if abs(file_of(p) - file_of(square)) == 1 and rank_of(p) <= rank_of(square)]
    sentries = [p for p in others if abs(file_of(p) - file_of(square)) == 1 and rank_of(p) > rank_of(square)]
    return len(helpers) >= len(sentries)


def is_connected(board: chess.Board, square: int) -> bool:
    pawns = of(board, chess.PAWN)
    beside = any(rank_of(p) == rank_of(square) and abs(file_of(p) - file_of(square)) == 1 for p in pawns)
    return beside or attacked(board, square, chess.WHITE, [chess.PAWN])


def is_unstoppable(board: chess.Board, square: int, waits: bool) -> bool:
    king = board.king(chess.BLACK)
    assert king is not None
    if pieces(board, chess.BLACK) or any(board.piece_at(s) for s in range(square + 8, 64, 8)):
        return False
    moves = min(7 - rank_of(square), 5)
    return chess.square_distance(king, chess.square(file_of(square), 7)) - waits > moves


def pawn_terms(board: chess.Board, waits: bool) -> dict[str, int]:
    pawns = of(board, chess.PAWN)
    passed = [square for square in pawns if is_passed(board, square)]
    files = {file_of(square) for square in pawns}
    kings = board.king(chess.WHITE), board.king(chess.BLACK)
    assert kings[0] is not None and kings[1] is not None
    far = [square + 8 for square in passed if rank_of(square) >= 3]

    def rooks_behind(square: int, color: chess.Color) -> bool:
        rooks = of(board, chess.ROOK, color)
        return any(file_of(rook) == file_of(square) and rank_of(rook) < rank_of(square) for rook in rooks)

    def together(square: int) -> bool:
        return any(chess.square_distance(square, p) == 1 and file_of(p) != file_of(square) for p in passed)

    return {
        "doubled_pawns": sum(any(p > s and file_of(p) == file_of(s) for p in pawns) for s in pawns),
        "isolated_pawns": sum(is_isolated(board, s) for s in pawns),
        "isolated_unopposed": sum(is_isolated(board, s) and not is_opposed(board, s) for s in pawns),
        "backward_pawns": sum(is_backward(board, s) for s in pawns),
        "backward_unopposed": sum(is_backward(board, s) and not is_opposed(board, s) for s in pawns),
        **{
            f"connected_rank_{rank + 1}": sum(rank_of(s) == rank and is_connected(board, s) for s in pawns)
            for rank in range(1, 7)
        },
        **{f"passed_rank_{rank + 1}": sum(rank_of(s) == rank for s in passed) for rank in range(1, 7)},
        "passed_defended": sum(attacked(board, s, chess.WHITE, [chess.PAWN]) for s in passed),
        "passed_together": sum(together(s) for s in passed),
        "passed_blocked": sum(board.color_at(s + 8) == chess.BLACK for s in passed),
        "passed_free": sum(board.piece_at(s + 8) is None and not attacked(board, s + 8, chess.BLACK) for s in passed),
        "passed_clear": sum(not any(board.piece_at(a) for a in range(s + 8, 64, 8)) for s in passed),
        "passed_rook_behind": sum(rooks_behind(s, chess.WHITE) for s in passed),
        "passed_hostile_rook_behind": sum(rooks_behind(s, chess.BLACK) for s in passed),
        "passed_own_king": sum(chess.square_distance(kings[0], s) for s in far),
        "passed_hostile_king": sum(chess.square_distance(kings[1], s) for s in far),
        "passed_unstoppable": int(any(is_unstoppable(board, s, waits) for s in passed)),
        "candidates": sum(is_candidate(board, s) for s in pawns),
        "pawn_islands": sum(file in files and file - 1 not in files for file in range(8)),
        "pawn_levers": sum(attacked(board, s, chess.WHITE, [chess.PAWN]) for s in of(board, chess.PAWN, chess.BLACK)),
    }


def king_terms(board: chess.Board) -> dict[str, int]:
    king, target = board.king(chess.WHITE), board.king(chess.BLACK)
    assert king is not None and target is not None
    castling = [rook for rook in chess.SquareSet(board.castling_rights) if rank_of(rook) == 0]
    middle = min(max(file_of(king), 1), 6)
    files = (middle - 1, middle, middle + 1)
    ours = [(file_of(s), rank_of(s) - rank_of(king)) for s in of(board, chess.PAWN) if file_of(s) in files]
    theirs = [
        (file_of(s), rank_of(s) - rank_of(king)) for s in of(board, chess.PAWN, chess.BLACK) if file_of(s) in files
    ]
    zone = zone_of(board, chess.BLACK)
    attackers = sum(bool(zone & set(board.attacks(square))) for square in pieces(board, chess.WHITE))
    weak = [
        square
        for square in zone
        if attacked(board, square, chess.WHITE) and not attacked(board, square, chess.BLACK, list(KINDS.values())[:5])
    ]

    def checks(kind: int, *ways: int) -> int:
        for square in range(64):
            if board.color_at(square) == chess.WHITE or attacked(board, square, chess.BLACK):
                continue
            if not attacked(board, square, chess.WHITE, [kind]):
                continue
            # A piece attacks the king from where one of its kind in the king's place would attack it.
            for way in ways:
                turned = board.copy(stack=False)
                turned.set_piece_at(target, chess.Piece(way, chess.BLACK))
                if square in turned.attacks(target):
                    return 1
        return 0

    return {
        "castling_kingside": int(any(rook > king for rook in castling)),
        "castling_queenside": int(any(rook < king for rook in castling)),
        "shelter_near": sum(ahead == 1 for _, ahead in ours),
        "shelter_far": sum(ahead == 2 for _, ahead in ours),
        "king_half_open_files": sum(not any(f == file and ahead >= 0 for f, ahead in ours) for file in files),
        "king_open_files": sum(not any(f == file for f, _ in (*ours, *theirs)) for file in files),
        "storm_near": sum(0 <= ahead <= 2 for _, ahead in theirs),
        "storm_far": sum(3 <= ahead <= 4 for _, ahead in theirs),
        "attackers_two": int(attackers == 2),
        "attackers_three": int(attackers == 3),
        "attackers_four": int(attackers >= 4),
        "king_zone_weak": len(weak),
        "knight_checks": checks(chess.KNIGHT, chess.KNIGHT),
        "bishop_checks": checks(chess.BISHOP, chess.BISHOP),
        "rook_checks": checks(chess.ROOK, chess.ROOK),
        "queen_checks": checks(chess.QUEEN, chess.BISHOP, chess.ROOK),
    }


def piece_terms(board: chess.Board) -> dict[str, int]:
    pawns, others = of(board, chess.PAWN), of(board, chess.PAWN, chess.BLACK)
    files, other_files = {file_of(s) for s in pawns}, {file_of(s) for s in others}
    rooks = of(board, chess.ROOK)
    hostile = pieces(board, chess.BLACK)
    king = board.king(chess.BLACK)
    assert king is not None
    seventh = any(rank_of(s) == 6 for s in others) or rank_of(king) == 7

    def by(square: int, *kinds: int) -> bool:
        return attacked(board, square, chess.WHITE, kinds)

    def hanging(square: int) -> bool:
        return attacked(board, square, chess.WHITE) and not attacked(board, square, chess.BLACK)

    def is_outpost(square: int) -> bool:
        chased = any(abs(file_of(s) - file_of(square)) == 1 and rank_of(s) > rank_of(square) for s in others)
        return 3 <= rank_of(square) <= 5 and by(square, chess.PAWN) and not chased

    def steps() -> set[int]:
        found = set()
        for square in pawns:
            if board.piece_at(square + 8) is None:
                found.add(square + 8)
                if rank_of(square) == 1 and board.piece_at(square + 16) is None:
                    found.add(square + 16)
        return {
            s
            for s in found
            if not attacked(board, s, chess.BLACK, [chess.PAWN])
            and (attacked(board, s, chess.WHITE) or not attacked(board, s, chess.BLACK))
        }

    pushed = {
        target
        for s in steps()
        for target in hostile
        if rank_of(target) - rank_of(s) == 1 and abs(file_of(target) - file_of(s)) == 1
    }
    minors = (*of(board, chess.KNIGHT, chess.BLACK), *of(board, chess.BISHOP, chess.BLACK))
    queens = of(board, chess.QUEEN, chess.BLACK)
    same_colour = [(b, p) for b in of(board, chess.BISHOP) for p in pawns if is_dark(b) == is_dark(p)]
    return {
        "rook_open_file": sum(file_of(s) not in files | other_files for s in rooks),
        "rook_half_open_file": sum(file_of(s) in other_files - files for s in rooks),
        "rook_seventh": sum(rank_of(s) == 6 for s in rooks) if seventh else 0,
        "rooks_connected": int(any(by(s, chess.ROOK) for s in rooks)),
        "knight_outpost": sum(is_outpost(s) for s in of(board, chess.KNIGHT)),
        "bishop_outpost": sum(is_outpost(s) for s in of(board, chess.BISHOP)),
        "minor_behind_pawn": sum(
            s + 8 in (*pawns, *others) for s in pieces(board, chess.WHITE, (chess.KNIGHT, chess.BISHOP))
        ),
        "bishop_own_pawns": len(same_colour),
        "pawn_threats": sum(by(s, chess.PAWN) for s in hostile),
        "minor_threats": sum(by(s, chess.KNIGHT, chess.BISHOP) for s in (*of(board, chess.ROOK, chess.BLACK), *queens)),
        "rook_threats": sum(by(s, chess.ROOK) for s in queens),
        "hanging_pieces": sum(hanging(s) for s in hostile),
        "hanging_pawns": sum(hanging(s) for s in others),
        "attacked_minors": sum(
            attacked(board, s, chess.WHITE) and not attacked(board, s, chess.BLACK, [chess.PAWN]) for s in minors
        ),
        "pawn_push_threats": sum(not by(s, chess.PAWN) for s in pushed),
        "control": sum(attacked(board, s, chess.WHITE) for s in range(64)),
        "space": sum(
            chess.square(f, r) not in pawns and not attacked(board, chess.square(f, r), chess.BLACK, [chess.PAWN])
            for f in range(2, 6)
            for r in range(1, 4)
        ),
    }


def placement(board: chess.Board) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, kind in KINDS.items():
        for square in range(64):
            if name == "pawn" and not 0 < rank_of(square) < 7:
                continue
            if name in ("pawn", "king"):
                shared = {square}
            elif file_of(square) < 4:
                shared = {square, chess.square(7 - file_of(square), rank_of(square))}
            else:
                continue
            ours = sum(s in shared for s in of(board, kind))
            theirs = sum(chess.square_mirror(s) in shared for s in of(board, kind, chess.BLACK))
            found[f"{name}_{chess.square_name(square)}"] = ours - theirs
    return found


def drawishness(board: chess.Board) -> dict[str, int]:
    pawns, others = of(board, chess.PAWN), of(board, chess.PAWN, chess.BLACK)
    files, other_files = {file_of(s) for s in pawns}, {file_of(s) for s in others}
    counts = {kind: (len(of(board, kind)), len(of(board, kind, chess.BLACK))) for kind in (chess.PAWN, *PIECES)}
    difference = material(board, chess.WHITE) - material(board, chess.BLACK)
    stronger = pawns if difference > 0 else others
    opposite = opposite_bishops(board)
    all_files = [file_of(s) for s in (*pawns, *others)]
    kings = board.king(chess.WHITE), board.king(chess.BLACK)
    assert kings[0] is not None and kings[1] is not None
    bare = only(board)
    mirrored = board.mirror()
    left = {kind: sum(count) for kind, count in counts.items()}
    rights = {rank_of(s) for s in chess.SquareSet(board.castling_rights)}
    clock = min(board.halfmove_clock, 150)
    return {
        "opposite_bishops_alone": int(opposite and only(board, chess.BISHOP)),
        "opposite_bishops_rooks": int(
            opposite and only(board, chess.BISHOP, chess.ROOK) and not only(board, chess.BISHOP)
        ),
        "opposite_bishops_others": int(opposite and not only(board, chess.BISHOP, chess.ROOK)),
        "insufficient_material": int(board.is_insufficient_material()),
        "sides_without_pawns": (not pawns) + (not others),
        "stronger_pawnless": int(0 < abs(difference) < 5 and not stronger),
        "pawns_left": len(pawns) + len(others),
        "pawns_on_both_wings": int(any(f < 3 for f in all_files) and any(f > 4 for f in all_files)),
        "pawns_locked": sum(s + 8 in others for s in pawns),
        "pawn_files_unshared": len(files ^ other_files),
        "pawn_files_open": 8 - len(files | other_files),
        "passed_pawns": sum(is_passed(board, s) for s in pawns)
        + sum(is_passed(mirrored, s) for s in of(mirrored, chess.PAWN)),
        "pieces_left": sum(left[kind] for kind in PIECES),
        "minors_left": left[chess.KNIGHT] + left[chess.BISHOP],
        "rooks_left": left[chess.ROOK],
        "queens_off": int(left[chess.QUEEN] == 0),
        "material_left": material(board, chess.WHITE) + material(board, chess.BLACK),
        "material_difference": abs(difference),
        "material_even": int(all(own == other for own, other in counts.values())),
        "pawn_difference": abs(len(pawns) - len(others)),
        "piece_imbalance": sum(abs(counts[kind][0] - counts[kind][1]) for kind in PIECES),
        "pawn_ending": int(bare),
        "minor_ending": int(only(board, chess.KNIGHT, chess.BISHOP) and not bare),
        "rook_ending": int(only(board, chess.ROOK) and not bare),
        "queen_ending": int(only(board, chess.QUEEN) and not bare),
        "kings_on_opposite_wings": int(abs(file_of(kings[0]) - file_of(kings[1])) >= 3),
        "sides_with_castling": len(rights),
        "clock": clock,
        "clock_late": max(clock - 40, 0),
    }


def relations(board: chess.Board) -> dict[str, int]:
    found = {}
    for square in range(64):
        piece = board.piece_at(square)
        number = 0 if piece is None else piece.piece_type + (0 if piece.color == chess.WHITE else 6)
        found[chess.square_name(square)] = number
    sides = {"own": chess.WHITE, "opponent": chess.BLACK}
    for side, color in sides.items():
        for owner, target_color in sides.items():
            for name, kind in KINDS.items():
                for target, target_kind in KINDS.items():
                    if target == "king" and (name == "king" or (side, owner) != ("opponent", "own")):
                        continue
                    verb = "defends" if side == owner else f"attacks_{owner}"
                    holds = any(attacked(board, s, color, [kind]) for s in of(board, target_kind, target_color))
                    found[f"{side}_{name}_{verb}_{target}"] = int(holds)
    return found
