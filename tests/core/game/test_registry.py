"""Broken plugins in real little distributions: what each one is told, in this process and on the command line."""

import json
import signal
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from glem.core.errors import PluginError
from glem.core.features.learning import load_learning
from glem.core.game import registry
from glem.core.game.game import game_names, load_game
from tests.core.cli.terminal import Terminal
from tests.core.game.countdown_game import COUNTDOWN
from tests.core.game.installed_games import write_distribution

SOUND = "from attrs import evolve\nfrom tests.core.game.countdown_game import COUNTDOWN, FACTS\n"


class Site:
    """A folder on the path in which distributions are installed."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        self.folder = folder
        self.run = terminal

    def install(
        self, distribution: str, module: str, source: str | None, *, points: dict[str, dict[str, str]] | None = None
    ) -> Path:
        """Install a package of one module with a distribution's metadata around it; by default it has one game."""
        points = {"glem.games": {"ant": f"{module}:GAME"}} if points is None else points
        write_distribution(self.folder, points, distribution)
        path = self.folder / f"{module}.py"
        if source is not None:
            path.write_text(source)
        return path

    def package(self, name: str, games: str) -> None:
        """Write a package with a module ``games``."""
        (self.folder / name).mkdir()
        (self.folder / name / "__init__.py").write_text("")
        (self.folder / name / "games.py").write_text(games)


@pytest.fixture
def site(tmp_path, monkeypatch, terminal: Terminal) -> Site:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Site(tmp_path, terminal)


def listed(site: Site) -> dict[str, Any]:
    """All that ``glem games`` tells, by the name of the game or of the distribution."""
    entries = json.loads(site.run("games", "--json"))["games"]
    return {entry.get("name", entry.get("distribution")): entry for entry in entries}


def refusal(site: Site, name: str = "ant") -> str:
    """Error of loading a game, the same in one line on the command line."""
    with pytest.raises(PluginError) as caught:
        load_game(name)
    assert site.run("check", name, status=2) == f"glem: {' '.join(str(caught.value).split())}\n"
    return str(caught.value)


def test_a_sound_plugin(site: Site):
    site.install("ant-games", "sound_ant", f"{SOUND}GAME = evolve(COUNTDOWN, name='ant', title='Ant')\n")
    assert load_game("ant").title == "Ant"
    assert listed(site)["ant"] == {"name": "ant", "title": "Ant", "symmetries": 1, "record_formats": []}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "import numpy\n\nimport no_such_package.things\n",
            "game 'ant' of ant-games cannot be loaded: it needs the module no_such_package, which is not installed "
            "(file {path}, line 3); install the package that has it",
        ),
        (
            "from glem.core.game.game import Game, Wonders\n",
            "cannot import name 'Wonders' from 'glem.core.game.game'",
        ),
        ("import glem.core.wonders\n", "there is no glem.core.wonders (file {path}, line 1); this is glem "),
        ("GAME = (\nif\n", "cannot be loaded: SyntaxError: "),
        ("x = 1\nGAME = = 2\n", "(file {path}, line 2)"),
        (
            "def table():\n    return [][3]\n\n\nGAME = table()\n",
            "cannot be loaded: IndexError: list index out of range (file {path}, line 2)",
        ),
        ("raise SystemExit('bye')\n", "its import ends the program (SystemExit: bye) (file {path}, line 1)"),
        ("raise KeyboardInterrupt\n", "its import ends the program (KeyboardInterrupt: ) (file {path}, line 1)"),
        ("raise GeneratorExit('bye')\n", "its import ends the program (GeneratorExit: bye) (file {path}, line 1)"),
        (f"{SOUND}\nANT = COUNTDOWN\n", "which is not there; it has the Game COUNTDOWN, ANT; correct"),
        (
            SOUND
            + "from glem.core.game.game import Game\nFACTS = {**FACTS}\ndel FACTS['play']\nGAME = Game(**FACTS)\n",
            "game 'countdown': Game needs play, which it was not given (file {path}, line 6)",
        ),
        (f"{SOUND}GAME = evolve(COUNTDOWN, komi=7, interface_version=2)\n", "Game has no komi in glem "),
        (
            f"{SOUND}GAME = evolve(COUNTDOWN, name='ant', interface_version=2)\n",
            "game 'ant' of ant-games was written for interface version 2, this is glem ",
        ),
        ("GAME = None\n", "is a NoneType, not a Game; let it name the Game itself"),
        (f"{SOUND}GAME = COUNTDOWN\n", "calls itself 'countdown'"),
    ],
)
def test_a_broken_plugin_is_explained(site: Site, source: str, expected: str):
    # A module that was imported stays: each has a name of its own.
    path = site.install("ant-games", site.folder.name, source)
    text = refusal(site)
    assert text.startswith("game 'ant' of ant-games ")
    assert expected.format(path=path) in text


def test_ctrl_c_while_a_plugin_is_imported_is_no_fault_of_the_plugin(site: Site):
    site.install("ant-games", "slow_ant", "import signal\nsignal.raise_signal(signal.SIGINT)\n")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        load_game("ant")
    assert signal.getsignal(signal.SIGINT) is before
    site.run("check", "ant", status=130)


def test_a_plugin_that_interrupts_leaves_the_others(site: Site):
    site.install("ant-games", "rude_ant", "raise KeyboardInterrupt\n")
    entries = listed(site)
    assert "KeyboardInterrupt" in entries["ant"]["error"]
    assert "title" in entries["othello"]


def test_entry_points_that_lead_nowhere(site: Site):
    games = {"ant": "no_such_ant.games:GAME", "bee": "three words: no", "fly": "json:decoder.nothing"}
    site.install("ant-games", "unused_ant", None, points={"glem.games": games})
    assert "names the module no_such_ant.games, and there is no no_such_ant; correct the entry point " in refusal(site)
    with pytest.raises(PluginError, match=r"its entry point is 'three words: no', expected module:attribute"):
        load_game("bee")
    with pytest.raises(PluginError, match=r"names decoder.nothing in json, which is not there; correct"):
        load_game("fly")


def test_a_mistyped_module_is_told_the_likely_one(site: Site):
    site.package("wood_ant", SOUND)
    points = {"glem.games": {"ant": "wod_ant:GAME", "bee": "wood_ant.gaems:GAME", "fly": "fly:GAME"}}
    points["glem.learning"] = {"ant": "wood_ant.learning:LEARNING"}
    site.install("ant-games", "unused", None, points=points)
    advice = "; correct the entry point in pyproject.toml{}, and install it anew"
    assert refusal(site).endswith("there is no wod_ant" + advice.format(" (did you mean 'wood_ant'?)"))
    assert refusal(site, name="bee").endswith("no wood_ant.gaems" + advice.format(" (did you mean 'wood_ant.games'?)"))
    assert refusal(site, name="fly").endswith(f"names the module fly, and there is no fly{advice.format('')}")


def test_a_module_of_its_own_that_is_missing(site: Site):
    site.package("ant_package", "from ant_package.rules import play\n")
    site.install("ant-games", "unused", None, points={"glem.games": {"ant": "ant_package.games:GAME"}})
    assert "it imports ant_package.rules, which its package does not have (file " in refusal(site)


def test_two_distributions_claim_one_name(site: Site):
    for distribution, module in (("ant-games", "first_ant"), ("bug-games", "second_ant")):
        site.install(distribution, module, f"{SOUND}GAME = evolve(COUNTDOWN, name='ant')\n")
    assert refusal(site) == (
        "game 'ant' is in 2 installed distributions: ant-games (first_ant:GAME), bug-games (second_ant:GAME); "
        "uninstall all but one"
    )


def test_broken_plugins_are_listed_with_their_reasons(site: Site):
    site.install("ant-games", "failing_ant", "1 / 0\n")
    site.install("bee-learning", "bee_learning", "", points={"glem.learning": {"bee": "bee_learning:BEE"}})
    damaged = site.install("damaged", "damaged_one", None).with_name("damaged-1.0.dist-info") / "entry_points.txt"
    damaged.write_text("[glem.games]\nno equals sign\n")
    entries = listed(site)
    assert "ZeroDivisionError: division by zero (file " in entries["ant"]["error"]
    assert "learning 'bee' of bee-learning cannot be loaded: its entry point names BEE" in entries["bee"]["error"]
    assert "its entry points cannot be read" in entries["damaged"]["error"]
    assert "error" not in entries["othello"]
    assert "bee" not in game_names()
    table = site.run("games")
    assert "cannot be loaded, see below" in table
    assert "\nant: game 'ant' of ant-games cannot be loaded: ZeroDivisionError: division by zero (file " in table


LEARNING = """\
from attrs import evolve
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.game.game import load_game
from glem.core.features.learning import Learning, Phases
from tests.core.game.countdown_game import COUNTDOWN

GAME = evolve(COUNTDOWN, name="ant")

def write(position, values):
    values[0] = position.stones

def phase_of(position):
    return 0

OTHER = {other}
FEATURES = AtomicFeatures(OTHER, (AtomicFeature("stones", 0, 9, "Stones left."),), write)
ANT = Learning(game=OTHER, features=FEATURES, phases=Phases(OTHER, ("all",), phase_of), pattern_sets={{}})
"""


@pytest.mark.parametrize(
    ("module", "other", "expected"),
    [
        ("learns_copy", "evolve(GAME)", "for another object of the same name, not for game 'ant' of ant-games"),
        ("learns_other", "COUNTDOWN", "for the game 'countdown', not for game 'ant' of ant-games"),
    ],
)
def test_learning_for_another_game(site: Site, module: str, other: str, expected: str):
    points = {"glem.games": {"ant": f"{module}:GAME"}, "glem.learning": {"ant": f"{module}:ANT"}}
    site.install("ant-games", module, LEARNING.format(other=other), points=points)
    with pytest.raises(PluginError, match=f"learning 'ant' of ant-games is {expected}"):
        load_learning("ant")
    assert expected in listed(site)["ant"]["learning_error"]


def test_learning_for_a_game_that_is_missing_or_fails(site: Site):
    points = {"glem.learning": {"ant": "learns_alone:ANT"}}
    site.install("ant-learning", "learns_alone", LEARNING.format(other="GAME"), points=points)
    text = "learning 'ant' of ant-learning is of no use without its game: no game 'ant' in the entry points"
    with pytest.raises(PluginError, match=text):
        load_learning("ant")
    site.install("ant-games", "fails_alone", "1 / 0\n")
    with pytest.raises(PluginError, match=r"without its game: game 'ant' of ant-games cannot be loaded: ZeroDivision"):
        load_learning("ant")


def test_no_games_at_all(site: Site, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(PluginError, match=r"no distribution has the entry points 'glem.games'; install glem anew"):
        load_game("ant")


def test_an_unknown_name():
    with pytest.raises(PluginError, match=r"no game 'otello'.*available: .*othello.*did you mean 'othello'"):
        load_game("otello")


def test_names_are_sorted_nothing_is_imported_and_a_distribution_seen_twice_is_one(monkeypatch):
    ant = "tests.core.game.countdown_game:COUNTDOWN"
    entries = [
        EntryPoint(*words, "glem.games") for words in (("zebra", "none:A"), ("countdown", ant), ("countdown", ant))
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(entries))
    assert game_names() == ["countdown", "zebra"]
    assert load_game("countdown") is COUNTDOWN
