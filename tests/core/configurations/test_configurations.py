"""Configuration sets: selection, files, symmetry."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.configurations.configurations import (
    _FORMAT,
    ConfigurationSet,
    RelationTable,
    close_under_symmetry,
    symmetry_classes,
)
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning, load_learning
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.oracles import mining as oracle


def _table(features: int = 6, values: int = 3) -> RelationTable:
    return RelationTable(np.repeat(np.arange(features), values), np.tile(np.arange(values) - 1, features))


def _random_set(table: RelationTable, count: int, seed: int) -> ConfigurationSet:
    generator = np.random.default_rng(seed)
    drawn: dict[tuple[int, ...], int] = {}
    for _ in range(count):
        relations = generator.choice(len(table), generator.integers(1, 5), replace=False)
        _, first = np.unique(table.features[relations], return_index=True)
        drawn[tuple(sorted(relations[first]))] = int(generator.integers(1, 100))
    return ConfigurationSet.from_relations(table, list(drawn), list(drawn.values()), 100)


def test_select_by_mask_and_by_indices() -> None:
    configurations = _random_set(_table(), 50, 1)
    mask = np.arange(len(configurations)) % 3 == 1
    for chosen in (mask, np.flatnonzero(mask)[::-1], np.zeros(0, np.int64)):
        part = configurations.select(chosen)
        indices = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        assert oracle.names_of(part) == [oracle.names_of(configurations)[k] for k in indices]
        np.testing.assert_array_equal(part.match_counts, configurations.match_counts[indices])
    with pytest.raises(BadInputError, match="outside 0"):
        configurations.select(np.array([len(configurations)]))
    with pytest.raises(BadInputError, match="mask"):
        configurations.select(np.ones(3, bool))


def test_find_tells_unknown_relations() -> None:
    table = _table(3, 2)
    assert table.find([0, 1, 2, 9, 0], [0, -1, 1, 0, 5]).tolist() == [1, 2, -1, -1, -1]


def test_file_returns_the_same_set(tmp_path: Path) -> None:
    configurations = _random_set(_table(), 200, 2)
    path = tmp_path / "mined.npz"
    configurations.save(path)
    loaded = ConfigurationSet.load(path)
    for name in ("relations", "offsets", "match_counts"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(configurations, name))
    np.testing.assert_array_equal(loaded.table.features, configurations.table.features)
    np.testing.assert_array_equal(loaded.table.values, configurations.table.values)
    assert loaded.position_count == 100 and loaded.incomplete == ""
    assert list(tmp_path.iterdir()) == [path]


def test_other_contents_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mined.npz"
    _random_set(_table(), 20, 4).save(path)
    with np.load(path) as arrays:
        good = dict(arrays)
    del good["header"]
    wrong: dict[str, tuple[Any, str]] = {
        "relations": (good["relations"] * 0 + 60000, "ascend"),
        "sizes": (good["sizes"] * 0, "offsets"),
        "match_counts": (good["match_counts"] + 1000, "match count is outside"),
        "table_features": (good["table_features"][::-1], "ordered"),
        "more": (np.zeros(1), "holds more"),
    }
    for name, (array, words) in wrong.items():
        _FORMAT.write(path, {"position_count": 100, "incomplete": ""}, {**good, name: array})
        with pytest.raises(BadInputError, match=rf"mined\.npz.*{words}"):
            ConfigurationSet.load(path)
        np.savez(
            path, **{**good, "header": np.frombuffer(b'{"format": "glem configurations", "version": 2}', np.uint8)}
        )
        with pytest.raises(BadInputError, match=r"mined\.npz: damaged, its checksum"):
            ConfigurationSet.load(path)
    linear_evaluation(load_learning("othello"), mobility=1.0).save(path)
    with pytest.raises(BadInputError, match=r"is an evaluation; glem discover writes .* as mined\.npz"):
        ConfigurationSet.load(path)
    with pytest.raises(BadInputError, match=r"absent\.npz"):
        ConfigurationSet.load(tmp_path / "absent.npz")


def test_wrong_sets_are_refused() -> None:
    table = _table(2, 2)
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: ConfigurationSet.from_relations(table, [[4]]), "within the table of 4"),
        (lambda: ConfigurationSet(table, np.array([2, 1]), np.array([0, 2]), np.array([1]), 1), "must ascend"),
        (lambda: ConfigurationSet(table, np.array([1]), np.array([0, 2]), np.array([1]), 1), "offsets"),
        (lambda: RelationTable(np.array([1, 0]), np.array([0, 0])), "ordered"),
    ]
    for call, text in cases:
        with pytest.raises(BadInputError, match=text):
            call()


def test_description(othello_learning: Learning) -> None:
    table = RelationTable(np.array([0, 1, 64]), np.array([1, 0, 7]))
    configurations = ConfigurationSet.from_relations(table, [[0, 1], [2]])
    assert configurations.describe(0, othello_learning.features) == "a1=own b1=empty"
    assert configurations.describe(1, othello_learning.features) == "mobility=7"


def test_classes_are_orbits(othello_learning: Learning) -> None:
    symmetries = othello_learning.features.symmetries
    assert symmetries is not None
    table = RelationTable(np.repeat([0, 1, 6, 7, 8, 9, 62, 63, 64], 2), np.tile([0, 1], 9))
    configurations = _random_set(table, 400, 5)
    classes = symmetry_classes(configurations, symmetries)
    orbits = [oracle.orbit(name, symmetries) for name in oracle.names_of(configurations)]
    numbers: dict[frozenset[oracle.Configuration], int] = {}
    assert classes.tolist() == [numbers.setdefault(images, len(numbers)) for images in orbits]
    assert len(numbers) < len(configurations)
    np.testing.assert_array_equal(symmetry_classes(configurations, None), np.arange(len(configurations)))


def test_closing_adds_every_image_once(othello_learning: Learning) -> None:
    symmetries = othello_learning.features.symmetries
    assert symmetries is not None
    table = RelationTable(np.repeat([0, 1, 9, 64], 2), np.tile([0, 1], 4))
    configurations = _random_set(table, 30, 6)
    closed, origin = close_under_symmetry(configurations, symmetries)
    names, before = oracle.names_of(closed), oracle.names_of(configurations)
    assert len(set(names)) == len(names)
    assert set(names) == set().union(*(oracle.orbit(name, symmetries) for name in before))
    assert names[: len(before)] == before
    assert all(name in oracle.orbit(before[source], symmetries) for name, source in zip(names, origin, strict=True))
    assert not closed.match_counts[len(before) :].any()
    again, _ = close_under_symmetry(closed, symmetries)
    assert len(again) == len(closed)
    unchanged, _ = close_under_symmetry(configurations, None)
    assert len(unchanged) == len(configurations)
