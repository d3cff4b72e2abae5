"""SPSA: against the recursion written out, on parabolas with and without noise, and its errors."""

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.tuning.spsa import Schedule, Space, averages, comparisons, search

OPTIMUM = np.array([3.0, -20.0])


def space(*, is_whole: bool = False) -> Space:
    return Space(
        start=np.array([0.0, 10.0]),
        low=np.array([-10.0, -100.0]),
        high=np.array([10.0, 100.0]),
        c_end=np.array([1.0, 5.0]),
        r_end=np.full(2, 0.02),
        is_whole=np.full(2, is_whole),
    )


def parabola(noise: float):
    """How much better the first values are than the second, at an optimum of ``OPTIMUM``."""

    def compare(plus: NDArray[np.float64], minus: NDArray[np.float64], generator: np.random.Generator):
        def loss(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return (((values - OPTIMUM) / [1.0, 5.0]) ** 2).sum(axis=1)

        return 0.2 * (loss(minus) - loss(plus)) + noise * generator.standard_normal(len(plus))

    return compare


def test_iterates_are_those_of_the_recursion():
    # Spall (1998), section II, with c and a by how they end: no noise, no bounds within reach, one comparison.
    schedule, objective = Schedule(50, 1, seed=5), parabola(0.0)
    path = search(space(), schedule, objective)
    theta = [0.0, 10.0]
    for k in range(1, 51):
        generator = np.random.default_rng((5, k))
        signs = [1 if bit else -1 for bit in generator.integers(2, size=2).tolist()]
        c = [1.0 * 50**0.101 / k**0.101, 5.0 * 50**0.101 / k**0.101]
        a = [0.02 * c_end**2 * (5 + 50) ** 0.602 / (5 + k) ** 0.602 for c_end in (1.0, 5.0)]
        plus = np.array([[value + width * sign for value, width, sign in zip(theta, c, signs, strict=True)]])
        minus = np.array([[value - width * sign for value, width, sign in zip(theta, c, signs, strict=True)]])
        y = objective(plus, minus, generator)[0]
        theta = [value + gain * y * sign / width for value, gain, sign, width in zip(theta, a, signs, c, strict=True)]
        assert path[k] == pytest.approx(theta, rel=1e-12)


@pytest.mark.parametrize("noise", [0.5, 4.0])
@pytest.mark.parametrize("is_whole", [False, True])
def test_the_optimum_is_found_within_its_error(noise: float, is_whole: bool):
    where, schedule = space(is_whole=is_whole), Schedule(600, 8)
    found = averages(where, schedule, search(where, schedule, parabola(noise)))
    assert np.isfinite(found.errors).all()
    assert (np.abs(found.values - OPTIMUM) < 3.5 * found.errors).all()
    assert (found.errors < [1.0, 5.0]).all()


def test_errors_are_those_of_searches_that_are_repeated():
    schedules = [Schedule(400, 4, seed) for seed in range(40)]
    found = [averages(space(), one, search(space(), one, parabola(2.0))) for one in schedules]
    pulls = np.array([(one.values - OPTIMUM) / one.errors for one in found])
    assert 0.5 < np.sqrt(np.nanmean(pulls**2)) < 1.6


def test_without_a_pull_there_is_no_error():
    schedule = Schedule(300, 4)
    flat = averages(
        space(), schedule, search(space(), schedule, lambda plus, _, random: random.standard_normal(len(plus)))
    )
    assert np.isnan(flat.errors).all()
    short = Schedule(10, 4)
    assert np.isnan(averages(space(), short, search(space(), short, parabola(0.1))).errors).all()


def test_values_stay_within_bounds_and_whole():
    where = Space(np.array([9.7]), np.array([0.0]), np.array([10.0]), np.array([2.0]), np.ones(1), np.array([True]))
    for iteration in range(1, 30):
        compared = comparisons(where, Schedule(30, 16), iteration, np.array([9.7]))
        for side in (compared.plus, compared.minus):
            assert (side == np.rint(side)).all()
            assert ((side >= 0) & (side <= 10)).all()
    path = search(where, Schedule(30, 4), lambda plus, minus, _: (plus - minus)[:, 0])
    assert path.max() == 10.0


def test_records_that_follow_from_nothing_are_refused():
    schedule, kept = Schedule(6, 2), list[dict]()
    path = search(space(), schedule, parabola(1.0), keep=lambda record: kept.append(dict(record)))
    assert len(kept) == 6
    again = search(space(), schedule, parabola(1.0), known=kept[:4])
    assert np.array_equal(again, path)
    with pytest.raises(BadInputError, match="iteration 2 is damaged"):
        search(space(), schedule, parabola(1.0), known=[kept[0], {**kept[1], "values": [0.0, 0.0]}])
    with pytest.raises(BadInputError, match="iteration 1 is damaged"):
        search(space(), schedule, parabola(1.0), known=kept[1:])


def test_schedules_make_sense():
    for wrong in ((0, 1, 0), (1, 0, 0), (1, 1, -1)):
        with pytest.raises(BadInputError, match="a whole number of at least"):
            Schedule(*wrong)
