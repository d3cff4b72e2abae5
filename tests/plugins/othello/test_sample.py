from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.core.positions.replay import FINISHED, outcomes
from glem.games.othello.rules import Position, final_score, legal_moves, play
from glem.plugins.othello.sample import SAMPLE_FILE, _command, sample_games
from glem.plugins.othello.self_play import exact_score, play_games


def minimax(position: Position) -> int:
    moves = [0] * 60
    count = legal_moves(position, moves, 0)
    if count == 0:
        return final_score(position)
    return max(-minimax(play(position, move)) for move in moves[:count])


def test_the_solver_agrees_with_minimax(othello: Game) -> None:
    positions = positions_of_records(othello, [play_games(10, 3, solved_empties=0)])
    empties = 64 - np.bitwise_count(positions.positions.own | positions.positions.opponent)
    for row in np.flatnonzero((empties >= 1) & (empties <= 6)):
        position = Position(positions.positions.own[row], positions.positions.opponent[row])
        assert exact_score(position) == minimax(position)


@pytest.mark.shared
def test_the_solver_knows_published_scores(othello: Game, shared: Path) -> None:
    import lzma

    with lzma.open(shared / "othello" / "endgame" / "exact_scores_0-8_empties.txt.xz", "rt") as file:
        lines = file.readlines()[::10]
    for line in lines:
        board, side, score = line.split()
        assert exact_score(othello.parse_position(f"{board} {side}")) == int(score)


def test_games_depend_on_seed_and_number_alone(othello: Game) -> None:
    games = play_games(40, 5, solved_empties=8)
    again = play_games(70, 5, solved_empties=8, jobs=3).select(slice(0, 40))
    assert np.array_equal(games.moves, again.moves)
    assert np.array_equal(games.score, again.score)
    assert not np.array_equal(games.moves[:200], play_games(40, 6, solved_empties=8).moves[:200])
    reached = outcomes(othello, games)
    assert (reached.status == FINISHED).all()
    assert np.array_equal(reached.final_score, games.score)


def test_the_end_is_played_perfectly(othello: Game) -> None:
    positions = positions_of_records(othello, [play_games(30, 9, solved_empties=9)])
    empties = 64 - np.bitwise_count(positions.positions.own | positions.positions.opponent)
    for row in np.flatnonzero(empties <= 9):
        position = Position(positions.positions.own[row], positions.positions.opponent[row])
        assert exact_score(position) == positions.label[row]


def test_impossible_orders_are_refused() -> None:
    with pytest.raises(BadInputError, match="at most 20"):
        play_games(1, 0, solved_empties=30)
    with pytest.raises(BadInputError, match="cannot play -1 games"):
        play_games(-1, 0)
    assert len(play_games(0, 0)) == 0


def test_the_sample_is_small_varied_and_exact_at_the_end(othello_learning: Learning) -> None:
    assert SAMPLE_FILE.stat().st_size < 1_500_000
    games = sample_games()
    assert len(games) == 5000
    assert len({games.moves_of(game).tobytes() for game in range(len(games))}) > 4990
    assert othello_learning.sample is not None
    positions = othello_learning.sample()
    assert len(positions) > 290_000
    empties = 64 - np.bitwise_count(positions.positions.own | positions.positions.opponent)
    chosen = np.random.default_rng(0).choice(np.flatnonzero((empties >= 8) & (empties <= 14)), 60)
    for row in chosen:
        position = Position(positions.positions.own[row], positions.positions.opponent[row])
        assert exact_score(position) == positions.label[row]


def test_the_command_reproduces_the_first_games_of_the_sample(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    result = CliRunner().invoke(_command, [str(path), "--games", "3", "--jobs", "2"])
    assert result.output == f"3 games in {path}\n"
    (games,) = read_records(othello, path)
    assert np.array_equal(games.moves, sample_games().select(slice(0, 3)).moves)
