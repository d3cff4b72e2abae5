"""Chess: FEN, UCI and SAN, against python-chess and where they are wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.drawing import draw_position
from glem.core.players.engine import Engine
from glem.core.players.spec import PlayerSpec
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from glem.games.chess.notation import (
    MOVE_COUNT,
    format_move,
    format_position,
    parse_move,
    parse_move_at,
    parse_position,
    san_of,
)
from glem.games.chess.rules.position import INITIAL_POSITION
from tests.core.cli.terminal import Terminal
from tests.oracles.chess_boards import number_of, random_game


@pytest.mark.parametrize("seed", range(6))
def test_texts_of_random_games(seed: int):
    for ply, (board, _) in enumerate(random_game(seed, 90)):
        position = from_board(board)
        assert parse_position(format_position(position)) == position
        if ply % 4:
            continue
        for move in board.legal_moves:
            number = number_of(move)
            assert format_move(number) == move.uci()
            assert parse_move(move.uci()) == number
            san = board.san(move)
            assert san_of(position, number) == san
            assert parse_move_at(position, san) == parse_move_at(position, move.uci()) == number


def test_castling_is_read_in_every_way():
    position = parse_position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    kingside, queenside = parse_move("e1h1"), parse_move("e1a1")
    for text in ("O-O", "0-0", "e1g1", "e1h1"):
        assert parse_move_at(position, text) == kingside
    for text in ("O-O-O", "0-0-0", "e1c1", "e1a1"):
        assert parse_move_at(position, text) == queenside
    # A king beside its rook: g1 is a square to go to, castling the rook to take.
    beside = parse_position("4k3/8/8/8/8/8/8/5KR1 w G - 0 1")
    assert san_of(beside, parse_move_at(beside, "f1g1")) == "O-O"
    assert parse_move_at(beside, "O-O") == parse_move("f1g1")


def test_moves_are_numbers_with_one_text_each():
    texts = {format_move(move) for move in range(MOVE_COUNT)}
    assert len(texts) == MOVE_COUNT
    assert all(parse_move(format_move(move)) == move for move in range(0, MOVE_COUNT, 7))


def test_people_write_carelessly():
    position = parse_position("4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
    for text in ("a8=Q+", "a8=Q", "a8Q", "a7a8q", "a8=Q!"):
        assert parse_move_at(position, text) == parse_move("a7a8q")
    assert parse_move_at(INITIAL_POSITION, "Ng1-f3") == parse_move("g1f3")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("e5", "legal: Na3, Nc3, Nf3, Nh3, a3"),
        ("e2e5", "legal: Na3"),
        ("e1g1", "is no legal move"),
        ("--", "is no legal move"),
        ("0000", "is no legal move"),
        ("e4 e5", "is no legal move"),
        ("nonsense", "is no legal move"),
    ],
)
def test_moves_that_are_none(text: str, said: str):
    with pytest.raises(BadInputError, match=said):
        parse_move_at(INITIAL_POSITION, text)


def test_a_text_of_two_moves_is_refused():
    with pytest.raises(BadInputError, match="several moves"):
        parse_move_at(parse_position("4k3/8/8/8/8/4K3/8/R6R w - - 0 1"), "Rd1")


@pytest.mark.parametrize(
    ("fen", "said"),
    [
        ("", "FEN is expected"),
        ("8/8/8/8 w - - 0 1", "FEN is expected"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no white king"),
        ("kk6/8/8/8/8/8/8/7K w - - 0 1", "too many kings"),
        ("P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "pawns on backrank"),
        ("4k3/8/8/8/8/8/8/4K2r b - - 0 1", "opposite check"),
        ("4k3/8/8/PPPPPPPP/8/8/8/QQQQK3 w - - 0 1", "3 promoted pieces and 8 pawns"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "FEN is expected"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 1_0 1", "'1_0' is no number of moves"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 \u0663", "is no number of moves"),
    ],
)
def test_positions_that_no_game_leads_to(fen: str, said: str):
    with pytest.raises(BadInputError, match=said):
        parse_position(fen)


def test_slips_in_a_fen_are_forgiven():
    # No rook on h1, and nothing that could be captured on e3.
    position = parse_position("4k3/8/8/8/4P3/8/8/4K3 b K e3 0 1")
    assert position.castling == position.en_passant == 0
    assert parse_position("4k3/8/8/8/4P3/8/8/4K3 b") == position
    assert parse_position("4k3/8/8/8/8/8/8/4K3 w - - 400 300").clock == 255


@given(st.text(alphabet="rnbqkpRNBQKP12345678/ w-KQkq0", max_size=60))
def test_any_text_is_a_position_or_refused(text: str):
    try:
        position = parse_position(text)
    except BadInputError:
        return
    assert parse_position(format_position(position)) == position


def test_an_engine_is_told_moves_as_people_write_them():
    engine = Engine(CHESS, PlayerSpec("reader", kind="random"))
    engine.play_text("1. e4 e5 2.Nf3 Nc6 3. Bb5 a6 4.O-O")
    assert engine.transcript() == "e4 e5 Nf3 Nc6 Bb5 a6 O-O"
    assert format_position(engine.position).startswith("r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQ1RK1 b kq -")
    with pytest.raises(BadInputError, match=r"'Bh4' is no legal move.*legal: Ba3, Bb4"):
        engine.play_text("Bh4")


def test_people_see_san_and_a_board(terminal: Terminal):
    counted = terminal("search", "perft", "chess", "2", "--divide", "--plain")
    assert "\nNf3: 20\n" in counted
    assert "400 leaves" in counted
    drawing = draw_position(CHESS, INITIAL_POSITION)
    assert drawing is not None
    lines = drawing.lines()
    assert lines[0].split() == list("abcdefgh")
    assert lines[1] == "8 r n b q k b n r 8"
    assert lines[4] == "5 - - - - - - - - 5"


def test_explain_draws_the_board_and_tells_the_results(terminal: Terminal) -> None:
    words = ("show", "chess", "default", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1")
    assert "8 - - - - k - - - 8" in terminal(*words)
    told = terminal.json(*words)
    assert told["win"] + told["draw"] + told["loss"] == pytest.approx(1)
    assert told["win"] > told["loss"]
    assert 0 < told["drawishness"] < 1
