import pytest

from glem.core.game.whole_numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("42", 42), ("-7", -7), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_decimal_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text, -9) == number


@pytest.mark.parametrize(
    "text", ["", "-", "--1", "+1", "1_0", " 5", "5 ", "5\n", "\u0663", "\u00b2", "1.0", "1e3", "9" * 5000]
)
def test_what_else_python_takes_is_none(text: str) -> None:
    assert whole_number(text) is None


def test_numbers_have_bounds() -> None:
    assert [whole_number(str(number), 2, 4) for number in range(1, 6)] == [None, 2, 3, 4, None]
    assert whole_number("-1") is None
