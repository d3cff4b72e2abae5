"""The player that searches and solves."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from glem.core.game.game import Game
from glem.core.players.making import make_player
from glem.core.players.player import MoveChoice, Player
from glem.core.players.spec import parse_player
from glem.core.search.results import Clock
from glem.core.tournament.games import GameTask, PlayedGame, play_game
from glem.core.tournament.opening_choice import choose_openings


def make(othello: Game, mobility: str, limits: str) -> Player:
    return make_player(othello, parse_player(f"name=searcher,evaluation={mobility},{limits}"))


def play(othello: Game, mobility: str, limits: str, number: int) -> PlayedGame:
    opening = choose_openings(othello, plies=6, count=number + 1)[number]
    first = parse_player(f"name=searcher,evaluation={mobility},{limits}")
    return play_game(GameTask(othello, number, opening, first, parse_player("random")))


def choices(game: PlayedGame) -> list[MoveChoice]:
    """Moves of the player who searches."""
    return [choice for place, choice in enumerate(game.moves) if game.side_of(place) == 0]


@pytest.mark.parametrize("number", range(4))
def test_solved_scores_are_kept_to_the_end(othello: Game, mobility: str, number: int) -> None:
    game = play(othello, mobility, "depth=1,solve=8", number)
    solved = [choice for choice in choices(game) if choice.exact]
    assert len(solved) >= 2
    scores = [choice.score for choice in solved if choice.score is not None]
    # The opponent can only err in favour of a player who does not.
    assert scores == sorted(scores)
    assert game.score is not None
    assert scores[-1] <= game.score
    assert [choice.result for choice in solved] == [(score > 0) - (score < 0) for score in scores]


@pytest.mark.parametrize("number", range(4))
def test_known_results_are_kept_to_the_end(othello: Game, mobility: str, number: int) -> None:
    game = play(othello, mobility, "depth=1,result=10", number)
    results = [choice.result for choice in choices(game) if choice.result is not None]
    assert len(results) >= 2
    assert results == sorted(results)
    assert results[-1] <= game.result


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


def test_the_only_move_is_played_at_once(othello: Game, mobility: str) -> None:
    position: Any = othello.initial_position
    player = make(othello, mobility, "depth=3")
    previous = []
    for move in othello.list_legal_moves(position):
        after = othello.play(position, move)
        assert len(othello.list_legal_moves(after)) == 3
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


def test_a_stop_ends_the_search(othello: Game, mobility: str) -> None:
    player = make(othello, mobility, "depth=60,solve=60")
    stop = threading.Event()
    timer = threading.Timer(0.2, stop.set)
    timer.start()
    choice = player.choose(othello.initial_position, [], None, stop=stop)
    timer.join()
    assert choice.move in othello.list_legal_moves(othello.initial_position)
    assert choice.depth < 60
