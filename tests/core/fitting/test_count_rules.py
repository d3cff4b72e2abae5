"""The count rules of GLEM section 5.2: kinds against a literal reading, weights against known ones."""

from typing import Any

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.fitting.count_rules import LINEAR, MERGED, OWN, ZERO, CountRules
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.minimizing.descent import GradientDescent
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design
from tests.oracles.fitting import fit_design, rule_kinds

KIND = {"zero": ZERO, "own": OWN, "merged": MERGED, "with": MERGED, "linear": LINEAR}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([30, 25, 20], ["own", "own", "own"]),
        ([0, 4, 2], ["zero", "zero", "zero"]),
        ([0, 8, 7, 6, 0], ["zero", "merged 1-3", "merged 1-3", "merged 1-3", "zero"]),
        ([15, 15, 15, 3, 40], ["linear 0-2", "linear 0-2", "linear 0-2", "zero", "own"]),
        ([25, 10, 30], ["own", "with 2", "own"]),
        ([25, 10, 3], ["own", "with 0", "zero"]),
        ([3, 10, 3], ["zero", "zero", "zero"]),
        ([19, 19], ["merged 0-1", "merged 0-1"]),
    ],
)
def test_examples(counts: list[float], expected: list[str]) -> None:
    assert rule_kinds(counts, 20, 4, 40) == expected
    plan = CountRules().plan(np.array(counts, float)[:, None])
    assert plan.kinds[:, 0].tolist() == [KIND[kind.split()[0]] for kind in expected]


@pytest.mark.parametrize("linear", [40.0, 60.0, None])
def test_rules_equal_the_literal_reading(linear: float | None) -> None:
    generator = np.random.default_rng(1)
    phases, items = 13, 600
    counts = generator.integers(0, 30, (phases, items)).astype(float)
    counts[:, ::3] *= generator.random((phases, len(counts[0, ::3]))) < 0.5
    counts[:, ::7] = np.minimum(counts[:, ::7], 12)
    plan = CountRules(linear=linear).plan(counts)
    seen = set()
    for item in range(items):
        kinds = rule_kinds(counts[:, item].tolist(), 20, 4, linear)
        seen.update(kind.split()[0] for kind in kinds)
        assert plan.kinds[:, item].tolist() == [KIND[kind.split()[0]] for kind in kinds]
        rows = [plan.expansion[[phase * items + item], :] for phase in range(phases)]
        for phase, kind in enumerate(kinds):
            columns, values = rows[phase].indices, rows[phase].data
            name, _, where = kind.partition(" ")
            assert len(columns) == {"zero": 0, "linear": 2}.get(name, 1)
            if name == "with":
                assert columns.tolist() == rows[int(where)].indices.tolist()
            if name in ("merged", "linear"):
                first, last = (int(end) for end in where.split("-"))
                assert sorted(columns) == sorted(rows[first].indices)
                levels = values[np.argsort(columns)]
                assert levels[0] == 1
                if name == "linear":
                    assert levels[1] == pytest.approx(2 * (phase - first) / (last - first) - 1)
    assert seen == {"zero", "own", "merged", "with", *(["linear"] if linear else [])}
    assert plan.expansion.shape[1] == len(np.unique(plan.expansion.indices))


def test_items_that_always_have_weights_of_their_own() -> None:
    plan = CountRules().plan(np.zeros((3, 4)), always=2)
    assert plan.kinds.tolist() == [[ZERO, ZERO, OWN, OWN]] * 3
    assert plan.expansion.shape == (12, 6)


@pytest.mark.parametrize("arguments", [{"few": 20}, {"few": -1}, {"linear": 10}])
def test_bad_limits_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(BadInputError, match="count rules"):
        CountRules(**arguments)


PHASE_COUNT = 6
PLANNED = [
    # match counts by phase and true weights by phase, which the rules can express
    ([60, 60, 60, 60, 60, 60], [1.0, -2.0, 0.5, 3.0, 4.0, -1.0]),
    ([3, 2, 0, 1, 4, 0], [0.0] * 6),
    ([60, 60, 9, 9, 9, 0], [2.0, -1.0, 5.0, 5.0, 5.0, 0.0]),
    ([12, 13, 14, 15, 16, 17], [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]),
    ([0, 30, 10, 0, 0, 0], [0.0, 4.0, 4.0, 0.0, 0.0, 0.0]),
]
KINDS = [[OWN] * 6, [ZERO] * 6, [OWN, OWN, MERGED, MERGED, MERGED, ZERO], [LINEAR] * 6]


def planned_design() -> tuple[Design, Any]:
    """One row per match of one of the configurations, and many rows for the bias alone; labels without noise."""
    bias = np.array([0.5, -0.5, 1.0, 2.0, 0.0, -1.0])
    rows = [
        (phase, item, weights[phase])
        for item, (counts, weights) in enumerate(PLANNED)
        for phase in range(PHASE_COUNT)
        for _ in range(counts[phase])
    ]
    rows += [(phase, -1, 0.0) for phase in range(PHASE_COUNT) for _ in range(50)]
    phases = np.array([row[0] for row in rows])
    items = np.array([row[1] for row in rows])
    labels = np.array([row[2] for row in rows]) + bias[phases]

    def active(values: Any) -> tuple[Any, Any]:
        return np.concatenate([[0], np.cumsum(items >= 0)]), items[items >= 0]

    packing = Packing(PHASE_COUNT, configurations=active, configuration_count=len(PLANNED))
    return Design.build([(np.zeros((len(rows), 1), np.int16), phases)], packing), labels.astype(np.float32)


@pytest.mark.parametrize(
    "fitter",
    [ConjugateGradient(iterations=200, tolerance=1e-6), GradientDescent(iterations=3000, momentum=0.95)],
    ids=lambda fitter: type(fitter).__name__,
)
def test_known_weights_are_found(fitter: Any) -> None:
    design, labels = planned_design()
    weights = fit_design(design, labels, fitter=fitter, count_rules=CountRules())
    assert weights.plan is not None
    assert weights.plan.kinds[:, :4].T.tolist() == KINDS
    assert weights.plan.kinds[:, 4].tolist() == [ZERO, OWN, MERGED, ZERO, ZERO, ZERO]
    np.testing.assert_array_equal(weights.match_counts.T, [counts for counts, _ in PLANNED])
    np.testing.assert_allclose(weights.configurations.T, [expected for _, expected in PLANNED], atol=2e-3)
    assert (weights.configurations[:, 1] == 0).all()
    assert weights.configurations[2, 4] == weights.configurations[1, 4]
    slopes = np.diff(weights.configurations[:, 3])
    np.testing.assert_allclose(slopes, slopes[0], atol=1e-6)


def test_gradient_of_a_line_is_the_papers() -> None:
    """``dE/da = sum_k k dE/dw(k)`` and ``dE/db = sum_k dE/dw(k)``, with k counted from the middle in half runs."""
    plan = CountRules().plan(np.array([[12.0], [13], [14], [15], [16]]))
    gradient = np.random.default_rng(2).normal(size=5)
    level, slope = plan.expansion.T @ gradient
    assert level == pytest.approx(gradient.sum())
    assert slope == pytest.approx((gradient * np.array([-1, -0.5, 0, 0.5, 1])).sum())
