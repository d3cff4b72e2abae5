"""What a tournament costs beside its players: ``pytest tests/benchmarks/test_tournament.py -s``.

The time of a game outside its players (rules, records) is compared with that of players who search two plies, and a
record's ``fsync`` with a game. Judging openings and starting workers are in the times of whole commands only.
"""

import time
from pathlib import Path

import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.tasks.journal import Journal
from glem.core.tournament.games import GameTask, play_game
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.openings import Opening
from tests.core.evaluation.linear_evaluations import mobility_evaluation

GAMES = 40


@pytest.fixture(scope="module")
def searcher(othello_learning: Learning, tmp_path_factory: pytest.TempPathFactory) -> PlayerSpec:
    path = tmp_path_factory.mktemp("model") / "mobility.npz"
    mobility_evaluation(othello_learning).save(path)
    return parse_player(f"name=searcher,evaluation={path},depth=2")


@pytest.mark.parametrize("kind", ["random", "searcher"])
def test_games(benchmark, othello: Game, searcher: PlayerSpec, kind: str):
    openings = choose_openings(othello, plies=8, count=GAMES)
    first = searcher if kind == "searcher" else parse_player("random,name=first")
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
