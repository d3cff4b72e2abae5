"""The game of the docs in which a side moves again, and what the page says of it."""

import re

import pytest

import glem
from glem.core.conformance import check_game
from glem.core.game import registry
from glem.core.game.perft import perft
from tests.core.cli.terminal import Terminal
from tests.core.game.kalah_game import kalah
from tests.house.tree import ROOT

KALAH = kalah.KALAH
LAST_MOVES = "0,0,0,0,2,1,20 0,0,0,1,1,0,23 moves"


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._added, (registry.GAMES_GROUP, "kalah"), KALAH)


@pytest.mark.slow
def test_the_example_breaks_no_promise() -> None:
    report = check_game(KALAH, games=20)
    report.require()
    assert any(result.name == "invariants" and result.cases for result in report.results)


def test_perft_is_what_the_page_says() -> None:
    page = (ROOT / "docs" / "how-to" / "add-a-game.md").read_text(encoding="utf-8")
    told = re.search(r"counts passes as plies: ([\d, ]+) sequences", page)
    assert told
    assert [perft(KALAH, depth) for depth in range(1, 6)] == [int(count) for count in told[1].split(", ")]


def test_perft_is_that_of_open_spiel() -> None:
    pytest.importorskip("pyspiel", reason="open_spiel is not installed; pip install 'pyglem[open-spiel]'")
    mancala = glem.load_game("open_spiel:mancala")
    with pytest.warns(Warning, match="plain Python"):
        assert perft(mancala, 4) == perft(KALAH, 4)


def test_a_pass_takes_no_depth_and_no_room_in_a_line(terminal: Terminal) -> None:
    arguments = ("kalah", "--position", LAST_MOVES, "--evaluation", "none", "--depth", 3)
    lines = terminal("search", *arguments).splitlines()
    assert lines[-1].split()[2:] == ["6", "5", "6"]
    (found,) = terminal.json("search", *arguments)["lines"]
    assert found["moves"] == ["6", "pass", "5", "pass", "6"]
    asked = terminal("play", *arguments[:3], "--player", "none,depth=3", typed="hint 1\nquit\n")
    assert re.search(r"\bdepth 3.*  6 5 6$|^ +-2.*  6 5 6$", asked, re.MULTILINE), asked
    # Where a side must pass, its pass is the line.
    passing = terminal("search", "kalah", "--moves", "3", "--evaluation", "none", "--depth", 2).splitlines()
    assert passing[-1].split()[2] == "pass"
    assert len(passing[-1].split()) == 5
