"""Text forms of Othello."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.games.othello.notation import format_position, format_square, parse_position, parse_square
from glem.games.othello.rules import INITIAL_POSITION, PASS, Position

START = "---------------------------OX------XO---------------------------"


@st.composite
def positions(draw):
    occupied = draw(st.integers(0, 2**64 - 1))
    own = draw(st.integers(0, 2**64 - 1)) & occupied
    return Position(np.uint64(own), np.uint64(occupied ^ own))


def test_squares_run_from_a1_along_the_rows():
    names = [format_square(square) for square in range(64)]
    assert names[:3] == ["a1", "b1", "c1"]
    assert names[8] == "a2"
    assert names[63] == "h8"
    assert [parse_square(name) for name in names] == list(range(64))
    assert parse_square("F5") == parse_square("f5") == 37


@pytest.mark.parametrize("text", ["--", "pa", "PS", "Pass"])
def test_passes(text):
    assert parse_square(text) == PASS
    assert format_square(PASS) == "--"


@pytest.mark.parametrize("text", ["", "a", "a0", "a9", "i1", "a1 ", "a10", "1a", "ａ1", "a²"])
def test_what_is_no_square(text):
    with pytest.raises(BadInputError, match="is no square"):
        parse_square(text)


@given(positions(), st.booleans())
def test_positions_survive_text(position, black_to_move):
    assert parse_position(format_position(position, black_to_move=black_to_move)) == position


def test_the_start():
    assert format_position(INITIAL_POSITION) == f"{START} X"
    for text in (START, f"{START} X", f"{START}X", f"  {START} *;\n", START.replace("-", ".")):
        assert parse_position(text) == INITIAL_POSITION
    assert parse_position(f"{START} O") == Position(INITIAL_POSITION.opponent, INITIAL_POSITION.own)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is no position"),
        (START[:-1], "has 63"),
        (START + "--", "has 66"),
        (START + " X extra", "is no position"),
        (START + " Z", "side to move is 'Z'"),
        (START + " XO", "side to move is 'XO'"),
        ("?" + START[1:], "'[?]' on a1"),
    ],
)
def test_what_is_no_position(text, reason):
    with pytest.raises(BadInputError, match=reason):
        parse_position(text)
