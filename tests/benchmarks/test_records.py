"""Speed of reading and replaying game records, and of sets of all tournament positions: files, merging, splits.

On one core: games a second is the number of games over the median.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.files import stream_positions, write_positions
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records, read_scored_positions
from glem.core.positions.replay import replay
from tests.benchmarks.measuring import tournament_records

pytestmark = pytest.mark.shared

ROUNDS = 5


def measure(benchmark: Any, count: int, unit: str, work: Any) -> None:
    """Time the work after a round that compiles, in CPU time, and note how many units a second it does."""
    benchmark.pedantic(work, rounds=ROUNDS, warmup_rounds=1)
    benchmark.extra_info[f"{unit} per second"] = round(count / benchmark.stats.stats.median)


@pytest.fixture(scope="module")
def tournament_games(othello: Game, shared: Path) -> GameRecords:
    return GameRecords.concatenate(list(tournament_records(othello, shared / "othello" / "wthor")))


@pytest.mark.benchmark(group="records", timer=time.process_time)
def test_read_and_check_wthor(benchmark: Any, othello: Game, shared: Path) -> None:
    folder = shared / "othello" / "wthor"
    measure(benchmark, 137_548, "games", lambda: list(tournament_records(othello, folder)))


@pytest.mark.benchmark(group="records", timer=time.process_time)
def test_replay_of_wthor(benchmark: Any, othello: Game, tournament_games: GameRecords) -> None:
    measure(benchmark, len(tournament_games), "games", lambda: replay(othello, tournament_games))


@pytest.mark.benchmark(group="records", timer=time.process_time)
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("logbook.gam.gz", 121_123),
        ("egaroucid3-selfplay.txt.xz", 83_593),
        ("egaroucid-early-selfplay.txt.xz", 40_653),
        ("eothello_dataset.csv.xz", 25_657),
    ],
)
def test_read_and_check_text(benchmark: Any, othello: Game, shared: Path, name: str, count: int) -> None:
    path = shared / "othello" / "games" / name
    measure(benchmark, count, "games", lambda: list(read_records(othello, path)))


@pytest.mark.benchmark(group="parsing", timer=time.process_time)
def test_read_scored_positions(benchmark: Any, othello: Game, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    squares = random.integers(0, 3, (100_000, 64))
    boards = np.array([ord("-"), ord("X"), ord("O")], np.uint8)[squares]
    path = tmp_path / "positions.txt"
    path.write_text("".join(f"{board.tobytes().decode()} X {place % 65}\n" for place, board in enumerate(boards)))
    measure(benchmark, len(boards), "positions", lambda: list(read_scored_positions(othello, path)))


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
