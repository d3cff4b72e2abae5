"""``glem games new``: what names are good for, and that what it writes works from the first minute."""

import compileall
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from glem.core.conformance.new_game import check_name, check_title, new_game
from glem.core.errors import BadInputError
from tests.core.cli.terminal import Terminal
from tests.stranger_environment import StrangerEnvironment, stranger_environment

FILES = {
    "pyproject.toml",
    "README.md",
    ".gitignore",
    "src/small_game/__init__.py",
    "src/small_game/rules.py",
    "src/small_game/learning.py",
    "tests/test_small_game.py",
}
PLAIN_RUN = """
import numpy as np
from small_game import GAME
assert GAME.title == "Small game"
moves = np.zeros(GAME.max_moves, np.int32)
position = GAME.initial_position
assert GAME.legal_moves(position, moves, 0) == 9
for move in (0, 8, 2, 4, 1):
    position = GAME.play(position, move)
assert GAME.is_over(position)
assert GAME.final_score(position) == -1
assert GAME.format_position(position) == "OOO-X---X X"
from small_game.learning import LEARNING
assert len(LEARNING.features) == 11
"""


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


MISSPELLED = ["", "Hex", "7up", "small-game", "small__game", "_game", "game_", "dame\u0301", "../up", "game\n"]


@pytest.mark.parametrize("name", ["a", "hex7", "small_game", "x_2"])
def test_good_names(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "lower-case letters") for name in MISSPELLED),
        ("x" * 41, "at most 40"),
        ("class", "word of the Python language"),
        ("match", "word of the Python language"),
        ("random", "standard library"),
        ("numpy", "finds"),
        ("glem", "finds"),
        ("othello", "a game 'othello' installed already"),
    ],
)
def test_bad_names(name: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        check_name(name)


def test_a_folder_here_of_that_name_is_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small_game").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    check_name("small_game")


def test_a_package_without_init_elsewhere_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small_game").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BadInputError, match=r"finds .*small_game"):
        check_name("small_game")


@pytest.mark.parametrize("title", ["", "  ", "x" * 61, 'The "game"', "a\\b", "two\nlines", "`code`", "$name", "\x07"])
def test_bad_titles(title: str) -> None:
    with pytest.raises(BadInputError, match="a title has 1 to 60 printable characters"):
        check_title(title)


@pytest.mark.parametrize("title", ["Hexapawn", "Nine Men's Morris", "Dame — französisch", "x" * 60, "100 % {fun}"])
def test_the_files_say_the_title(title: str, tmp_path: Path) -> None:
    written = new_game("small_game", tmp_path / "game", title=title)
    assert {path.relative_to(tmp_path / "game").as_posix() for path in written} == FILES
    assert files_in(tmp_path / "game") == FILES
    project = tomllib.loads((tmp_path / "game" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "glem-small-game"
    assert project["description"] == f"{title}, a game for glem"
    assert project["entry-points"] == {
        "glem.games": {"small_game": "small_game:GAME"},
        "glem.learning": {"small_game": "small_game.learning:LEARNING"},
    }
    assert compileall.compile_dir(tmp_path / "game", quiet=2, force=True)
    assert f"    title={json.dumps(title, ensure_ascii=False)}," in (
        tmp_path / "game/src/small_game/__init__.py"
    ).read_text("utf-8")


def test_the_title_is_made_from_the_name(tmp_path: Path) -> None:
    new_game("small_game", tmp_path / "game")
    assert "# Small game\n" in (tmp_path / "game" / "README.md").read_text(encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "game" / "src")}
    subprocess.run([sys.executable, "-c", PLAIN_RUN], env=environment, check=True)


@pytest.mark.parametrize("name", ["a", "x" * 40])
def test_what_is_written_is_clean(name: str, tmp_path: Path) -> None:
    """Formatted and without findings, for short names and long ones."""
    pytest.importorskip("ruff")
    new_game(name, tmp_path / "game")
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", str(tmp_path / "game")]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_what_is_written_has_the_right_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    new_game("small_game", tmp_path / "game")
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        f"[mypy]\nstrict = true\nmypy_path = {tmp_path / 'game' / 'src'}\nexplicit_package_bases = true\n"
        "[mypy-glem.*]\nfollow_imports = silent\n"
        "[mypy-llvmlite.*,scipy.*,pyarrow.*]\nignore_missing_imports = true\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(tmp_path / "cache")]
    run = subprocess.run([*command, str(tmp_path / "game")], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for target, message in (
        (folder, "is not empty, and nothing is overwritten"),
        (folder / "mine.txt", r"mine\.txt is there and no folder"),
        (tmp_path / "dangling", "is there and no folder"),
        (tmp_path / "absent" / "game", "does not exist"),
    ):
        with pytest.raises(BadInputError, match=message):
            new_game("small_game", target)
    assert files_in(tmp_path) == {"game/mine.txt"}


@pytest.mark.parametrize("folder", [Path(), Path("empty")], ids=["here", "there"])
def test_an_empty_folder_is_filled(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / "empty").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work" / ("empty" if folder == Path() else ""))
    before = folder.stat().st_ino
    new_game("small_game", folder)
    assert folder.stat().st_ino == before
    assert files_in(tmp_path / "work" / "empty") == FILES
    assert [entry.name for entry in (tmp_path / "work").iterdir()] == ["empty"]


@pytest.mark.parametrize("exists", [False, True])
def test_all_files_or_none(exists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk half way leaves nothing behind."""
    folder = tmp_path / "game"
    if exists:
        folder.mkdir()
    original = Path.rename if exists else Path.write_text
    calls: list[Path] = []

    def failing(self: Path, *arguments: Any, **options: Any) -> Any:
        calls.append(self)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, "rename" if exists else "write_text", failing)
    with pytest.raises(BadInputError, match="cannot be written: No space left on device"):
        new_game("small_game", folder)
    assert len(calls) >= 3
    assert files_in(tmp_path) == set()
    assert sorted(tmp_path.iterdir()) == ([folder] if exists else [])


def test_command(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = terminal("games", "new", "small_game")
    assert "wrote small_game/src/small_game/rules.py\n" in shown
    assert "pip install -e ./small_game" in shown
    assert "not empty" in terminal.fails("games", "new", "small_game")
    found = terminal.json("games", "new", "small_game", "-o", "other", "--title", "Other")
    assert (found["name"], found["folder"]) == ("small_game", "other")
    assert {Path(file).relative_to("other").as_posix() for file in found["files"]} == FILES


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> StrangerEnvironment:
    return stranger_environment(tmp_path_factory.mktemp("environment"))


@pytest.mark.repeats  # an installation: what is written is looked at above, part by part
def test_it_installs_checks_and_passes_its_own_tests(environment: StrangerEnvironment, tmp_path: Path) -> None:
    for command in ("glem games new small_game", "pip install -e ./small_game", "glem check small_game --plain"):
        environment.run(command, tmp_path)
    listed = json.loads(environment.run("glem games --json", tmp_path))["games"]
    [entry] = [entry for entry in listed if entry["name"] == "small_game"]
    assert entry["title"] == "Small game"
    assert "12 passed" in environment.run("pytest", tmp_path / "small_game")
    refused = environment.run("glem games new small_game -o again", tmp_path, status=2)
    assert "installed already" in refused


@pytest.mark.repeats  # rules and learning: its own tests look at them
def test_every_part_of_it_keeps_its_promises(environment: StrangerEnvironment, tmp_path: Path) -> None:
    for command in ("glem games new other_game", "pip install -e ./other_game"):
        environment.run(command, tmp_path)
    assert "fitter" in environment.run("glem check other_game", tmp_path)
