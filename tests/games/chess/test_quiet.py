"""Quiet positions, by chess's tactical moves, and positions in which exchanges were played out."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.conformance.playouts import columns_of
from glem.core.discovery.game_positions import read_game_positions
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import load_learning
from glem.core.game.game import Game
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.search.quiet import quiet_positions, settled_positions
from glem.games.chess import CHESS
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.oracles.settling import settled_end

# And whether they are quiet.
_POSITIONS = {
    # Nothing to take.
    "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3": True,
    # The pawn on d5 can be taken, and takes.
    "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2": False,
    # A defended pawn and a queen that would be lost for it.
    "4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1": True,
    # Taken, taken back, and taken again.
    "4k3/2p5/3p4/4n3/3P4/5N2/8/4K3 w - - 0 1": False,
    "3rk3/8/8/3p4/4P3/8/8/3RK3 b - - 0 1": False,
    # A promotion, by a capture as well.
    "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1": False,
    "3r4/4P1k1/8/8/8/8/8/4K3 w - - 0 1": False,
    # In check, no standing still; mate by what is taken; the last pawn taken, so that nobody can win.
    "rnbqk1nr/pppp1ppp/8/4p3/1b1PP3/8/PPP2PPP/RNBQKBNR w KQkq - 1 3": False,
    "7k/6p1/6K1/8/8/8/8/Q7 w - - 0 1": False,
    "8/8/8/8/8/1k6/1p6/K7 w - - 0 1": False,
}
_MATED = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
_GAME = '[Result "1-0"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 1-0\n'
_EVERYTHING = SelectionRule(ALL, 0, 0.0)


@pytest.fixture(scope="module")
def evaluation() -> ResultEvaluation:
    found = load_evaluation("default", CHESS)
    assert isinstance(found, ResultEvaluation)
    return found


def test_quiet_is_what_has_no_tactical_move() -> None:
    positions = [CHESS.parse_position(text) for text in _POSITIONS]
    assert quiet_positions(CHESS, columns_of(CHESS, positions)).tolist() == list(_POSITIONS.values())
    assert quiet_positions(CHESS, columns_of(CHESS, [CHESS.initial_position])).tolist() == [True]
    assert quiet_positions(CHESS, columns_of(CHESS, [])).tolist() == []


def test_the_ends_are_those_of_quiescence(evaluation: ResultEvaluation) -> None:
    positions = [CHESS.parse_position(text) for text in (*_POSITIONS, _MATED)]
    settled, found = settled_positions(evaluation.value, columns_of(CHESS, positions))
    evaluator = evaluator_of(evaluation.value)
    plies = []
    for row, position in enumerate(positions):
        end = settled_end(CHESS, evaluator, position)
        plies.append(-1 if end.position is None else end.plies)
        wanted = position if end.position is None else end.position
        assert tuple(column[row] for column in settled) == tuple(wanted)
    assert found.tolist() == plies
    assert {-1, 0, 1, 3} <= set(plies)


def test_a_game_without_tactical_moves_is_quiet_and_stands_still(othello: Game) -> None:
    positions = columns_of(othello, [othello.initial_position] * 3)
    assert quiet_positions(othello, positions).tolist() == [True] * 3
    settled, plies = settled_positions(mobility_evaluation(load_learning("othello")), positions)
    assert plies.tolist() == [0] * 3
    assert (settled.own == positions.own).all()


def test_fits_read_quiet_positions_alone(path: Path) -> None:
    path.write_text(_GAME)
    (everything,) = read_game_positions(CHESS, [path], _EVERYTHING)
    (quiet,) = read_game_positions(CHESS, [path], _EVERYTHING, quiet=True)
    # Both pawns can be taken after 1. ... d5, White's after 2. exd5.
    chosen = quiet_positions(CHESS, everything.positions)
    assert len(everything) == 6
    assert chosen[:4].tolist() == [True, True, False, False]
    np.testing.assert_array_equal(quiet.positions.key, everything.positions.key[chosen])
    np.testing.assert_array_equal(quiet.result, everything.result[chosen])
    assert len(set(quiet.game_key)) == 1


def test_results_turn_with_the_side_to_move(evaluation: ResultEvaluation, path: Path) -> None:
    path.write_text(_GAME)
    (found,) = read_game_positions(CHESS, [path], _EVERYTHING, settle=evaluation.value)
    assert len(found) == 6
    assert (found.result == np.where(found.positions.turn == 0, 1, -1)).all()
    (plain,) = read_game_positions(CHESS, [path], _EVERYTHING)
    assert (found.positions.turn != plain.positions.turn).any()
