"""Evaluations with a drawishness of their own: what they predict, and their files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_evaluation, load_value
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.features.learning import Learning, load_learning
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.positions.positions import Positions
from tests.core.evaluation.linear_evaluations import change_header, mobility_evaluation
from tests.oracles.grading import distribution


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> ResultEvaluation:
    """Mobility, and a drawishness that falls with own mobility, phase by phase."""
    phases = len(othello_learning.phases)
    drawishness = LinearEvaluation(
        othello_learning,
        np.linspace(-2, 1, phases).astype(np.float32),
        link=LOGISTIC,
        linear=(othello_learning.features.index("mobility"),),
        linear_weights=np.full((phases, 1), -0.1, np.float32),
    )
    value = mobility_evaluation(othello_learning, logistic=True)
    return ResultEvaluation(value, drawishness, scale=1.5, provenance={"made": "by hand"})


@pytest.fixture(scope="module")
def positions(othello_learning: Learning) -> Any:
    """Some positions of the sample that comes with the game."""
    assert othello_learning.sample is not None
    return othello_learning.sample().select(slice(0, 200)).positions


def test_prediction_is_that_of_both_parts(evaluation: ResultEvaluation, positions: Any) -> None:
    value, drawishness = evaluation.predict(positions)
    assert LOGISTIC(value) == pytest.approx(evaluation.value.predict(positions).astype(np.float64), abs=1e-6)
    assert drawishness == pytest.approx(evaluation.drawishness.predict(positions).astype(np.float64), abs=1e-6)
    probabilities = evaluation.distribution(positions)
    assert probabilities.shape == (200, 3)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(200))
    for row in (0, 50, 199):
        wanted = distribution(float(value[row]), 1.5, float(drawishness[row]))
        assert probabilities[row] == pytest.approx([float(wanted[result]) for result in (1, 0, -1)])
        position = rows_of(positions, row)
        assert evaluation.predict(position) == (value[row], drawishness[row])
        assert evaluation.distribution(position) == pytest.approx(probabilities[row])


def test_both_parts_are_explained_and_shown(evaluation: ResultEvaluation) -> None:
    position = evaluation.learning.game.initial_position
    explanation = evaluation.explain(position)
    assert explanation.drawishness is not None
    value, drawishness = evaluation.predict(position)
    assert (explanation.total, explanation.drawishness.value) == pytest.approx((value, drawishness), abs=1e-6)
    rows = explanation.rows()
    assert [(row["part"], row["kind"]) for row in rows] == [
        *[("value", item.kind) for item in explanation.contributions],
        *[("drawishness", item.kind) for item in explanation.drawishness.contributions],
    ]
    assert str(explanation).count("the sum of:") == explanation._repr_html_().count("<table>") == 2
    shown = evaluation._repr_html_()
    assert shown.count("<table>") == 2 and "scale 1.5" in shown and "-0.100" in shown


def test_a_constant_drawishness_is_the_one_given(othello_learning: Learning, positions: Any) -> None:
    value = mobility_evaluation(othello_learning, logistic=True)
    evaluation = ResultEvaluation.with_constant_drawishness(value, 0.92)
    assert evaluation.predict(positions)[1] == pytest.approx(np.full(200, 0.92), abs=1e-6)
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(BadInputError, match="above 0 and below 1"):
            ResultEvaluation.with_constant_drawishness(value, wrong)


@pytest.fixture
def path(evaluation: ResultEvaluation, tmp_path: Path) -> Path:
    """The file of the evaluation."""
    evaluation.save(tmp_path / "result.npz")
    return tmp_path / "result.npz"


def test_files_keep_everything_and_give_the_value_alone(
    evaluation: ResultEvaluation, positions: Any, path: Path
) -> None:
    game = evaluation.learning.game
    for loaded in (load_evaluation(path), load_evaluation(str(path), game)):
        assert isinstance(loaded, ResultEvaluation)
        assert (loaded.scale, loaded.provenance) == (1.5, {"made": "by hand"})
        assert (loaded.distribution(positions) == evaluation.distribution(positions)).all()
    assert value_part(evaluation) is evaluation.value
    for value in (load_value(path), load_value(str(path), game)):
        assert (value.predict(positions) == evaluation.value.predict(positions)).all()
    with pytest.raises(BadInputError, match="with a drawishness"):
        LinearEvaluation.load(path)
    evaluation.value.save(path)
    assert isinstance(load_evaluation(path), LinearEvaluation)
    with pytest.raises(BadInputError, match="without a drawishness"):
        ResultEvaluation.load(path)


def test_grading_uses_both_parts(evaluation: ResultEvaluation, positions: Any, path: Path) -> None:
    value, drawishness = evaluation.predict(positions)
    game = evaluation.learning.game
    graded = scorer_of(game, str(path)).predict(Positions(game, positions, np.zeros(len(value), np.float32)))
    assert graded.unit == "log odds"
    assert graded.value == pytest.approx(value)
    assert graded.drawishness == pytest.approx(drawishness)


def test_parts_that_do_not_belong_are_refused(othello_learning: Learning, evaluation: ResultEvaluation) -> None:
    with pytest.raises(BadInputError, match="identity link"):
        ResultEvaluation(mobility_evaluation(othello_learning), evaluation.drawishness)
    other = load_learning("connect_four")
    strange = LinearEvaluation(other, np.zeros(len(other.phases), np.float32), link=LOGISTIC)
    with pytest.raises(BadInputError, match="connect_four"):
        ResultEvaluation(evaluation.value, strange)
    for scale in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(BadInputError, match="positive and finite"):
            ResultEvaluation(evaluation.value, evaluation.drawishness, scale)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": None}, "no glem evaluation file"),
        ({"drawishness": {}}, "no glem evaluation file"),
        ({"scale": -1}, "positive"),
        ({"scale": None}, "no glem result evaluation"),
        ({"provenance": 3}, "no glem result evaluation"),
    ],
)
def test_damaged_files_are_explained(path: Path, change: dict[str, Any], words: str) -> None:
    change_header(path, change)
    with pytest.raises(BadInputError, match=words) as found:
        load_evaluation(path)
    assert "result.npz" in str(found.value)
