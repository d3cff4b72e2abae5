"""The conformance suite on evaluations: sound ones pass, each defect is told with the position."""

import re
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.operations import Operations
from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.conformance import check_evaluation, random_evaluation
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import recomputing_evaluator
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC, scaled_sigmoid
from glem.core.features.evaluators import Evaluator
from tests.core.conformance.test_conformance import failures
from tests.core.evaluation.linear_evaluations import random_layer
from tests.core.game.plain_game import COMPILED_LEARNING, PLAIN_LEARNING
from tests.othello import LEARNING


def test_a_random_evaluation_has_weights_for_everything():
    evaluation = random_evaluation(LEARNING, 3)
    assert evaluation.patterns is not None
    assert evaluation.pattern_weights.std() > 0
    assert len(evaluation.linear) == len(LEARNING.linear)
    again = random_evaluation(LEARNING, 3)
    np.testing.assert_array_equal(again.pattern_weights, evaluation.pattern_weights)
    assert not np.array_equal(random_evaluation(LEARNING, 4).bias, evaluation.bias)


@pytest.mark.slow
def test_sound_evaluations_pass():
    report = check_evaluation(random_evaluation(COMPILED_LEARNING), games=3)
    assert report.passed, str(report)
    names = {result.name for result in report.results if result.cases}
    assert {"values", "values and symmetries", "search compiled", "evaluator recomputed compiled"} <= names
    (file,) = [result for result in report.results if result.name == "file"]
    assert file.skipped == "files name the game, and this one is not installed"


@pytest.mark.slow
def test_evaluations_of_every_link_and_configurations_pass():
    plain = random_evaluation(LEARNING, 1)
    squares = RelationTable(np.repeat(np.arange(30, dtype=np.int32), 3), np.tile(np.arange(3, dtype=np.int16), 30))
    configurations = ConfigurationSet.from_relations(squares, [[0], [0, 3], [81, 84], [81], [78, 82, 87], [30, 33, 36]])
    weights = np.linspace(-1, 1, len(plain.bias) * len(configurations), dtype=np.float32)
    for change in (
        {"link": LOGISTIC},
        {"link": scaled_sigmoid(64.0)},
        {
            "configurations": configurations,
            "configuration_weights": weights.reshape(len(plain.bias), -1),
            "patterns": None,
            "pattern_weights": np.zeros((0, 0), np.float32),
        },
    ):
        report = check_evaluation(evolve(plain, **change), games=1, plain=True)
        assert set(failures(report)) <= {"values and symmetries"}, str(report)


def test_what_cannot_be_compiled_is_skipped():
    report = check_evaluation(random_evaluation(PLAIN_LEARNING), games=2)
    assert report.passed, str(report)
    skipped = {result.name: result.skipped for result in report.results if result.skipped}
    assert skipped["search compiled"].startswith("runs as plain Python: ")
    assert skipped["evaluator recomputed compiled"].startswith("runs as plain Python: ")


class OffByBatch(LinearEvaluation):
    def predict(self, positions: Any, **options: Any) -> Any:
        return super().predict(positions, **options) + np.float32(len(positions[0]) % 2)


class NotANumber(LinearEvaluation):
    def predict(self, positions: Any, **options: Any) -> Any:
        return np.full(len(positions[0]), np.nan, np.float32)


class OffAlone(LinearEvaluation):
    def evaluate(self, position: Any) -> float:
        return super().evaluate(position) + 0.01


class Forgets(LinearEvaluation):
    def save(self, path: Any) -> None:
        bias = self.bias + np.float32(1e-6)
        LinearEvaluation(self.learning, bias, linear=self.linear, linear_weights=self.linear_weights).save(path)


def of_class(kind: type[LinearEvaluation], evaluation: LinearEvaluation) -> LinearEvaluation:
    fields = ("learning", "bias", "link", "patterns", "pattern_weights", "linear", "linear_weights")
    return kind(**{name: getattr(evaluation, name) for name in fields})


@pytest.mark.parametrize(
    ("kind", "check", "text"),
    [
        (OffByBatch, "values", "a batch gives .*, the active weights .*, in\n5\\+5\nafter no move"),
        (NotANumber, "values", "the value is nan, in"),
        (OffAlone, "values", "evaluate gives .*, the weights "),
    ],
)
def test_broken_values_are_caught(kind, check, text):
    evaluation = of_class(kind, random_evaluation(COMPILED_LEARNING))
    found = failures(check_evaluation(evaluation, games=1, plain=True))
    assert re.search(text, found[check]), found


def test_a_file_that_forgets_is_caught():
    plain = random_evaluation(LEARNING)
    kept = LinearEvaluation(LEARNING, plain.bias, linear=plain.linear, linear_weights=plain.linear_weights)
    found = failures(check_evaluation(of_class(Forgets, kept), games=1, plain=True))
    assert "bias change in the file" in found["file"]


def test_values_that_depend_on_the_view_are_caught():
    evaluation = random_evaluation(COMPILED_LEARNING)
    # The two heaps are images of each other: unequal weights prefer one.
    linear = evaluation.linear_weights.copy()
    linear[:, 0] += 1
    found = failures(check_evaluation(evolve(evaluation, linear_weights=linear), games=2, plain=True))
    assert re.search("the value is .*, under symmetry 1 ", found["values and symmetries"])


def with_form(change: Any) -> LinearEvaluation:
    """An evaluation whose own evaluator is the general one, changed."""

    def make(evaluation: LinearEvaluation) -> Evaluator:
        return change(recomputing_evaluator(evaluation))

    return evolve(random_evaluation(COMPILED_LEARNING), learning=evolve(COMPILED_LEARNING, make_evaluator=make))


def replaced(name: str, function: Any) -> Any:
    def change(form: Evaluator) -> Evaluator:
        functions = {**form.operations.functions, name: function(form.operations.functions[name])}
        return evolve(form, operations=Operations("broken", functions))

    return change


def adds_one(score: Any) -> Any:
    return lambda *arguments: score(*arguments) + 1


def writes_before(start: Any) -> Any:
    def write(position: Any, data: Any, accumulators: Any, ply: int) -> None:
        accumulators[0] = 1
        start(position, data, accumulators, ply)

    return write


def has_phase_nine(phase: Any) -> Any:
    return lambda position: 9


def counts_updates(update: Any) -> Any:
    calls = []

    def count(before: Any, move: int, after: Any, data: Any, accumulators: Any, ply: int) -> None:
        calls.append(move)
        if len(calls) > 2:
            raise RuntimeError("updated too often")

    return count


@pytest.mark.parametrize(
    ("change", "check", "text"),
    [
        (replaced("static_score", adds_one), "evaluator of the game", "the score is .* steps, the sum of the weights"),
        (replaced("start", writes_before), "evaluator of the game", "accumulators before the first ply are written"),
        (replaced("search_phase", has_phase_nine), "evaluator of the game", "search_phase gives 9, expected 0 to 1"),
        (replaced("update", counts_updates), "evaluator of the game", "RuntimeError: updated too often .*line [0-9]+"),
        (lambda form: evolve(form, limit=0), "evaluators", "has the limit 0, expected at least 1"),
        (lambda form: evolve(form, steps_per_unit=0.0), "evaluators", "has 0.0 steps a unit"),
        (lambda form: evolve(form, phase_count=3), "evaluators", "has 3 phases, not 2"),
    ],
)
def test_broken_evaluators_are_caught(change, check, text):
    found = failures(check_evaluation(with_form(change), games=1, plain=True))
    assert re.search(text, found[check]), found


def test_layers_pass_and_a_form_that_forgets_them_is_caught():
    evaluation = random_layer(random_evaluation(LEARNING, 2), 5)
    assert check_evaluation(evaluation, games=1, plain=True).passed
    for form in (lambda given: recomputing_evaluator(evolve(given, network=None)), recomputing_evaluator):
        own = evolve(random_evaluation(LEARNING), learning=evolve(LEARNING, make_evaluator=form))
        found = failures(check_evaluation(own, games=1, plain=True))
        assert bool(found) == (form is not recomputing_evaluator)
        assert not found or "a form without the hidden layer of an evaluation" in found["evaluators"]


def test_no_games():
    with pytest.raises(BadInputError, match="at least one game"):
        check_evaluation(random_evaluation(COMPILED_LEARNING), games=0)
