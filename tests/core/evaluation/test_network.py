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
from glem.core.features.learning import Views, load_learning
from glem.games.chess import CHESS as GAME
from glem.games.chess.boards import from_board
from glem.plugins.chess import CHESS
from tests.core.evaluation.linear_evaluations import random_network
from tests.oracles.chess_boards import random_game


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


def test_with_half_of_the_outputs_the_other_side_to_move_sees_the_negative() -> None:
    evaluation = evolve(random_network(CHESS, 3), bias=np.zeros(7, np.float32))
    network = evaluation.network
    assert network is not None
    evaluation = evolve(evaluation, network=evolve(network, output=network.output[:, :3]))
    board = chess.Board("r1bq1rk1/pp3ppp/2n2n2/3p4/3N4/2N5/PPP2PPP/R1BQ1RK1 w - - 0 1")
    value = evaluation.sums(from_board(board))
    board.turn = chess.BLACK
    assert value != 0
    assert evaluation.sums(from_board(board)) == pytest.approx(-value, abs=1e-5)


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
    with pytest.raises(BadInputError, match=r"hidden output have shape \(7, 2\), expected finite numbers \(7, 6\)"):
        evolve(evaluation, network=Network(network.weights, network.bias, network.output[:, :2]))
    with pytest.raises(BadInputError, match="hidden weights have shape"):
        evolve(evaluation, network=Network(network.weights * np.nan, network.bias, network.output))
    othello = load_learning("othello")
    with pytest.raises(BadInputError, match="Othello does not tell how its players see the board: no hidden layer"):
        LinearEvaluation(othello, np.zeros(len(othello.phases), np.float32), LOGISTIC, network=network)
    with pytest.raises(BadInputError, match="no search of Chess takes a hidden layer beside other terms"):
        evaluator_of(evolve(evaluation, linear=(0,), linear_weights=np.ones((7, 1), np.float32)))


def test_views_are_exchanges() -> None:
    views = CHESS.views
    assert views is not None
    np.testing.assert_array_equal(views.exchanged[views.exchanged], np.arange(769))
    for places, contents in (((1, 2, 0), (0, 2, 1)), ((0, 2, 1), (1, 0, 2)), ((0, 1), (0, 2, 1)), ((0, 2, 1), ())):
        with pytest.raises(PluginError, match="places and contents must be exchanges"):
            Views(("a", "b", "c"), places, contents)
