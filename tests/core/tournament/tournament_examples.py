"""Tournaments of quick players, and games in worker processes that die."""

import os
from pathlib import Path
from typing import Any

import psutil

from glem.core.game.game import Game
from glem.core.players.spec import parse_player
from glem.core.tournament.games import GameTask, PlayedGame, play_game
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.tournament import Tournament

QUICK = ("random", "greedy,evaluation=mobility", "name=other,kind=random,seed=1")


def quick_tournament(game: Game, *players: str, pairs: int = 6, **settings: Any) -> Tournament:
    """Every opening is one pair of games for each two players."""
    openings = choose_openings(game, plies=4, count=pairs, seed=1)
    return Tournament(game, tuple(parse_player(text) for text in players or QUICK), tuple(openings), **settings)


def killed_once_then_played(task: GameTask) -> PlayedGame:
    """Play a game; the first process that has game 7 dies of it."""
    marker = Path(os.environ["GLEM_TEST_MARKER"])
    if task.number == 7 and not marker.exists():
        marker.touch()
        psutil.Process().kill()
    return play_game(task)
