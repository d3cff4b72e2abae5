"""Positions in which exchanges were played out, compared with following all of quiescence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glem.core.discovery.game_positions import read_game_positions
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import load_learning
from glem.core.game.game import Game, load_game
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.search.quiet import settled_positions
from tests.oracles.settling import settled_end

_POSITIONS = (
    # Nothing to take.
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
    "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2",
    # Taken, taken back, and taken again.
    "4k3/2p5/3p4/4n3/3P4/5N2/8/4K3 w - - 0 1",
    "3rk3/8/8/3p4/4P3/8/8/3RK3 b - - 0 1",
    # A promotion, by a capture as well.
    "3r4/4P1k1/8/8/8/8/8/4K3 w - - 0 1",
    # In check; mated; mate by what is taken; the last pawn taken, so that nobody can win.
    "rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "7k/6p1/6K1/8/8/8/8/Q7 w - - 0 1",
    "8/8/8/8/8/1k6/1p6/K7 w - - 0 1",
)


@pytest.fixture(scope="module")
def chess() -> Game:
    return load_game("chess")


@pytest.fixture(scope="module")
def evaluation() -> ResultEvaluation:
    make = load_learning("chess").default_evaluation
    assert make is not None
    found = make()
    assert isinstance(found, ResultEvaluation)
    return found


def test_the_ends_are_those_of_quiescence(chess: Game, evaluation: ResultEvaluation) -> None:
    positions = [chess.parse_position(text) for text in _POSITIONS]
    columns = chess.position_type(*(np.array(column) for column in zip(*positions, strict=True)))
    settled, found = settled_positions(evaluation.value, columns)
    evaluator = evaluator_of(evaluation.value)
    plies = []
    for row, position in enumerate(positions):
        end = settled_end(chess, evaluator, position)
        plies.append(-1 if end.position is None else end.plies)
        wanted = position if end.position is None else end.position
        assert tuple(column[row] for column in settled) == tuple(wanted)
    assert found.tolist() == plies
    assert {-1, 0, 1, 3} <= set(plies)


def test_results_turn_with_the_side_to_move(chess: Game, evaluation: ResultEvaluation, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    path.write_text('[Result "1-0"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 1-0\n')
    (found,) = read_game_positions(chess, [path], SelectionRule(ALL, 0, 0.0), settle=evaluation.value)
    assert len(found) == 6
    assert (found.result == np.where(found.positions.turn == 0, 1, -1)).all()
    (plain,) = read_game_positions(chess, [path], SelectionRule(ALL, 0, 0.0))
    assert (found.positions.turn != plain.positions.turn).any()


def test_a_game_without_tactical_moves_stands_still(othello: Game) -> None:
    from tests.core.evaluation.linear_evaluations import mobility_evaluation

    columns = othello.position_type(*(np.array([value] * 3) for value in othello.initial_position))
    settled, plies = settled_positions(mobility_evaluation(load_learning("othello")), columns)
    assert plies.tolist() == [0] * 3
    assert (settled.own == columns.own).all()
