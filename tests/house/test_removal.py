"""Without any of its games the rest of glem works, and without all of them it says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glem.core.game.game import game_names, load_game
from tests.house.removed_games import built_in_games, install_without, run_python

GAMES = sorted(built_in_games())
RUN_COMMANDS = """
import json, sys
from glem.core.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"glem {words}: exit status {ended.code}")
"""
IMPORT_ALL = """
import importlib.util, pkgutil, sys
import glem, glem.core
for module in pkgutil.walk_packages(glem.core.__path__, "glem.core."):
    importlib.import_module(module.name)
print(glem.__file__)
print(*sys.modules)
print(importlib.util.find_spec(f"glem.games.{sys.argv[1]}"))
"""


@pytest.fixture(scope="module", params=GAMES)
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """One of the games, and an installation that lacks it."""
    return request.param, install_without([request.param], tmp_path_factory.mktemp("installation"))


@pytest.fixture(scope="module")
def without_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation without any game."""
    foreign = set(game_names()) - set(GAMES)
    if foreign:
        pytest.skip(f"other distributions bring games to this environment: {sorted(foreign)}")
    return install_without(GAMES, tmp_path_factory.mktemp("installation"))


def test_all_of_core_imports_without_a_game(without: tuple[str, Path], tmp_path: Path) -> None:
    game, installation = without
    run = run_python(installation, "-c", IMPORT_ALL, built_in_games()[game], cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    place, modules, removed = run.stdout.splitlines()
    assert Path(place).is_relative_to(installation)
    assert not [name for name in modules.split() if name.startswith(("glem.games.", "glem.plugins."))]
    assert removed == "None"


def test_other_games_are_listed_without_a_game(without: tuple[str, Path], tmp_path: Path) -> None:
    game, installation = without
    run = run_python(installation, "-m", "glem", "games", "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    listed = {entry["name"]: entry for entry in json.loads(run.stdout)}
    assert set(GAMES) & set(game_names()) - set(listed) == {game} & set(game_names())
    assert not [entry for entry in listed.values() if "error" in entry or "learning_error" in entry]


def others(game: str) -> list[str]:
    """Games that come with glem besides one, those that follow it in the alphabet first."""
    names = sorted(set(GAMES) & set(game_names()) - {game})
    return sorted(names, key=lambda name: (name < game, name))


def run_commands(installation: Path, commands: list[list[str]], folder: Path) -> None:
    run = run_python(installation, "-c", RUN_COMMANDS, json.dumps(commands), cwd=folder)
    assert run.returncode == 0, run.stdout + run.stderr


def test_other_games_have_their_rules_without_a_game(without: tuple[str, Path], tmp_path: Path) -> None:
    game, installation = without
    run_commands(installation, [["perft", name, "3", "--plain"] for name in others(game)], tmp_path)


def test_another_game_is_checked_and_learned_without_a_game(
    without: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shortest of the others: that no game leans on another is seen in the sources (``test_arrows``)."""
    game, installation = without
    name = min(others(game), key=lambda other: load_game(other).max_plies)
    commands = [
        ["check", name, "--plain", "--games", "1", "--only", "learning"],
        ["generate", name, "--player", "random", "--games", "3", "--workers", "1", "-o", "games"],
        ["positions", "games/games-000000.games", "--game", name, "-o", "positions.parquet"],
        ["fit", "positions.parquet", "-o", "model.npz", "--patterns", "none", "--iterations", "1"],
    ]
    # What is compiled here could not be found in the cache by anything else.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    run_commands(installation, commands, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["games"],
        ["games", "anything"],
        ["check", "anything"],
        ["perft", "anything", "3"],
        ["demo"],
        ["tournament", "random", "random"],
    ],
    ids="-".join,
)
def test_without_games_commands_say_what_to_do(without_games: Path, words: list[str], tmp_path: Path) -> None:
    run = run_python(without_games, "-m", "glem", *words, cwd=tmp_path)
    assert "Traceback" not in run.stderr
    assert "install glem anew" in (run.stdout + run.stderr).lower()
    assert run.returncode == (0 if words == ["games"] else 2)


def test_without_games_help_is_there(without_games: Path, tmp_path: Path) -> None:
    run = run_python(without_games, "-m", "glem", "--help", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Usage:" in run.stdout
