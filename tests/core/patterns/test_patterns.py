"""Patterns against dictionaries and plain Python, on Othello's features and on made-up ones."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.patterns.pattern import Pattern, images_of, self_images
from glem.core.patterns.patterns import PatternSet
from tests.oracles.fitting import pattern_orbits


@pytest.fixture(scope="module")
def logistello(othello_learning: Learning) -> PatternSet:
    return PatternSet.from_names(othello_learning.features, othello_learning.pattern_sets["logistello"])


def random_squares(features: AtomicFeatures, count: int, seed: int) -> Any:
    """Feature values with random square contents, 0 elsewhere."""
    generator = np.random.default_rng(seed)
    values = np.zeros((len(features), count), np.int16)
    values[:64] = generator.choice(3, size=(64, count), p=(0.4, 0.3, 0.3))
    return values.T


def test_logistello_has_46_instances(logistello: PatternSet) -> None:
    # Reflections leave the 2x5 corner no symmetry; of 3^n entries, 3^(fixed + pairs) are their own image.
    instances_and_weights = {
        **{f"diagonal_{n}": (2 if n == 8 else 4, (3**n + 3 ** ((n + 1) // 2)) // 2) for n in range(4, 9)},
        **{f"row_{n}": (4, (3**8 + 3**4) // 2) for n in (2, 3, 4)},
        "edge_2x": (4, (3**10 + 3**5) // 2),
        "corner_2x5": (8, 3**10),
        "corner_3x3": (4, (3**9 + 3**6) // 2),
    }
    names = [pattern.name for pattern in logistello.patterns]
    counts = Counter(names[instance.pattern] for instance in logistello.instances)
    sizes = logistello.weight_sizes.tolist()
    found = {name: (counts[name], size) for name, size in zip(names, sizes, strict=True)}
    assert found == instances_and_weights
    assert len(logistello.instances) == 46


def test_entries_of_an_orbit_share_a_weight(logistello: PatternSet) -> None:
    features = logistello.features
    for number, pattern in enumerate(logistello.patterns):
        if len(pattern.features) > 8:
            continue
        fold = logistello.fold(number)
        orbits = pattern_orbits(features, pattern.features)
        weight_of = {assignment: int(fold[entry]) for entry, assignment in enumerate(orbits)}
        for assignment, orbit in orbits.items():
            assert {weight_of[image] for image in orbit} == {weight_of[assignment]}
        assert len(set(orbits.values())) == logistello.weight_sizes[number] == fold.max() + 1


def test_indices_equal_plain_python(logistello: PatternSet) -> None:
    features = logistello.features
    values = random_squares(features, 50, 1)
    indices = logistello.indices(values)
    for column, instance in zip(indices, logistello.instances, strict=True):
        fold = logistello.fold(instance.pattern)
        for row in range(len(values)):
            entry = 0
            for feature in instance.features:
                entry = entry * features[feature].cardinality + int(values[row, feature]) - features[feature].low
            assert column[row] == fold[entry]
    many = random_squares(features, 5000, 3)
    targets = np.random.default_rng(3).permutation(5000)
    np.testing.assert_array_equal(logistello.indices(many, targets=targets)[:, targets], logistello.indices(many))


def test_images_of_a_position_have_the_same_weights(logistello: PatternSet) -> None:
    features = logistello.features
    assert features.symmetries is not None
    values = random_squares(features, 40, 2)

    def active(rows: Any) -> Any:
        return np.sort(logistello.indices(rows) + logistello.column_offsets[:, None], axis=0)

    expected = active(values)
    for symmetry in features.symmetries:
        image = np.zeros_like(values)
        image[:, symmetry] = values
        np.testing.assert_array_equal(active(image), expected)


def test_describe_gives_a_matching_position(logistello: PatternSet) -> None:
    features = logistello.features
    for weight in np.random.default_rng(5).integers(0, logistello.weight_count, 50):
        name, relations = logistello.describe(int(weight))
        values = np.zeros((1, len(features)), np.int16)
        for relation in relations:
            values[0, relation.feature] = relation.value
        pattern = [pattern.name for pattern in logistello.patterns].index(name)
        base = next(place for place, instance in enumerate(logistello.instances) if instance.pattern == pattern)
        assert logistello.indices(values)[base, 0] + logistello.column_offsets[base] == weight


def test_shapes_and_ranges_are_checked(logistello: PatternSet) -> None:
    values = random_squares(logistello.features, 10, 6)
    with pytest.raises(BadInputError, match="expected"):
        logistello.indices(values[:, :5])
    values[3, 0] = 3
    with pytest.raises(BadInputError, match=r"'a1' has values 0\.\.3"):
        logistello.indices(values)
    with pytest.raises(BadInputError, match="not among"):
        logistello.describe(logistello.weight_count)


def made_up(game: Game, symmetries: Any, ranges: list[tuple[int, int]]) -> AtomicFeatures:
    def write(position: Any, values: Any) -> None:
        raise AssertionError("the test gives feature values itself")

    named = tuple(AtomicFeature(f"f{place}", low, high, "made up") for place, (low, high) in enumerate(ranges))
    return AtomicFeatures(game, named, write, None if symmetries is None else np.array(symmetries))


def test_features_of_any_range_without_symmetries(othello: Game) -> None:
    features = made_up(othello, None, [(-3, 4), (0, 0), (5, 9)])
    patterns = PatternSet.from_names(features, {"all": ("f2", "f0", "f1")})
    values = np.array([[-3, 0, 5], [4, 0, 9], [0, 0, 7]], np.int16)
    assert patterns.indices(values).tolist() == [[0, 39, 2 * 8 + 3]]
    assert [relation.value for relation in patterns.describe(39)[1]] == [9, 4, 0]


def test_an_orbit_of_three_feature_orders(othello: Game) -> None:
    rotations = [[0, 1, 2, 3], [1, 2, 0, 3], [2, 0, 1, 3]]
    features = made_up(othello, rotations, [(0, 1)] * 3 + [(0, 4)])
    assert images_of(features, (0, 1)) == [(0, 1), (1, 2), (2, 0)]
    assert self_images(features, (0, 1, 2)) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    patterns = PatternSet.from_names(features, {"ring": ("f0", "f1", "f2")})
    # Two-coloured necklaces of three beads: 000, 001, 011, 111.
    assert patterns.weight_count == 4
    assert len(patterns.instances) == 1


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([Pattern("a", (0, 1)), Pattern("a", (2,))], "one name"),
        ([Pattern("a", (0, 0))], "twice"),
        ([Pattern("a", ())], "empty"),
        ([Pattern("a", (99,))], "no feature 99"),
        ([Pattern("a", tuple(range(11)))], "177,147 table entries"),
    ],
)
def test_bad_patterns_are_refused(othello_learning: Learning, patterns: list[Pattern], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        PatternSet(othello_learning.features, tuple(patterns))


def test_a_symmetry_between_different_ranges_is_refused(othello_learning: Learning) -> None:
    features = othello_learning.features
    wrong = evolve(features[7], high=3, value_names=())
    changed = evolve(features, features=(*features.features[:7], wrong, *features.features[8:]))
    with pytest.raises(BadInputError, match="a symmetry maps"):
        PatternSet.from_names(changed, {"corner": ("a1", "b1")})
