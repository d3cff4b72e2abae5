"""What comes with Othello: its evaluation and its sample of games."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from glem.core.compiling.columns import position_at
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_value
from glem.core.features.learning import Learning
from glem.core.positions.positions import Positions
from glem.games.othello.solver import EndgameSolver
from glem.plugins.othello.sample import SAMPLE_FILE, sample_games
from glem.plugins.othello.shipped_evaluation import _command, rounded, unbiased


@pytest.fixture(scope="module")
def evaluation(othello_learning: Learning) -> LinearEvaluation:
    assert othello_learning.default_evaluation is not None
    shipped = othello_learning.default_evaluation()
    assert isinstance(shipped, LinearEvaluation)
    return shipped


def test_it_counts_discs_and_is_fast_in_play(evaluation: LinearEvaluation) -> None:
    assert (evaluation.learning.game.name, evaluation.unit) == ("othello", "discs")
    # Accumulators of pattern indices, not features computed anew.
    assert evaluator_of(evaluation).width > 0


def test_it_predicts_results_better_than_their_mean(evaluation: LinearEvaluation, othello_learning: Learning) -> None:
    sample = othello_learning.sample
    assert sample is not None
    positions: Positions = sample()
    errors = evaluation.predict(positions.positions) - positions.label
    phases = othello_learning.phases.of(positions.positions)
    for phase in range(4, len(othello_learning.phases)):
        here = phases == phase
        assert np.sqrt(np.mean(errors[here] ** 2)) < 0.9 * np.std(positions.label[here])


def test_rounding_again_changes_nothing(evaluation: LinearEvaluation) -> None:
    again = rounded(evaluation)
    np.testing.assert_array_equal(again.pattern_weights, evaluation.pattern_weights)
    assert again.provenance == evaluation.provenance


def test_it_tells_what_it_was_fitted_to(evaluation: LinearEvaluation) -> None:
    assert evaluation.provenance["command"] == "fit"
    assert evaluation.provenance["labels"] == "search"
    assert "shipped_evaluation" in evaluation.provenance["positions"]


def test_the_strongest_is_a_layer_and_errs_less(evaluation: LinearEvaluation, othello_learning: Learning) -> None:
    strongest = load_value("strongest", othello_learning.game)
    assert strongest.provenance == load_value("network", othello_learning.game).provenance
    assert not strongest.pattern_weights.any() and evaluator_of(strongest).name == "hidden layer"
    assert othello_learning.sample is not None
    positions: Positions = othello_learning.sample()
    # Results tell most of an evaluation where they are exact or nearly so.
    late = positions.select(np.flatnonzero(othello_learning.phases.of(positions.positions) >= 8))
    errors = [np.square(each.predict(late) - late.label).mean() for each in (strongest, evaluation)]
    assert errors[0] < errors[1]
    again = rounded(strongest)
    for one, other in zip(again.network.arrays, strongest.network.arrays, strict=True):  # type: ignore[union-attr]
        np.testing.assert_array_equal(one, other)


def test_the_command_writes_what_it_reads(evaluation: LinearEvaluation, tmp_path: Path) -> None:
    source, target = tmp_path / "second.npz", tmp_path / "default.npz"
    evaluation.save(source)
    result = CliRunner().invoke(_command, [str(source), str(target)])
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(LinearEvaluation.load(target).pattern_weights, evaluation.pattern_weights)


def test_mean_errors_are_taken_out_of_every_phase(evaluation: LinearEvaluation, othello_learning: Learning) -> None:
    assert othello_learning.sample is not None
    positions: Positions = othello_learning.sample()
    phases = othello_learning.phases.of(positions.positions)
    rows = np.concatenate([np.flatnonzero(phases == phase)[: 20 if phase == 3 else None] for phase in range(13)])
    positions, phases = positions.select(rows), phases[rows]
    rows = np.arange(len(positions))
    even = unbiased(evaluation, [positions.select(rows % 3 == 0), positions.select(rows % 3 > 0)])
    errors = even.predict(positions.positions) - positions.label
    counts = np.bincount(phases, minlength=len(even.bias))
    many = counts >= 500
    assert not many[3] and counts[3] > 0 and many.any()
    np.testing.assert_allclose(np.bincount(phases, errors, len(counts))[many] / counts[many], 0, atol=1e-4)
    np.testing.assert_array_equal(even.bias[~many], evaluation.bias[~many])


def test_the_sample_is_small_varied_and_exact_at_the_end(othello_learning: Learning) -> None:
    assert SAMPLE_FILE.stat().st_size < 1_500_000
    games = sample_games()
    assert len(games) == 5000
    assert len({games.moves_of(game).tobytes() for game in range(len(games))}) > 4990
    assert othello_learning.sample is not None
    positions = othello_learning.sample()
    assert len(positions) > 290_000
    empties = 64 - np.bitwise_count(positions.positions.own | positions.positions.opponent)
    chosen = np.random.default_rng(0).choice(np.flatnonzero((empties >= 8) & (empties <= 14)), 60)
    solver = EndgameSolver(table_mb=16)
    for row in chosen:
        assert solver.solve(position_at(positions.positions, row)).score == positions.label[row]
