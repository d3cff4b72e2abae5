"""A second process makes machine code for the first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from glem.core.cli import compiling_ahead
from glem.core.cli.compiling_ahead import FEATURES, SEARCH, compile_ahead
from glem.core.game.game import load_game


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that would have been run."""
    commands: list[list[str]] = []
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("GLEM_NO_COMPILING_AHEAD", raising=False)
    monkeypatch.setattr(compiling_ahead.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(compiling_ahead.subprocess, "Popen", lambda command, **_streams: commands.append(command))
    monkeypatch.setattr(compiling_ahead.atexit, "register", lambda *_arguments: None)
    return commands


def test_a_process_is_started_once_for_each_purpose(started: list[list[str]]) -> None:
    game = load_game("connect_four")
    for _ in range(2):
        compile_ahead(FEATURES, game)
        compile_ahead(SEARCH, game, "none")
    assert [command[3:] for command in started] == [[FEATURES, "connect_four", ""], [SEARCH, "connect_four", "none"]]


def test_none_is_started_where_it_would_not_help(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("connect_four")
    with monkeypatch.context() as alone:
        alone.setattr(compiling_ahead.os, "cpu_count", lambda: 1)
        compile_ahead(FEATURES, game)
    monkeypatch.setenv("GLEM_NO_COMPILING_AHEAD", "1")
    compile_ahead(FEATURES, game)
    assert not started


@pytest.mark.repeats  # compiles in a process; what starts it is tested above
def test_the_process_leaves_kernels(tmp_path: Path) -> None:
    for purpose, evaluation in ((FEATURES, ""), (SEARCH, "none")):
        subprocess.run(
            [sys.executable, "-m", "glem.core.cli.compiling_ahead", purpose, "connect_four", evaluation],
            env={**os.environ, "GLEM_CACHE_DIR": str(tmp_path)},
            check=True,
        )
    made = {file.relative_to(tmp_path).parts[0].partition("-")[0] for file in tmp_path.rglob("*.nbc")}
    assert {"_fill", "_fill_phases", "static_score_at"} <= made
