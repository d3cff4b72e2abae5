"""Tournaments of quick players, and players for worker processes."""

from __future__ import annotations

from typing import Any

from glem.core.game import Game
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.players import parse_player
from glem.core.tournament.tournament import Tournament

QUICK = ("random", "greedy,evaluation=mobility", "name=other,kind=random,seed=1")


def quick_tournament(game: Game, *players: str, pairs: int = 6, **settings: Any) -> Tournament:
    """Every opening is one pair of games for each two players."""
    openings = choose_openings(game, plies=4, count=pairs, seed=1)
    return Tournament(game, tuple(parse_player(text) for text in players or QUICK), tuple(openings), **settings)
