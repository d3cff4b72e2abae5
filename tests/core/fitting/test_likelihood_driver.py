"""From files of games to a fitted evaluation with a drawishness, by code and by command."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glem
from glem.core.discovery.game_positions import Games
from glem.core.errors import BadInputError, GlemWarning
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.fitting.likelihood import (
    LikelihoodFit,
    LikelihoodSettings,
    fit_likelihood,
    prior_of,
    without_knowledge,
)
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions, keys_digest
from glem.core.positions.selection.selection import SelectionRule
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.oracles.grading import mean_log_likelihood
from tests.othello import LEARNING, sample_of_games

RULE = SelectionRule("every", step=8)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All positions of 600 games of self-play."""
    path = tmp_path_factory.mktemp("likelihood") / "games.parquet"
    write_positions(path, sample_of_games(600))
    return path


@pytest.fixture(scope="module")
def games(file: Path) -> list[Positions]:
    return list(Games(LEARNING.game, [file]).positions(RULE))


@pytest.fixture(scope="module")
def training(games: list[Positions]) -> LikelihoodFit:
    return fit_likelihood(
        games,
        without_knowledge(LEARNING),
        LikelihoodSettings(l2=1.0),
        linear=LEARNING.linear,
        drawishness=("mobility", "opponent_mobility"),
        held_out=0.25,
    )


def test_games_are_told_apart_and_have_the_keys_of_position_files(file: Path, games: list[Positions]) -> None:
    stored = read_positions(file)
    keys = np.concatenate([part.game_key for part in games])
    numbers = np.concatenate([part.record for part in games])
    assert len(np.unique(numbers)) == 600
    assert set(keys.tolist()) == set(stored.game_key.tolist())
    assert keys_digest(keys) == keys_digest(stored.game_key[::-1])
    assert keys_digest(keys[keys != keys[0]]) != keys_digest(keys)


def test_two_readings_count_games_on(file: Path) -> None:
    twice = list(Games(LEARNING.game, [file, file]).positions(RULE))
    assert len(np.unique(np.concatenate([part.record for part in twice]))) == 1200


def test_a_fit_beats_its_prior_on_games_that_it_has_not_seen(training: LikelihoodFit) -> None:
    before, after, held_before, held_after = training.grades()
    assert before == pytest.approx(1 / 3)
    assert held_before == pytest.approx(1 / 3)
    assert after > 0.45
    assert held_after > 0.45
    # A prior that knows nothing is not saved by a scale, but the level of its drawishness is found.
    assert before <= training.recalibrated[0] < after
    assert held_before < training.recalibrated[1] < held_after
    assert training.minimum.converged
    assert training.games + training.held_out_games == 600
    assert training.evaluation.scale == 1


def test_the_grade_is_the_one_of_the_fitted_evaluation(training: LikelihoodFit, games: list[Positions]) -> None:
    whole = fit_likelihood(games, without_knowledge(LEARNING), LikelihoodSettings(l2=1.0), linear=("mobility",))
    by_game: dict[int, list[float]] = {}
    for part in games:
        value, drawishness = whole.evaluation.predict(part.positions)
        for row, game in enumerate(part.record.tolist()):
            log = mean_log_likelihood([value[row]], [int(part.result[row])], 1.0, float(drawishness[row]))
            by_game.setdefault(game, []).append(log)
    mean = np.mean([np.mean(logs) for logs in by_game.values()])
    assert whole.grades()[1] == pytest.approx(float(np.exp(mean)), rel=1e-5)
    assert np.isnan(whole.grades()[3])


def test_only_named_features_change(games: list[Positions]) -> None:
    prior = prior_of(mobility_evaluation(LEARNING, logistic=True))
    settings = LikelihoodSettings(names=("mobility",), drawishness_names=())
    found = fit_likelihood(games, prior, settings)
    weights = found.evaluation.value.linear_weights * found.prior_scale
    assert weights[:, 1] == pytest.approx(prior.value.linear_weights[:, 1])
    assert (np.abs(weights[:, 0] - prior.value.linear_weights[:, 0]) > 1e-3).any()
    assert (found.evaluation.drawishness.bias == prior.drawishness.bias).all()


def test_the_window_leaves_out_what_the_prior_holds_for_decided(games: list[Positions]) -> None:
    prior = prior_of(mobility_evaluation(LEARNING, logistic=True))
    values = np.concatenate([prior.log_odds(part.positions)[0] for part in games])
    window = float(np.median(np.abs(values)))
    found = fit_likelihood(games, prior, LikelihoodSettings(window=window, names=("mobility",)))
    assert found.positions == int((np.abs(values) <= window).sum())
    assert 0 < found.positions < len(values)


def test_a_prior_in_discs_becomes_log_odds() -> None:
    prior = prior_of(mobility_evaluation(LEARNING))
    assert prior.value.link == LOGISTIC
    assert prior.value.linear_weights[0] == pytest.approx([1 / 8, -1 / 8])
    result = ResultEvaluation.with_constant_drawishness(prior.value, 0.3)
    assert prior_of(result) is result


def test_patterns_are_fitted_and_kept(games: list[Positions]) -> None:
    name = next(iter(LEARNING.pattern_sets))
    few = dict(list(LEARNING.pattern_sets[name].items())[-2:])
    dense = PatternSet.from_names(LEARNING.features, few)
    # A sparse one, of which 40 of 81 contents have weights.
    row = Pattern("row", tuple(map(LEARNING.features.index, ("a1", "b1", "c1", "d1"))), tuple(range(40)))
    patterns = PatternSet(LEARNING.features, (row, *dense.patterns))
    found = fit_likelihood(
        games, without_knowledge(LEARNING), LikelihoodSettings(value_phases="one"), patterns=patterns
    )
    assert found.evaluation.value.patterns is patterns
    own = found.evaluation.value.pattern_weights[:, : patterns.weight_starts[1]]
    assert (own[:, :-1] != 0).any() and (own[:, -1] == 0).all()
    assert found.grades()[1] > 0.45
    with pytest.raises(BadInputError, match="patterns of its own"):
        fit_likelihood(games, found.evaluation, patterns=patterns)


def test_settings_out_of_range_are_refused(games: list[Positions]) -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"held_out": 1.0}, "below 1"),
        ({"linear": ("nothing",)}, "no atomic feature 'nothing'"),
        ({"parts": []}, "no positions"),
    ]
    for arguments, message in bad:
        with pytest.raises(BadInputError, match=message):
            fit_likelihood(**{"parts": games, "prior": without_knowledge(LEARNING), **arguments})


def test_the_command_fits_and_writes(terminal: Terminal, file: Path, tmp_path: Path) -> None:
    output, second, third = (tmp_path / f"{name}.npz" for name in ("first", "second", "third"))
    common = ("fit", "likelihood", file, "-o", output, "--validation", 0.2, "--jobs", 1)
    assert "wrote" in terminal(*common, "--iterations", 30)
    evaluation = load_evaluation(output)
    assert isinstance(evaluation, ResultEvaluation)
    assert evaluation.provenance["prior"] == "none"
    more = ("--prior", output, "--value-phases", "one", "--memory", "2GB", "-o", second)
    # What the command was called before.
    told = terminal.json("fit", "--method", "likelihood", *common[2:], *more)
    assert "is called `glem fit likelihood` now" in terminal.error
    assert told["held_out_grade"]["after"] >= told["held_out_grade"]["before"] - 1e-9
    assert told["weights"][0]["part"] == "value"
    assert not Path(f"{output}.work").exists()
    assert not Path(f"{second}.work").exists()
    narrower = ("--hold", "value", "--window", 2, "--settle", "--validation", 0)
    terminal(*common, "--prior", second, *narrower, "-o", third)
    after = load_evaluation(third)
    assert isinstance(after, ResultEvaluation)
    ratio = after.value.linear_weights.sum() / evaluation.value.linear_weights.sum()
    np.testing.assert_allclose(
        after.value.linear_weights, ratio * evaluation.value.linear_weights, rtol=1e-4, atol=1e-7
    )
    assert (after.drawishness.bias != evaluation.drawishness.bias).any()
    assert after.provenance["positions"].endswith("settled")
    assert "--prior" in terminal(*common, "--settle", status=2)


def test_the_old_function_works_with_a_notice(file: Path) -> None:
    with pytest.warns(GlemWarning, match='fit\\(files, "likelihood", game=game\\) now'):
        old = glem.tune(LEARNING.game, file, rule="all", quiet=False, iterations=3, jobs=1)
    new = glem.fit(file, "likelihood", select="all", quiet_positions=False, iterations=3, jobs=1)
    np.testing.assert_array_equal(old.value.linear_weights, value_part(new.evaluation).linear_weights)
    assert "log odds" in str(new)
    with pytest.raises(BadInputError, match="learns from files of games"):
        glem.fit(LEARNING.sample().head(9), "likelihood")  # type: ignore[misc]
    with pytest.raises(BadInputError, match="leave out format and skip_bad"):
        glem.fit(file, skip_bad=True)
