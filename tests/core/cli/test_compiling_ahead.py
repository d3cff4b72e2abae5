"""A second process makes machine code for the first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from glem.core.cli import compiling_ahead
from glem.core.cli.compiling_ahead import compile_features_ahead
from glem.core.game.game import load_game


@pytest.fixture
def forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Forks that would have been made."""
    made: list[int] = []

    def fork() -> int:
        made.append(len(made) + 1)
        return made[-1]

    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("GLEM_NO_COMPILING_AHEAD", raising=False)
    monkeypatch.setattr(compiling_ahead.sys, "platform", "linux")
    monkeypatch.setattr(compiling_ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(compiling_ahead.threading, "active_count", lambda: 1)
    monkeypatch.setattr(compiling_ahead.os, "fork", fork, raising=False)
    monkeypatch.setattr(compiling_ahead.atexit, "register", lambda *_arguments: None)
    return made


def test_a_process_is_started_once(forks: list[int]) -> None:
    for name in ("connect_four", "connect_four", "othello"):
        compile_features_ahead(load_game(name))
    assert forks == [1, 2]


def test_none_is_started_where_it_would_not_help(forks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("connect_four")
    with monkeypatch.context() as alone:
        alone.setattr(compiling_ahead.os, "cpu_count", lambda: 1)
        compile_features_ahead(game)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(compiling_ahead.sys, "platform", "win32")
        compile_features_ahead(game)
    with monkeypatch.context() as others:
        others.setattr(compiling_ahead.threading, "active_count", lambda: 2)
        compile_features_ahead(game)
    monkeypatch.setenv("GLEM_NO_COMPILING_AHEAD", "1")
    compile_features_ahead(game)
    assert not forks


@pytest.mark.repeats  # compiles in a process; what starts it is tested above
@pytest.mark.skipif(sys.platform != "linux", reason="there is a second process on Linux alone")
def test_the_process_leaves_kernels_and_none_is_left_behind(tmp_path: Path) -> None:
    program = (
        "import os\n"
        "from glem.core.cli import compiling_ahead\n"
        "from glem.core.game.game import load_game\n"
        "compiling_ahead.os.cpu_count = lambda: 2\n"
        "compiling_ahead.compile_features_ahead(load_game({!r}))\n{}"
    )
    environment = {**os.environ, "GLEM_CACHE_DIR": str(tmp_path), "GLEM_NO_COMPILING_AHEAD": ""}
    wait = "print(os.waitpid(-1, 0)[1])"
    done = subprocess.check_output([sys.executable, "-c", program.format("connect_four", wait)], env=environment)
    assert done == b"0\n"
    made = {file.relative_to(tmp_path).parts[0].partition("-")[0] for file in tmp_path.rglob("*.nbc")}
    assert {"_fill", "_fill_phases"} <= made
    # Its end is that of the first.
    tell = "import atexit\natexit.register(print, os.getpid())\nraise SystemExit(3)"
    told = subprocess.run([sys.executable, "-c", program.format("othello", tell)], env=environment, capture_output=True)
    assert told.returncode == 3
    assert len(told.stdout.split()) == 1
