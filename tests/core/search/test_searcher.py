"""Limits, the stop, results and errors of a searcher."""

import threading
import time
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations
from glem.core.errors import BadInputError
from glem.core.search.clock import monotonic_nanoseconds
from glem.core.search.results import Bound, Clock, Limits, SearchResult, longest_seconds, usual_seconds
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.tasks.stop import Stop
from tests.core.search import duel_game
from tests.core.search.duel_game import MEN, duel
from tests.core.search.othello_mobility import mobility_evaluator
from tests.core.search.test_negascout import DUELS, random_positions
from tests.oracles.search import children_of, static_of, value_of
from tests.system import not_on_windows

MOBILITY = mobility_evaluator()


@pytest.fixture(scope="module")
def searcher(othello) -> Searcher:
    """Compiled already, so that times are those of searching."""
    made = Searcher(othello, MOBILITY)
    made.search(othello.initial_position, Limits(depth=2))
    return made


@pytest.mark.parametrize("plain", [False, True])
def test_node_limits_are_exact(othello, plain):
    position = random_positions(othello, 1, range(20, 21))[0]
    for nodes in (1, 2, 17, 300, 1500):
        results = []
        for _ in range(2):
            made = Searcher(othello, MOBILITY, plain=plain)
            results.append(made.search(position, Limits(nodes=nodes)))
        assert results[0].nodes == results[1].nodes == nodes
        assert results[0].lines == results[1].lines
        assert results[0].stopped
        assert nodes > 1 or (results[0].depth, results[0].score) == (0, static_of(MOBILITY, position))
        assert results[0].move in dict(children_of(othello, position))


def test_node_limits_are_exact_in_quiescence():
    searcher = Searcher(DUELS[3], MEN, plain=True)
    for nodes in range(20, 400, 19):
        searcher.clear()
        found = searcher.search(DUELS[3].initial_position, Limits(nodes=nodes))
        assert found.nodes == nodes
        assert found.stopped


def test_quiescence_that_a_player_asks_for(othello):
    """Leaves go on with moves into corners: against negamax of a game with such tactical moves."""
    functions = {**othello.search_functions, **othello.quiescence["corners"]}
    quiet = attrs.evolve(othello, search_functions=functions)
    searcher, plain = Searcher(othello, MOBILITY, SearchSettings(quiescence="corners")), Searcher(othello, MOBILITY)
    differ = 0
    for position in random_positions(othello, 40, range(20, 57), seed=9):
        searcher.clear()
        found = searcher.search(position, Limits(depth=2))
        assert found.score == value_of(quiet, MOBILITY, position, 2)
        differ += found.score != plain.search(position, Limits(depth=2)).score
    assert differ > 5
    with pytest.raises(BadInputError, match="Othello has no quiescence 'edges'; it has: corners"):
        Searcher(othello, MOBILITY, SearchSettings(quiescence="edges"))


def iterations(searcher: Searcher, position: Any, depth: int, lines: int) -> list[SearchResult]:
    """Results of all iterations of a new search."""
    searcher.clear()
    seen: list[SearchResult] = []
    found = searcher.search(position, Limits(depth=depth), lines=lines, on_iteration=seen.append)
    assert [result.depth for result in seen] == list(range(1, depth + 1))
    assert [result.nodes for result in seen] == sorted(result.nodes for result in seen)
    assert seen[-1].lines == found.lines
    assert all(len(result.lines) == lines for result in seen)
    return seen


def test_a_stopped_iteration_keeps_the_best_line_so_far(othello, searcher):
    position = random_positions(othello, 1, range(25, 26), seed=3)[0]
    complete = iterations(searcher, position, 7, 1)
    for nodes in range(complete[-2].nodes + 50, complete[-1].nodes, 400):
        searcher.clear()
        found = searcher.search(position, Limits(nodes=nodes))
        assert found.stopped
        assert found.depth == 6
        if found.bound is Bound.EXACT:
            assert found.lines == complete[-2].lines
        else:
            assert found.bound is Bound.LOWER
            assert found.score <= complete[-1].score


def test_lines_of_a_stopped_iteration_tell_their_depths(othello, searcher):
    position = random_positions(othello, 1, range(25, 26), seed=3)[0]
    complete = iterations(searcher, position, 5, 4)
    assert all({line.depth for line in result.lines} == {result.depth} for result in complete)
    of_both = 0
    for nodes in range(complete[-2].nodes + 50, complete[-1].nodes, 100):
        searcher.clear()
        found = searcher.search(position, Limits(nodes=nodes), lines=4)
        depths = [line.depth for line in found.lines]
        assert depths == sorted(depths, reverse=True)
        assert set(depths) <= {found.depth, found.depth + 1} == {4, 5}
        for depth in set(depths):
            scores = [line.score for line in found.lines if line.depth == depth]
            assert scores == sorted(scores, reverse=True)
        of_both += len(set(depths)) == 2
    assert of_both > 3


@not_on_windows
def test_a_stop_is_obeyed_at_once(othello, searcher):
    # In this thread's processor time, so that a busy machine does not matter.
    clock = time.pthread_getcpuclockid(threading.get_ident())
    delays = []
    for _ in range(5):
        searcher.clear()
        stop = Stop()
        asked: list[float] = []
        threading.Timer(
            0.05, lambda stop=stop, asked=asked: (asked.append(time.clock_gettime(clock)), stop.set())
        ).start()
        found = searcher.search(othello.initial_position, Limits(depth=60), stop=stop)
        delays.append(time.clock_gettime(clock) - asked[0])
        assert found.stopped
        assert found.depth > 2
    assert min(delays) >= 0
    assert sorted(delays)[2] < 0.01


_ticks = [0]


def _slow_score(position: Any, data: Any, accumulators: Any, ply: int) -> int:
    _ticks[0] += 5_000_000
    return 0


def test_a_slow_evaluation_is_stopped_as_soon(othello, monkeypatch):
    # By a clock that only scores take time of, so that a busy machine does not matter.
    monkeypatch.setattr(time, "perf_counter_ns", lambda: _ticks[0])
    operations = Operations("slow", {**MOBILITY.operations.functions, "static_score": _slow_score})
    slow = Searcher(othello, attrs.evolve(MOBILITY, name="slow", operations=operations), plain=True)
    began = _ticks[0]
    found = slow.search(othello.initial_position, Limits(seconds=0.2))
    assert found.stopped and found.nodes > 40
    assert 200 <= (_ticks[0] - began) / 1e6 <= 210


def test_a_stop_given_beforehand_still_gives_a_move(othello, searcher):
    stop = Stop()
    stop.set()
    found = searcher.search(othello.initial_position, Limits(depth=60), stop=stop)
    assert found.stopped and found.move is not None


def test_a_stop_does_not_reach_the_next_search(othello, searcher):
    for _ in range(20):
        stop = Stop()
        threading.Thread(target=stop.set).start()
        searcher.search(othello.initial_position, Limits(depth=5), stop=stop)
        assert not searcher.search(othello.initial_position, Limits(depth=5)).stopped


def test_seconds_and_clocks_end_the_search(othello, searcher):
    for limits, most in (
        (Limits(seconds=0.05), 0.05),
        (Limits(clock=Clock(1.0)), 0.5),
        (Limits(clock=Clock(0.02)), 0.02),
    ):
        searcher.clear()
        begun = time.thread_time()
        found = searcher.search(othello.initial_position, limits)
        assert time.thread_time() - begun < most + 0.5
        assert found.move is not None
    searcher.clear()
    assert searcher.search(othello.initial_position, Limits(clock=Clock(0.0))).move is not None


def test_on_a_clock_a_choice_that_stays_ends_the_search_sooner(othello, monkeypatch):
    monkeypatch.setattr(time, "perf_counter_ns", lambda: _ticks[0])
    operations = Operations("slow", {**MOBILITY.operations.functions, "static_score": _slow_score})
    slow = Searcher(othello, attrs.evolve(MOBILITY, name="slow", operations=operations), plain=True)
    shares = []
    for position in random_positions(othello, 8, range(40, 50), seed=8):
        clock, seen = Clock(240.0, moves=30), []
        slow.clear()
        if not slow.search(position, Limits(clock=clock), on_iteration=seen.append).stopped:
            assert all(each.seconds <= 0.98 * usual_seconds(clock, None) for each in seen[:-1])
            if len({each.move for each in seen[-5:]}) == 1 and len(seen) >= 5:
                shares.append(seen[-1].seconds / usual_seconds(clock, None))
    assert 0.5 < min(shares) < 0.64


@given(st.floats(0, 10_000), st.floats(0, 60), st.none() | st.integers(0, 200))
def test_no_search_takes_the_whole_clock(remaining, increment, plies_left):
    clock = Clock(remaining, increment)
    usual, longest = usual_seconds(clock, plies_left), longest_seconds(clock, plies_left)
    assert 0 <= longest <= min(3 * usual, remaining / 2)
    # Without increments too, the usual shares of all moves fit into the clock.
    moves = 1 if plies_left is None else plies_left // 2 + 1
    assert usual_seconds(Clock(remaining), plies_left) * moves <= remaining
    assert usual_seconds(clock, plies_left) >= usual_seconds(Clock(remaining), plies_left)


def test_a_finished_game_has_its_final_score(othello):
    position = othello.parse_position("X" * 40 + "-" * 4 + "O" * 20 + " X")
    if not othello.is_over(position):
        pytest.fail("the example is not over")
    found = Searcher(othello, MOBILITY).search(position, Limits(depth=3))
    assert found.lines[0].moves == ()
    assert found.move is None
    assert (found.bound, found.score, found.value) == (Bound.EXACT, 2400, 24.0)
    results = Searcher(othello, mobility_evaluator(result_only=True)).search(position, Limits(depth=3))
    assert results.score > MOBILITY.limit
    assert results.value == MOBILITY.limit / MOBILITY.steps_per_unit


def test_the_last_iteration_searches_to_the_end_of_the_game(othello, searcher):
    for position in random_positions(othello, 5, range(52, 56), seed=4):
        left = 64 - int(position.own | position.opponent).bit_count()
        found = searcher.search(position, Limits())
        assert found.depth == left
        assert not found.stopped
        assert found.score % 100 == 0


def test_several_threads_find_what_one_finds(othello, searcher):
    many = Searcher(othello, MOBILITY, SearchSettings(threads=3))
    for position in random_positions(othello, 6, range(50, 54), seed=5):
        # Its own era is what the others must find and write too.
        many.clear()
        alone, found = searcher.search(position, Limits(), lines=2), many.search(position, Limits(), lines=2)
        assert [line.score for line in found.lines] == [line.score for line in alone.lines]
        assert (found.depth, found.proven) == (alone.depth, True)
        assert many.helper_seconds > 0
    for nodes in (1, 300, 30_000):
        found = many.search(othello.initial_position, Limits(nodes=nodes))
        assert found.move in dict(children_of(othello, othello.initial_position))
        assert found.stopped
        assert found.nodes <= max(nodes, 3)
    stop = Stop()
    threading.Timer(0.05, stop.set).start()
    found = many.search(othello.initial_position, Limits(depth=60), stop=stop)
    assert found.stopped
    assert found.depth > 2


def test_what_ends_one_thread_ends_all(othello, monkeypatch):
    many = Searcher(othello, MOBILITY, SearchSettings(threads=3))
    many.search(othello.initial_position, Limits(depth=2))

    def fail(*_: Any) -> None:
        raise MemoryError("full")

    with pytest.raises(MemoryError):
        many.search(othello.initial_position, Limits(), on_iteration=fail)
    monkeypatch.setattr(many._helpers[1], "_iterate", fail)
    with pytest.raises(MemoryError):
        many.search(othello.initial_position, Limits(depth=4))


def test_a_single_move_is_searched_too_but_takes_no_time(othello, searcher):
    chosen = [
        position
        for position in random_positions(othello, 150, range(40, 60))
        if len(children_of(othello, position)) == 1
    ]
    assert any(children_of(othello, position)[0][0] == othello.pass_move for position in chosen)
    for position in chosen:
        found = searcher.search(position, Limits(depth=3), lines=4)
        assert len(found.lines) == 1
        assert found.move == children_of(othello, position)[0][0]
        assert searcher.search(position, Limits(clock=Clock(1000.0))).depth <= 4


def test_a_cleared_searcher_is_as_new(othello):
    position = random_positions(othello, 1, range(20, 21))[0]
    searcher = Searcher(othello, MOBILITY)
    first = searcher.search(position, Limits(depth=7))
    again = searcher.search(position, Limits(depth=7))
    searcher.clear()
    cleared = searcher.search(position, Limits(depth=7))
    assert again.nodes < first.nodes == cleared.nodes
    assert first.lines == cleared.lines
    assert again.score == first.score


@pytest.mark.parametrize("aspiration", [0, 1, 30, 100_000])
def test_aspiration_changes_no_score(othello, searcher, aspiration):
    narrow = Searcher(othello, MOBILITY, SearchSettings(aspiration=aspiration))
    for position in random_positions(othello, 8, range(10, 50), seed=8):
        searcher.clear()
        narrow.clear()
        expected = searcher.search(position, Limits(depth=6))
        assert narrow.search(position, Limits(depth=6)).score == expected.score


def test_searches_of_long_games_end():
    # Men could step to and fro for ever: repetitions end that, or the end of the stack does.
    position = duel_game.Position(np.uint64(0b1), np.uint64(0b10000000), np.uint8(100))
    previous = [position] * 3000
    for game in (DUELS[1], duel(extension=_always_two)):
        # As plain Python, which tells of a place beyond the stack.
        found = Searcher(game, MEN, plain=True).search(position, Limits(depth=3, nodes=5_000), previous=previous)
        assert found.move is not None


def _always_two(before: duel_game.Position, move: int, after: duel_game.Position) -> int:
    return 2


def test_clocks_of_both_worlds_agree():
    earlier = time.monotonic_ns()
    read = compiled(_now)()
    assert earlier <= read <= time.monotonic_ns()
    assert earlier <= _now() <= time.monotonic_ns()


def _now() -> int:
    return monotonic_nanoseconds()


@pytest.mark.parametrize("limits", [Limits(depth=2, nodes=1 << 62), Limits(depth=2, seconds=1e9)])
def test_limits_beyond_all_counters_are_none(othello, searcher, limits):
    assert searcher.search(othello.initial_position, limits).depth == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_limits_are_finite(number):
    with pytest.raises(BadInputError, match="seconds is"):
        Limits(seconds=number)
    with pytest.raises(BadInputError, match="a clock cannot hold"):
        Clock(number)
    with pytest.raises(BadInputError, match="a clock cannot hold"):
        Clock(60.0, number)


def test_wrong_arguments_are_explained(othello, searcher):
    position = othello.initial_position
    with pytest.raises(BadInputError, match="at least one line"):
        searcher.search(position, Limits(depth=1), lines=0)
    with pytest.raises(BadInputError, match="window"):
        searcher.search(position, Limits(depth=1), window=(5, 5))
    with pytest.raises(BadInputError, match="excluded"):
        searcher.search(position, Limits(depth=1), exclude=[move for move, _ in children_of(othello, position)])
    with pytest.raises(BadInputError, match="table_mb is -1"):
        SearchSettings(table_mb=-1)
    with pytest.raises(BadInputError, match="aspiration"):
        SearchSettings(aspiration=-1)
    with pytest.raises(BadInputError, match="threads is 0"):
        SearchSettings(threads=0)
