"""The example of `docs/how-to/bring-your-own-features.md`: its values, and that it lowers the held-out error."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.positions.files import write_positions
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.evaluator_scores import random_line
from tests.house.tree import ROOT
from tests.oracles.othello_features import CORNERS, EDGES, EMPTY, OPPONENT, OWN, count_touching

EXAMPLE = ROOT / "docs" / "how-to" / "my_features.py"


def from_corners(board: dict[tuple[int, int], str], side: str) -> int:
    safe = set()
    for edge in EDGES:
        for line in (edge, edge[::-1]):
            assert line[0] in CORNERS
            for square in line:
                if board[square] != side:
                    break
                safe.add(square)
    return len(safe)


def test_values_are_what_the_descriptions_say(othello_learning: Learning) -> None:
    learning = othello_learning.extended(EXAMPLE)
    seen = []
    for seed in range(20):
        for position in random_line(learning.game, np.random.default_rng(seed))[0]:
            own, opponent = int(position.own), int(position.opponent)
            board = {
                divmod(square, 8): OWN if own >> square & 1 else OPPONENT if opponent >> square & 1 else EMPTY
                for square in range(64)
            }
            frontier = count_touching(board, OWN, EMPTY) - count_touching(board, OPPONENT, EMPTY)
            stable = from_corners(board, OWN) - from_corners(board, OPPONENT)
            assert learning.features.values_of(position)[-2:].tolist() == [frontier, stable]
            seen.append(stable)
    assert min(seen) < -8
    assert max(seen) > 8


def test_they_lower_the_held_out_error(
    terminal: Terminal, othello_learning: Learning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert othello_learning.sample is not None
    sample = othello_learning.sample()
    write_positions("train.parquet", sample.select(sample.record < 400))
    write_positions("heldout.parquet", sample.select((sample.record >= 400) & (sample.record < 600)))
    own = ("--features", EXAMPLE)
    fitting = ("fit", "train.parquet", "--patterns", "none")
    terminal(*fitting, "-o", "terms.npz")
    terminal(*fitting, "-o", "own.npz", *own)
    error = terminal.json("evaluate", "terms.npz", "own.npz", "heldout.parquet", *own)["rmse"]
    assert error["own.npz"][-1] < 0.97 * error["terms.npz"][-1]
