"""How long finding the active ones among 100,000 configurations takes, one position at a time and in batches.

Positions and configurations are WTHOR's: 10,000 positions of all stages, none of them among those that the
configurations were mined from. Each benchmark also prints microseconds a position.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from glem.core.configurations.dag import ConfigurationDAG
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.configurations.mining import mine
from tests.benchmarks.tournament_positions import sample

pytestmark = pytest.mark.shared

CONFIGURATIONS = 100_000
POSITIONS = 10_000
ONE_BY_ONE = 500
PHASES = 13
SPECIFIC = pytest.mark.parametrize("most_specific", [False, True], ids=["all", "most_specific"])


@pytest.fixture(scope="module")
def values(shared: Path) -> np.ndarray:
    """The squares of 60,000 positions of tournament games, in random order."""
    return np.random.default_rng(1).permutation(sample(shared / "othello" / "wthor", 60_000).values)


@pytest.fixture(scope="module", params=["closed", "thinned", "short"])
def matcher(request: pytest.FixtureRequest, values: np.ndarray) -> ConfigurationMatcher:
    """The commonest in two rows, with all subsets; a random share of three rows'; of pairs and triples anywhere."""
    squares = {"closed": 16, "thinned": 24, "short": 64}[request.param]
    share, longest = {"closed": (0.015, 6), "thinned": (0.03, 6), "short": (0.02, 3)}[request.param]
    mined_from = values[POSITIONS:]
    mined = mine(
        mined_from,
        minimum_matches=int(share * len(mined_from)),
        maximum_size=longest,
        features=np.arange(squares),
    ).flatten()
    if request.param == "closed":
        # Equal counts go by size, so that the set stays closed under taking subsets.
        kept = np.lexsort((mined.sizes, -mined.match_counts))[:CONFIGURATIONS]
    else:
        kept = np.random.default_rng(2).permutation(len(mined))[:CONFIGURATIONS]
    configurations = mined.select(np.sort(kept))
    assert len(configurations) == CONFIGURATIONS
    return ConfigurationMatcher(configurations)


@pytest.fixture
def timed(
    benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> Callable[[Callable[[], Any], int], Any]:
    """Benchmark a call that deals with so many positions, and print microseconds a position."""

    def run(call: Callable[[], Any], positions: int) -> Any:
        result = benchmark.pedantic(call, rounds=5, warmup_rounds=1)
        measured: Any = benchmark.stats  # annotated as None
        each = measured.stats.median / positions * 1e6
        with capsys.disabled():
            print(f"\n{request.node.name}: {each:.1f} microseconds a position", end="")
        return result

    return run


@SPECIFIC
def test_batch(timed: Any, matcher: ConfigurationMatcher, values: np.ndarray, most_specific: bool) -> None:
    positions = np.asfortranarray(values[:POSITIONS])
    _, found = timed(lambda: matcher.active(positions, most_specific), POSITIONS)
    print(f", {len(found) / POSITIONS:.0f} found in each", end="")


@SPECIFIC
def test_batch_sums_by_phase(
    timed: Any, matcher: ConfigurationMatcher, values: np.ndarray, most_specific: bool
) -> None:
    generator = np.random.default_rng(3)
    positions = np.asfortranarray(values[:POSITIONS])
    weights = generator.normal(size=(PHASES, CONFIGURATIONS)).astype(np.float32)
    phase = generator.integers(0, PHASES, POSITIONS).astype(np.uint8)
    timed(lambda: matcher.sums(positions, weights, most_specific, phase), POSITIONS)


@SPECIFIC
def test_one_position(timed: Any, matcher: ConfigurationMatcher, values: np.ndarray, most_specific: bool) -> None:
    rows = np.ascontiguousarray(values[:ONE_BY_ONE])
    timed(lambda: [matcher.active_one(row, most_specific) for row in rows], ONE_BY_ONE)


@pytest.fixture(scope="module")
def dag(matcher: ConfigurationMatcher) -> ConfigurationDAG:
    return ConfigurationDAG(matcher.configurations)


@SPECIFIC
def test_walk_through_the_dag(timed: Any, dag: ConfigurationDAG, values: np.ndarray, most_specific: bool) -> None:
    rows = np.ascontiguousarray(values[:20])
    timed(lambda: [dag.active(row, most_specific) for row in rows], len(rows))


def test_building(timed: Any, matcher: ConfigurationMatcher) -> None:
    timed(lambda: ConfigurationMatcher(matcher.configurations).position_tables, 1)
