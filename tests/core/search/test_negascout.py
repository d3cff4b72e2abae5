"""The search against plain negamax, and plain against compiled."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import define

from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import blank_evaluation
from glem.core.features.evaluators import Evaluator
from glem.core.game.game import Game
from glem.core.search.negascout import negascout, score_by_table, settle
from glem.core.search.probcut import CHECKS, Selectivity
from glem.core.search.results import Bound, Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.table import UPPER_BOUND, pack_entry, store_entry
from tests.core.game.countdown_game import COUNTDOWN
from tests.core.search import duel_game
from tests.core.search.duel_game import MEN, duel
from tests.core.search.othello_mobility import mobility_evaluator
from tests.oracles.search import children_of, move_values, static_of, value_of

MOBILITY = mobility_evaluator()

NO_TABLE = SearchSettings(table_mb=0)

DUELS = [
    duel(),
    duel(reversible_plies=duel_game.reversible_plies, extension=duel_game.extension),
    duel(
        tactical_moves=duel_game.tactical_moves,
        move_hint=duel_game.move_hint,
        is_drawn=duel_game.is_drawn,
        table_key=duel_game.table_key,
    ),
    duel(
        tactical_moves=duel_game.cornered_moves,
        extension=duel_game.extension,
        move_order=duel_game.move_order,
        must_move=duel_game.must_move,
        no_moves_score=duel_game.no_moves_score,
        reversible_plies=duel_game.reversible_plies,
        is_drawn=duel_game.is_drawn,
    ),
]


def random_positions(game: Game, count: int, plies: range, seed: int = 0) -> list[Any]:
    """Positions of random games that are not over, after a random number of plies."""
    choose = np.random.default_rng(seed)
    found: list[Any] = []
    while len(found) < count:
        position = game.initial_position
        for _ in range(int(choose.integers(plies.start, plies.stop))):
            children = children_of(game, position)
            if not children:
                break
            position = children[int(choose.integers(len(children)))][1]
        if children_of(game, position):
            found.append(position)
    return found


CASES = [
    # The first has no operations, as Countdown; the second has some that the last has too.
    *(
        pytest.param((game, MEN, range(12)), id=game.name, marks=[pytest.mark.repeats] * (game in DUELS[:2]))
        for game in DUELS
    ),
    pytest.param((None, MOBILITY, range(4, 60)), id="othello"),
    pytest.param((None, mobility_evaluator(result_only=True), range(50, 60)), id="othello results"),
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, othello: Game) -> tuple[Game, Evaluator, list[Any]]:
    game, evaluator, plies = request.param
    game = othello if game is None else game
    return game, evaluator, random_positions(game, 12, plies)


def has_exact_table(game: Game) -> bool:
    """Whether table entries come about on equal paths only and at equal depths, so that the table changes no value."""
    return not {"reversible_plies", "extension"} & set(game.search_rules.functions)


def test_full_width_values_are_those_of_negamax(case):
    game, evaluator, positions = case
    without = Searcher(game, evaluator, NO_TABLE)
    with_table = Searcher(game, evaluator, SearchSettings(table_mb=1, aspiration=7))
    for position in positions:
        for depth in range(1, 5):
            expected = value_of(game, evaluator, position, depth)
            found = without.search(position, Limits(depth=depth))
            assert (found.score, found.bound) == (expected, Bound.EXACT)
            if has_exact_table(game):
                assert with_table.search(position, Limits(depth=depth)).score == expected
                with_table.clear()


def test_windows_give_bounds(case):
    game, evaluator, positions = case
    searcher = Searcher(game, evaluator, SearchSettings(table_mb=int(has_exact_table(game))))
    choose = np.random.default_rng(1)
    seen = set()
    for position in positions:
        expected = value_of(game, evaluator, position, 3)
        for _ in range(4):
            low = expected + int(choose.integers(-300, 300))
            high = low + int(choose.choice([1, 2, 50, 400]))
            found = searcher.search(position, Limits(depth=3), window=(low, high))
            searcher.clear()
            seen.add(found.bound)
            if found.bound is Bound.UPPER:
                assert expected <= found.score <= low
            elif found.bound is Bound.LOWER:
                assert expected >= found.score >= high
            else:
                assert low < found.score == expected < high
            assert found.move in dict(children_of(game, position))
    assert seen == set(Bound)


def test_variations_of_bounds_are_legal(othello):
    searcher = Searcher(othello, MOBILITY)
    for position in random_positions(othello, 30, range(4, 50), seed=5):
        searcher.clear()
        value = searcher.search(position, Limits(depth=5)).score
        for high in (value - 100, value - 300):
            searcher.clear()
            found = searcher.search(position, Limits(depth=5), window=(high - 200, high))
            assert found.bound is Bound.LOWER
            assert is_playable(othello, position, found.variation)


def is_playable(game: Game, position: Any, moves: Sequence[int]) -> bool:
    for move in moves:
        children = dict(children_of(game, position))
        if move not in children:
            return False
        position = children[move]
    return len(moves) > 0


def test_several_lines_are_the_best_moves(case):
    game, evaluator, positions = case
    searcher = Searcher(game, evaluator, SearchSettings(table_mb=int(has_exact_table(game))))
    for position in positions:
        values = move_values(game, evaluator, position, 3)
        found = searcher.search(position, Limits(depth=3), lines=3)
        searcher.clear()
        assert [line.score for line in found.lines] == sorted(values.values(), reverse=True)[:3]
        for line in found.lines:
            assert values[line.moves[0]] == line.score
        assert len({line.moves[0] for line in found.lines}) == len(found.lines)


def test_excluded_moves_are_not_searched(case):
    game, evaluator, positions = case
    searcher = Searcher(game, evaluator)
    for position in positions:
        values = move_values(game, evaluator, position, 2)
        if len(values) < 2:
            continue
        best = max(values, key=lambda move: values[move])
        found = searcher.search(position, Limits(depth=2), exclude=[best])
        searcher.clear()
        del values[best]
        assert found.move in values
        assert found.score == max(values.values()) if has_exact_table(game) else True


def test_variations_are_legal_and_lead_to_their_scores(othello):
    searcher = Searcher(othello, MOBILITY)
    for position in random_positions(othello, 30, range(4, 60), seed=5):
        found = searcher.search(position, Limits(depth=5))
        assert found.bound is Bound.EXACT
        sign, depth = 1, 5
        for move in found.variation:
            children = dict(children_of(othello, position))
            depth -= 0 if move == othello.pass_move else 1
            position = children[move]
            sign = -sign
        if othello.is_over(position):
            assert found.score == sign * 100 * othello.final_score(position)
        else:
            assert depth == 0
            assert found.score == sign * static_of(MOBILITY, position)


def test_shorter_wins_are_preferred():
    # Of one to three stones taken in turn, who faces a multiple of four loses.
    even = evaluator_of(blank_evaluation(COUNTDOWN))
    searcher = Searcher(COUNTDOWN, even, SearchSettings(table_mb=1), plain=True)
    for stones in range(1, 10):
        found = searcher.search(type(COUNTDOWN.initial_position)(np.uint8(stones)), Limits(depth=20))
        plies = 2 * -(-stones // 4) - (1 if stones % 4 else 0)
        sign = 1 if stones % 4 else -1
        assert found.score == sign * (even.limit + 257 - plies)
        assert len(found.variation) == plies == found.depth
        assert found.value == sign * even.limit / even.steps_per_unit


def test_repetitions_are_draws():
    # One man each, far apart: stepping to and fro. With the earlier positions given, any step back is a draw.
    game = DUELS[1]
    position = duel_game.Position(np.uint64(0b1), np.uint64(0b1000000), np.uint8(10))
    earlier = []
    for move in (1, 12, 2, 15):
        earlier.append(position)
        position = game.play(position, move)
    searcher = Searcher(game, MEN, NO_TABLE, plain=True)
    for depth in range(1, 7):
        for previous in ((), earlier):
            found = searcher.search(position, Limits(depth=depth), previous=previous)
            assert found.score == max(move_values(game, MEN, position, depth, path=previous).values())


def test_the_table_does_not_speak_for_a_repetition():
    game = DUELS[1]
    state = Searcher(game, MEN, SearchSettings(table_mb=1), plain=True).state
    position = duel_game.Position(np.uint64(0b1), np.uint64(0b1000000), np.uint8(10))
    count = game.legal_moves(position, state.moves, int(state.max_moves))
    after = game.play(position, int(state.moves[int(state.max_moves)]))
    key = game.hash_key(after)
    store_entry(state.table, state.table_mask, key, pack_entry(-500, -1, 9, UPPER_BOUND, 0))
    arguments = (game.search_rules, state, position, np.int64(1), np.int64(4), np.int64(count), np.int64(100))
    assert score_by_table(*arguments) == 500
    state.keys[0] = key
    assert score_by_table(*arguments) == -state.infinity


@define(frozen=True)
class Guessed:
    """Parameters of Multi-ProbCut that nobody has fitted."""

    threshold: float = 1.0
    deviation: float = 150.0

    def arrays(self, _evaluator: Evaluator) -> Selectivity:
        depths, phases = 9, 2
        checks = np.full((phases, depths, CHECKS), -1, np.int64)
        checks[:, 3:, 0] = np.arange(3, depths) % 2
        checks[:, 5:, 1] = np.arange(5, depths) - 4
        return Selectivity(
            np.int64(depths),
            np.float64(self.threshold),
            checks.ravel(),
            np.full(checks.size, 1.02),
            np.full(checks.size, 3.0),
            np.full(checks.size, self.deviation),
        )


@pytest.mark.parametrize(
    "settings",
    [
        SearchSettings(table_mb=1),
        SearchSettings(table_mb=0, aspiration=0, order_depth=1),
        SearchSettings(table_mb=1, probcut=Guessed()),  # type: ignore[arg-type]
    ],
    ids=["table", "no table", "selective"],
)
def test_plain_and_compiled_agree(case, settings):
    game, evaluator, positions = case
    twins = [Searcher(game, evaluator, settings, plain=plain) for plain in (False, True)]
    # The table is kept from search to search: the later results depend on all that went before.
    for position in positions[:5]:
        for limits in (Limits(depth=5), Limits(nodes=300)):
            compiled_result, plain_result = (searcher.search(position, limits, lines=2) for searcher in twins)
            assert compiled_result.lines == plain_result.lines
            assert compiled_result.nodes == plain_result.nodes
            assert compiled_result.depth == plain_result.depth
            assert compiled_result.selective_depth == plain_result.selective_depth


def test_finished_positions_are_not_evaluated():
    game = DUELS[0]

    def asked_while_it_goes_on(function):
        def checked(position, *others):
            assert not game.is_over(position)
            return function(position, *others)

        return checked

    functions = {name: MEN.operations[name] for name in ("start", "update")}
    checked = {name: asked_while_it_goes_on(MEN.operations[name]) for name in ("static_score", "search_phase")}
    evaluator = attrs.evolve(MEN, operations=Operations("duel-men-checked", {**functions, **checked}))
    settings = SearchSettings(table_mb=1, order_depth=1, probcut=Guessed())  # type: ignore[arg-type]
    searcher = Searcher(game, evaluator, settings, plain=True)
    for position in random_positions(game, 10, range(10, 40), seed=2):
        searcher.search(position, Limits(depth=6))


def test_selective_search_cuts(othello):
    full = Searcher(othello, MOBILITY)
    selective = Searcher(othello, MOBILITY, SearchSettings(probcut=Guessed()))  # type: ignore[arg-type]
    cautious = Searcher(othello, MOBILITY, SearchSettings(probcut=Guessed(threshold=1000.0)))  # type: ignore[arg-type]
    for position in random_positions(othello, 5, range(10, 30)):
        expected = full.search(position, Limits(depth=8))
        assert selective.search(position, Limits(depth=8)).nodes < expected.nodes
        found = cautious.search(position, Limits(depth=8))
        assert found.score == expected.score


def test_node_counts_are_those_noted(othello):
    """Any change of the search shows here; note the new counts if it was meant."""
    searcher = Searcher(othello, MOBILITY)
    counts = []
    for position in [othello.initial_position, *random_positions(othello, 3, range(15, 16), seed=9)]:
        searcher.clear()
        counts.append(searcher.search(position, Limits(depth=7)).nodes)
    assert counts == [1615, 9378, 29736, 15002]


def test_recursive_kernels_have_one_signature(othello):
    for _ in range(2):
        Searcher(othello, MOBILITY).search(othello.initial_position, Limits(depth=3))
        Searcher(DUELS[3], MEN).search(DUELS[3].initial_position, Limits(depth=3))
    # One for each game and evaluation.
    for function in (negascout, settle):
        signatures = compiled(function).signatures  # type: ignore[attr-defined]
        assert len(signatures) == len({tuple(map(str, signature[:2])) for signature in signatures})


@pytest.mark.repeats  # a second process: test_cache has one, and .ci/run is one
def test_another_process_finds_the_compiled_search(tmp_path):
    program = """
from glem.core.game.game import load_game
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from tests.core.search.duel_game import MEN
from tests.core.search.test_negascout import DUELS, MOBILITY
for game, evaluator in ((load_game("othello"), MOBILITY), (DUELS[3], MEN)):
    print(Searcher(game, evaluator).search(game.initial_position, Limits(depth=5)).nodes)
"""
    outputs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert outputs[0] == outputs[1] != ""
