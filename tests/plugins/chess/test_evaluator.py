"""Chess's evaluator for the search against the oracle of evaluations: chains of updates, all kinds of moves."""

from typing import Any

import chess
import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.kernels import kernel
from glem.core.compiling.operations import Operations
from glem.core.conformance import check_evaluation
from glem.core.errors import PluginError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link, scaled_sigmoid
from glem.core.evaluation.named import load_evaluation, load_value
from glem.core.evaluation.network import ONE_UNIT, Network
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.evaluators import NULL_MOVE, Evaluator
from glem.core.game.game import load_game
from glem.games.chess import CHESS as GAME
from glem.games.chess.boards import from_board
from glem.plugins.chess import CHESS
from glem.plugins.chess.incremental import incremental_evaluator
from glem.plugins.chess.vectors import unit_products
from tests.core.evaluation.evaluator_scores import integer_sums, line_scores
from tests.core.evaluation.linear_evaluations import random_network, random_weights
from tests.oracles.chess_boards import random_game

_LINES = (
    "r3k2r/pP4Pp/8/3pP3/3Pp3/8/PpP3PP/R3K2R w KQkq d6 0 1",
    "r3k2r/1P4P1/8/8/2pP4/8/1p4p1/R3K2R b KQkq d3 0 1",
    chess.STARTING_FEN,
    chess.Board.from_chess960_pos(340).fen(),
)


def random_evaluation(names: tuple[str, ...], link: Link = LOGISTIC) -> LinearEvaluation:
    linear = tuple(CHESS.features.index(name) for name in names)
    made = random_weights(CHESS, np.random.default_rng(5), linear=linear, link=link)
    return evolve(made, bias=made.bias * 0.2, linear_weights=made.linear_weights * 0.3)


def some_line(text: str, seed: int, plies: int) -> tuple[list[Any], list[int]]:
    """A line with many castlings and promotions."""
    steps = [(from_board(board), move) for board, move in random_game(seed, plies, text)]
    return [position for position, _ in steps], [move for _, move in steps if move is not None]


@pytest.mark.parametrize("names", [CHESS.linear, CHESS.baselines["piece-square"]], ids=["all", "piece-square"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_updates_equal_the_oracle(names: tuple[str, ...], plain: bool) -> None:
    evaluation = random_evaluation(names)
    evaluator = incremental_evaluator(evaluation)
    assert evaluator is not None
    for seed in range(1 if plain else 4):
        for text in _LINES:
            positions, moves = some_line(text, seed, 30 if plain else 100)
            expected = np.clip(integer_sums(evaluation, positions), -evaluator.limit, evaluator.limit)
            found = line_scores(evaluator, positions, moves, plain=plain, first=seed % 2)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_updates_of_a_hidden_layer_equal_its_values(plain: bool) -> None:
    evaluation = random_network(CHESS, 40)
    evaluator = evaluator_of(evaluation)
    assert (evaluator.name, evaluator.width) == ("hidden layer", 2 * 64)
    played = evaluation.as_played()
    for seed in range(1 if plain else 4):
        for text in _LINES:
            positions, moves = some_line(text, seed, 30 if plain else 100)
            expected = evaluator.steps_per_unit * played.sums(GAME.columns_of(positions))
            found = line_scores(evaluator, positions, moves, plain=plain, first=seed % 2)
            np.testing.assert_allclose(found, np.clip(expected, -evaluator.limit, evaluator.limit), atol=1)


@kernel
def _unit_products(words, weights, count):
    return unit_products(words, np.int64(0), weights, np.int64(0), count)


@pytest.mark.parametrize("hidden", [32, 1024, 4096])
def test_the_largest_layers_do_not_overflow(hidden: int) -> None:
    weights = Network(np.zeros((768, hidden)), np.zeros(hidden), np.full((7, hidden), -3.0)).in_play().output[0]
    words = np.where(np.arange(hidden) % 64 < 60, 500, -500).astype(np.int16)
    expected = int(weights[:hidden][words > 0].sum(dtype=np.int64)) * ONE_UNIT**2
    count, units = np.int64(hidden), words.view(np.uint16)
    assert unit_products(units, np.int64(0), weights, np.int64(0), count) == expected
    assert _unit_products(units, weights, count) == expected


def test_a_null_move_that_is_not_followed_is_told() -> None:
    def make(evaluation: LinearEvaluation) -> Evaluator:
        form = incremental_evaluator(evaluation)
        assert form is not None
        followed = form.operations["update"]

        def update(before: Any, move: int, *rest: Any) -> None:
            if move != NULL_MOVE:
                followed(before, move, *rest)

        operations = Operations("broken", {**form.operations.functions, "update": update})
        return evolve(form, operations=operations)

    evaluation = evolve(random_evaluation(("pawns",), IDENTITY), learning=evolve(CHESS, make_evaluator=make))
    report = check_evaluation(evaluation, games=1, plain=True)
    (found,) = (result for result in report.results if result.name == "evaluator of the game")
    assert "after passing, update gives a score of" in str(found)


def test_what_it_does_not_cover_is_left_to_the_general_form() -> None:
    assert incremental_evaluator(random_evaluation(("clock",))) is None
    assert incremental_evaluator(evolve(random_evaluation(("pawns",)), link=scaled_sigmoid(1.0))) is None
    assert incremental_evaluator(random_evaluation(("pawns",), IDENTITY)) is not None
    assert evaluator_of(random_evaluation(("clock",))).name == "linear evaluation"
    twice = random_evaluation(("pawns", "pawns"))
    assert incremental_evaluator(evolve(twice, linear_weights=np.full((7, 2), 30.0, np.float32))) is None


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("material", "material and piece squares"),
        ("piece-square", "material and piece squares"),
        ("default", "terms and piece squares"),
        ("played", "terms and piece squares"),
        ("network", "hidden layer"),
    ],
)
def test_shipped_evaluations_have_names_and_a_fast_form(name: str, form: str) -> None:
    evaluation = load_value(name, GAME)
    assert evaluator_of(evaluation).name == form
    ahead, even, behind = (
        evaluation.explain(from_board(chess.Board(f"{text} w - - 0 1"))).total
        for text in ("4k3/pp6/8/8/8/8/PPP5/4K3", "4k3/pp6/8/8/8/8/PP6/4K3", "4k3/ppp5/8/8/8/8/PP6/4K3")
    )
    assert ahead > even > behind
    # A pawn is about 1 / 1.1 in log odds.
    assert 0.4 < ahead - even < 2


def test_the_strongest_evaluation_has_a_name() -> None:
    network = load_value("network", GAME)
    assert load_value("strongest", GAME).provenance == network.provenance != load_value("default", GAME).provenance
    connect_four = load_game("connect_four")
    assert load_value("strongest", connect_four).provenance == load_value("default", connect_four).provenance
    with pytest.raises(PluginError, match="strongest is 'best', which is none of the evaluations"):
        evolve(CHESS, strongest="best")


def test_drawishness_set_by_hand_knows_drawn_endings() -> None:
    default = load_evaluation("default", GAME)
    assert isinstance(default, ResultEvaluation)
    drawishness = default.drawishness

    def alpha(placement: str) -> float:
        return drawishness.evaluate(from_board(chess.Board(f"{placement} w - - 0 1")))

    assert alpha("4k3/8/8/8/8/8/8/4KB2") > 0.98
    assert alpha("4kb2/ppp5/8/8/8/8/PPP5/4KB2") > alpha("2b1k3/ppp5/8/8/8/8/PPP5/4KB2")
    assert alpha("4k3/pp6/8/8/8/8/PP6/4K3") > alpha(chess.STARTING_BOARD_FEN)
