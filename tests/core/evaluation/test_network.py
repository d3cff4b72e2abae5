"""Hidden layers: their values against plain sums, what both sides see, files, integers, bad input."""

from pathlib import Path

import chess
import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError, PluginError
from glem.core.evaluation.comparing import compare_evaluations
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.named import load_value
from glem.core.evaluation.network import Network
from glem.core.features.learning import Learning, Views, load_learning
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.games.chess import CHESS as GAME
from glem.games.chess.boards import from_board
from glem.plugins.chess import CHESS
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import random_layer, random_network, random_weights
from tests.oracles.chess_boards import random_game
from tests.oracles.evaluation import active_weights, evaluation_sum, layer_value


def naive_value(evaluation: LinearEvaluation, board: chess.Board) -> float:
    """The value by pieces that python-chess names, in floats of 64 bits."""
    network, phase = evaluation.network, int(CHESS.phases.phase_of(from_board(board)))
    assert network is not None
    views = []
    for side in (board.turn, not board.turn):
        units = network.bias.astype(float)
        for square, piece in board.piece_map().items():
            seen = square if side == chess.WHITE else chess.square_mirror(square)
            units = units + network.weights[64 * (6 * (piece.color != side) + piece.piece_type - 1) + seen]
        views.append(units.clip(0, 1) ** 2)
    return float(evaluation.bias[phase] + network.output[phase] @ np.concatenate(views))


def test_values_are_those_of_both_views() -> None:
    evaluation = random_network(CHESS, 5)
    boards = [board.copy() for seed in range(3) for board, _ in random_game(seed, 60)]
    expected = [naive_value(evaluation, board) for board in boards]
    positions = [from_board(board) for board in boards]
    np.testing.assert_allclose(evaluation.sums(GAME.columns_of(positions)), expected, atol=2e-5)
    explained = evaluation.explain(positions[-1])
    assert explained.total == pytest.approx(expected[-1], abs=2e-5)
    assert {item.kind for item in explained.contributions} == {"bias", "network"}


@pytest.fixture(scope="module")
def over_patterns(othello_learning: Learning) -> LinearEvaluation:
    """A layer beside the terms of an evaluation, and these."""
    names = dict(list(othello_learning.pattern_sets["logistello"].items())[:4])
    patterns = PatternSet.from_names(othello_learning.features, {**names, "one": ("c3",)})
    items = othello_learning.features.index("mobility"), othello_learning.features.index("parity")
    generator = np.random.default_rng(3)
    return random_layer(random_weights(othello_learning, generator, patterns=patterns, linear=items), 5)


def test_values_over_patterns_are_sums_of_units(over_patterns: LinearEvaluation) -> None:
    features, phase_of = over_patterns.learning.features, over_patterns.learning.phases.phase_of
    positions, _ = random_line(over_patterns.learning.game, np.random.default_rng(5))
    values, phases = [features.values_of(each) for each in positions], [int(phase_of(each)) for each in positions]
    layer = [layer_value(over_patterns, *each) for each in zip(values, phases, strict=True)]
    terms = [evaluation_sum(over_patterns, *each) for each in zip(values, phases, strict=True)]
    assert np.std(layer) > 0.5
    np.testing.assert_allclose(over_patterns.sums(positions), np.add(layer, terms), atol=1e-4)
    explained = over_patterns.explain(positions[20])
    assert explained.total == pytest.approx(layer[20] + terms[20], abs=1e-4)
    assert {item.kind for item in explained.contributions} == {"bias", "pattern", "linear", "network"}


def test_a_pattern_has_the_share_of_what_its_units_are_worth_on_the_way(over_patterns: LinearEvaluation) -> None:
    """The integral of the gradient along the way, in small steps."""
    network, patterns = over_patterns.network, over_patterns.patterns
    assert network is not None and patterns is not None
    position = random_line(over_patterns.learning.game, np.random.default_rng(8))[0][30]
    values = over_patterns.learning.features.values_of(position)
    phase, rows = int(over_patterns.learning.phases.phase_of(position)), active_weights(over_patterns, values)
    weights, expected = network.weights[rows].astype(float), np.zeros(len(rows))
    for part in (np.arange(2000) + 0.5) / 2000:
        units = network.bias + part * weights.sum(axis=0)
        slopes = np.where((units > 0) & (units < 1), 2 * units, 0)
        expected += weights @ (network.output[phase] * slopes) / 2000
    start, shares = network.shares(np.array(rows), phase)
    _, small = evolve(network, weights=network.weights / 1000).shares(np.array(rows), phase)
    np.testing.assert_allclose(network.first_slopes[phase, rows], 1000 * small, rtol=0.02, atol=1e-3)
    np.testing.assert_allclose(shares, expected, atol=1e-3)
    assert start + shares.sum() == pytest.approx(layer_value(over_patterns, values, phase), abs=1e-4)
    listed = [item.amount for item in over_patterns.explain(position).contributions if item.kind == "pattern"]
    assert sorted(listed) == pytest.approx(sorted(shares + over_patterns.pattern_weights[phase, rows]), abs=1e-5)


def test_files_keep_a_layer_over_patterns_and_more_patterns_change_no_value(
    over_patterns: LinearEvaluation, tmp_path: Path
) -> None:
    over_patterns.save(tmp_path / "layer.npz")
    loaded = load_value(tmp_path / "layer.npz", over_patterns.learning.game)
    assert compare_evaluations(over_patterns, loaded).differences == ()
    positions, _ = random_line(over_patterns.learning.game, np.random.default_rng(6))
    alone = evolve(over_patterns, pattern_weights=np.zeros((0, 0), np.float32))
    alone.save(tmp_path / "alone.npz")
    loaded_alone = load_value(tmp_path / "alone.npz", over_patterns.learning.game)
    np.testing.assert_array_equal(loaded_alone.sums(positions), alone.sums(positions))
    assert not loaded_alone.pattern_weights.any()
    assert (tmp_path / "alone.npz").stat().st_size < (tmp_path / "layer.npz").stat().st_size
    more = PatternSet.from_names(over_patterns.learning.features, {"further": ("a1", "b1", "c1")})
    np.testing.assert_array_equal(loaded.with_patterns(more).sums(positions), over_patterns.sums(positions))


def test_files_keep_the_layer(tmp_path: Path) -> None:
    evaluation = random_network(CHESS, 4)
    evaluation.save(tmp_path / "layer.npz")
    loaded = load_value(tmp_path / "layer.npz", GAME)
    assert compare_evaluations(evaluation, loaded).differences == ()
    assert repr(loaded) == "LinearEvaluation(chess: 4 hidden units, winning chance)"
    assert "network" in compare_evaluations(evaluation, random_network(CHESS, 4, seed=2)).differences
    assert "network" in compare_evaluations(evaluation, evolve(evaluation, network=None)).differences


def test_integers_are_what_is_played() -> None:
    network = random_network(CHESS, 3).network
    assert network is not None
    played = network.as_played()
    again = played.as_played()
    for one, other, before in zip(played.arrays, again.arrays, network.arrays, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, before, atol=1 / 300)
    with pytest.raises(BadInputError, match="too large for the integers of a search"):
        Network(network.weights * 100, network.bias, network.output).in_play()


def test_layers_that_do_not_fit_are_refused() -> None:
    evaluation = random_network(CHESS, 3)
    network = evaluation.network
    assert network is not None
    with pytest.raises(BadInputError, match=r"hidden output have shape \(6, 6\), expected finite numbers \(7, 6\)"):
        evolve(evaluation, network=Network(network.weights, network.bias, network.output[:6]))
    with pytest.raises(BadInputError, match="hidden weights have shape"):
        evolve(evaluation, network=Network(network.weights * np.nan, network.bias, network.output))
    othello = load_learning("othello")
    nothing = np.zeros(len(othello.phases), np.float32)
    with pytest.raises(BadInputError, match="Othello does not say how its players see the board: no layer over views"):
        LinearEvaluation(othello, nothing, LOGISTIC, network=network)
    with pytest.raises(BadInputError, match="a hidden layer is over patterns, and there are none"):
        LinearEvaluation(othello, nothing, network=Network(network.weights, network.bias, np.zeros((13, 3))))
    with pytest.raises(BadInputError, match="no search of Chess takes a hidden layer over views beside other terms"):
        evaluator_of(evolve(evaluation, linear=(0,), linear_weights=np.ones((7, 1), np.float32)))


def test_a_layer_is_over_whole_tables_alone(over_patterns: LinearEvaluation) -> None:
    network, patterns = over_patterns.network, over_patterns.patterns
    assert network is not None
    assert patterns is not None
    with pytest.raises(BadInputError, match=r"hidden weights have shape \(3, 5\), expected finite numbers \(\d+, 5\)"):
        evolve(over_patterns, network=evolve(network, weights=network.weights[:3]))
    sparse = Pattern("wide", tuple(range(16)), (0, 5))
    weights = np.zeros((len(over_patterns.bias), 3), np.float32)
    with pytest.raises(BadInputError, match="over patterns with whole tables, and 'wide' is too large for one"):
        evolve(
            over_patterns,
            patterns=PatternSet(patterns.features, (sparse,)),
            pattern_weights=weights,
            network=evolve(network, weights=np.zeros((3, 5))),
        )


def test_views_are_exchanges() -> None:
    views = CHESS.views
    assert views is not None
    np.testing.assert_array_equal(views.exchanged[views.exchanged], np.arange(769))
    for places, contents in (((1, 2, 0), (0, 2, 1)), ((0, 2, 1), (1, 0, 2)), ((0, 1), (0, 2, 1)), ((0, 2, 1), ())):
        with pytest.raises(PluginError, match="places and contents must be exchanges"):
            Views(("a", "b", "c"), places, contents)
