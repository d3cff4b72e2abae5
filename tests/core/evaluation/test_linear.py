"""Evaluations: sums against a plain loop, explanations, integer weights, files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.comparing import compare_evaluations
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import scaled_sigmoid
from glem.core.features.learning import Learning
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import valid_contents
from glem.core.positions.positions import Positions
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import change_header, random_evaluation, random_weights
from tests.oracles.evaluation import evaluation_sum


@pytest.fixture(scope="module")
def positions(othello_learning: Learning) -> Any:
    """Some 400 positions of random games."""
    game = othello_learning.game
    generator = np.random.default_rng(3)
    found = [position for _ in range(8) for position in random_line(game, generator)[0][:-1]]
    return Positions.from_positions(game, found, np.zeros(len(found))).positions


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> LinearEvaluation:
    return random_evaluation(othello_learning, np.random.default_rng(5), provenance={"weights": "random"})


@pytest.mark.parametrize("most_specific", [True, False])
def test_predictions_equal_the_oracle(evaluation: LinearEvaluation, positions: Any, most_specific: bool) -> None:
    chosen = evolve(evaluation, most_specific=most_specific)
    predicted = chosen.predict(positions)
    values = evaluation.learning.features.values(positions)
    phases = evaluation.learning.phases.of(positions)
    expected = [evaluation_sum(chosen, row, int(phase)) for row, phase in zip(values, phases, strict=True)]
    np.testing.assert_allclose(predicted, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(predicted, chosen.predict(positions, jobs=2))


def test_an_explanation_adds_up_to_the_value(evaluation: LinearEvaluation, positions: Any) -> None:
    sigmoid = evolve(evaluation, link=scaled_sigmoid(64.0))
    predicted = sigmoid.predict(positions)
    for row in range(0, len(predicted), 37):
        position = rows_of(positions, row)
        explanation = sigmoid.explain(position)
        assert explanation.total == pytest.approx(sum(item.amount for item in explanation.contributions))
        assert explanation.value == pytest.approx(predicted[row], abs=1e-3)
        sizes = [abs(item.amount) for item in explanation.contributions]
        assert sizes == sorted(sizes, reverse=True)
        assert {item.kind for item in explanation.contributions} >= {"bias", "pattern", "linear"}


def test_sparse_patterns_in_files(othello_learning: Learning, positions: Any, tmp_path: Path) -> None:
    features = othello_learning.features
    members = tuple(map(features.index, [f"{column}{row}" for row in (1, 2) for column in "abcdefgh"]))
    values = features.values(positions)
    contents = valid_contents(features, Pattern("rows", members), [values], 2)
    corner = PatternSet.from_names(features, {"corner": ("a1", "b1", "a2", "b2")}).patterns[0]
    patterns = PatternSet(features, (Pattern("rows", members, contents), corner, Pattern("none", members, ())))
    made = random_weights(othello_learning, np.random.default_rng(1), patterns=patterns)
    path = tmp_path / "sparse.npz"
    made.save(path)
    loaded = LinearEvaluation.load(path)
    assert loaded.patterns is not None and loaded.patterns.patterns == patterns.patterns
    assert compare_evaluations(made, loaded).equal
    phases = othello_learning.phases.of(positions)
    expected = [evaluation_sum(made, row, int(phase)) for row, phase in zip(values, phases, strict=True)]
    np.testing.assert_allclose(loaded.predict(positions), expected, rtol=1e-4, atol=1e-4)
    explained = loaded.explain(rows_of(positions, 200))
    assert explained.total == pytest.approx(expected[200], abs=1e-3)
    names = [item.name for item in explained.contributions]
    assert names.count("corner") == 4 and "none" not in names
    header, arrays = made.parts()
    for name, other in (("sparse_sizes", [-1, -1, 0]), ("sparse_sizes", [1]), ("sparse_contents", [-9, 2])):
        with pytest.raises(BadInputError, match=r"sparse\.npz"):
            LinearEvaluation.from_parts(path, header, {**arrays, name: np.array(other)})
    with pytest.raises(BadInputError, match="null weight of a sparse pattern is not 0"):
        made.with_weights(made.weights + 1)


def test_integer_weights_stay_within_their_bound(evaluation: LinearEvaluation, positions: Any) -> None:
    weights = evaluation.in_play()
    assert weights.patterns.dtype == np.int16
    played = evaluation.as_played()
    active = max(len(evaluation.explain(rows_of(positions, row)).contributions) for row in (0, 200))
    largest_linear = 60 * len(evaluation.linear)
    bound = (active + 200 + largest_linear) / (2 * weights.scale)
    assert np.abs(played.predict(positions) - evaluation.predict(positions)).max() <= bound
    huge = evolve(evaluation, pattern_weights=evaluation.pattern_weights * 1000)
    assert huge.in_play().scale < weights.scale
    assert np.abs(huge.in_play().patterns.astype(int)).max() <= 32767


def test_a_saved_evaluation_is_the_same(evaluation: LinearEvaluation, positions: Any, tmp_path: Path) -> None:
    path = tmp_path / "evaluation.npz"
    evaluation.save(path)
    loaded = LinearEvaluation.load(path)
    assert compare_evaluations(evaluation, loaded).equal
    assert loaded.provenance == evaluation.provenance
    np.testing.assert_array_equal(loaded.predict(positions), evaluation.predict(positions))
    first = path.read_bytes()
    evaluation.save(path)
    assert path.read_bytes() == first


def test_comparison_names_what_differs(evaluation: LinearEvaluation) -> None:
    other = evolve(
        evaluation,
        bias=evaluation.bias + np.float32(0.5),
        link=scaled_sigmoid(64.0),
        linear=(),
        linear_weights=evaluation.linear_weights[:, :0],
        most_specific=False,
    )
    comparison = compare_evaluations(evaluation, other)
    assert not comparison.equal
    assert set(comparison.differences) == {"link", "linear_weights", "most_specific"}
    assert comparison.weights["bias"] == pytest.approx((0.5, 0.5, 1.0), rel=1e-5)
    assert comparison.weights["pattern_weights"][:2] == (0, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game": "no such game"}, "no such game"),
        ({"phases": ["one"]}, "other phases"),
        ({"features": []}, "other features"),
        ({"linear": ["nothing"]}, "nothing"),
        ({"patterns": {"edge": ["a1", "b1"]}}, "pattern_weights"),
        ({"link": {}}, "header"),
        ({"link": None}, "header"),
    ],
)
def test_a_header_that_does_not_fit_is_explained(
    evaluation: LinearEvaluation, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "evaluation.npz"
    evaluation.save(path)
    change_header(path, change)
    with pytest.raises(BadInputError, match=words):
        LinearEvaluation.load(path)


def test_shapes_and_values_are_checked(othello_learning: Learning) -> None:
    bias = np.zeros(13, np.float32)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"bias": bias[:3]}, "bias has shape"),
        ({"bias": bias, "linear": (3,)}, "linear_weights have shape"),
        ({"bias": bias, "linear": (3,), "linear_weights": np.full((13, 1), np.nan, np.float32)}, "not finite"),
    ]
    for arguments, text in cases:
        with pytest.raises(BadInputError, match=text):
            LinearEvaluation(othello_learning, **arguments)
