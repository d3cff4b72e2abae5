"""Whole tournaments: the same games whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import attrs
import pytest

from glem.core.errors import BadInputError
from glem.core.game import Game
from glem.core.tournament.elo import PairCounts
from glem.core.tournament.games import PlayedGame
from glem.core.tournament.sprt import Sprt, Verdict
from glem.core.tournament.tournament import Tournament, TournamentResult, read_games, run_tournament
from tests.core.tournament.tournament_examples import QUICK, quick_tournament

PATIENCE = 60.0


def untimed(game: PlayedGame) -> PlayedGame:
    return attrs.evolve(game, moves=tuple(attrs.evolve(move, seconds=0.0) for move in game.moves))


def games_of(path: Path) -> list[PlayedGame]:
    _, _, games = read_games(path)
    return sorted((untimed(game) for game in games), key=lambda game: game.number)


def untimed_figures(result: TournamentResult) -> dict[str, Any]:
    figures = result.to_json()
    for totals in figures["players"].values():
        for name in ("seconds", "seconds_per_move", "slowest"):
            del totals[name]
    return figures


@pytest.fixture(scope="module")
def whole(othello_game: Game, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[PlayedGame], dict[str, Any]]:
    """Games and figures of a tournament that nothing disturbed."""
    record = tmp_path_factory.mktemp("whole") / "record.jsonl"
    result = run_tournament(quick_tournament(othello_game), record)
    return games_of(record), untimed_figures(result)


@pytest.fixture(scope="module")
def othello_game() -> Game:
    from glem.core.game import load_game

    return load_game("othello")


def test_everyone_meets_everyone_twice_from_every_opening(whole: Any, othello_game: Game) -> None:
    games, figures = whole
    tournament = quick_tournament(othello_game)
    assert [game.number for game in games] == list(range(len(tournament))) == list(range(36))
    met = Counter((game.players, game.opening) for game in games)
    for opening in tournament.openings:
        for one, other in combinations(tournament.names, 2):
            assert met[(one, other), opening] == met[(other, one), opening] == 1
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.players == second.players[::-1]
        assert first.opening == second.opening
    assert figures["games"] == figures["games_played"] == figures["games_planned"] == 36


def test_games_replay_to_their_scores(whole: Any, othello_game: Game) -> None:
    games, _ = whole
    for game in games:
        position = game.opening.positions(othello_game)[-1]
        for move in game.moves:
            position = othello_game.play(position, move.move)
        assert othello_game.is_over(position)
        plies = len(game.opening.moves) + len(game.moves)
        own_score = othello_game.final_score(position)
        assert game.score == (own_score if plies % 2 == 0 else -own_score)
        assert game.result == (game.score > 0) - (game.score < 0)


def test_figures_count_every_game_from_the_right_side(whole: Any) -> None:
    games, figures = whole
    for name, totals in figures["players"].items():
        results = [game.result if game.players[0] == name else -game.result for game in games if name in game.players]
        assert (totals["wins"], totals["draws"], totals["losses"]) == tuple(results.count(r) for r in (1, 0, -1))
        moves = sum(game.players[game.side_of(place)] == name for game in games for place in range(len(game.moves)))
        assert totals["moves"] == moves
    for pairing in figures["pairings"]:
        one, other = pairing["players"]
        scores = Counter[float]()
        for first, second in zip(games[::2], games[1::2], strict=True):
            if {one, other} == set(first.players):
                as_first, as_second = (first, second) if first.players[0] == one else (second, first)
                scores[(as_first.result + 1) / 2 + (1 - as_second.result) / 2] += 1
        assert PairCounts(tuple(pairing["pairs"])) == PairCounts.of_scores(scores.elements())
        assert sum(pairing["pairs"]) == 6
    greedy = figures["players"]["greedy,evaluation=mobility"]
    assert greedy["score"] > 0.5
    assert greedy["nodes_per_move"] > 1


def test_two_workers_play_the_same_games(whole: Any, othello_game: Game, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    result = run_tournament(quick_tournament(othello_game), record, workers=2)
    assert (games_of(record), untimed_figures(result)) == whole


def test_a_tournament_without_a_record_gives_the_same_figures(whole: Any, othello_game: Game) -> None:
    assert untimed_figures(run_tournament(quick_tournament(othello_game))) == whole[1]
