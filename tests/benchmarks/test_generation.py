"""Material for learning: games played, labels by search, results propagated through all tournament games.

The evaluation is the one that comes with Othello; times are those of one process.
"""

from pathlib import Path
from typing import Any

import pytest

from glem.core.game.game import Game
from glem.core.labelling.by_search import SearchLabelling, label_by_search
from glem.core.labelling.training_games import GenerationSettings, generate
from glem.core.players.spec import parse_player
from glem.core.positions.game_tree import GameTree
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.core.tournament.opening_choice import OpeningPlan
from tests.benchmarks.measuring import tournament_records


def play(game: Game, folder: Path, games: int) -> Any:
    player = parse_player("default,depth=4,solve=10,table=2")
    settings = GenerationSettings(players=(player,), openings=OpeningPlan("random", 8, 8), exploration=0.02)
    return generate(game, folder, settings, games=games)


def test_generate(benchmark: Any, othello: Game, tmp_path: Path) -> None:
    play(othello, tmp_path / "warm", 1)
    folders = iter(tmp_path / str(place) for place in range(10))
    found = benchmark.pedantic(play, setup=lambda: ((othello, next(folders), 100), {}), rounds=3)
    assert found.positions > 5500


def test_label(benchmark: Any, othello: Game, tmp_path: Path) -> None:
    games = play(othello, tmp_path / "games", 60)
    records = (part for path in games.files for part in read_records(othello, path))
    positions = positions_of_records(othello, records).merge_duplicates()
    settings = SearchLabelling(parse_player("default,depth=6,solve=10,table=2"))
    folders = iter(tmp_path / str(place) for place in range(10))

    def label(folder: Path) -> int:
        return sum(len(part) for part in label_by_search(positions, settings, folder))

    label(next(folders))
    count = benchmark.pedantic(label, setup=lambda: ((next(folders),), {}), rounds=3)
    assert count > 1.9 * len(positions)


@pytest.fixture(scope="module")
def tree(othello: Game, shared: Path) -> GameTree:
    return GameTree.from_records(othello, tournament_records(othello, shared / "othello" / "wthor"))


@pytest.mark.shared
def test_propagate_all_tournament_games(benchmark: Any, tree: GameTree) -> None:
    value = benchmark.pedantic(tree.propagate, rounds=5, warmup_rounds=1)
    assert len(value) > 6_000_000
