"""The discriminants beside each other: on terms whose distribution is known, and by the command on games."""

from pathlib import Path

import attrs
import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_value
from glem.core.features.learning import Learning
from glem.core.fitting.discriminants.by_phase import METHODS, TermRows, fit_rows, parts_of
from glem.core.game.game import load_game
from glem.core.grading.experiments.discriminants import (
    FISHER,
    LOG,
    PAIRINGS,
    QUAD,
    DiscriminantStudy,
    fit_all,
)
from glem.core.positions.files import write_positions
from glem.functions import positions_of_games
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.core.positions.test_game_tree import random_games

PER_PHASE = 1500


def rows_of(learning: Learning, seed: int, spread: float) -> TermRows:
    """Rows of two normal terms whose deviation in won positions is ``spread`` times that in lost ones."""
    generator = np.random.default_rng(seed)
    phases = len(learning.phases)
    count = phases * PER_PHASE
    won = generator.integers(2, size=count).astype(np.float32)
    values = generator.normal(size=(count, 2))
    values[won > 0] = values[won > 0] * spread + (0.5, 0.3)
    terms = linear_evaluation(learning, link=LOGISTIC, mobility=1.0, opponent_mobility=1.0)
    starts = np.arange(phases + 1) * PER_PHASE
    games = np.arange(count, dtype=np.uint64) // np.uint64(2)
    return TermRows(terms, values.astype(np.float32), won, np.ones(count, np.float32), games, starts)


def study_of(learning: Learning, spread: float) -> DiscriminantStudy:
    training, held_out = rows_of(learning, 1, spread), rows_of(learning, 2, spread)
    evaluations = {method: fit_rows(training, method).evaluation for method in METHODS}
    return DiscriminantStudy.of_rows(evaluations, held_out, 0.95)


def test_the_quadratic_term_pays_where_classes_spread_differently(othello_learning: Learning) -> None:
    unequal, equal = study_of(othello_learning, 2.0), study_of(othello_learning, 1.0)
    assert unequal.verdict().startswith("the quadratic term pays: QUAD - FISHER in held-out log loss is -0.")
    assert unequal.loss_of(QUAD).value < unequal.loss_of(LOG).value - 0.02
    low, high = equal.loss_of(QUAD, less=FISHER).limits(0.95)
    assert low > -0.001
    assert high < 0.003
    means, spread = unequal.class_moments()
    np.testing.assert_allclose(means, [[0, 0], [0.5, 0.3]], atol=0.15)
    np.testing.assert_allclose(spread, [np.eye(2), 4 * np.eye(2)], atol=0.5)
    edges, lost, won = unequal.densities(0)
    assert np.dot(lost, np.diff(edges)) == pytest.approx(1)
    assert max(lost) > 1.5 * max(won)


def test_values_mean_what_they_say_where_the_model_holds(othello_learning: Learning) -> None:
    study = study_of(othello_learning, 1.0)
    for method in METHODS:
        found = study.meanings(method)
        assert [each.phase for each in found] == list(range(13))
        scores = [(each.slope.value - 1) / each.slope.error for each in found]
        assert np.abs(scores).max() < 4
        bins = study.chances(method)
        assert len(bins) == 24
        for odds, mean in bins:
            assert abs(mean.value - 1 / (1 + np.exp(-odds))) < 5 * mean.error
    # Twice the odds claim twice what they know.
    bold = DiscriminantStudy(study.rows, study.evaluations, {**study.odds, LOG: 2 * study.odds[LOG]}, 0.95)
    assert np.mean([each.slope.value for each in bold.meanings(LOG)]) == pytest.approx(0.5, abs=0.05)


@pytest.fixture(scope="module")
def positions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Positions of random games of Connect Four."""
    game = load_game("connect_four")
    games = random_games(game, 800, 3, choices=7)
    games = attrs.evolve(games, theoretical_score=np.full(len(games), np.nan, np.float32))
    path = tmp_path_factory.mktemp("discriminants") / "results.parquet"
    write_positions(path, positions_of_games(game, games))
    return path


def test_the_command_fits_plays_and_goes_on(terminal: Terminal, positions: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "study", tmp_path / "page.html"
    how = ("experiment", "discriminants", positions, "-o", out, "--held-out", 0.3, "--workers", 1)
    play = ("--opening-count", 1, "--opening-plies", 4, "--even-within", 9, "--judge-depth", 1, "--game-seconds", 0.05)
    found = terminal.json(*how, *play, "--report", page)
    assert [each["games"] for each in found["pairings"]] == [2] * len(PAIRINGS)
    assert found["pairings"][3]["players"] == ["LOG", "FISHER"]
    assert found["pairings"][3]["minutes"] == [30, 36]
    text = page.read_text()
    for part in ("In play", "Winning chances", "The same value in every phase", "Coefficients by phase"):
        assert part in text
    # What is there is not done again: the games are the same, and these depend on the clock.
    written = {path.name: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    again = terminal.json(*how, *play)
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("*.npz")} == written
    assert len(list(out.glob("*.jsonl"))) == len(PAIRINGS) + 1
    totals = [[[one["nodes"] for one in each["totals"]] for each in run["pairings"]] for run in (found, again)]
    assert totals[0] == totals[1]
    assert "other settings or input (seed: 0, not 1)" in terminal.fails(*how, *play, "--seed", 1)
    assert "no phase could be fitted" in terminal.fails(*how[:-2], "-o", tmp_path / "none", "--plies", "90-99")
    for name in METHODS:
        told = terminal("show", out / f"{name}.npz", "start")
        assert ("Coefficients in phase 0-5, intervals by game" in told) == (name != QUAD)
    data = terminal.json("show", out / "fisher.npz", "start")["coefficients"]
    evaluation = load_value(out / "fisher.npz")
    assert evaluation.coefficients is not None
    value, error = evaluation.coefficients[:, 0, 0]
    assert data["wins"] == {"value": pytest.approx(value), "error": pytest.approx(error)}
    terminal("grade", "connect_four", positions, "--evaluation", out / "fisher.npz", "--drawishness", "fit")
    assert "fitted to" in terminal.output + terminal.error
    assert "has no quiescence" in terminal.fails(*how, "--quiescence", "loud")
    assert "no baseline" in terminal.fails(*how, "--baseline", "loud")


def test_patterns_have_tables_of_other_games_whatever_is_held_out(
    terminal: Terminal, positions: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("middle: d1 d2 d3 d4\n")
    how = ("experiment", "discriminants", positions, "--patterns", lines, "--opening-count", 0)
    for held_out in (0.2, 0.6):
        found = terminal.json(*how, "-o", tmp_path / str(held_out), "--held-out", held_out)
        assert found["terms"][0] == "middle"
        coefficients = load_value(tmp_path / str(held_out) / "logistic.npz").coefficients
        assert coefficients is not None
        assert (coefficients[0, :, 0] != 0).all()
    assert "no games to estimate the tables" in terminal.fails(*how, "-o", tmp_path / "no", "--plies", "90-99")
    assert "there are none" in terminal.fails(
        "experiment", "discriminants", positions, "-o", tmp_path / "no", "--baseline", "constant"
    )
    assert not (tmp_path / "no").exists()


def test_too_few_games_are_an_error(othello_learning: Learning, tmp_path: Path) -> None:
    assert othello_learning.sample is not None
    sample = othello_learning.sample()
    few = sample.select(np.arange(3000))
    evaluations, _ = fit_all(parts_of(few), othello_learning, ("mobility", "corners"), None, tmp_path)
    with pytest.raises(BadInputError, match=r"too few held-out positions \(100\): no phase has 200"):
        DiscriminantStudy.of(evaluations, parts_of(few.select(np.arange(100))))
