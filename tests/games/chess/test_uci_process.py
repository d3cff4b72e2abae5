"""``glem engine chess`` as python-chess runs it, with its real search. It compiles: where the data sets are."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import pytest

from tests.killed_programs import killed_in_the_end

PATIENCE = 600.0
COMMAND = [sys.executable, "-m", "glem", "engine", "chess", "--evaluation", "none"]


@pytest.fixture(scope="module")
def engine(shared: Path) -> Iterator[chess.engine.SimpleEngine]:
    assert shared.is_dir()
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=PATIENCE) as running:
        running.ping()
        yield running


def test_mates_are_told_in_moves(engine: chess.engine.SimpleEngine) -> None:
    info: Any = engine.analyse(chess.Board("7k/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"), chess.engine.Limit(mate=2))
    assert info["score"].white() == chess.engine.Mate(1)
    assert info["pv"] == [chess.Move.from_uci("a1a8")]


def test_lines_and_moves_to_search(engine: chess.engine.SimpleEngine) -> None:
    wanted = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("e2e4")]
    found: Any = engine.analyse(chess.Board(), chess.engine.Limit(depth=2), multipv=3, root_moves=wanted)
    assert {info["pv"][0] for info in found} == set(wanted)


def test_stop_and_quit_end_what_has_no_end(engine: chess.engine.SimpleEngine) -> None:
    for _ in range(3):
        with engine.analysis(chess.Board()) as analysis:
            while "pv" not in analysis.get():
                continue
            analysis.stop()
            move = analysis.wait().move
            assert move is not None
            assert move in chess.Board().legal_moves
    engine.analysis(chess.Board())
    engine.quit()


@pytest.mark.slow
def test_it_quits_while_it_compiles(shared: Path, tmp_path: Path) -> None:
    """On an empty cache: the handshake at once, then the end, long before anything is compiled."""
    environment = {**os.environ, "GLEM_CACHE_DIR": str(tmp_path)}
    with (
        subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        ) as process,
        killed_in_the_end(process),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("uci\n")
        while process.stdout.readline() != "uciok\n":
            continue
        process.stdin.write("isready\nquit\n")
        # The input stays open: this is no script, whose end would let it finish.
        assert process.stdout.read() == ""
    assert process.returncode == 0
