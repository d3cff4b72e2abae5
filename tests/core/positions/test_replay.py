"""The compiled replay against plain Python, on a real game and on one whose positions have fields of several types."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling.columns import position_at
from glem.core.game.game import Game, load_game
from glem.core.positions.replay import FINISHED, ILLEGAL, UNFINISHED, replay
from tests.core.game.countdown_game import COUNTDOWN
from tests.oracles.replay import Step, random_game, records_of, replay_game

OTHELLO = load_game("othello")


def check(game: Game, games: Sequence[Sequence[int]], firsts: Sequence[Step] = ()) -> None:
    """Every column of the replay equals the oracle's; games may begin each at a step of its own."""
    records = records_of(games)
    if firsts:
        fields = zip(*(step.position for step in firsts), strict=True)
        starts = game.position_type(*map(np.array, fields))
        records = attrs.evolve(records, starts=starts, start_side=np.array([step.side for step in firsts], np.int8))
    whole = replay(game, records)
    assert len(replay(game, records.select(slice(0, 0))).status) == 0
    assert whole.offsets[0] == 0
    assert len(whole.record) == whole.offsets[-1]
    for index, moves in enumerate(games):
        begin, side = firsts[index][:2] if firsts else (None, 1)
        plain = replay_game(game, moves, begin)
        rows = range(int(whole.offsets[index]), int(whole.offsets[index + 1]))
        assert [position_at(whole.positions, row) for row in rows] == [step.position for step in plain.steps]
        assert whole.side[rows].tolist() == [side * step.side for step in plain.steps]
        assert whole.move[rows].tolist() == [step.move for step in plain.steps]
        assert whole.ply[rows].tolist() == list(range(len(plain.steps)))
        assert set(whole.record[rows].tolist()) == {index}
        inserted = [step for step in plain.steps[:-1] if step.move != game.pass_move or game.pass_move in moves]
        legal = whole.move_side[records.offsets[index] : records.offsets[index + 1]]
        assert legal[: len(inserted)].tolist() == [side * step.side for step in inserted]
        assert not legal[len(inserted) :].any()
        assert whole.status[index] == plain.status
        assert whole.illegal_at[index] == plain.illegal_at
        assert whole.final_score[index] == side * plain.final_score


@pytest.fixture(scope="module")
def games() -> list[list[int]]:
    random = np.random.default_rng(1)
    return [random_game(OTHELLO, random) for _ in range(40)]


def test_whole_games(games: list[list[int]]) -> None:
    check(OTHELLO, games)
    assert (replay(OTHELLO, records_of(games)).status == FINISHED).all()
    assert any(OTHELLO.pass_move in replay(OTHELLO, records_of([game])).move for game in games)


def test_games_that_stop_early(games: list[list[int]]) -> None:
    cut = [game[: 7 * index % len(game)] for index, game in enumerate(games)]
    check(OTHELLO, cut)
    assert UNFINISHED in replay(OTHELLO, records_of(cut)).status


def test_moves_behind_the_end_are_illegal(games: list[list[int]]) -> None:
    records = records_of([[*games[0], 0]])
    found = replay(OTHELLO, records)
    assert (found.status.tolist(), found.illegal_at.tolist()) == ([ILLEGAL], [len(games[0])])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_games(games: list[list[int]], data: st.DataObject) -> None:
    game = list(data.draw(st.sampled_from(games)))
    for _ in range(data.draw(st.integers(1, 3))):
        game[data.draw(st.integers(0, len(game) - 1))] = data.draw(st.integers(-2, 300))
    check(OTHELLO, [game, game[::-1]])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-1, 4), max_size=11), max_size=6))
def test_another_game_without_passes(games: list[list[int]]) -> None:
    check(COUNTDOWN, games)


def test_written_passes(games: list[list[int]]) -> None:
    written = [[step.move for step in replay_game(OTHELLO, game).steps[:-1]] for game in games]
    check(OTHELLO, [moves for moves in written if 64 in moves])
    inserted, kept = replay(OTHELLO, records_of(games)), replay(OTHELLO, records_of(written))
    assert np.array_equal(inserted.positions.own, kept.positions.own)
    assert np.array_equal(inserted.move, kept.move)


def test_a_missing_pass_is_illegal_where_the_game_has_none(games: list[list[int]]) -> None:
    strict = attrs.evolve(OTHELLO, pass_move=None)
    passing = next(game for game in games if 64 in replay(OTHELLO, records_of([game])).move)
    assert replay(strict, records_of([passing])).status.tolist() == [ILLEGAL]


def test_every_game_has_a_start_of_its_own(games: list[list[int]]) -> None:
    steps = [replay_game(OTHELLO, game).steps[ply:] for game, ply in zip(games, (0, 11, 20), strict=False)]
    check(OTHELLO, [[step.move for step in rest[:-1]] for rest in steps], firsts=[rest[0] for rest in steps])


def test_selected_games_are_those_of_their_own_replay(games: list[list[int]]) -> None:
    records = records_of(games)
    records = attrs.evolve(records, played=replay(OTHELLO, records))
    for chosen in (np.arange(len(games)) % 3 == 0, np.array([7, 2]), slice(5, 5)):
        some = records.select(chosen)
        expected = replay(OTHELLO, attrs.evolve(some, played=None))
        found = some.played._asdict()
        for name, column in expected._asdict().items():
            for one, other in zip(np.atleast_2d(found[name]), np.atleast_2d(column), strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)


def test_no_games_and_games_without_moves() -> None:
    check(OTHELLO, [])
    check(OTHELLO, [[], []])


@pytest.mark.repeats  # two more processes: any kernel of one game is another's miss in the cache
def test_the_cache_survives_a_game_that_is_gone(tmp_path: Path) -> None:
    """A process that cannot import this module's game still replays its own."""
    program = (
        "import numpy as np; from glem.core.game.game import load_game; "
        "from glem.core.game.records import GameRecords; "
        "from glem.core.positions.replay import replay; "
        "records = GameRecords.from_moves(np.array([37, 43]), np.array([0, 2])); "
        "print(replay(load_game('othello'), records).status)"
    )
    here = "import tests.core.positions.test_replay as here; here.replay(here.COUNTDOWN, here.records_of([[1, 2]])); "
    environment = {**os.environ, "GLEM_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ""}
    root = Path(__file__).resolve().parents[3]
    subprocess.run([sys.executable, "-c", here], cwd=root, env=environment, check=True)
    elsewhere = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert elsewhere.stdout == "[1]\n"
