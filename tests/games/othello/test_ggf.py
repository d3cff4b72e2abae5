"""Games in GGF: as boards send them, and damaged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.search.results import Clock
from glem.games.othello.formats.ggf import GgfGame, parse_ggf, parse_move_item
from glem.games.othello.notation import format_position, format_square
from glem.games.othello.rules import INITIAL_POSITION, PASS

# The example session of C. Welty's description of the NBoard protocol (weltyc/ntest, instructions/Protocol.htm).
NBOARD_GAME = (
    "(;GM[Othello]PC[NBoard]DT[2014-02-21 20:52:27 GMT]PB[./mEdax]PW[chris]RE[?]TI[15:00]TY[8]"
    "BO[8 ---------------------------O*------*O--------------------------- *]"
    "B[F5]W[F6]B[D3]W[C5]B[E6]W[F7]B[E7]W[F4];)"
)
START = "BO[8 ---------------------------O*------*O--------------------------- *]"


def names(game: GgfGame) -> str:
    return "".join(format_square(move) for move in game.moves)


def test_the_published_example() -> None:
    game = parse_ggf(NBOARD_GAME)
    assert names(game) == "f5f6d3c5e6f7e7f4"
    assert game.position == INITIAL_POSITION
    assert game.black_to_move
    assert (game.black_clock, game.white_clock) == (Clock(900), Clock(900))


@pytest.mark.parametrize(
    "text",
    [
        f"(;GM[Othello]{START}B[f5]W[d6];)",
        f"1 (;GM[Othello]{START}B[f5]W[d6];)",
        "(;B[F5//3.5]W[D6/-1.50/2];)",
        "(; GM[othello]\nB[ f5 ] W[d6/1.2] ;) ",
        "(;TY[8]b[F5]w[D6]CO[a comment (;) of] ;)",
        "(;TY[s8r20]XX[unknown]B[f5]W[d6];)",
    ],
)
def test_variants_of_one_game(text: str) -> None:
    assert names(parse_ggf(text)) == "f5d6"


def test_a_board_with_white_to_move_and_in_rows() -> None:
    rows = " ".join(["--------"] * 3 + ["---O*---", "---***--"] + ["--------"] * 3)
    game = parse_ggf(f"(;GM[Othello]BO[8 {rows} O]W[D6];)")
    assert not game.black_to_move
    assert names(game) == "d6"
    assert format_position(game.position, black_to_move=False).endswith("O")


@pytest.mark.parametrize("between", ["", "W[PA]", "W[pass/0.00/0.1]", "W[--]"])
def test_passes_may_be_written_or_left_out(between: str) -> None:
    """Black takes one disc in each corner; between the two moves white has none."""
    game = parse_ggf(f"(;BO[8 *O------{'-' * 48}*O------ *]B[C1]{between}B[C8];)")
    assert names(game) == "c1--c8"


def test_clocks_run() -> None:
    game = parse_ggf(f"(;TI[5:00/0:10]{START}B[f5//20]W[d6//1.5]B[c3/0.5/2.5];)")
    assert game.black_clock == Clock(300 - 20 - 2.5 + 20, 10)
    assert game.white_clock == Clock(300 - 1.5 + 10, 10)
    apart = parse_ggf("(;TB[1:00:00]TW[1.00:00:01];)")
    assert (apart.black_clock, apart.white_clock) == (Clock(3600), Clock(86401))
    overrun = parse_ggf("(;TI[10//02:00]B[f5//1000];)").black_clock
    assert overrun is not None
    assert 0 < overrun.remaining < 1
    assert parse_ggf("(;TI[0]B[f5];)").black_clock is None
    assert parse_ggf("(;TI[much]B[f5];)").black_clock is None
    assert parse_ggf("(;B[f5];)").black_clock is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no game"),
        ("B[f5]", "is no game"),
        (";)(;", "is no game"),
        ("(;GM[Amazons];)", "a game of 'Amazons'"),
        ("(;TY[10];)", "board type '10'"),
        ("(;TY[88];)", "board type '88'"),
        ("(;TY[];)", "board type ''"),
        ("(;BO[8 ---];)", "is no board"),
        ("(;BO[8 *O* *];)", "64 squares"),
        ("(;B[f5)];)", "no square"),
        ("(;B[f5]W(d6);)", "where a tag like"),
        ("(;B[f5]B[d6];)", "move 2, d6 of black, is illegal"),
        ("(;B[a1];)", "move 1, a1 of black, is illegal"),
        ("(;W[f5];)", "move 1, f5 of white, is illegal"),
        ("(;B[PA];)", "move 1, -- of black, is illegal"),
        ("(;B[i9];)", "no square"),
        ("(;B[];)", "no square"),
        (f"(;{'B[f5]' * 20_000};)", "too long"),
    ],
)
def test_damaged_games_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message.replace("(", r"\(").replace("[", r"\[")):
        parse_ggf(text)


@settings(deadline=None)
@given(st.integers(0, len(NBOARD_GAME) - 1), st.characters())
def test_one_wrong_character_never_crashes(place: int, character: str) -> None:
    damaged = NBOARD_GAME[:place] + character + NBOARD_GAME[place + 1 :]
    try:
        game = parse_ggf(damaged)
    except BadInputError:
        return
    assert len(game.moves) <= 8


def test_moves_with_evaluation_and_time() -> None:
    assert parse_move_item("F5/1.25/3.5") == (37, 3.5)
    assert parse_move_item("F5//.5") == (37, 0.5)
    assert parse_move_item("PA") == (PASS, 0.0)
    assert parse_move_item("a1/x/y/z") == (0, 0.0)
    assert parse_move_item("a1//" + "9" * 400) == (0, 0.0)
