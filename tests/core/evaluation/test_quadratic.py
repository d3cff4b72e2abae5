"""Quadratic evaluations: values, explanations and files, and both forms for the search against plain sums."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.evaluation.comparing import compare_evaluations
from glem.core.evaluation.integers.quadratic_sums import MOST_TERMS, QUADRATIC_STEPS, build_quadratic_tables
from glem.core.evaluation.integers.recomputing import evaluator_of, recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, scaled_sigmoid
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.evaluators import Evaluator
from glem.core.features.learning import Learning
from glem.core.patterns.patterns import PatternSet
from glem.core.players.spec import parse_player
from tests.core.evaluation.evaluator_scores import line_scores, random_line

LINEAR = ("mobility", "opponent_mobility", "disc_difference")


def random_quadratic(learning: Learning, seed: int, *, patterns: bool = True, linear: tuple[str, ...] = LINEAR) -> Any:
    generator, phases = np.random.default_rng(seed), len(learning.phases)
    chosen = PatternSet.named(learning, "logistello-1995") if patterns else None
    count = 0 if chosen is None else chosen.weight_count
    sizes = np.array([0.4] * (0 if chosen is None else len(chosen)) + [0.02] * len(linear))
    form = generator.normal(size=(phases, len(sizes), len(sizes))) * sizes * sizes[:, None]
    return QuadraticEvaluation(
        learning,
        generator.normal(size=phases).astype(np.float32),
        LOGISTIC,
        chosen,
        generator.uniform(-0.5, 0.5, size=(phases, count)).astype(np.float32),
        linear=tuple(map(learning.features.index, linear)),
        linear_weights=generator.uniform(0.5, 2, size=(phases, len(linear))).astype(np.float32),
        slopes=(generator.normal(size=(phases, len(sizes))) * sizes).astype(np.float32),
        squares=(form + form.transpose(0, 2, 1)).astype(np.float32),
    )


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> QuadraticEvaluation:
    return random_quadratic(othello_learning, 1)


@pytest.fixture(scope="module")
def line(othello_learning: Learning) -> tuple[list[Any], list[int]]:
    return random_line(othello_learning.game, np.random.default_rng(7))


def plain_terms(evaluation: QuadraticEvaluation, position: Any) -> tuple[int, list[float]]:
    """Phase and terms, from an explanation of the linear evaluation with the same weights."""
    fields = ("learning", "bias", "link", "patterns", "pattern_weights", "linear", "linear_weights")
    found = LinearEvaluation(**{name: getattr(evaluation, name) for name in fields}).explain(position)
    terms = dict.fromkeys(evaluation.terms, 0.0)
    for item in found.contributions:
        if item.kind != "bias":
            terms[item.name.partition("=")[0]] += item.amount
    return found.phase, [*terms.values()]


def plain_sum(evaluation: QuadraticEvaluation, position: Any) -> float:
    phase, terms = plain_terms(evaluation, position)
    total = float(evaluation.bias[phase])
    for one, mine in enumerate(terms):
        total += float(evaluation.slopes[phase, one]) * mine
        for other, theirs in enumerate(terms):
            total += float(evaluation.squares[phase, one, other]) * mine * theirs
    return total


def plain_score(evaluation: QuadraticEvaluation, position: Any) -> int:
    """Score in whole numbers, from the tables of the search but for its indices and its order."""
    tables, weights = build_quadratic_tables(evaluation)
    learning, count = evaluation.learning, int(tables.terms)
    values, phase = learning.features.values_of(position), int(learning.phases.phase_of(position))
    terms = [0] * count
    if evaluation.patterns is not None:
        indices = evaluation.patterns.indices(values[None, :])[:, 0]
        places = zip(evaluation.patterns.instances, indices, evaluation.patterns.column_offsets, strict=True)
        for instance, index, offset in places:
            terms[instance.pattern] += int(weights[phase, offset + index])
    for place, feature in enumerate(evaluation.linear):
        terms[int(tables.patterns) + place] = int(values[feature]) * int(tables.factors[place])
    assert max(map(abs, terms)) < 1 << 15
    total = int(tables.constants[phase])
    for one, mine in enumerate(terms):
        total += mine * int(tables.slopes[phase * count + one])
        for other, theirs in enumerate(terms):
            total += mine * theirs * int(tables.squares[(phase * count + one) * count + other])
    return round(total * float(tables.scale))


def test_values_equal_plain_sums(evaluation: QuadraticEvaluation, line: tuple[list[Any], list[int]]) -> None:
    expected = [plain_sum(evaluation, position) for position in line[0]]
    columns = type(line[0][0])(*map(np.array, zip(*line[0], strict=True)))
    np.testing.assert_allclose(evaluation.sums(columns), expected, rtol=1e-5, atol=1e-5)
    for position, total in zip(line[0][::7], expected[::7], strict=True):
        found = evaluation.explain(position)
        assert found.total == pytest.approx(total, abs=1e-5)
        assert sum(item.amount for item in found.contributions) == pytest.approx(total, abs=1e-5)
        assert found.value == pytest.approx(1 / (1 + np.exp(-total)), abs=1e-6)


@pytest.mark.parametrize("make", [evaluator_of, recomputing_evaluator], ids=["incremental", "general"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_scores_equal_whole_numbers(
    evaluation: QuadraticEvaluation,
    line: tuple[list[Any], list[int]],
    make: Callable[[LinearEvaluation], Evaluator],
    plain: bool,
) -> None:
    evaluator = make(evaluation)
    assert (evaluator.name, evaluator.unit) == ("quadratic evaluation", "log odds")
    expected = [plain_score(evaluation, position) for position in line[0]]
    limited = np.clip(expected, -evaluator.limit, evaluator.limit)
    assert len(set(limited.tolist())) > 30
    np.testing.assert_array_equal(line_scores(evaluator, *line, plain=plain, first=1), limited)
    exact = np.array([plain_sum(evaluation, position) for position in line[0]]) * QUADRATIC_STEPS
    np.testing.assert_allclose(expected, exact, atol=4)


@pytest.mark.parametrize(("patterns", "linear"), [(False, LINEAR), (True, ())], ids=["linear", "patterns"])
def test_terms_of_one_kind(
    othello_learning: Learning, line: tuple[list[Any], list[int]], patterns: bool, linear: tuple[str, ...]
) -> None:
    some = random_quadratic(othello_learning, 2, patterns=patterns, linear=linear)
    fast, general = evaluator_of(some), recomputing_evaluator(some)
    found = line_scores(fast, *line, plain=False)
    assert found == line_scores(general, *line, plain=False)
    assert found == [min(max(plain_score(some, position), -fast.limit), fast.limit) for position in line[0]]


def test_a_saved_evaluation_is_the_same(
    evaluation: QuadraticEvaluation, line: tuple[list[Any], list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "quadratic.npz"
    evaluation.save(path)
    loaded = load_evaluation(path)
    assert isinstance(loaded, QuadraticEvaluation)
    assert loaded.evaluate(line[0][9]) == evaluation.evaluate(line[0][9])
    with pytest.raises(BadInputError, match="is a quadratic evaluation"):
        LinearEvaluation.load(path)
    game = evaluation.learning.game
    before = parse_player(f"{path},depth=2").resolved(game)
    evolve(evaluation, squares=2 * evaluation.squares).save(path)
    with pytest.raises(BadInputError, match="is not what it was"):
        before.check(game)


def test_what_it_cannot_be(othello_learning: Learning, evaluation: QuadraticEvaluation) -> None:
    with pytest.raises(BadInputError, match=r"squares have shape \(13, 2, 2\)"):
        evolve(evaluation, squares=np.zeros((13, 2, 2)))
    with pytest.raises(BadInputError, match="squares are not symmetric"):
        evolve(evaluation, squares=np.triu(evaluation.squares))
    with pytest.raises(BadInputError, match="the value is no linear evaluation"):
        ResultEvaluation.with_constant_drawishness(evaluation, 0.1)
    with pytest.raises(BadInputError, match="slopes have shape"):
        evolve(evaluation, slopes=np.full(evaluation.slopes.shape, np.nan))
    with pytest.raises(BadInputError, match="no sigmoid link"):
        evolve(evaluation, link=scaled_sigmoid(64.0))
    with pytest.raises(BadInputError, match="fit it anew"):
        evaluation.with_weights(evaluation.weights)
    with pytest.raises(BadInputError, match="no integer weights"):
        evaluation.in_play()
    with pytest.raises(BadInputError, match="no terms"):
        random_quadratic(othello_learning, 3, patterns=False, linear=())
    many = ("mobility",) * (MOST_TERMS + 1)
    with pytest.raises(BadInputError, match="at most 32 terms"):
        evaluator_of(random_quadratic(othello_learning, 3, patterns=False, linear=many))
    assert evaluator_of(evolve(evaluation, link=IDENTITY)).unit == "discs"


def test_comparison_looks_at_the_form(evaluation: QuadraticEvaluation) -> None:
    assert compare_evaluations(evaluation, evaluation).equal
    found = compare_evaluations(evaluation, evolve(evaluation, squares=2 * evaluation.squares))
    assert not found.equal
    assert found.weights["squares"][2] == pytest.approx(1)
    names = ("learning", "bias", "link", "patterns", "pattern_weights", "linear", "linear_weights")
    linear = LinearEvaluation(**{name: getattr(evaluation, name) for name in names})
    assert compare_evaluations(evaluation, linear).differences == ("kind",)


def test_huge_coefficients_win_and_do_not_overflow(
    evaluation: QuadraticEvaluation, line: tuple[list[Any], list[int]]
) -> None:
    huge = evolve(evaluation, bias=np.full(13, 1e30, np.float32), squares=0 * evaluation.squares)
    evaluator = evaluator_of(huge)
    for plain in (True, False):
        assert set(line_scores(evaluator, *line, plain=plain)) == {evaluator.limit}
