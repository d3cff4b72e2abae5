"""An installation of glem without some of its games, beside the checkout's own, to be run in another process."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import glem
from tests.house.tree import FACADE, ROOMS, ROOT, project

GAME_GROUPS = ("glem.games", "glem.learning", "glem.game_families", "glem.learning_families")
"""Entry-point groups by which games, and families of games, are found."""


def built_in_games() -> dict[str, str]:
    """Name of every game, or family of games, that glem brings, to the folder that it has in its room."""
    entries: Mapping[str, Mapping[str, str]] = project()["project"]["entry-points"]
    return {
        name: value.split(":")[0].split(".")[2]
        for group in ("glem.games", "glem.game_families")
        for name, value in entries.get(group, {}).items()
    }


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
    information = folder / f"glem-{glem.__version__}.dist-info"
    information.mkdir()
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    metadata = f"Metadata-Version: 2.4\nName: glem\nVersion: {glem.__version__}\n"
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
