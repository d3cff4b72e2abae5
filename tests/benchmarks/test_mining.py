"""GenConf beside pyfim's eclat: CPU time, one thread each, the finished output included.

Square contents of 50,000 mid-game positions of WTHOR (30-34 empty squares), both programs on the same positions in one
run. ``algo='b'`` is pyfim's fastest variant here, ``report='a'`` its way to give itemsets with their support.
"""

import time
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from glem.core.configurations.mining import label_statistics, mine
from tests.benchmarks.tournament_positions import Positions, sample

fim = pytest.importorskip("fim", reason="pyfim, the extra 'benchmark', is not installed")

pytestmark = [pytest.mark.shared, pytest.mark.benchmark(timer=time.process_time)]

COUNT = 50_000
MINIMUM = COUNT // 20
SIZE = 4


@pytest.fixture(scope="module")
def positions(shared: Path) -> Positions:
    return sample(shared / "othello" / "wthor", COUNT, (30, 34))


def test_pyfim(benchmark: BenchmarkFixture, positions: Positions) -> None:
    items = [tuple(row) for row in (positions.values + 3 * np.arange(64)).tolist()]
    found = benchmark.pedantic(
        lambda: fim.eclat(items, target="s", supp=-MINIMUM, zmin=1, zmax=SIZE, report="a", algo="b"), rounds=1
    )
    benchmark.extra_info["configurations"] = len(found)


def test_glem(benchmark: BenchmarkFixture, positions: Positions) -> None:
    found = benchmark.pedantic(
        lambda: mine(positions.values, minimum_matches=MINIMUM, maximum_size=SIZE).flatten(),
        rounds=9,
        warmup_rounds=1,
    )
    benchmark.extra_info["configurations"] = len(found)


def test_label_statistics(benchmark: BenchmarkFixture, positions: Positions) -> None:
    configurations = mine(positions.values, minimum_matches=MINIMUM, maximum_size=SIZE).flatten()
    benchmark.pedantic(
        lambda: label_statistics(configurations, positions.values, positions.labels), rounds=3, warmup_rounds=1
    )
