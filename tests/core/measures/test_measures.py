"""Measures against naive computations: numbers, errors by game, differences; positions in any parts."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

import glem
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.game import registry
from glem.core.game.game import load_game
from glem.core.grading.calibrating import calibrate_predictions
from glem.core.grading.calibration import log_correctness_of
from glem.core.grading.collection import with_parameters
from glem.core.grading.correctness import LEAST_CORRECTNESS, grade_of
from glem.core.grading.scorers.searching import StaticScorer
from glem.core.grading.wdl_model import Bounds
from glem.core.measures.errors import CalibrationError, MeanAbsoluteError, MeanError, RootMeanSquareError
from glem.core.measures.grade import GradeMeasure
from glem.core.measures.measure import FunctionMeasure, Judged, Measure, games_of, judged_by
from glem.core.measures.named import measure_names, measures_of
from glem.core.measures.sums import Division, Sums, measured
from glem.core.measures.whole_games import are_in_order, whole_games
from glem.core.positions.positions import Positions
from tests.core.cli.terminal import Terminal
from tests.core.labelling.labelling_examples import some_positions
from tests.oracles import measures as oracle

EXAMPLE = Path(__file__).parents[3] / "docs" / "how-to" / "my_measures.py"
MEASURES: dict[str, tuple[Measure, Callable[..., float]]] = {
    "rmse": (RootMeanSquareError(), oracle.rmse),
    "mae": (MeanAbsoluteError(), oracle.mae),
    "mean-error": (MeanError(), oracle.mean_error),
    "calibration-error": (CalibrationError(bins=5), oracle.calibration_error),
    "explained": (measures_of(f"{EXAMPLE}:Explained")["Explained"], oracle.explained),
}


def sample(seed: int, games: int = 12) -> tuple[Any, ...]:
    """Two evaluations' values, labels that games share in part, weights, games and groups of some hundred positions."""
    generator = np.random.default_rng(seed)
    game = np.repeat(np.arange(games), generator.integers(2, 30, games))
    label = generator.normal(size=games)[game] + generator.normal(size=len(game))
    value = label + generator.normal(size=(2, len(game))) + generator.normal(size=(2, games))[:, game] + 0.2
    return (
        value,
        label,
        generator.integers(1, 4, len(game)).astype(np.float64),
        game,
        generator.integers(0, 3, len(game)),
    )


def naive(how: Callable[..., float], value: Any, label: Any, weight: Any, game: Any) -> oracle.Number:
    """Number as a function of what each game weighs."""
    return lambda of_games: how(value, label, weight * of_games[game])


@pytest.mark.parametrize("name", MEASURES)
@given(seed=st.integers(0, 1 << 30), cuts=st.lists(st.integers(1, 11), max_size=3))
@settings(max_examples=15, deadline=None)
def test_numbers_and_errors_are_the_naive_ones_in_any_parts(name: str, seed: int, cuts: list[int]) -> None:
    measure, how = MEASURES[name]
    value, label, weight, game, group = sample(seed)
    sums = Sums(name, [measure.begin(Judged(each, label, weight, game)) for each in value])
    borders = [0, *np.searchsorted(game, sorted({*cuts})), len(game)]
    for start, stop in itertools.pairwise(borders):
        rows = slice(start, stop)
        own = game[rows] - game[start] if stop > start else game[rows]
        judged = [Judged(each[rows], label[rows], weight[rows], own) for each in value]
        sums.add(judged, Division.of(group[rows], own))
    found = sums.numbers(4)
    assert np.isnan(found.value[:, 3]).all() and found.counts[3] == 0
    scattered = Sums(name, [measure.begin(Judged(each, label, weight, game)) for each in value], together=False)
    for rows in np.array_split(np.random.default_rng(seed).permutation(len(game)), 3):
        judged = [Judged(each[rows], label[rows], weight[rows], game[rows]) for each in value]
        scattered.add(judged, Division.of(group[rows], game[rows]))
    for there, expected in zip(attrs.astuple(scattered.numbers(4)), attrs.astuple(found), strict=True):
        np.testing.assert_allclose(there, expected, atol=1e-9)
    one, other = (naive(how, each, label, weight, game) for each in value)
    ones = np.ones(12)
    assert found.counts[-1] == len(game)
    np.testing.assert_allclose(found.value[:, -1], [one(ones), other(ones)])
    expected = [oracle.error_by_game(each, 12) for each in (one, other)]
    np.testing.assert_allclose(found.error[:, -1], expected, rtol=1e-4)
    assert found.difference[1, -1] == pytest.approx(other(ones) - one(ones))
    paired = oracle.error_by_game(lambda of_games: other(of_games) - one(of_games), 12)
    assert found.difference_error[1, -1] == pytest.approx(paired, rel=1e-4)
    if name != "calibration-error":
        # Its bins are those of all positions, and empty ones in a group change nothing.
        mine = group == 1
        present = np.unique(game[mine], return_inverse=True)[1]
        inside = naive(how, value[1][mine], label[mine], weight[mine], present)
        assert found.value[1, 1] == pytest.approx(inside(np.ones(present.max() + 1)))
        assert found.error[1, 1] == pytest.approx(oracle.error_by_game(inside, present.max() + 1), rel=1e-4)


@pytest.mark.parametrize("name", ["rmse", "mae", "mean-error", "explained"])
def test_errors_are_those_of_a_bootstrap_by_game(name: str) -> None:
    measure, how = MEASURES[name]
    value, label, weight, game, _ = sample(5, 150)
    found = measured(measure, Judged(value[0], label, weight, game))
    bootstrap = oracle.error_by_bootstrap(naive(how, value[0], label, weight, game), 150, seed=1)
    assert found.error[0, -1] == pytest.approx(bootstrap, rel=0.1)
    # Positions taken as independent would give less.
    assert measured(measure, Judged(value[0], label, weight)).error[0, -1] < 0.8 * found.error[0, -1]


def test_equal_terms_have_no_error_and_one_game_has_none_that_is_known() -> None:
    label, game = np.zeros(40), np.repeat(np.arange(8), 5)
    found = measured(MeanAbsoluteError(), Judged(np.full(40, 1 / 3), label, np.arange(40) + 0.1, game))
    assert found.value[0, -1] == pytest.approx(1 / 3) and found.error[0, -1] == 0
    assert np.isnan(measured(MeanError(), Judged(label + 1, label, game=np.zeros(40, np.int64))).error).all()
    assert np.isnan(measured(MeanError(), Judged(np.zeros(0), np.zeros(0))).value).all()
    perfect = measured(RootMeanSquareError(), Judged(label, label, game=game))
    assert perfect.value[0, -1] == perfect.error[0, -1] == 0


def test_what_has_no_terms_does_not_count() -> None:
    value, label, weight, game, _ = sample(2)
    some = game % 3 > 0
    function = FunctionMeasure(lambda judged: np.where(some, judged.value > judged.label, np.nan))
    found = measured(function, Judged(value[0], label, weight, game))
    own = FunctionMeasure(lambda judged: judged.value > judged.label)
    alone = measured(own, Judged(value[0][some], label[some], weight[some], games_in(game[some])))
    assert found.counts[-1] == some.sum()
    assert (found.value[0, -1], found.error[0, -1]) == pytest.approx((alone.value[0, -1], alone.error[0, -1]))


def games_in(game: Any) -> Any:
    return np.unique(game, return_inverse=True)[1]


@pytest.fixture(scope="module")
def chess() -> tuple[ResultEvaluation, Positions]:
    given = some_positions(load_game("chess"), 900)
    evaluation = load_evaluation("default", given.game)
    assert isinstance(evaluation, ResultEvaluation)
    return evaluation, given


def test_the_grade_is_that_of_glem_grade_with_the_same_calibration(
    chess: tuple[ResultEvaluation, Positions], tmp_path: Path
) -> None:
    evaluation, positions = chess
    said, game = StaticScorer("own", evaluation).predict(positions), games_of(positions)
    assert GradeMeasure().floor == LEAST_CORRECTNESS
    for scale, alpha, one in ((1.0, None, GradeMeasure()), (2.5, 0.4, GradeMeasure(scale=2.5, drawishness=0.4))):
        whole = said if alpha is None else StaticScorer("value", evaluation.value).predict(positions)
        _, logs = log_correctness_of(with_parameters(whole, scale, alpha), positions.result, game)
        expected = grade_of(logs, game)
        found = measured(one, judged_by(evaluation, positions))
        assert found.value[0, -1] == pytest.approx(expected.grade, rel=1e-9)
        assert found.error[0, -1] == pytest.approx(expected.error, rel=1e-7)
    with pytest.raises(BadInputError, match="no drawishness: write grade,scale=B"):
        GradeMeasure().begin(judged_by(evaluation.value, positions))
    generator, path = np.random.default_rng(3), tmp_path / "c.json"
    ply = (positions.ply // 2 + 1).astype(np.float64)
    result = generator.integers(-1, 2, len(positions)).astype(np.int8)
    for chosen in ("Ban", "move", "constant a and b"):
        models = calibrate_predictions(
            result, said, {"move": (ply, Bounds(1.0, 60.0, 32.0))}, game_name="chess", chosen=chosen
        ).models
        models.save(path)
        found = measured(GradeMeasure(calibration=str(path)), judged_by(evaluation, positions))
        mean = 0.0
        for row, (value, alpha) in enumerate(zip(said.value, said.drawishness, strict=True)):
            chances = models.distribution(float(value), float(alpha), ply[row])
            mean += float(np.log([chances.loss[0], chances.draw[0], chances.win[0]][positions.result[row] + 1]))
        assert found.value[0, -1] == pytest.approx(np.exp(mean / len(positions)), rel=1e-6)


@pytest.mark.parametrize("slope", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_shown_without_a_warning(slope: float) -> None:
    class Endless(Measure):
        def terms(self, judged: Judged) -> Any:
            return judged.value

        def number(self, means: Any) -> Any:
            return slope, np.full(1, -slope)

    judged = Judged(np.arange(4.0), np.zeros(4), np.ones(4), np.array([0, 0, 1, 1]))
    sums = Sums("endless", [Endless(), Endless()])
    sums.add([judged, judged], Division.of(np.array([0, 1, 1, 1]), judged.game))
    found = sums.numbers()
    np.testing.assert_array_equal(found.value, slope)
    assert np.isnan(found.error).all() and np.isnan(found.difference).all()


@given(
    records=st.lists(st.integers(-1, 4), max_size=30),
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_parts_have_whole_games_in_their_order(records: list[int], sizes: list[int]) -> None:
    game = load_game("connect_four")
    count = len(records)
    whole = Positions(
        game, game.empty_columns(count), np.arange(count, dtype=np.float32), record=np.array(records, np.int32)
    )
    borders = np.minimum(np.cumsum([0, *sizes, count]), count)
    parts = [whole.select(slice(*each)) for each in itertools.pairwise(borders)]
    in_order = are_in_order(part.record for part in parts)
    starts = [row for row in range(count) if records[row] >= 0 and (row == 0 or records[row] != records[row - 1])]
    assert in_order == all(records[one] < records[other] for one, other in itertools.pairwise(starts))
    for kind in ("score", "choices"):
        found, together = whole_games((evolve(part, label_kind=kind) for part in parts), in_order=in_order)
        held = list(found)
        assert np.concatenate([part.label for part in held]).tolist() == list(range(count))
        assert together == (in_order or kind == "choices")
        if together:
            games = [set(part.record[part.record >= 0].tolist()) for part in held]
            assert sum(map(len, games)) == len(set().union(*games))


def test_measures_are_found_by_name_and_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*measure_names()} >= {"rmse", "mae", "mean-error", "choice-error", "grade", "calibration-error"}
    found = measures_of(["rmse", "calibration-error,bins=7", f"{EXAMPLE}:right_winner", RootMeanSquareError])
    assert [*found] == ["rmse", "calibration-error,bins=7", "right_winner", "RootMeanSquareError"]
    assert found["calibration-error,bins=7"] == CalibrationError(bins=7)
    assert found["right_winner"].heading == "right winner"
    monkeypatch.setitem(registry._added, ("glem.measures", "brought"), lambda judged: judged.value)
    assert isinstance(measures_of("brought")["brought"], FunctionMeasure)
    (tmp_path / "own.py").write_text("def none(judged):\n    return judged.nothing\nclass No: pass\nbroken = 3\n")
    for text, message in {
        "rms": "no measure 'rms'; there are: .*rmse.*FILE.py:NAME",
        "rmse,mae": "'rmse,mae' names two measures; name each by itself",
        "rmse,x=1": "rmse has no setting 'x'; it has: none",
        "calibration-error,bins=0": "bins is 0, expected a whole number",
        "calibration-error,bins=few": "bins must be a number, got 'few'",
        "grade,scale=-1": "scale is -1.0, expected a number above 0",
        f"{EXAMPLE}:right_winner,x=1": "right_winner has no settings",
        f"{EXAMPLE}:nothing": "has no 'nothing'",
        f"{tmp_path}/own.py:No": "neither a subclass of Measure nor a function",
        f"{tmp_path}/own.py:broken": "something else than a function",
        f"{tmp_path}/no.py:none": "no such file",
    }.items():
        with pytest.raises(BadInputError, match=message):
            measures_of(text)
    with pytest.raises(BadInputError, match="two measures are called rmse"):
        measures_of(["rmse", "rmse"])
    with pytest.raises(BadInputError, match=r"measure none: AttributeError: .* \(own.py:2\)"):
        measured(measures_of(f"{tmp_path}/own.py:none")["none"], Judged([1.0], [0.0]), name="none")
    with pytest.raises(BadInputError, match="measure m: expected terms of 2 positions, got a single number"):
        measured(FunctionMeasure(lambda judged: 1.0), Judged([1.0, 2.0], [0.0, 0.0]), name="m")


def test_evaluate_prints_every_measure_with_errors_and_differences(
    terminal: Terminal, chess: tuple[ResultEvaluation, Positions], tmp_path: Path
) -> None:
    evaluation, positions = chess
    value = evaluation.value
    path, one, other = (tmp_path / name for name in ("p.parquet", "one.npz", "other.npz"))
    value.save(one)
    LinearEvaluation(value.learning, np.full_like(value.bias, 0.4), link=LOGISTIC).save(other)
    glem.write_positions(path, positions)
    names = ("rmse", f"{EXAMPLE}:right_winner", "calibration-error,bins=7")
    words = [word for name in names for word in ("--measure", name)]
    told = terminal.json("evaluate", one, other, path, *words)
    found = glem.evaluate({str(one): value, str(other): glem.load_evaluation(other)}, positions, names)
    assert [*told["measures"]] == ["rmse", "right_winner", "calibration-error,bins=7"]
    for name, numbers in found.groupings[0].numbers.items():
        for part in ("value", "error", "difference", "difference_error"):
            shown = [told["measures"][name][part][str(each)][-1] for each in (one, other)]
            np.testing.assert_array_equal(shown, getattr(numbers, part)[:, -1])
    winners, judged = told["measures"]["right_winner"], judged_by(value, positions)
    decided = positions.result != 0
    right = (np.sign(judged.sums) == positions.result)[decided]
    assert winners["value"][str(one)][-1] == pytest.approx(right.mean())
    assert winners["counts"][-1] == decided.sum() < len(positions)
    alone = measured(FunctionMeasure(lambda _: right), Judged(right, right, game=games_in(judged.game[decided])))
    assert winners["error"][str(one)][-1] == pytest.approx(alone.error[0, -1])
    printed = terminal("evaluate", one, other, path, *words)
    assert "Measures by phase" in printed and f"Differences to {one} by phase" in printed and "±" in printed
    # Positions in any order: the games stay what is independent.
    order = np.random.default_rng(1).permutation(len(positions))
    glem.write_positions(path, positions.select(order))
    shuffled = terminal.json("evaluate", one, other, path, "--measure", "rmse", "-q")["measures"]["rmse"]
    assert shuffled["error"][str(one)][-1] == pytest.approx(told["measures"]["rmse"]["error"][str(one)][-1])


def test_a_result_prints_shows_and_becomes_a_frame(chess: tuple[ResultEvaluation, Positions]) -> None:
    evaluation, positions = chess
    found = glem.evaluate(evaluation, positions.to_pandas(), ["mae", "grade"])
    assert repr(found).startswith("Evaluated(") and "grade 0." in repr(found)
    assert "mean absolute" in str(found) and "±" in str(found) and "<table>" in found._repr_html_()
    frame = found.to_pandas()
    overall = frame[(frame["group"] == "all") & (frame["measure"] == "mae") & (frame["grouping"] == "phase")]
    assert overall["value"].item() == found.groupings[0].numbers["mae"].value[0, -1]
    with pytest.raises(BadInputError, match="name an evaluation"):
        glem.evaluate([], positions)
    with pytest.raises(BadInputError, match="holds no positions"):
        glem.evaluate(evaluation, positions.head(0))
    with pytest.raises(BadInputError, match="an evaluation of chess is given, the game is connect_four"):
        glem.evaluate(evaluation, some_positions(load_game("connect_four"), 5))
    with pytest.raises(BadInputError, match="choice error: the positions are no choice set"):
        glem.evaluate(evaluation, positions, "choice-error")
