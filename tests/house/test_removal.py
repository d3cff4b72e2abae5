"""Without any of its games the rest of glem works, and without all of them it says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glem.core.game import game_names
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
import importlib, pkgutil, sys
import glem, glem.core
for module in pkgutil.walk_packages(glem.core.__path__, "glem.core."):
    importlib.import_module(module.name)
print(glem.__file__)
print(*sys.modules)
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
    run = run_python(installation, "-c", IMPORT_ALL, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    place, modules = run.stdout.splitlines()
    assert Path(place).is_relative_to(installation)
    assert not [name for name in modules.split() if name.startswith(("glem.games.", "glem.plugins."))]
    assert run_python(installation, "-c", f"import glem.games.{built_in_games()[game]}", cwd=tmp_path).returncode == 1


def test_other_games_are_listed_without_a_game(without: tuple[str, Path], tmp_path: Path) -> None:
    game, installation = without
    run = run_python(installation, "-m", "glem", "games", "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    listed = {entry["name"]: entry for entry in json.loads(run.stdout)}
    assert set(GAMES) & set(game_names()) - set(listed) == {game} & set(game_names())
    assert not [entry for entry in listed.values() if "error" in entry or "learning_error" in entry]


@pytest.mark.slow
def test_other_games_check_and_learn_without_a_game(without: tuple[str, Path], tmp_path: Path) -> None:
    game, installation = without
    for name in sorted(set(GAMES) & set(game_names()) - {game}):
        commands = [
            ["check", name, "--games", "2"],
            ["generate", name, "--player", "random", "--games", "40", "--workers", "1", "-o", f"{name}-games"],
            ["positions", f"{name}-games/games-000000.games", "--game", name, "-o", f"{name}.parquet"],
            ["fit", f"{name}.parquet", "-o", f"{name}.npz", "--iterations", "3"],
        ]
        run = run_python(installation, "-c", RUN_COMMANDS, json.dumps(commands), cwd=tmp_path)
        assert run.returncode == 0, run.stdout + run.stderr


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
