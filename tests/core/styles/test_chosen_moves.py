"""Choices of games: against plain loops, and players whose weights are known, learned and told apart."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

from glem.core.compiling.columns import rows_of
from glem.core.game.records import GameRecords
from glem.core.positions.replay import Replay, replay
from glem.core.positions.successors import successors_of
from glem.core.styles.choice_model import ChoiceModel, fit_choices
from glem.core.styles.chosen_moves import ChosenMoves, own_moves
from glem.core.styles.styles import evaluation_of
from glem.core.styles.telling import Verdict, verdict
from tests.core.positions.test_game_tree import random_games
from tests.othello import LEARNING, OTHELLO

NAMES = (
    *("mobility", "opponent_mobility", "potential_mobility", "opponent_potential_mobility", "frontier"),
    *("opponent_frontier", "opponent_corners", "corner_moves", "opponent_corner_moves", "disc_difference"),
    "opponent_stable_edge_discs",
)
USUAL = np.array([0.3, -0.35, 0.15, -0.12, -0.05, 0.08, -1.1, 0.6, -0.7, 0.02, -0.25])


def games_of(players: tuple[NDArray[Any], NDArray[Any]], games: int, seed: int) -> Replay:
    """Games between two who choose by a softmax over the values of their moves; the first has the even plies."""
    generator = np.random.default_rng(seed)
    items = [LEARNING.features.index(name) for name in NAMES]
    columns = type(OTHELLO.initial_position)(*(np.repeat(value, games) for value in OTHELLO.initial_position))
    moves: list[list[int]] = [[] for _ in range(games)]
    alive = np.arange(games)
    for ply in range(128):
        after = successors_of(OTHELLO, columns)
        if not len(after.move):
            break
        value = -LEARNING.features.values(after.positions)[:, items] @ players[ply % 2]
        value = value + generator.gumbel(size=len(value))
        order = np.lexsort((-value, after.parent))
        best = order[np.concatenate([[True], np.diff(after.parent[order]) > 0])]
        alive = alive[after.parent[best]]
        for number, move in zip(alive.tolist(), after.move[best].tolist(), strict=True):
            moves[number].append(move)
        columns = rows_of(after.positions, best)
    unknown = np.full(games, np.nan, np.float32)
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in moves])])
    every = np.array([move for own in moves for move in own], np.uint8)
    return replay(OTHELLO, GameRecords(every, offsets, unknown, unknown, np.full(games, -1, np.int16)))


def weights_of(which: int, spread: float = 0.25) -> NDArray[Any]:
    """Weights about the usual ones; with a great spread also twice as great."""
    factors = np.exp(np.random.default_rng(which).normal(0, spread, size=len(NAMES)))
    return np.asarray((1 + (spread >= 1)) * USUAL * factors)


@cache
def moves_of(which: int, games: int, seed: int, spread: float = 0.25) -> ChosenMoves:
    """Moves of one of two players, against the usual one."""
    played = games_of((weights_of(which, spread), USUAL), games, seed)
    return ChosenMoves.of(LEARNING, NAMES, played, own_moves(played, np.ones(games, np.int8)))


def fitted(moves: ChosenMoves) -> ChoiceModel:
    return fit_choices(moves.choices, moves.names)


@cache
def learned(which: int, seed: int, spread: float = 0.25) -> ChoiceModel:
    return fitted(moves_of(which, 600, seed, spread))


def test_choices_are_all_legal_moves_of_the_side_that_is_asked_for() -> None:
    played = replay(OTHELLO, random_games(OTHELLO, 12, 3, choices=60))
    side = np.resize(np.array([1, -1, 0], np.int8), 12)
    rows = own_moves(played, side, (4, 40))
    found = ChosenMoves.of(LEARNING, NAMES, played, rows).choices
    items = [LEARNING.features.index(name) for name in NAMES]
    count = 0
    for row in range(len(played.record)):
        asked = side[played.record[row]] in (0, played.side[row]) and 4 <= played.ply[row] <= 40
        position = type(OTHELLO.initial_position)(*(column[row] for column in played.positions))
        legal = OTHELLO.list_legal_moves(position)
        if not asked or played.move[row] < 0 or len(legal) < 2:
            continue
        expected = [-LEARNING.features.values_of(OTHELLO.play(position, move))[items] for move in legal]
        begin, end = found.starts[count : count + 2]
        np.testing.assert_array_equal(found.features[begin:end], expected)
        assert legal[found.chosen[count] - begin] == played.move[row]
        assert found.game[count] == played.record[row]
        count += 1
    assert count == len(found.chosen) > 150
    assert len(ChosenMoves.of(LEARNING, NAMES, played, rows[:0]).choices.chosen) == 0


@pytest.mark.parametrize("which", [1, 2, 3, 4])
def test_weights_of_a_player_are_learned(which: int) -> None:
    model, true = learned(which, 10 * which), weights_of(which)
    ranks: Any = spearmanr(model.weights, true)
    assert ranks.statistic >= 0.95
    scores = (model.weights - true) / model.errors()
    assert np.abs(scores).max() < 4
    assert (scores**2).mean() < 2.5


def test_an_evaluation_of_the_weights_ranks_moves_as_the_model_does() -> None:
    model = learned(1, 10)
    evaluation = evaluation_of(LEARNING, model, {})
    after = successors_of(OTHELLO, type(OTHELLO.initial_position)(*(np.array([v]) for v in OTHELLO.initial_position)))
    items = [LEARNING.features.index(name) for name in NAMES]
    expected = LEARNING.features.values(after.positions)[:, items] @ model.weights
    np.testing.assert_allclose(evaluation.predict(after.positions), 1 / (1 + np.exp(-expected)), rtol=1e-4)


def told_by(moves: ChosenMoves, *models: ChoiceModel) -> Verdict:
    likelihoods = np.stack([moves.told_by(model.weights)[0] for model in models], axis=1)
    return verdict(likelihoods, moves.choices.game)


@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 4), (1, 4), (2, 3)])
def test_players_are_told_apart_by_200_games(one: int, other: int) -> None:
    models = learned(one, 10 * one), learned(other, 10 * other)
    for place, which in enumerate((one, other)):
        found = told_by(moves_of(which, 200, 10 * which + 5), *models)
        assert found.is_told
        assert found.style == place


@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 4), (1, 4), (2, 3)])
def test_clear_players_are_told_apart_by_single_games(one: int, other: int) -> None:
    right = 0.0
    for own, else_one in ((one, other), (other, one)):
        moves = moves_of(own, 200, 10 * own + 5, 1.0)
        models = learned(own, 10 * own, 1.0), learned(else_one, 10 * else_one, 1.0)
        ranks: Any = spearmanr(models[0].weights, weights_of(own, 1.0))
        assert ranks.statistic >= 0.95
        right += float((moves.by_game(models[0].weights) > moves.by_game(models[1].weights)).mean()) / 2
    assert right >= 0.99


def test_equal_players_cannot_be_told_apart() -> None:
    told = []
    for seed in range(6):
        halves = [fitted(moves_of(1, 150, 100 + 3 * seed + half)) for half in range(2)]
        told.append(told_by(moves_of(1, 100, 102 + 3 * seed), *halves).is_told)
    assert told.count(False) >= 4
    one = fitted(moves_of(1, 150, 100))
    assert not told_by(moves_of(1, 100, 102), one, one).is_told
