"""Quiet positions, by chess's tactical moves, and positions in which exchanges were played out."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.discovery.game_positions import Games
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.features.learning import load_learning
from glem.core.game.game import Game
from glem.core.positions.selection.selection import ALL, SelectionRule
from glem.core.search.quiet import LeafSearch, quiet_positions, settled_positions
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.games.chess import CHESS
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.oracles.search import static_of
from tests.oracles.settling import first_ply_of_quiescence, settled_end

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
# A check by the queen wins the knight.
_CHECK = "n3k3/8/8/8/8/8/8/3QK3 w - - 0 1"
_GAME = '[Result "1-0"]\n\n1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 1-0\n'
_EVERYTHING = SelectionRule(ALL, 0, 0.0)


@pytest.fixture(scope="module")
def evaluation() -> ResultEvaluation:
    found = load_evaluation("default", CHESS)
    assert isinstance(found, ResultEvaluation)
    return found


def test_quiet_is_what_has_no_tactical_move() -> None:
    positions = [CHESS.parse_position(text) for text in _POSITIONS]
    assert quiet_positions(CHESS, CHESS.columns_of(positions)).tolist() == list(_POSITIONS.values())
    assert quiet_positions(CHESS, CHESS.columns_of([CHESS.initial_position])).tolist() == [True]
    assert quiet_positions(CHESS, CHESS.columns_of([])).tolist() == []


def test_the_ends_are_those_of_quiescence(evaluation: ResultEvaluation) -> None:
    positions = [CHESS.parse_position(text) for text in (*_POSITIONS, _MATED)]
    settled, found = settled_positions(evaluation.value, CHESS.columns_of(positions))
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
    positions = othello.columns_of([othello.initial_position] * 3)
    assert quiet_positions(othello, positions).tolist() == [True] * 3
    settled, plies = settled_positions(mobility_evaluation(load_learning("othello")), positions)
    assert plies.tolist() == [0] * 3
    assert (settled.own == positions.own).all()


def test_fits_read_quiet_positions_alone(path: Path) -> None:
    path.write_text(_GAME)
    (everything,) = Games(CHESS, [path]).positions(_EVERYTHING)
    (quiet,) = Games(CHESS, [path]).positions(_EVERYTHING, quiet=True)
    # Both pawns can be taken after 1. ... d5, White's after 2. exd5.
    chosen = quiet_positions(CHESS, everything.positions)
    assert len(everything) == 6
    assert chosen[:4].tolist() == [True, True, False, False]
    np.testing.assert_array_equal(quiet.positions.key, everything.positions.key[chosen])
    np.testing.assert_array_equal(quiet.result, everything.result[chosen])
    assert len(set(quiet.game_key)) == 1


def test_results_turn_with_the_side_to_move(evaluation: ResultEvaluation, path: Path) -> None:
    path.write_text(_GAME)
    (found,) = Games(CHESS, [path]).positions(_EVERYTHING, settle=evaluation.value)
    assert len(found) == 6
    assert (found.result == np.where(found.positions.turn == 0, 1, -1)).all()
    (plain,) = Games(CHESS, [path]).positions(_EVERYTHING)
    assert (found.positions.turn != plain.positions.turn).any()


@pytest.mark.parametrize(("depth", "quiescence"), [(0, "captures-and-checks"), (2, ""), (3, "captures-and-checks")])
def test_leaves_have_the_score_of_their_searches(depth: int, quiescence: str) -> None:
    evaluation = value_part(load_evaluation("piece-square", CHESS))
    # All captures of a full board are too many for plain Python.
    few = [text for text in (*_POSITIONS, _CHECK) if depth or sum(map(str.isalpha, text.split()[0])) < 9]
    positions = [CHESS.parse_position(text) for text in few]
    search = LeafSearch(evaluation, depth, quiescence)
    leaves, plies, scores = search.leaves(CHESS.columns_of(positions))
    evaluator = evaluator_of(evaluation)
    searcher = Searcher(CHESS, evaluator, SearchSettings(table_mb=0, quiescence=quiescence))
    ends = 0
    for row, position in enumerate(positions):
        if depth:
            score = searcher.search(position, Limits(depth=depth)).lines[0].score
        else:
            score = first_ply_of_quiescence(CHESS.search_rules_with(quiescence).functions, evaluator, position)
        assert scores[row] == score
        if plies[row] < 0:
            assert abs(score) > evaluator.limit or score == 0
        else:
            leaf = position_at(leaves, row)
            assert static_of(evaluator, leaf, CHESS.search_functions) * (-1) ** plies[row] == score
            assert plies[row] >= depth
            ends += 1
    assert ends > 3


def test_quiet_checks_are_tried_at_the_first_ply_alone() -> None:
    evaluator = evaluator_of(value_part(load_evaluation("material", CHESS)))
    rules = CHESS.search_rules_with("captures-and-checks").functions
    position = CHESS.parse_position(_CHECK)
    moves = np.zeros(CHESS.max_moves, np.int32)
    checks = {CHESS.format_move(int(move)) for move in moves[: rules["checking_moves"](position, moves, 0)]}
    assert checks == {"d1a4", "d1d7", "d1d8", "d1e2", "d1h5"}
    assert rules["tactical_moves"](position, moves, 0) == 0
    assert first_ply_of_quiescence(rules, evaluator, position) > static_of(evaluator, position, rules)


def test_captures_that_lose_are_tried_where_they_are_asked_for() -> None:
    position = CHESS.parse_position("4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1")
    moves = np.zeros(CHESS.max_moves, np.int32)
    assert CHESS.search_functions["tactical_moves"](position, moves, 0) == 0
    assert CHESS.search_rules_with("captures-and-checks").functions["tactical_moves"](position, moves, 0) == 1
