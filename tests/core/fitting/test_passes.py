"""Designs, links and passes against dense matrices and finite differences."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from glem.core.errors import BadInputError, NotEnoughMemoryError
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, link_of, result_labels, scaled_sigmoid
from glem.core.fitting.packed import part_rows
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.design import Design
from glem.core.fitting.packed.part_rows import Source
from glem.core.fitting.phases import neighbours
from tests.core.fitting.fitting_problems import PHASES, Small, small_design
from tests.oracles.fitting import derivative, objective, phases_of, problem_of, sums
from tests.othello import LEARNING

LINKS = [IDENTITY, LOGISTIC, scaled_sigmoid(64.0)]


@pytest.fixture(scope="module")
def small() -> Small:
    return small_design(LEARNING.features)


def labels_for(small: Small, link: Link, seed: int = 1) -> Any:
    generator = np.random.default_rng(seed)
    spread = link.span or 10.0
    return (link.low + spread * generator.uniform(0.1, 0.9, len(small.design))).astype(np.float32)


def test_terms_that_do_not_fit_into_memory_are_refused_at_the_first_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    features = LEARNING.features
    packing = Packing(PHASES, linear=LinearTerms.from_names(features, [features.features[0].name]))
    chunk = np.zeros((100, len(features)), np.int16), np.zeros(100, np.int64)

    def chunks() -> Iterator[Any]:
        yield chunk
        pytest.fail("a second chunk is asked for")

    monkeypatch.setattr("glem.core.machine.memory.memory_left", lambda: 10_000_000)
    assert len(Design.build([chunk], packing, count=100)) == 100
    with pytest.raises(NotEnoughMemoryError, match=r"1,000,000 positions do not fit .*0\.0 GB left"):
        Design.build(chunks(), packing, count=1_000_000)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_derivative_equals_finite_differences(link: Link) -> None:
    x = np.linspace(-6, 6, 101)
    step = 1e-5
    slopes = derivative(link, x)
    np.testing.assert_allclose(slopes, (link(x + step) - link(x - step)) / (2 * step), rtol=1e-6, atol=1e-9)
    assert slopes.max() == pytest.approx(link.largest_slope)


def test_links_are_the_papers() -> None:
    x = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_allclose(LOGISTIC(x), 1 / (1 + np.exp(-x)))
    np.testing.assert_allclose(scaled_sigmoid(64)(x), 128 / (1 + np.exp(-x)) - 64)
    assert LOGISTIC(np.array([-1e4, 1e4])).tolist() == [0, 1]
    assert link_of("sigmoid", 5.0) == scaled_sigmoid(5.0)
    for bad in (lambda: link_of("probit"), lambda: link_of("sigmoid"), lambda: scaled_sigmoid(0)):
        with pytest.raises(BadInputError):
            bad()


def test_result_labels() -> None:
    labels = result_labels(np.array([12, 0, -3, 0.5, np.nan]), (-64, 64))
    np.testing.assert_array_equal(labels, np.array([0.9, 0.5, 0.1, 0.9, np.nan], np.float32))
    expected = result_labels(np.array([1, 0, -1, 0.5, -0.25, np.nan]), (-1, 1))
    np.testing.assert_array_equal(expected, np.array([0.9, 0.5, 0.1, 0.75, 0.375, np.nan], np.float32))


def test_design_keeps_rows_counts_and_phases(small: Small) -> None:
    design = small.design
    np.testing.assert_array_equal(phases_of(design), small.phases)
    assert (small.matrix[:, design.layout.bias] == 1).all()
    # Items that several instances share, or a merged configuration, are active more than once in some rows.
    assert small.matrix[:, : design.layout.patterns].max() > 1
    assert small.matrix[:, design.layout.configuration_start : design.layout.linear_start].max() > 1
    weights = np.random.default_rng(3).uniform(0.5, 2, len(design)).astype(np.float32)
    for phase in range(PHASES):
        rows = small.phases == phase
        segments = design.segments(phase)
        own = np.concatenate([weights[design.positions_of(segment)] for segment in segments])
        matches, squares = design.count_items(segments, own)
        np.testing.assert_allclose(matches, weights[rows] @ (small.matrix[rows] != 0), rtol=1e-5)
        np.testing.assert_allclose(squares, weights[rows] @ small.matrix[rows] ** 2, rtol=1e-5)


@pytest.mark.parametrize("parts", ["patterns configurations linear", "patterns", "configurations", "linear"])
def test_sums_of_a_design(parts: str) -> None:
    linear = ("mobility",) if "linear" in parts else ()
    kinds = {kind: kind in parts for kind in ("patterns", "configurations")}
    small = small_design(LEARNING.features, 300, linear=linear, **kinds)
    weights = np.random.default_rng(5).normal(size=(PHASES, small.design.layout.item_count))
    expected = np.einsum("ni,ni->n", small.matrix, weights[small.phases])
    np.testing.assert_allclose(sums(small.design, weights), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(sums(small.design, weights, jobs=3), sums(small.design, weights))


def test_chunks_and_threads_change_nothing(small: Small) -> None:
    threaded = small_design(LEARNING.features, jobs=3)
    np.testing.assert_array_equal(threaded.matrix, small.matrix)
    assert threaded.design.fingerprint == small.design.fingerprint
    whole = small_design(LEARNING.features, chunks=1)
    np.testing.assert_array_equal(whole.matrix, small.matrix)


@pytest.mark.parametrize(("ids", "message"), [([1, 0], "descend"), ([0, 3], "id 3 among 3"), ([-1, 0], "negative")])
def test_bad_configurations_are_refused(ids: list[int], message: str) -> None:
    packing = Packing(2, configurations=lambda _: (np.array([0, 2, 2]), np.array(ids)), configuration_count=3)
    with pytest.raises(BadInputError, match=message):
        packing.pack(np.zeros((2, 1), np.int16), np.zeros(2, np.int64))


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_gradient_equals_finite_differences(small: Small, link: Link, l2: float) -> None:
    labels = labels_for(small, link)
    row_weights = np.random.default_rng(6).uniform(0.5, 2, len(labels))
    offsets = np.random.default_rng(8).normal(size=len(labels)).astype(np.float32)
    targets = [(Source(2, 1.0),)]
    problem = problem_of(small.design, labels, weights=row_weights, offsets=offsets, link=link, l2=l2, targets=targets)
    rows = small.phases == 2
    known = small.matrix[rows], labels[rows], offsets[rows].astype(np.float64), row_weights[rows]
    penalties = np.full(small.matrix.shape[1], l2)
    penalties[small.design.layout.linear_start :] = 0
    weights = np.random.default_rng(7).normal(size=small.matrix.shape[1]) * 0.2
    errors, descent = problem.errors_and_gradient(weights)
    expected = objective(*known, np.zeros_like(penalties), link, weights)
    assert errors.training == pytest.approx(expected / row_weights[rows].sum(), rel=1e-5)

    def at(item: int, change: float) -> float:
        moved = weights.copy()
        moved[item] += change
        return objective(*known, penalties, link, moved)

    step = 1e-5
    differences = np.array([(at(item, step) - at(item, -step)) / (2 * step) for item in range(len(weights))])
    np.testing.assert_allclose(-2 * descent, differences, rtol=1e-4, atol=1e-4 * np.abs(differences).max())


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_the_two_halves_equal_the_whole_pass(small: Small, link: Link) -> None:
    labels = labels_for(small, link)
    held = np.random.default_rng(8).random(len(labels)) < 0.3
    generator = np.random.default_rng(9)
    offsets = generator.normal(size=len(labels))
    problem = problem_of(small.design, labels, held_out=held, offsets=offsets, link=link, l2=2.0)
    parameters, direction = generator.normal(size=(2, problem.parameter_count)) * 0.1
    problem.begin(parameters)
    curvature = problem.look(direction)
    length = 0.3
    errors, gradient = problem.move(length, parameters + length * direction)
    expected_errors, expected = problem.errors_and_gradient(parameters + length * direction)
    assert errors == pytest.approx(expected_errors, rel=1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    if link == IDENTITY:
        assert curvature == pytest.approx(float(direction @ problem.curvature(direction)), rel=1e-4)
        return
    problem.begin(parameters)
    problem.look(direction)
    along = problem.along(length, parameters, direction)
    nudged = [problem.along(length + change, parameters, direction).value for change in (-1e-4, 1e-4)]
    assert along.value == pytest.approx(problem.penalized(errors, parameters + length * direction), rel=1e-5)
    assert along.slope == pytest.approx((nudged[1] - nudged[0]) / 2e-4, rel=1e-4)
    assert along.slope == pytest.approx(-float(gradient @ direction), rel=1e-3)


def test_held_out_unlabelled_and_neighbouring_rows(small: Small) -> None:
    labels = labels_for(small, IDENTITY)
    labels[::7] = np.nan
    held = np.random.default_rng(10).random(len(labels)) < 0.3
    targets = neighbours(PHASES, (0.5, 0.25))
    assert targets[1] == (Source(0, 0.5, False), Source(1, 1.0), Source(2, 0.5, False), Source(3, 0.25, False))
    problem = problem_of(small.design, labels, held_out=held, targets=targets)
    factor = np.array([1.0, 0.5, 0.25, 0.0])[abs(small.phases[None, :] - np.arange(PHASES)[:, None])]
    known = ~np.isnan(labels)
    weight = factor * (known & ~held)
    np.testing.assert_allclose(problem.parameter_matches.reshape(PHASES, -1), weight @ (small.matrix != 0), rtol=1e-5)
    parameters = np.random.default_rng(11).normal(size=problem.parameter_count)
    by_phase = parameters.reshape(PHASES, -1)
    squared = np.where(known, np.nan_to_num(labels) - by_phase @ small.matrix.T, 0) ** 2
    errors, _ = problem.errors_and_gradient(parameters)
    assert errors.training == pytest.approx((weight * squared).sum() / weight.sum(), rel=1e-4)
    own_held = (factor == 1) * (known & held)
    assert errors.held_out == pytest.approx((own_held * squared).sum() / own_held.sum(), rel=1e-4)


def test_threads_change_no_bit(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_rows, "_SLAB_ROWS", 40)
    monkeypatch.setattr(part_rows, "_PIECE_ROWS", 10)
    labels = labels_for(small, IDENTITY)
    parameters = np.random.default_rng(12).normal(size=PHASES * small.design.layout.item_count)
    results = [problem_of(small.design, labels, jobs=jobs).errors_and_gradient(parameters) for jobs in (1, 2, 5)]
    for errors, gradient in results[1:]:
        assert errors[0] == results[0][0][0]
        np.testing.assert_array_equal(gradient, results[0][1])


def test_bad_problems_are_refused(small: Small) -> None:
    with pytest.raises(BadInputError, match="finite"):
        problem_of(small.design, np.full(len(small.design), np.inf))
