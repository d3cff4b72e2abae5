"""Programs as each system starts them."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.machine.programs import split_command
from tests.system import IS_WINDOWS


@given(st.lists(st.text("ab \"'$#;:/.-", min_size=1)))
def test_a_command_is_divided_as_a_shell_does(words: list[str]) -> None:
    assert split_command(shlex.join(words)) == words


def test_a_backslash_is_what_the_system_takes_it_for() -> None:
    assert split_command('"C:\\a b\\engine.exe" -x') == ["C:\\a b\\engine.exe", "-x"]
    assert split_command("C:\\engine.exe -x") == (["C:\\engine.exe", "-x"] if IS_WINDOWS else ["C:engine.exe", "-x"])


def test_a_quote_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_command("engine 'a")
