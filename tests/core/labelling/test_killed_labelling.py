"""``glem relabel`` and ``glem improve`` end as they would have, wherever they were killed or interrupted on the way."""

import signal
from functools import partial
from pathlib import Path

import attrs
import numpy as np
import pytest

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.files import write_positions
from glem.core.positions.writing import write_games
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.labelling.labelling_examples import run, some_positions
from tests.core.positions.test_game_tree import random_games
from tests.killed_programs import end_command_when

# Python ends by the signal itself, after the message, where Ctrl-C came inside code that was made from text.
ENDINGS = [
    (signal.SIGKILL, {-signal.SIGKILL}, ""),
    (signal.SIGINT, {130, -signal.SIGINT}, "the same command continues"),
]


def _is_there(folder: Path, pattern: str) -> bool:
    return any(folder.glob(pattern))


@pytest.mark.repeats  # interruptions: test_corrected interrupts the same work within one process
def test_an_ended_relabel_continues(othello: Game, model: str, tmp_path: Path) -> None:
    games = tmp_path / "some.games"
    records = random_games(othello, 60, 3, choices=60)
    unknown = np.full(len(records), np.nan, np.float32)
    write_games(othello, games, attrs.evolve(records, theoretical_score=unknown))
    arguments = ["relabel", str(games), "--game", "othello", "--workers", "1", "--outcomes", "6", "--threshold", "4"]
    arguments += ["--by", f"{model},table=1,depth=2", "--again", f"{model},table=1,depth=3"]
    whole, ended = tmp_path / "whole.parquet", tmp_path / "ended.parquet"
    run([*arguments, "-o", str(whole)])
    work = Path(f"{ended}.work")
    stages = ["work.json", "outcomes-*.npz", "quick-000001.npz", "thorough-1-000000.npz", "thorough-1-000002.npz"]
    for place, stage in enumerate(stages):
        by, statuses, words = ENDINGS[place % 2]
        found, errors = end_command_when([*arguments, "-o", str(ended)], partial(_is_there, work, stage), by)
        assert found in statuses
        assert words in errors
        assert any(work.glob(stage))
        assert not ended.exists()
    run([*arguments, "-o", str(ended)])
    assert ended.read_bytes() == whole.read_bytes()
    assert not work.exists()


@pytest.mark.repeats  # interruptions: test_improving interrupts the same work within one process
def test_an_ended_improve_continues(othello: Game, othello_learning: Learning, model: str, tmp_path: Path) -> None:
    positions = tmp_path / "some.parquet"
    write_positions(positions, some_positions(othello, 2000))
    arguments = ["improve", model, str(positions), "--workers", "1", "--by", "depth=2,solve=6,table=1"]
    whole, ended = tmp_path / "whole.npz", tmp_path / "ended.npz"
    run([*arguments, "-o", str(whole)])
    work = Path(f"{ended}.work")
    # From the first result on: a folder that an interruption finds without any is taken away.
    stages = ["work.json", "labels-12/[!.]*.npz", "labelled-11.parquet", "fitted-10.npz", "newest-08.npz"]
    stages += ["labels-06/[!.]*.npz"]
    for place, stage in enumerate(stages):
        by, statuses, words = ENDINGS[place % 2]
        found, errors = end_command_when([*arguments, "-o", str(ended)], partial(_is_there, work, stage), by)
        assert found in statuses
        assert words in errors
        assert work.exists()
        assert not ended.exists()
    run([*arguments, "-o", str(ended)])
    one, other = (LinearEvaluation.load(path) for path in (whole, ended))
    for name in ("bias", "pattern_weights", "configuration_weights", "linear_weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert not np.array_equal(one.linear_weights, mobility_evaluation(othello_learning).linear_weights)
    assert not work.exists()
