"""GenConf against the oracle and against another program; limits, threads, resumption; gain over generalizations."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.mining import mine
from glem.core.configurations.mining.gain import generalization_gain
from glem.core.configurations.mining.generation import _sequential_test
from glem.core.errors import BadInputError
from tests.oracles import mining as oracle
from tests.oracles.gain import gains


def _values(positions: int, features: int, seed: int, kinds: int = 3) -> NDArray[np.int16]:
    """Dependent features: each copies its neighbour half of the time."""
    generator = np.random.default_rng(seed)
    values = generator.integers(-1, kinds - 1, (positions, features)).astype(np.int16)
    for feature in range(1, features):
        copied = generator.random(positions) < 0.5
        values[copied, feature] = values[copied, feature - 1]
    return values


def _found(configurations: ConfigurationSet) -> dict[oracle.Configuration, int]:
    names = oracle.names_of(configurations)
    assert len(set(names)) == len(names)
    return dict(zip(names, map(int, configurations.match_counts), strict=True))


def _same(one: ConfigurationSet, other: ConfigurationSet) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("relations", "offsets", "match_counts")
    )


@pytest.mark.parametrize(
    ("positions", "features", "minimum", "maximum_size"),
    [
        (300, 6, 5, None), (300, 6, 1, 3), (64, 5, 3, None), (63, 5, 1, None), (513, 4, 2, None),
        (200, 7, 4, 1), (200, 7, 4, 2), (200, 7, 4, 4), (5, 3, 1, None), (100, 1, 1, None), (100, 4, 101, None),
        # Long rows, rare prefixes and many candidates: deep enough to project rows twice.
        (6000, 12, 60, 5),
    ],
)  # fmt: skip
def test_exactly_the_oracles_configurations(
    positions: int, features: int, minimum: int, maximum_size: int | None
) -> None:
    values = _values(positions, features, positions + features, 3 if features < 12 else 2)
    found = mine(values, minimum_matches=minimum, maximum_size=maximum_size).flatten()
    assert _found(found) == oracle.gen_conf(values, minimum, maximum_size)
    assert found.position_count == positions and found.incomplete == ""


def test_feature_subsets_and_integer_kinds() -> None:
    values = _values(200, 6, 1)
    chosen = [4, 1, 2]
    found = _found(mine(values.astype(np.int64), minimum_matches=9, features=chosen).flatten())
    whole = oracle.gen_conf(values, 9)
    assert found == {name: count for name, count in whole.items() if {feature for feature, _ in name} <= set(chosen)}
    assert len(mine(values, minimum_matches=9, features=[]).flatten()) == 0
    assert len(mine(values[:0], minimum_matches=1).flatten()) == 0


def test_preorder_form_counts_sizes() -> None:
    mined = mine(_values(300, 6, 2), minimum_matches=6)
    flat = mined.flatten()
    assert len(mined) == len(flat)
    np.testing.assert_array_equal(mined.size_counts(), np.bincount(flat.sizes))


def test_threads_do_not_change_the_result() -> None:
    values = _values(2000, 10, 4)
    cases: list[dict[str, Any]] = [
        {}, {"method": "sequential", "chunk_size": 512, "confidence": 1.0}, {"limit": 700},
    ]  # fmt: skip
    for case in cases:
        one, three = (mine(values, minimum_matches=20, maximum_size=5, jobs=jobs, **case).flatten() for jobs in (1, 3))
        assert _same(one, three) and one.incomplete == three.incomplete


def test_same_itemsets_as_pyfim() -> None:
    fim = pytest.importorskip("fim", reason="pyfim, the extra 'benchmark', is not installed")
    values = _values(3000, 12, 5)
    items = (values + 1).astype(int) + 3 * np.arange(12)
    expected = fim.eclat([tuple(row) for row in items.tolist()], target="s", supp=-60, zmin=1, zmax=5, report="a")
    found = _found(mine(values, minimum_matches=60, maximum_size=5).flatten())
    assert found == {frozenset((item // 3, item % 3 - 1) for item in itemset): count for itemset, count in expected}


@pytest.mark.parametrize("confidence", [0.5, 1.5, 3.0])
def test_sequential_bounds_decide_as_the_paper(confidence: float) -> None:
    generator = np.random.default_rng(7)
    for trial in range(60):
        positions = int(generator.integers(600, 4000))
        minimum = int(generator.integers(10, positions))
        matches = generator.random(positions) < generator.random()
        test = _sequential_test(minimum, positions, 512, confidence)
        seen = np.cumsum([matches[start : start + 512].sum() for start in range(0, positions, 512)])
        verdict = bool(seen[-1] >= minimum)
        for count, reject_below, accept_from in zip(seen, test.reject_below, test.accept_from, strict=False):
            if count >= accept_from or count < reject_below:
                verdict = bool(count >= accept_from)
                break
        assert verdict == oracle.match_heuristic(matches.tolist(), minimum, 512, confidence), trial


def test_sequential_test_loses_and_never_adds() -> None:
    values = _values(20_000, 8, 6)

    def sampled(confidence: float, seed: int = 0) -> ConfigurationSet:
        settings: dict[str, Any] = {"method": "sequential", "chunk_size": 512, "confidence": confidence, "seed": seed}
        return mine(values, minimum_matches=400, **settings).flatten()

    exact = _found(mine(values, minimum_matches=400).flatten())
    found = [_found(sampled(confidence)) for confidence in (0.25, 1.0, 8.0)]
    assert all(part.items() <= exact.items() for part in found)
    assert len(found[0]) < len(found[1]) <= len(found[2]) == len(exact)
    # The seed decides what it sees.
    assert _same(sampled(0.5, 1), sampled(0.5, 1)) and not _same(sampled(0.5, 1), sampled(0.5, 2))


def test_limits_are_reported() -> None:
    values = _values(2000, 12, 8)
    whole = mine(values, minimum_matches=4).flatten()
    part = mine(values, minimum_matches=4, limit=1000).flatten()
    assert len(part) == 1000 and "limit of 1,000" in part.incomplete
    np.testing.assert_array_equal(part.relations, whole.relations[: part.offsets[-1]])
    exactly = mine(values, minimum_matches=4, limit=len(whole)).flatten()
    assert _same(exactly, whole) and exactly.incomplete == ""


_MANY = np.arange(70_000, dtype=np.int64).reshape(-1, 2) % 30_000


@pytest.mark.parametrize(
    ("values", "settings", "text"),
    [
        (_values(10, 3, 0), {"minimum_matches": 0}, "minimal match count"),
        (_values(10, 3, 0), {"maximum_size": 0}, "maximum size"),
        (_values(10, 3, 0), {"method": "guess"}, "method"),
        (_values(10, 3, 0), {"chunk_size": 100}, "multiple of 512"),
        (_values(10, 3, 0), {"confidence": 0.0}, "confidence"),
        (_values(10, 3, 0), {"limit": 0}, "limit"),
        (_values(10, 3, 0), {"jobs": 0}, "jobs"),
        (_values(10, 3, 0), {"features": [3]}, "0 to 2"),
        (np.zeros((3, 2)), {}, "integer matrix"),
        (np.full((3, 2), 40_000), {}, "int16"),
        (np.hstack([_MANY, _MANY + 1, _MANY - 5]), {}, "relations are more than"),
    ],
)
def test_wrong_arguments_are_named(values: NDArray[Any], settings: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInputError, match=text):
        mine(values, **{"minimum_matches": 1, **settings}).flatten()


class _InterruptionError(Exception):
    pass


@contextlib.contextmanager
def _interrupting(description: str, total: float | None = None) -> Iterator[Any]:
    yield Mock(advance=Mock(side_effect=[None] * 8 + [_InterruptionError]))


def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    values = _values(2000, 10, 9)
    folder = tmp_path / "parts"
    with pytest.raises(_InterruptionError):
        mine(values, minimum_matches=10, checkpoint=folder, jobs=2, progress=_interrupting).flatten()
    parts = sorted(folder.glob("part-*.npz"))
    assert 9 <= len(parts) < 30
    # Whoever damages a part only loses its work.
    parts[2].write_bytes(parts[2].read_bytes()[:100])
    before = parts[0].stat().st_mtime_ns
    resumed = mine(values, minimum_matches=10, checkpoint=folder, jobs=2).flatten()
    assert parts[0].stat().st_mtime_ns == before
    assert _same(resumed, mine(values, minimum_matches=10).flatten())


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    values = _values(500, 6, 9)
    folder = tmp_path / "parts"
    mine(values, minimum_matches=10, checkpoint=folder).flatten()
    with pytest.raises(BadInputError, match="minimum_matches: 10, not 11"):
        mine(values, minimum_matches=11, checkpoint=folder).flatten()
    with pytest.raises(BadInputError, match=r"parts of a search of other settings or input \(data: "):
        mine(values[::-1], minimum_matches=10, checkpoint=folder).flatten()
    with pytest.raises(BadInputError, match=r"no work\.json that tells how it came about"):
        mine(values, minimum_matches=10, checkpoint=tmp_path).flatten()
    (folder / "work.json").write_text("{")
    with pytest.raises(BadInputError, match=r"work\.json differs"):
        mine(values, minimum_matches=10, checkpoint=folder).flatten()


def _set_of(configurations: list[frozenset[int]], counts: list[int], relation_count: int) -> ConfigurationSet:
    table = RelationTable(np.arange(relation_count), np.zeros(relation_count))
    return ConfigurationSet.from_relations(table, [sorted(members) for members in configurations], counts, 1000)


@pytest.mark.parametrize("seed", range(5))
def test_gains_equal_the_oracle(seed: int) -> None:
    generator = np.random.default_rng(seed)
    drawn = {frozenset(map(int, generator.choice(8, generator.integers(1, 5), replace=False))) for _ in range(120)}
    configurations = sorted(drawn, key=sorted)
    counts = generator.integers(1, 6, len(configurations)).tolist()
    means = generator.normal(size=len(configurations))
    found = generalization_gain(_set_of(configurations, counts, 8), means, 0.25, 2.0)
    np.testing.assert_allclose(found, gains(configurations, counts, means.tolist(), 0.25, 2.0), rtol=1e-12)


def test_a_conjunction_that_adds_nothing_gains_nothing() -> None:
    configurations = [frozenset({0}), frozenset({1}), frozenset({0, 1})]
    found = generalization_gain(_set_of(configurations, [100, 50, 25], 2), np.array([4.0, 1.0, 4.0]), 0.0, 1.0)
    assert found.tolist() == pytest.approx([40.0, 50**0.5, 0.0])


def test_means_and_deviations_are_checked() -> None:
    configurations = _set_of([frozenset({0})], [3], 1)
    with pytest.raises(BadInputError, match="finite means"):
        generalization_gain(configurations, np.array([np.nan]), 0.0, 1.0)
    with pytest.raises(BadInputError, match="standard deviation"):
        generalization_gain(configurations, np.array([1.0]), 0.0, 0.0)
