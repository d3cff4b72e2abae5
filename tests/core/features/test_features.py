import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeature, AtomicFeatures, Relation
from glem.core.game.game import Game


def write_two(position, values):  # type: ignore[no-untyped-def] # a plugin author need not annotate
    values[0] = position.own & np.uint64(1)
    values[1] = -3


def two_features(game: Game, *names: str) -> AtomicFeatures:
    return AtomicFeatures(
        game=game,
        features=(
            AtomicFeature(names[0], 0, 1, "First.", ("no", "yes"), group="bits"),
            AtomicFeature(names[1], -5, 5, "Second.", group="numbers"),
        ),
        write=write_two,
    )


@pytest.fixture(scope="module")
def features(othello: Game) -> AtomicFeatures:
    return two_features(othello, "first", "second")


def test_values_are_computed_in_blocks_and_stored_feature_by_feature(othello: Game, features: AtomicFeatures) -> None:
    for count in (0, 1, 63, 64, 65, 1000):
        own = np.repeat(np.arange(count, dtype=np.uint64), 2)[::2]
        values = features.values(othello.position_type(own, np.zeros_like(own)))
        assert values.dtype == np.int16
        assert values.shape == (count, 2)
        assert values.flags.f_contiguous
        assert np.array_equal(values[:, 0], own & np.uint64(1))
        assert (values[:, 1] == -3).all()


def test_names_groups_and_descriptions(features: AtomicFeatures) -> None:
    assert len(features) == 2
    assert features[1].cardinality == 11
    assert features.index("second") == 1
    assert features.select().tolist() == [0, 1]
    assert features.select(groups=["numbers"]).tolist() == [1]
    assert features.select(names=["first"]).tolist() == [0]
    assert features.select(groups=["numbers"], names=["first"]).tolist() == [0, 1]
    assert features.describe(Relation(0, 1)) == "first=yes"
    assert features.describe(Relation(1, -2)) == "second=-2"


def test_unknown_names_are_explained(features: AtomicFeatures) -> None:
    with pytest.raises(BadInputError, match="no atomic feature 'third'"):
        features.index("third")
    with pytest.raises(BadInputError, match=r"no feature group 'squares'; it has: \['bits', 'numbers'\]"):
        features.select(groups=["squares"])


def test_bad_definitions_are_refused(othello: Game) -> None:
    with pytest.raises(BadInputError, match="two atomic features have one name"):
        two_features(othello, "same", "same")
    with pytest.raises(BadInputError, match=r"range 3\.\.2 is empty"):
        AtomicFeature("bad", 3, 2, "Empty range.")
    with pytest.raises(BadInputError, match="no int16"):
        AtomicFeature("bad", 0, 40_000, "Too large.")
    with pytest.raises(BadInputError, match="has 3 values and 2 value names"):
        AtomicFeature("bad", 0, 2, "Names missing.", ("a", "b"))
