"""Position sets of all tournament games: reading, labelling, merging, files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.files import stream_positions, write_positions
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from tests.benchmarks.measuring import tournament_records

pytestmark = pytest.mark.shared


def tournament_positions(game: Game, shared: Path) -> Positions:
    return positions_of_records(game, tournament_records(game, shared / "othello" / "wthor"), label="auto")


@pytest.fixture(scope="module")
def tournament(othello: Game, shared: Path) -> Positions:
    return tournament_positions(othello, shared)


def test_from_records(benchmark: Any, othello: Game, shared: Path, tournament: Positions) -> None:
    found = benchmark.pedantic(tournament_positions, (othello, shared), rounds=3)
    assert len(found) == len(tournament) > 8_000_000


def test_merge_duplicates(benchmark: Any, tournament: Positions) -> None:
    merged = benchmark.pedantic(tournament.merge_duplicates, rounds=3, warmup_rounds=1)
    assert len(merged) < len(tournament)


def test_write(benchmark: Any, tournament: Positions, tmp_path: Path) -> None:
    benchmark.pedantic(write_positions, (tmp_path / "positions.parquet", tournament), rounds=3)


def test_stream(benchmark: Any, tournament: Positions, tmp_path: Path) -> None:
    path = tmp_path / "positions.parquet"
    write_positions(path, tournament)
    count = benchmark.pedantic(lambda: sum(len(part) for part in stream_positions(path)), rounds=3)
    assert count == len(tournament)


def test_split_by_game(benchmark: Any, tournament: Positions) -> None:
    benchmark.pedantic(tournament.split_by_game, (0.1, 0), rounds=3, warmup_rounds=1)


def test_feature_values(benchmark: Any, othello_learning: Learning, tournament: Positions) -> None:
    some = tournament.select(np.arange(0, len(tournament), len(tournament) // 100_000))
    values = benchmark(othello_learning.features.values, some.positions)
    assert values.shape == (len(some), len(othello_learning.features))
