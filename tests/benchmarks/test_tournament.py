"""What a tournament costs beside its players: ``pytest tests/benchmarks/test_tournament.py -s``.

The time of a game outside its players (rules, records) is compared with that of players who search two plies, and a
record's ``fsync`` with a game. Judging openings and starting workers are in the times of whole commands only.
"""

import time
from pathlib import Path

import pytest

from glem.core.game.game import Game
from glem.core.players.spec import parse_player
from glem.core.tasks.journal import Journal
from glem.core.tournament.games import GameTask, play_game
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.openings import Opening

GAMES = 40


@pytest.mark.parametrize("kind", ["random", "searcher"])
def test_games(benchmark, othello: Game, mobility: str, kind: str):
    openings = choose_openings(othello, plies=8, count=GAMES)
    first = parse_player(f"name=first,evaluation={mobility},depth=2" if kind == "searcher" else "random,name=first")
    tasks = [
        GameTask(othello, number, opening, first, parse_player("random")) for number, opening in enumerate(openings)
    ]

    def play() -> list[float]:
        return [sum(move.seconds for move in play_game(task).moves) for task in tasks]

    play()
    began = time.perf_counter()
    inside = sum(play())
    whole = time.perf_counter() - began
    benchmark.pedantic(play, rounds=5)
    benchmark.extra_info["share of the players"] = round(inside / whole, 2)
    print(f"{GAMES / benchmark.stats.stats.median:.0f} games/s, the players take {inside / whole:.0%} of the time")


def test_record_of_a_game(benchmark, othello: Game, tmp_path: Path):
    game = play_game(GameTask(othello, 0, Opening(), parse_player("random,name=first"), parse_player("random")))
    with Journal(tmp_path / "record", "benchmark", {}) as journal:
        benchmark(lambda: journal.append(game.to_json(othello)))
