"""The search against plain negamax, and plain against compiled."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import define

from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import blank_evaluation, load_value
from glem.core.features.evaluators import Evaluator
from glem.core.features.learning import learning_names, load_learning
from glem.core.game.game import Game, game_names
from glem.core.search.negascout import negascout, score_by_table, settle
from glem.core.search.probcut import CHECKS, LATEST, ProbCut, Selectivity, reductions_of
from glem.core.search.results import Bound, Limits
from glem.core.search.searcher import Searcher, SearchSettings
from glem.core.search.state import AT
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
    duel(duel_game.reversible_plies, duel_game.extension),
    duel(duel_game.tactical_moves, duel_game.move_hint, duel_game.is_drawn, duel_game.table_key),
    duel(
        *(duel_game.extension, duel_game.move_order, duel_game.must_move),
        *(duel_game.reversible_plies, duel_game.is_drawn),
        tactical_moves=duel_game.cornered_moves,
        no_moves_score=duel_game.final_score,
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


@define(frozen=True)
class Case:
    """Some positions of a game; searches of the small ones run as plain Python, which is sooner done than compiled."""

    game: Game
    evaluator: Evaluator
    positions: list[Any]

    def searcher(self, settings: SearchSettings | None = None) -> Searcher:
        return Searcher(self.game, self.evaluator, settings, plain=self.game in DUELS)

    @property
    def has_exact_table(self) -> bool:
        """Whether table entries come about on equal paths only and at equal depths, so that it changes no value."""
        return not {"reversible_plies", "extension"} & set(self.game.search_rules.functions)

    def exact_searcher(self) -> Searcher:
        return self.searcher(SearchSettings(table_mb=int(self.has_exact_table)))


CASES = [
    *(pytest.param((game, MEN, range(12)), id=game.name) for game in DUELS),
    pytest.param((None, MOBILITY, range(4, 60)), id="othello"),
    pytest.param((None, mobility_evaluator(result_only=True), range(50, 60)), id="othello results"),
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, othello: Game) -> Case:
    game, evaluator, plies = request.param
    game = game or othello
    return Case(game, evaluator, random_positions(game, 12, plies))


def test_full_width_values_are_those_of_negamax(case):
    without, with_table = case.searcher(NO_TABLE), case.searcher(SearchSettings(table_mb=1, aspiration=7))
    for place, position in enumerate(case.positions):
        for depth in range(1, 5 if place < 4 else 4):
            expected = value_of(case.game, case.evaluator, position, depth)
            found = without.search(position, Limits(depth=depth))
            assert (found.score, found.bound) == (expected, Bound.EXACT)
            if case.has_exact_table:
                assert with_table.search(position, Limits(depth=depth)).score == expected
                with_table.clear()


def test_windows_give_bounds(case):
    searcher = case.exact_searcher()
    choose = np.random.default_rng(1)
    seen = set()
    for position in case.positions:
        expected = value_of(case.game, case.evaluator, position, 3)
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
            assert found.move in dict(children_of(case.game, position))
    assert seen == set(Bound)


def after(game: Game, position: Any, moves: Sequence[int]) -> Any:
    """Position after moves, all of which must be legal."""
    for move in moves:
        position = dict(children_of(game, position))[move]
    return position


def test_several_lines_are_the_best_moves_that_are_not_excluded(case):
    searcher = case.exact_searcher()
    for position in case.positions:
        values = move_values(case.game, case.evaluator, position, 3)
        excluded: list[int] = []
        while values and len(excluded) < 2:
            found = searcher.search(position, Limits(depth=3), lines=3, exclude=excluded)
            searcher.clear()
            assert [line.score for line in found.lines] == sorted(values.values(), reverse=True)[:3]
            assert all(values[line.moves[0]] == line.score for line in found.lines)
            assert len({line.moves[0] for line in found.lines}) == len(found.lines)
            excluded.append(found.lines[0].moves[0])
            del values[excluded[-1]]


def test_variations_are_legal_and_lead_to_their_scores(othello):
    searcher = Searcher(othello, MOBILITY)
    for position in random_positions(othello, 30, range(4, 60), seed=5):
        searcher.clear()
        found = searcher.search(position, Limits(depth=5))
        assert found.bound is Bound.EXACT
        last = after(othello, position, found.variation)
        sign = (-1) ** len(found.variation)
        if othello.is_over(last):
            assert found.score == sign * 100 * othello.final_score(last)
        else:
            assert len(found.variation) - found.variation.count(othello.pass_move) == 5
            assert found.score == sign * static_of(MOBILITY, last)
        for high in (found.score - 100, found.score - 300):
            searcher.clear()
            bound = searcher.search(position, Limits(depth=5), window=(high - 200, high))
            assert bound.bound is Bound.LOWER and bound.variation
            after(othello, position, bound.variation)


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
    # One man each, far apart: stepping to and fro. Steps back are draws where the game has been there twice.
    game = DUELS[1]
    position = duel_game.Position(np.uint64(0b1), np.uint64(0b1000000), np.uint8(10))
    earlier = []
    for move in (1, 12, 2, 15):
        earlier.append(position)
        position = game.play(position, move)
    searcher = Searcher(game, MEN, NO_TABLE, plain=True)
    for depth in range(1, 7):
        for previous, path in (((), ()), (earlier, ()), (2 * earlier, earlier)):
            found = searcher.search(position, Limits(depth=depth), previous=previous)
            assert found.score == max(move_values(game, MEN, position, depth, path=path).values())


def test_the_table_does_not_speak_for_a_repetition():
    game = DUELS[1]
    state = Searcher(game, MEN, SearchSettings(table_mb=1), plain=True).state
    position = duel_game.Position(np.uint64(0b1), np.uint64(0b1000000), np.uint8(10))
    count = game.legal_moves(position, state.moves, int(state.max_moves))
    after = game.play(position, int(state.moves[int(state.max_moves)]))
    key = game.hash_key(after)
    store_entry(state.table, state.table_mask, key, pack_entry(state.counters[AT.ERA], -500, -1, 9, UPPER_BOUND, 0))
    arguments = (game.search_rules, state, position, np.int64(1), np.int64(4), np.int64(count), np.int64(100))
    assert score_by_table(*arguments) == 500
    state.keys[0] = key
    assert score_by_table(*arguments) == -state.infinity


@define(frozen=True)
class Guessed:
    """Parameters of Multi-ProbCut that nobody has fitted."""

    threshold: float = 1.0
    deviation: float = 150.0
    reduces: bool = True

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
            reductions_of(depths) * self.reduces,
        )


def assert_twins_agree(case: Case, settings: SearchSettings, *limits: Limits) -> None:
    twins = [Searcher(case.game, case.evaluator, settings, plain=plain) for plain in (False, True)]
    # The table is kept from search to search: the later results depend on all that went before.
    for position in case.positions[:5]:
        for limit in limits:
            fast, slow = (searcher.search(position, limit, lines=2) for searcher in twins)
            assert fast.nodes > 0
            for name in ("lines", "nodes", "depth", "selective_depth"):
                assert getattr(fast, name) == getattr(slow, name)


@pytest.mark.parametrize(
    "settings",
    [
        SearchSettings(table_mb=1),
        SearchSettings(table_mb=0, aspiration=0, order_depth=1),
        SearchSettings(table_mb=1, probcut=Guessed()),  # type: ignore[arg-type]
    ],
    ids=["table", "no table", "selective"],
)
@pytest.mark.parametrize(
    "case",
    # Each duel compiles a search of its own; the search of chess has the same operations.
    [*(pytest.param(each.values[0], id=each.id, marks=pytest.mark.repeats) for each in CASES[:4]), *CASES[4:]],
    indirect=True,
)
def test_plain_and_compiled_agree(case, settings):
    assert_twins_agree(case, settings, Limits(depth=5), Limits(nodes=300))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.repeats] * (name == "chess"))  # its search compiles longest
        for name in sorted({*game_names()} & {*learning_names()})
    ],
)
@pytest.mark.parametrize("selective", [False, True], ids=["full width", "selective"])
def test_plain_and_compiled_agree_on_every_installed_game(name, selective):
    learning = load_learning(name)
    probcut: ProbCut | None = None
    if selective:
        if learning.default_probcut is None:
            pytest.skip(f"{name} comes without parameters of selective search")
        probcut = learning.default_probcut()
    evaluator = evaluator_of(load_value("default", learning.game))
    settings = SearchSettings(table_mb=1, probcut=probcut)
    # Plain Python takes seconds for more where there are so many moves.
    limits = Limits(depth=6 if selective else 3 if learning.game.max_moves < 100 else 2)
    assert_twins_agree(
        Case(learning.game, evaluator, random_positions(learning.game, 5, range(4, 40))), settings, limits
    )


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


def test_selective_search_cuts_and_reduces(othello):
    full = Searcher(othello, MOBILITY)
    guesses = {
        "both": Guessed(),
        "checks": Guessed(reduces=False),
        "reductions": Guessed(threshold=1000.0),
        "neither": Guessed(threshold=1000.0, reduces=False),
    }
    selective = {
        name: Searcher(othello, MOBILITY, SearchSettings(probcut=guess))  # type: ignore[arg-type]
        for name, guess in guesses.items()
    }
    nodes = dict.fromkeys(["full", *guesses], 0)
    for position in random_positions(othello, 10, range(10, 30)):
        expected = full.search(position, Limits(depth=8))
        found = {name: searcher.search(position, Limits(depth=8)) for name, searcher in selective.items()}
        assert found["neither"].score == expected.score
        for name, result in {"full": expected, **found}.items():
            nodes[name] += result.nodes
    assert nodes["both"] < min(nodes["checks"], nodes["reductions"])
    assert max(nodes["checks"], nodes["reductions"]) < nodes["full"]


def test_a_move_that_is_better_than_those_before_it_is_searched_whole(othello):
    reduced = Searcher(othello, MOBILITY, SearchSettings(probcut=Guessed(threshold=1000.0)))  # type: ignore[arg-type]
    missed = 0
    for position in random_positions(othello, 30, range(10, 40), seed=4):
        found = reduced.search(position, Limits(depth=3))
        # At depth 3, late moves of the root alone are reduced, to their static scores.
        glances, values = (move_values(othello, MOBILITY, position, depth) for depth in (1, 3))
        assert found.move is not None and found.score == values[found.move]
        assert all(min(glances[move], values[move]) <= found.score for move in values)
        missed += found.score < max(values.values())
    assert 0 < missed < 15


def test_reductions_are_pairs_of_plies_and_end_at_the_leaves():
    table = reductions_of(30).reshape(30, LATEST + 1)
    assert (table % 2 == 0).all() and (table >= 0).all()
    assert (table[:, 0] == 0).all() and (table[:3] == 0).all()
    assert (np.diff(table, axis=0) >= 0).all() and (np.diff(table, axis=1) >= 0).all()
    assert (table[1:] <= np.arange(29)[:, None]).all()
    assert (table[8, 1:6] == [2, 2, 2, 4, 4]).all()


def test_node_counts_are_those_noted(othello):
    """Any change of the search shows here; note the new counts if it was meant."""
    searcher = Searcher(othello, MOBILITY)
    counts = []
    for position in [othello.initial_position, *random_positions(othello, 3, range(15, 16), seed=9)]:
        searcher.clear()
        counts.append(searcher.search(position, Limits(depth=7)).nodes)
    assert counts == [1615, 9378, 29824, 15002]


def test_recursive_kernels_have_one_signature(othello):
    for evaluator in (MOBILITY, mobility_evaluator(result_only=True)) * 2:
        Searcher(othello, evaluator).search(othello.initial_position, Limits(depth=3))
    # One for each game and evaluation.
    for function in (negascout, settle):
        signatures = compiled(function).signatures  # type: ignore[attr-defined]
        assert len(signatures) == len({tuple(map(str, signature[:2])) for signature in signatures})
