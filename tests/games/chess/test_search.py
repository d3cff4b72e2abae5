"""The search on chess: draws that are claimed, wins that stand, and values by trying everything."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import chess
import pytest

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.search import searcher as searcher_module
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from glem.games.chess.notation import parse_position
from tests.oracles.chess_boards import numbered_moves, random_game
from tests.oracles.chess_features import POINTS
from tests.oracles.search import value_of

SETTINGS = SearchSettings(table_mb=1)
KEPT = """
import numba, numpy as np
from glem.core.compiling.kernels import compiled
from glem.core.search.negascout import settle, static_score_at
from tests.games.chess.test_search import CHESS, EVALUATOR, Searcher
searcher = Searcher(CHESS, EVALUATOR)
for function, integers in ((static_score_at, 1), (settle, 4)):
    arguments = searcher.rules, EVALUATOR.operations, searcher.borrowed, CHESS.initial_position
    types = *map(numba.typeof, arguments), *[numba.int64] * integers
    compiled(function).get_call_template(types, {})
"""
SEARCHED = """
from tests.games.chess.test_search import CHESS, EVALUATOR, Searcher, SearchSettings, search
searcher = Searcher(CHESS, EVALUATOR, SearchSettings(table_mb=1, pruning=True))
print(search(searcher, {!r}, 5).nodes)
"""
EVALUATOR = evaluator_of(load_value("piece-square", CHESS))


@pytest.fixture(scope="module")
def searcher() -> Searcher:
    return Searcher(CHESS, EVALUATOR, SETTINGS, plain=True)


def search(searcher: Searcher, fen: str, depth: int, previous: tuple[Any, ...] = ()) -> Any:
    searcher.clear()
    return searcher.search(parse_position(fen), Limits(depth=depth), previous=previous)


def test_a_mate_at_the_hundredth_ply_wins(searcher: Searcher) -> None:
    found = search(searcher, "7k/8/6K1/8/8/8/8/R7 w - - 99 90", 2)
    assert (CHESS.format_move(found.move), found.value) == (
        "a1a8",
        pytest.approx(EVALUATOR.limit / EVALUATOR.steps_per_unit),
    )
    # A move later the same mate comes too late, and nothing else resets the clock.
    assert search(searcher, "7k/8/8/6K1/8/8/8/R7 w - - 98 90", 4).score == 0
    assert search(searcher, "7k/8/8/6K1/8/8/P7/R7 w - - 98 90", 2).score > 0


def test_the_table_parts_positions_near_the_fifty_moves(searcher: Searcher) -> None:
    early = search(searcher, "7k/8/8/8/8/8/4Q3/4K3 w - - 0 60", 3)
    assert early.score > 500
    # The table is kept: what it knows of the early position must not speak for the late one.
    late = searcher.search(parse_position("7k/8/8/8/8/8/4Q3/4K3 w - - 97 60"), Limits(depth=3))
    assert late.score == 0


def test_positions_of_the_game_count_as_repeated(searcher: Searcher) -> None:
    board = chess.Board("r5k1/8/8/8/8/8/8/6K1 w - - 10 40")
    positions = [from_board(board)]
    for move in ("g1g2", "a8b8", "g2g1", "b8c8", "g1g2", "c8b8", "g2g1", "b8c8", "g1f1", "c8b8"):
        board.push_uci(move)
        positions.append(from_board(board))
    alone = searcher.search(positions[-1], Limits(depth=1))
    assert alone.score < 0
    # Behind by a rook, White goes back to where the king has been twice, which is a draw at once.
    searcher.clear()
    found = searcher.search(positions[-1], Limits(depth=1), previous=positions[:-1])
    assert found.move is not None
    assert (CHESS.format_move(found.move), found.score) == ("f1g1", 0)
    # Where it has been once, it is not: Black may go on elsewhere.
    searcher.clear()
    assert searcher.search(positions[-1], Limits(depth=1), previous=positions[4:-1]).score == alone.score


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("7r/8/8/3k4/8/8/8/KQ6 w - - 0 1", 60),
        ("7r/8/8/8/2K5/8/8/1Q5k w - - 0 1", 220),
        ("7k/8/5K2/8/8/8/8/1BN5 w - - 0 1", 100),  # a corner of the other colour
        ("k7/8/2K5/8/8/8/8/1BN5 w - - 0 1", 450),
        ("7k/8/5K2/8/8/8/8/NN6 w - - 0 1", 0),
        ("7k/7p/5K2/8/8/8/8/Q7 w - - 0 1", 0),
        ("7k/6b1/5K2/8/8/8/8/R7 w - - 0 1", 0),
    ],
)
def test_progress_counts_where_material_alone_wins(fen: str, expected: int) -> None:
    board = chess.Board(fen)
    for turn in chess.COLORS:
        board.turn = turn
        for image in (board, board.mirror()):
            assert CHESS.search_functions["progress"](from_board(image)) == (expected if turn else -expected)


def test_material_alone_mates() -> None:
    searcher = Searcher(CHESS, evaluator_of(load_value("material", CHESS)), SETTINGS)
    board = chess.Board("8/8/8/3k4/8/8/8/K6R w - - 0 1")
    while not board.is_game_over(claim_draw=True):
        move = searcher.search(from_board(board), Limits(nodes=20_000)).move
        assert move is not None
        board.push_uci(CHESS.format_move(move))
    assert board.result() == "1-0"


@pytest.mark.parametrize("seed", range(4))
def test_null_moves_and_quiet_moves_are_those_of_python_chess(seed: int) -> None:
    functions = CHESS.search_functions
    for board, _ in random_game(seed, 120):
        position = from_board(board)
        own = board.occupied_co[board.turn] & ~(board.pawns | board.kings)
        assert functions["can_pass"](position) == (not board.is_check() and own != 0)
        for number, move in numbered_moves(board).items():
            is_quiet = not (board.is_capture(move) or move.promotion or board.gives_check(move))
            assert functions["is_quiet"](position, number) == is_quiet
            taken = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square) or chess.PAWN
            won = POINTS[taken] if board.is_capture(move) else 0
            if board.is_capture(move) or move.promotion:
                assert functions["gain"](position, number) == won + 8 * (move.promotion == chess.QUEEN)
        if not board.is_check():
            board = board.copy()
            board.push(chess.Move.null())
            board.halfmove_clock = 0
            assert functions["null_move"](position) == from_board(board)


def test_a_quiet_move_loses_where_what_moves_is_won() -> None:
    losing = CHESS.search_functions["is_losing"]
    position = parse_position("6k1/8/2p5/8/8/3Q4/8/R5K1 w - - 0 1")
    found = {move for move in CHESS.list_legal_moves(position) if losing(position, move)}
    assert {CHESS.format_move(move) for move in found} == {"d3d5", "d3b5", "d3h7"}


def test_pruning_is_the_same_as_plain_python_and_finds_what_it_must() -> None:
    settings = SearchSettings(table_mb=1, pruning=True)
    compiled, plain = Searcher(CHESS, EVALUATOR, settings), Searcher(CHESS, EVALUATOR, settings, plain=True)
    wide = Searcher(CHESS, EVALUATOR, SETTINGS)
    fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 9"
    found, expected = (search(one, fen, 5) for one in (compiled, plain))
    assert (found.score, found.nodes, found.move) == (expected.score, expected.nodes, expected.move)
    assert 3 * found.nodes < search(wide, fen, 5).nodes
    # Histories stay for the next move of the game, until the searcher is cleared.
    learnt = compiled.state.history.copy().reshape(2, -1)
    compiled.search(parse_position(fen), Limits(nodes=1), previous=[CHESS.initial_position])
    assert learnt.any() and (compiled.state.history.reshape(2, -1) == learnt[::-1]).all()
    assert compiled.state.follow_ups.any() and (compiled.state.follow_ups == plain.state.follow_ups).all()
    compiled.clear()
    assert not compiled.state.history.any() and not compiled.state.follow_ups.any()
    # Deep enough for moves that are extended because no other is as good.
    pawns = "8/5pk1/6p1/8/3K4/8/5PP1/8 w - - 0 1"
    found, expected = (search(one, pawns, 8) for one in (compiled, plain))
    assert (found.score, found.nodes, found.move) == (expected.score, expected.nodes, expected.move)
    # Mate in three: the second move threatens it quietly.
    assert CHESS.format_move(search(compiled, "6k1/5ppp/8/8/8/8/1Q4PP/R6K w - - 0 1", 8).move) in {"a1a8", "b2b8"}


def test_kept_static_scores_are_those_of_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = evaluator_of(load_value("default", CHESS))
    settings = SearchSettings(table_mb=1, pruning=True)
    fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 9"
    assert evaluator.keeps_scores
    expected = search(Searcher(CHESS, attrs.evolve(evaluator, keeps_scores=False), settings), fen, 8)
    assert search(Searcher(CHESS, evaluator, settings), fen, 8).nodes == expected.nodes
    # Places that nearly all positions share.
    monkeypatch.setattr(searcher_module, "_KEPT_SCORES", 2)
    found = Searcher(CHESS, evaluator, settings)
    assert attrs.evolve(search(found, fen, 8), seconds=0) == attrs.evolve(expected, seconds=0)
    assert found.state.scores.all()


@pytest.mark.repeats
def test_a_search_that_links_what_another_process_kept_is_the_same(tmp_path: Path) -> None:
    fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 9"
    found = [
        subprocess.check_output(
            [sys.executable, "-c", program],
            env={**os.environ, "GLEM_CACHE_DIR": str(tmp_path)},
            cwd=Path(__file__).parents[3],
            text=True,
        )
        for program in (KEPT, SEARCHED.format(fen))
    ]
    expected = search(Searcher(CHESS, EVALUATOR, SearchSettings(table_mb=1, pruning=True), plain=True), fen, 5)
    assert found == ["", f"{expected.nodes}\n"]


def test_values_are_those_of_negamax() -> None:
    searcher = Searcher(CHESS, EVALUATOR, SearchSettings(table_mb=0), plain=True)
    # A promotion, checks, captures and a position without enough material are within reach.
    for fen in ("8/1P4k1/8/8/8/2b5/8/5K2 w - - 3 50", "6k1/5ppp/8/8/8/8/r7/1R5K w - - 98 60"):
        found = search(searcher, fen, 2)
        assert found.score == value_of(CHESS, EVALUATOR, parse_position(fen), 2)


@pytest.mark.parametrize(("move", "plies"), [("d1a4", 1), ("d1d7", 0), ("d1d2", 0)])
def test_a_check_is_searched_deeper_unless_it_loses_the_piece(move: str, plies: int) -> None:
    before = parse_position("4kn2/8/8/8/8/8/8/3QK3 w - - 0 1")
    number = CHESS.parse_move(move)
    after = CHESS.play(before, number)
    assert CHESS.search_rules["extension"](before, number, after) == plies
    # Levene and Fenner (2009, section 3.1) extend every check.
    is_check = move != "d1d2"
    assert CHESS.quiescence["captures-and-checks"]["extension"](before, number, after) == is_check
