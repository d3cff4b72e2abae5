"""Thinkers: lines that they search or solve, and moves that they choose."""

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.players.engine import line_text
from glem.core.players.making import make_player
from glem.core.players.player import MoveChoice, Player
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.players.thinker import Thinker
from glem.core.search.results import Bound, Clock, Limits, SearchResult
from glem.core.search.solver import solver_of
from glem.core.tasks.stop import Stop
from glem.core.tournament.games import GameTask, PlayedGame, play_game
from glem.core.tournament.opening_choice import OpeningJudge, choose_openings
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import mobility_evaluation

EMPTIES = 6


@pytest.fixture(scope="module")
def spec(mobility: str) -> PlayerSpec:
    return PlayerSpec("mobility", evaluation=mobility, limits=Limits(depth=20), table_mb=1)


@pytest.fixture(scope="module")
def endgames(othello: Game) -> list[Any]:
    """Positions near the end of random games."""
    return [
        position
        for seed in range(5)
        for position in random_line(othello, np.random.default_rng(seed))[0]
        if int(position.own | position.opponent).bit_count() == 64 - EMPTIES
        and len(othello.list_legal_moves(position)) > 1
    ]


def analyse(
    thinker: Thinker, position: Any, limits: Limits, *, lines: int = 60
) -> tuple[SearchResult, list[SearchResult]]:
    seen: list[SearchResult] = []
    found = thinker.analyse(position, limits, lines=lines, stop=Stop(), on_iteration=seen.append)
    return found, seen


def test_solved_lines_are_those_of_a_full_search(othello: Game, spec: PlayerSpec, endgames: list[Any]) -> None:
    searching = Thinker(othello, spec)
    solving = Thinker(othello, attrs.evolve(spec, solve_from=EMPTIES))
    for position in endgames:
        searched, _ = analyse(searching, position, Limits(depth=20))
        solved, seen = analyse(solving, position, Limits(depth=1))
        assert searched.proven
        assert solved.proven
        assert seen[-1] is solved
        assert {line.moves[0]: line.value for line in solved.lines} == {
            line.moves[0]: line.value for line in searched.lines
        }
        assert solved.depth >= searched.depth
        for line in solved.lines:
            after = position
            for move in line.moves:
                after = othello.play(after, move)
            sign = -1 if len(line.moves) % 2 else 1
            assert othello.is_over(after)
            assert sign * othello.final_score(after) == line.value
            assert line.bound is Bound.EXACT


def test_what_cannot_be_solved_within_the_limits_is_searched(
    othello: Game, spec: PlayerSpec, endgames: list[Any]
) -> None:
    thinker = Thinker(othello, attrs.evolve(spec, solve_from=EMPTIES))
    # So few nodes that the glance uses them up, or the solver is refused.
    few, _ = analyse(thinker, endgames[0], Limits(depth=2, nodes=20), lines=1)
    assert not few.proven
    assert len(few.lines) == 1
    # Of a time that is too short the search gets its share.
    short, _ = analyse(
        Thinker(othello, attrs.evolve(spec, solve_from=60)), othello.initial_position, Limits(seconds=0.2)
    )
    assert (short.proven, short.depth > 0) == (False, True)


LIMITS = ["depth=1,solve=6", "nodes=90000,solve=6", "seconds=60", "clock=60", "clock=60,solve=6", "depth=1,result=6"]


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("limits", LIMITS)
def test_moves_judgements_and_analyses_are_solved_alike(
    othello: Game, othello_learning: Learning, endgames: list[Any], tmp_path: Path, limits: str, logistic: bool
) -> None:
    """Whatever limits a player, all that it says of a position near the end is exact."""
    mobility_evaluation(othello_learning, logistic=logistic).save(tmp_path / "evaluation.npz")
    thinker = Thinker(othello, parse_player(f"{tmp_path / 'evaluation.npz'},{limits},table=1"))
    if "result" in limits and not logistic:
        pytest.skip("who wins says nothing of the score")
    solver = solver_of(othello)
    for position in endgames:
        exact = solver.solve(position).score
        judged, chosen = thinker.judge(position), thinker.choose(position, [], thinker.spec.limits.clock)
        for lines in (1, 3):
            analysed, _ = analyse(thinker, position, thinker.spec.limits, lines=lines)
            assert analysed.proven
            assert np.sign(analysed.value) == np.sign(exact)
            assert logistic or analysed.value == exact
        assert judged.score is not None
        assert (judged.exact, np.sign(judged.score)) == (True, np.sign(exact))
        assert logistic or judged.score == exact
        assert chosen.result == np.sign(exact)


def test_openings_are_judged_by_the_solver_of_their_judge(othello: Game, mobility: str) -> None:
    judge = OpeningJudge(parse_player(f"{mobility},depth=1,solve=9,table=1"), window=8.0)
    openings = choose_openings(othello, plies=54, count=4, judge=judge)
    solver = solver_of(othello)
    assert all(abs(solver.solve(opening.positions(othello)[-1]).score) <= 8 for opening in openings)


def test_a_stop_before_solving_leaves_what_was_searched(othello: Game, spec: PlayerSpec, endgames: list[Any]) -> None:
    thinker = Thinker(othello, attrs.evolve(spec, solve_from=EMPTIES))
    stop = Stop()
    found = thinker.analyse(endgames[0], Limits(depth=1), lines=1, stop=stop, on_iteration=lambda analysis: stop.set())
    assert found.lines
    assert not found.proven


def test_values_are_worded(othello: Game, othello_learning: Learning, spec: PlayerSpec, tmp_path: Path) -> None:
    """Discs have a sign; chances are percentages, certain results words."""
    won = othello.parse_position(f"XO------{'-' * 56} X")
    thinker = Thinker(othello, spec)
    discs, _ = analyse(thinker, won, Limits(depth=5), lines=1)
    assert line_text(thinker.evaluation, discs.lines[0]) == "+64.00"
    mobility_evaluation(othello_learning, logistic=True).save(tmp_path / "chance.npz")
    thinker = Thinker(othello, attrs.evolve(spec, evaluation=str(tmp_path / "chance.npz")))
    certain, _ = analyse(thinker, won, Limits(depth=5), lines=1)
    assert line_text(thinker.evaluation, certain.lines[0]) == "won"
    assert certain.results_only
    begin, _ = analyse(thinker, othello.initial_position, Limits(depth=1), lines=1)
    assert line_text(thinker.evaluation, begin.lines[0]).endswith("%")


def make(othello: Game, mobility: str, limits: str) -> Player:
    return make_player(othello, parse_player(f"name=searcher,evaluation={mobility},{limits}"))


def play(othello: Game, mobility: str, limits: str, number: int) -> tuple[PlayedGame, list[MoveChoice]]:
    """A game against a random player, and the moves of the one who searches."""
    opening = choose_openings(othello, plies=6, count=number + 1)[number]
    first = parse_player(f"name=searcher,evaluation={mobility},{limits}")
    game = play_game(GameTask(othello, number, opening, first, parse_player("random")))
    return game, [choice for place, choice in enumerate(game.moves) if game.side_of(place) == 0]


@pytest.mark.parametrize("number", range(4))
def test_solved_scores_and_known_results_are_kept_to_the_end(othello: Game, mobility: str, number: int) -> None:
    # The opponent can only err in favour of a player who does not.
    game, choices = play(othello, mobility, "depth=1,solve=8", number)
    solved = [choice for choice in choices if choice.exact]
    scores = [choice.score for choice in solved if choice.score is not None]
    assert len(scores) == len(solved) >= 2
    assert game.score is not None
    assert scores == sorted(scores) and scores[-1] <= game.score
    assert [choice.result for choice in solved] == [(score > 0) - (score < 0) for score in scores]
    game, choices = play(othello, mobility, "depth=1,result=10", number)
    results = [choice.result for choice in choices if choice.result is not None]
    assert len(results) >= 2
    assert results == sorted(results) and results[-1] <= game.result


def test_a_player_forgets_the_games_before(othello: Game, mobility: str) -> None:
    position: Any = othello.initial_position
    player = make(othello, mobility, "depth=5")
    player.new_game(0)
    first = player.choose(position, [], None)
    assert (first.depth, first.exact, first.result) == (5, False, None)
    again = player.choose(position, [], None)
    assert again.nodes < first.nodes
    player.new_game(1)
    fresh = player.choose(position, [], None)
    assert (fresh.move, fresh.score, fresh.nodes) == (first.move, first.score, first.nodes)


@pytest.mark.parametrize(
    ("text", "empties"),
    # A thousand times the seconds, ten empty squares more; a number of moves, or no time, has its way.
    [("seconds=0.002", 12), ("seconds=2", 22), ("seconds=2,solve=9", 9), ("seconds=2,solve=0", 0), ("depth=4", 0)],
)
def test_positions_are_solved_from_where_it_is_likely_to_fit_into_the_time(
    othello: Game, mobility: str, text: str, empties: int
) -> None:
    player = Thinker(othello, parse_player(f"{mobility},{text},table=1"))
    line = random_line(othello, np.random.default_rng(3))[0]
    solved = [
        64 - int(position.own | position.opponent).bit_count()
        for position in line
        if player.solver_for(position, player.spec.limits.seconds) is not None
    ]
    assert max(solved, default=0) == empties


def test_a_move_on_a_clock_is_solved_exactly_or_for_the_result(
    othello: Game, mobility: str, endgames: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    player = make(othello, mobility, "clock=60")
    assert isinstance(player, Thinker)
    alone = Thinker(othello, parse_player(f"{mobility},depth=1,solve={EMPTIES}"))
    for position in endgames:
        exact = player.choose(position, [], Clock(60.0))
        assert exact.exact and exact.score == alone.choose(position, [], None).score
    monkeypatch.setattr(player, "_usual_nodes", lambda _left, *, result_only=False: 0.0 if result_only else 1e30)
    for position in endgames:
        assert player.choose(position, [], Clock(60.0)).result == alone.choose(position, [], None).result
    monkeypatch.setattr(player, "_usual_nodes", lambda _left, *, result_only=False: 1e30)
    assert player.choose(endgames[0], [], Clock(60.0)).result is None


def test_a_new_game_is_searched_and_solved_as_by_a_new_player(
    othello: Game, mobility: str, endgames: list[Any]
) -> None:
    """Through all eras of both tables and into the next ones, whose numbers the entries of the first ones have."""
    player = make(othello, mobility, f"depth=4,table=1,solve={EMPTIES}")
    asked = [othello.initial_position, endgames[0], endgames[1]]
    found_in_games = []
    for number in range(300):
        player.new_game(number)
        # In every third game something else is known before, which the other games must not hear of.
        if number % 3:
            player.choose(asked[number % 3], [], None)
            player.choose(endgames[number % len(endgames)], [], None)
            player.new_game(number)
        found = [player.choose(position, [], None) for position in asked]
        found_in_games.append([(choice.move, choice.score, choice.nodes) for choice in found])
    assert found_in_games == found_in_games[:1] * len(found_in_games)
    assert all(nodes > 1 for _, _, nodes in found_in_games[0])


def test_the_only_move_is_played_at_once(othello: Game, mobility: str) -> None:
    position: Any = othello.initial_position
    player = make(othello, mobility, "depth=3")
    previous = []
    while len(othello.list_legal_moves(position)) > 1:
        previous.append(position)
        position = othello.play(position, othello.list_legal_moves(position)[-1])
    choice = player.choose(position, previous, None)
    assert (choice.move, choice.score, choice.nodes) == (othello.list_legal_moves(position)[0], None, 0)


@pytest.mark.parametrize("remaining", [0.0, 0.001, 1.0])
def test_an_empty_clock_still_gives_a_move(othello: Game, mobility: str, remaining: float) -> None:
    player = make(othello, mobility, "clock=1+0.01,solve=60")
    position: Any = othello.initial_position
    choice = player.choose(position, [], Clock(remaining, 0.01))
    assert choice.move in othello.list_legal_moves(position)
    assert not choice.exact


def test_solver_and_search_share_the_nodes(othello: Game, mobility: str) -> None:
    player = make(othello, mobility, "nodes=4000,solve=60")
    choice = player.choose(othello.initial_position, [], None)
    assert not choice.exact
    assert choice.depth > 0
    assert choice.nodes == 4000
