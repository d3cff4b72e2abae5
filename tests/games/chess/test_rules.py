"""Chess: the rules against python-chess in random games, chess and Chess960; perft; the hash key."""

from pathlib import Path

import chess
import numpy as np
import pytest

from glem.core.conformance import check_game
from glem.core.game.perft import perft
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board, to_board
from glem.games.chess.notation import parse_move, parse_position
from glem.games.chess.rules.attacks import between, bishop_attacks, king_attacks, knight_attacks, rook_attacks
from glem.games.chess.rules.exchanges import keeps_material
from glem.games.chess.rules.generation import in_check
from glem.games.chess.rules.playing import insufficient_material
from glem.games.chess.rules.position import INITIAL_POSITION
from glem.games.chess.rules.searching import is_drawn, no_moves_score, table_key, tactical_moves
from tests.oracles.chess_boards import numbered_moves, random_game, read_counts
from tests.oracles.chess_features import POINTS

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
GAMES = range(8)
# `python -m tests.benchmarks.chess_rules_tables suites` counts them whole.
MOST_LEAVES = 20_000


@pytest.mark.parametrize("plain", [True, pytest.param(False, marks=pytest.mark.shared)])
def test_keeps_its_promises(plain: bool):
    report = check_game(CHESS, games=1 if plain else 2, plain=plain)
    assert report.passed, str(report)


@pytest.mark.parametrize(
    ("fen", "counts"),
    [
        (None, [1, 20, 400, 8902, 197_281, 4_865_609]),
        (KIWIPETE, [1, 48, 2039, 97_862, 4_085_603]),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [1, 14, 191, 2812, 43_238, 674_624]),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [1, 6, 264, 9467, 422_333]),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [1, 44, 1486, 62_379, 2_103_487]),
        # Chess960, from perft-chess960.epd of the shared data.
        ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", [1, 21, 528, 12_189, 326_672]),
        # Both kings on files where castling crosses the rooks; by python-chess.
        ("1rk1r3/8/8/8/8/8/8/1RK1R3 w EBeb - 0 1", [1, 23, 442, 9697, 203_452]),
    ],
    ids=["start", "Kiwipete", "position 3", "position 4", "position 5", "Chess960", "crossing"],
)
def test_perft(fen: str | None, counts: list[int]):
    position = CHESS.initial_position if fen is None else parse_position(fen)
    assert [perft(CHESS, depth, position) for depth in range(len(counts))] == counts
    assert [perft(CHESS, depth, position, plain=True) for depth in range(3)] == counts[:3]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("perft.epd", 127),
        ("perft-chess960.epd", 960),
        pytest.param("random.perft.xz", 6838, marks=pytest.mark.repeats),
        ("tricky.perft", 19),
    ],
)
def test_perft_of_suites(shared: Path, name: str, size: int):
    suite = read_counts(shared / "chess" / "epd" / name)
    assert len(suite) == size
    for known in suite:
        affordable = [depth for depth, leaves in known.leaves.items() if leaves <= MOST_LEAVES]
        for depth in affordable[-1:]:
            found = perft(CHESS, depth, parse_position(known.fen))
            assert found == known.leaves[depth], f"{known.name}: {known.fen}, depth {depth}"


@pytest.mark.parametrize("seed", GAMES)
def test_random_games_move_for_move(seed: int):
    position = CHESS.initial_position
    for ply, (board, move) in enumerate(random_game(seed, 180)):
        expected = from_board(board)
        if ply:
            assert position == expected
        position = expected
        moves = numbered_moves(board)
        listed = CHESS.list_legal_moves(position)
        assert sorted(listed) == sorted(moves)
        assert CHESS.count_moves is not None
        assert CHESS.count_moves(position) == len(moves)
        assert in_check(position) == board.is_check()
        assert CHESS.is_over(position) == (not moves)
        assert to_board(position, chess960=True).fen() == f"{board.fen().rsplit(' ', 1)[0]} 1"
        if not moves:
            assert CHESS.final_score(position) == no_moves_score(position) == -int(board.is_checkmate())
        if move is not None:
            position = CHESS.play(position, move)


@pytest.mark.parametrize("seed", GAMES)
def test_claims_of_draws(seed: int):
    for board, _ in random_game(seed, 400):
        position = from_board(board)
        assert insufficient_material(position) == board.is_insufficient_material()
        claimed = board.is_insufficient_material() or (board.halfmove_clock >= 100 and not board.is_checkmate())
        assert is_drawn(position) == claimed


def test_en_passant_counts_only_where_it_is_legal():
    # The pawn on e5 is pinned in the second position, and uncovers its king along the rank in the third.
    for fen, move, square in (
        ("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", chess.D6),
        ("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5", 0),
        ("6k1/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d7d5", 0),
        ("4k3/3p4/8/8/8/8/8/4K3 b - - 0 1", "d7d5", 0),
    ):
        position = CHESS.play(parse_position(fen), parse_move(move))
        assert position.en_passant == square
        assert (chess.E5 + 64 * chess.D6 in CHESS.list_legal_moves(position)) == bool(square)


def test_the_clock_ends_games_but_a_mate_counts():
    played_out = parse_position("7k/8/8/8/8/8/8/KR6 w - - 150 120")
    assert CHESS.is_over(played_out)
    assert CHESS.list_legal_moves(played_out) == []
    assert CHESS.final_score(played_out) == no_moves_score(played_out) == 0
    mated = parse_position("R6k/8/6K1/8/8/8/8/8 b - - 150 120")
    assert CHESS.final_score(mated) == no_moves_score(mated) == -1
    assert not is_drawn(mated)
    assert not is_drawn(parse_position("R6k/8/6K1/8/8/8/8/8 b - - 100 90"))
    assert is_drawn(parse_position("R7/8/6K1/8/7k/8/8/8 b - - 100 90"))
    assert not is_drawn(parse_position("R7/8/6K1/8/7k/8/8/8 b - - 99 90"))


def test_the_table_tells_positions_apart_near_the_end_of_the_clock():
    early, late, later = (parse_position(f"7k/8/8/8/8/8/8/KR6 w - - {clock} 60") for clock in (20, 90, 92))
    assert early.key == late.key == later.key == table_key(early)
    assert len({int(table_key(position)) for position in (early, late, later)}) == 3


def test_tactical_moves():
    buffer = np.zeros(CHESS.max_moves, np.int32)

    def tactical(fen: str) -> tuple[set[str], bool]:
        count = tactical_moves(parse_position(fen), buffer, 0)
        evades = count < 0
        found = buffer[: ~count if evades else count].tolist()
        return {CHESS.format_move(move) for move in found}, evades

    assert tactical(KIWIPETE) == ({"d5e6", "e2a6", "g2h3"}, False)
    # A defended pawn is no prey for a rook, an undefended one is.
    assert tactical("4k3/2p5/3p4/8/8/8/8/3RK3 w - - 0 1") == (set(), False)
    assert tactical("4k3/8/3p4/8/8/8/8/3RK3 w - - 0 1") == ({"d1d6"}, False)
    assert tactical("8/P6k/8/8/8/8/8/4K3 w - - 0 1") == ({"a7a8q"}, False)
    evasions, evades = tactical("4k3/8/8/8/4r3/8/8/4K3 w - - 0 1")
    assert evades
    assert evasions == {"e1d1", "e1f1", "e1d2", "e1f2"}
    assert tactical("7k/8/8/8/8/8/8/KR5q w - - 150 120") == (set(), False)


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_keep_what_every_order_of_captures_keeps(seed: int):
    for board, _ in random_game(seed, 120):
        position = from_board(board)
        for move in board.legal_moves:
            if board.is_capture(move) and not board.is_en_passant(move) and not move.promotion:
                origin, target = np.uint64(move.from_square), np.uint64(move.to_square)
                assert keeps_material(position, origin, target) == (_exchange(board, move) >= 0), (board.fen(), move)


VALUES = {**POINTS, chess.KING: 100}


def _exchange(board: chess.Board, move: chess.Move) -> int:
    """What a capture wins if both sides go on with their cheapest piece or stop; pins are not looked at."""

    def value_at(board: chess.BaseBoard, square: int) -> int:
        piece = board.piece_type_at(square)
        assert piece is not None
        return VALUES[piece]

    def best(after: chess.BaseBoard, turn: bool) -> int:
        attackers = sorted(after.attackers(turn, move.to_square), key=lambda square: value_at(after, square))
        if not attackers:
            return 0
        cheapest = attackers[0]
        if after.piece_type_at(cheapest) == chess.KING and after.attackers(not turn, move.to_square):
            return 0
        return max(0, capture(after, cheapest))

    def capture(before: chess.BaseBoard, origin: int) -> int:
        after = before.copy()
        won = value_at(after, move.to_square)
        piece = after.remove_piece_at(origin)
        assert piece is not None
        after.set_piece_at(move.to_square, piece)
        return won - best(after, not piece.color)

    return capture(chess.BaseBoard(board.board_fen()), move.from_square)


def test_the_colours_exchanged_are_the_mirrored_board():
    assert CHESS.transform is not None
    assert CHESS.transform_move is not None
    for board, _ in random_game(4, 150):
        position = from_board(board)
        image = CHESS.transform(position, 1)
        assert image == from_board(board.mirror())
        assert CHESS.transform(image, 1) == position
        moves = {CHESS.transform_move(move, 1) for move in CHESS.list_legal_moves(position)}
        assert moves == set(CHESS.list_legal_moves(image))


def test_attacks_agree_with_python_chess():
    generator = np.random.default_rng(3)
    for _ in range(300):
        square = np.uint64(generator.integers(64))
        occupied = np.uint64(generator.integers(2**63)) & np.uint64(generator.integers(2**63))
        board = chess.BaseBoard.empty()
        for other in chess.SquareSet(int(occupied) & ~(1 << int(square))):
            board.set_piece_at(other, chess.Piece(chess.PAWN, chess.WHITE))
        for kind, attacks in ((chess.ROOK, rook_attacks), (chess.BISHOP, bishop_attacks)):
            board.set_piece_at(int(square), chess.Piece(kind, chess.BLACK))
            assert attacks(square, occupied) == int(board.attacks(int(square)))
    for one in range(64):
        assert knight_attacks(np.uint64(one)) == chess.BB_KNIGHT_ATTACKS[one]
        assert king_attacks(np.uint64(one)) == chess.BB_KING_ATTACKS[one]
        assert [between(np.uint64(one), np.uint64(other)) for other in range(64)] == [
            chess.between(one, other) for other in range(64)
        ]


def test_the_initial_position_is_that_of_the_board():
    assert from_board(chess.Board()) == INITIAL_POSITION
    assert to_board(INITIAL_POSITION) == chess.Board()
