"""Without any of its games the rest of glem works, and without all of them it says what to do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

import glem
from glem.core.game.game import game_names, load_game
from tests.house.tree import FACADE, ROOMS, ROOT, built_in_games, project

GAMES = sorted(built_in_games())
GAME_GROUPS = ("glem.games", "glem.learning", "glem.game_families", "glem.learning_families")
"""Entry-point groups by which games, and families of games, are found."""
RUN_COMMANDS = """
import contextlib, io, json, sys
from glem.core.cli import main
ended = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
        try:
            main(words)
        except SystemExit as end:
            ended.append([end.code or 0, printed.getvalue()])
print(json.dumps(ended))
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


def install_without(games: Collection[str], folder: Path) -> Path:
    """Copy the sources, as the wheel has them, without the folders and entry points of some games."""
    absent = {built_in_games()[name] for name in games}
    package = folder / "glem"
    shutil.copytree(ROOT / FACADE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        unwanted = [FACADE.name] if room == "core" else absent
        shutil.copytree(ROOT / room, package / room, ignore=_ignore_at(ROOT / room, unwanted))
    lines = []
    for group, entries in project()["project"]["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [
            f"{name} = {value}" for name, value in entries.items() if group not in GAME_GROUPS or name not in games
        ]
    information = folder / f"pyglem-{glem.__version__}.dist-info"
    information.mkdir()
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    metadata = f"Metadata-Version: 2.4\nName: pyglem\nVersion: {glem.__version__}\n"
    (information / "METADATA").write_text(metadata, encoding="utf-8")
    return folder


def _ignore_at(top: Path, unwanted: Collection[str]) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        found = {"__pycache__"} & set(names)
        return found | (set(unwanted) & set(names) if Path(folder) == top else set())

    return ignored


def run_python(installation: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with that installation of glem in place of the one that the tests run with.

    Without the module ``site`` there is no editable installation, which would find what was left out.
    """
    libraries = [path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installation), *libraries])}
    return subprocess.run(
        [sys.executable, "-S", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(
    scope="module", params=[*(pytest.param(game, marks=pytest.mark.repeats) for game in GAMES[:-1]), GAMES[-1]]
)
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


def others(game: str) -> list[str]:
    """Games that come with glem besides one, those that follow it in the alphabet first."""
    names = sorted(set(GAMES) & set(game_names()) - {game})
    return sorted(names, key=lambda name: (name < game, name))


def run_commands(installation: Path, commands: list[list[str]], folder: Path) -> list[tuple[int, str]]:
    """Run commands in one process; return the status of each and all that it wrote."""
    run = run_python(installation, "-c", RUN_COMMANDS, json.dumps(commands), cwd=folder)
    assert run.returncode == 0, run.stdout + run.stderr
    return [(status, printed) for status, printed in json.loads(run.stdout)]


def test_other_games_are_listed_checked_and_learned_without_a_game(
    without: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learned is the shortest: that no game leans on another is seen in the sources (``test_arrows``)."""
    game, installation = without
    name = min(others(game), key=lambda other: load_game(other).max_plies)
    commands = [
        ["games", "--json"],
        *(["search", "perft", other, "3", "--plain"] for other in others(game)),
        ["check", name, "--plain", "--games", "1", "--only", "learning"],
        ["generate", name, "--player", "random", "--games", "3", "--workers", "1", "-o", "games"],
        ["positions", "games/games-000000.games", "--game", name, "-o", "positions.parquet"],
        ["fit", "positions.parquet", "-o", "model.npz", "--patterns", "none", "--iterations", "1"],
    ]
    # What is compiled here could not be found in the cache by anything else.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    ended = run_commands(installation, commands, tmp_path)
    assert [status for status, _ in ended] == [0] * len(commands), ended
    printed = ended[0][1]
    # Before it may stand a warning.
    listed = {entry["name"]: entry for entry in json.loads(printed[printed.index("{") :])["games"]}
    assert set(GAMES) & set(game_names()) - set(listed) == {game} & set(game_names())
    assert not [entry for entry in listed.values() if "error" in entry or "learning_error" in entry]


def test_without_games_commands_say_what_to_do(without_games: Path, tmp_path: Path) -> None:
    refused = ("games anything", "check anything", "search perft anything 3", "discover --demo", "match random random")
    commands: list[list[str]] = [[*words.split()] for words in ("--help", "games", *refused)]
    shown, *ended = run_commands(without_games, commands, tmp_path)
    assert shown[0] == 0
    assert "Usage:" in shown[1]
    assert [status for status, _ in ended] == [0, *(2 for _ in refused)]
    for _, printed in ended:
        assert "Traceback" not in printed
        assert "install glem anew" in printed.lower()
