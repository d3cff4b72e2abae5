"""A drawishness fitted from features to values that have none."""

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.grading.calibration import fit_scale
from glem.core.grading.drawishness import (
    DrawishnessRows,
    drawishness_problem,
    featured_drawishness,
    fit_drawishness,
)
from glem.core.tasks.tables import Table
from tests.core.cli.terminal import Terminal
from tests.core.grading.examples import played
from tests.oracles import grading as oracle

Floats = NDArray[np.float64]
NAMES = ("locked", "clock", "never")
WEIGHTS = np.array([[0.3, 0.2, 0.5], [0.6, -0.4, 0.5], [0.9, -1.0, 0.5]])
LEVELS = np.array([0.5, 1.0, 1.5])
LEARNING: Any = SimpleNamespace(phases=range(3), drawishness=NAMES)
"""What a game gives to learning, as far as it matters here."""


def example(count: int, seed: int = 0, *, positions: int = 1) -> tuple[DrawishnessRows, Floats]:
    """Positions of games whose drawishness follows the features, and that drawishness."""
    generator = np.random.default_rng(seed)
    rows = count * positions
    features = np.column_stack([generator.integers(0, 9, rows), generator.integers(0, 3, rows), np.zeros(rows)])
    phase = generator.integers(0, 3, rows)
    alpha = 1 / (1 + np.exp(-(LEVELS[phase] + (features * WEIGHTS[phase]).sum(axis=1))))
    value = generator.normal(0, 2.0, rows)
    result = played(value, alpha, scale=1.2, seed=seed + 1000)
    key = np.repeat(generator.integers(0, 1 << 62, count).astype(np.uint64), positions)
    return DrawishnessRows(features.astype(np.int16), phase, value, result, key), alpha


def featured(rows: DrawishnessRows, tuning: DrawishnessRows | None = None) -> tuple[Floats, str, Table]:
    return featured_drawishness(LEARNING, "mine", rows, tuning)


def odds(alpha: Floats) -> Floats:
    found: Floats = np.log(alpha) - np.log1p(-alpha)
    return found


@pytest.mark.parametrize("floor", [1e-12, 0.2])
def test_what_is_maximized_is_that_of_the_oracle(floor: float) -> None:
    rows, _ = example(40, positions=2)
    problem = drawishness_problem(rows, 3, floor=floor)
    parameters = np.random.default_rng(5).normal(0, 0.3, problem.parameter_count)
    weights = problem.weights_of(parameters)
    begin = problem.draw.prior[0, -1]
    level, slope = parameters[:-1].reshape(2, -1)
    total = 0.0
    for row in range(len(rows.result)):
        time = (-1.0, 0.0, 1.0)[rows.phase[row]]
        terms = [*rows.features[row].astype(float).tolist(), 1.0]
        own = begin + sum((a + b * time) * term for a, b, term in zip(level, slope, terms, strict=True))
        alpha = 1 / (1 + math.exp(-own))
        # Two positions of each game, of which each counts half.
        log = oracle.mean_log_likelihood([rows.value[row]], [rows.result[row]], weights.scale, alpha)
        total += 0.5 * max(log, math.log(floor))
    nonzero = [column[column != 0].astype(float) for column in rows.features.T]
    # A feature that never occurs has size 1, so that its weight stays 0.
    sizes = [*(math.sqrt(np.mean(column**2)) if len(column) else 1.0 for column in nonzero), 0.0]
    penalty = 2.0 * sum((size * one) ** 2 for size, one in zip(sizes * 2, parameters[:-1].tolist(), strict=True))
    found = problem.at(parameters)
    assert found.value == pytest.approx((penalty - total) / 40, rel=1e-9)
    for place in range(len(parameters)):
        step = np.zeros(len(parameters))
        step[place] = 1e-6
        rise = (problem.at(parameters + step).value - problem.at(parameters - step).value) / 2e-6
        assert found.gradient[place] == pytest.approx(rise, abs=1e-6)


def test_the_truth_is_found() -> None:
    rows, alpha = example(10_000)
    fit = fit_drawishness(rows, 3)
    assert fit.converged
    assert fit.games == 10_000
    assert fit.scale == pytest.approx(1.2, rel=0.1)
    unseen, alpha = example(2_000, seed=1)
    found = fit.log_odds(unseen)
    assert np.corrcoef(found, odds(alpha))[0, 1] > 0.97
    assert np.median(np.abs(found - odds(alpha))) < 0.3


@pytest.mark.parametrize("how", ["crossed", "tuned"])
def test_it_grades_higher_than_a_constant_where_it_matters(how: str) -> None:
    rows, _ = example(1_500)
    found, remark, table = featured(rows, example(1_500, seed=1)[0] if how == "tuned" else None)
    assert ("fitted to 1,500 tuning games" if how == "tuned" else "5 parts") in remark
    constant = fit_scale(rows.value, rows.result)
    own = fit_scale(rows.value, rows.result, drawishness=found)
    better = log_correctness(rows.value, rows.result, own.scale, found).mean()
    assert better > log_correctness(rows.value, rows.result, constant.scale, constant.drawishness).mean() + 0.01
    assert [row[0] for row in table.rows][-1] == "never"
    assert table.rows[-1][1:] == ("+0.0000", "+0.0000", "0.000")


def test_values_in_another_unit_have_the_same_drawishness() -> None:
    rows, _ = example(400)
    found, other = (featured(rows._replace(value=rows.value * unit))[0] for unit in (1.0, 100.0))
    np.testing.assert_allclose(found, other, atol=2e-3)


def test_games_without_features_that_matter_have_nearly_the_constant() -> None:
    rows, _ = example(2_000)
    shuffled = rows._replace(features=np.random.default_rng(3).permutation(rows.features), phase=rows.phase * 0)
    alpha = featured(shuffled)[0]
    constant = fit_scale(rows.value, rows.result).drawishness
    assert constant is not None
    np.testing.assert_allclose(alpha, constant, atol=0.12)


def test_no_game_decides_its_own_drawishness() -> None:
    """But for the level, which is that of all games."""
    rows, _ = example(300, positions=2)
    before = odds(featured(rows)[0])
    mine = rows.game_key == rows.game_key[0]
    assert mine.sum() == 2
    changed = rows._replace(result=np.where(mine, -1, rows.result).astype(np.int8))
    after = odds(featured(changed)[0])
    difference = after - before
    own = difference[mine]
    np.testing.assert_allclose(own, own[0], atol=1e-5)
    others = difference - own[0]
    assert (np.abs(others) > 1e-4).any()


def test_tuning_games_that_are_graded_are_left_out() -> None:
    rows, _ = example(500)
    tuning, _ = example(800, seed=1)

    both = DrawishnessRows._make(map(np.concatenate, zip(tuning, rows, strict=True)))
    alpha, remark, _ = featured(rows, both)
    np.testing.assert_array_equal(alpha, featured(rows, tuning)[0])
    assert "500 that are graded too were left out" in remark


def test_values_that_are_missing_or_infinite_are_not_fitted() -> None:
    rows, _ = example(600)
    value = rows.value.copy()
    value[::3] = np.nan
    value[1::3] = np.inf
    fit = fit_drawishness(rows._replace(value=value), 3)
    assert fit.games == 200
    assert np.isfinite(featured(rows._replace(value=value))[0]).all()


def test_what_cannot_be_fitted_is_refused() -> None:
    rows, _ = example(100)
    with pytest.raises(BadInputError, match="none are drawn"):
        fit_drawishness(rows._replace(result=np.ones(100, np.int8)), 3)
    with pytest.raises(BadInputError, match="all are drawn"):
        fit_drawishness(rows._replace(result=np.zeros(100, np.int8)), 3)
    with pytest.raises(BadInputError, match="finite value"):
        fit_drawishness(rows._replace(value=np.full(100, np.nan)), 3)


def scored_games(path: Path, first: int, count: int, seed: int) -> None:
    """Write games whose scores tell a little of the results, and whose exchanges make draws likely."""
    generator = np.random.default_rng(seed)
    games = []
    for number in range(first, first + count):
        is_exchange = generator.random() < 0.5
        score = generator.normal(0, 1.5)
        chance = generator.random() + 0.15 * np.tanh(score)
        bounds = (0.1, 0.9) if is_exchange else (0.45, 0.55)
        result = "0-1" if chance < bounds[0] else "1-0" if chance > bounds[1] else "1/2-1/2"
        moves = "1. e4 d5 2. exd5 Qxd5" if is_exchange else "1. e4 e6 2. d4 d5"
        # The number is told by the pawns' moves, so that no two games are the same.
        tail = " ".join(
            f"{3 + place}. {file}{'34'[number >> 2 * place & 1]} {file}{'65'[number >> 2 * place + 1 & 1]}"
            for place, file in enumerate("ahbcg")
        )
        games.append(
            f'[Event "A"]\n[Round "{number}"]\n[Result "{result}"]\n\n{moves} {{{-score:+.2f}/9}} {tail} {result}\n\n'
        )
    path.write_text("".join(games))


def test_the_command_fits_from_features(terminal: Terminal, tmp_path: Path) -> None:
    graded, tuning = tmp_path / "graded.pgn", tmp_path / "tuning.pgn"
    scored_games(graded, 0, 300, 1)
    scored_games(tuning, 290, 300, 2)
    limits = ["--skip-moves", "1", "--skip-end", "0.72", "--select", "last", "--tuning-select", "last"]
    arguments = [
        "grade", "chess", graded, "--evaluation", "comments,side=mover,name=constant",
        "--evaluation", "comments,side=mover,name=featured",
        "--drawishness", "fit", "--drawishness", "features", "--resamples", 200, *limits,
    ]  # fmt: skip
    printed = terminal(*arguments)
    assert "from features" in printed
    assert "Drawishness of featured" in printed
    found = terminal.json(*arguments, "--tuning", tuning)
    assert found["drawishness_from_features"] == ["featured"]
    told = re.search(r"fitted to (\d+) tuning games; (\d+) that are graded too", " ".join(found["remarks"]))
    assert told is not None
    assert int(told[1]) + int(told[2]) == 300
    assert all(one["grade"]["positions"] == 300 for one in found["evaluations"])


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--tuning", "games.pgn", "tuning games serve"),
        ("--drawishness", "some", "`features`"),
        # Also where the evaluation has a drawishness of its own, to which a number yields.
        ("--drawishness", "2", "between 0 and 1, got 2"),
        ("--scale", "features", "--scale must be a number, `fit` or `own`"),
    ],
)
def test_what_the_command_refuses(terminal: Terminal, option: str, value: str, text: str) -> None:
    assert text in terminal.fails("grade", "chess", "games.pgn", "--evaluation", "comments", option, value)
