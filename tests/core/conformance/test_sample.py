"""Which positions of random games the checks look at, and what is told of the games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from attrs import evolve

from glem.core.compiling.kernels import popcount
from glem.core.conformance import check_game
from glem.core.conformance.playouts import FIRST_PLIES, sample_of
from glem.core.conformance.report import ConformanceReport
from glem.core.game.game import Game
from glem.games.othello import rules as othello_rules
from tests.core.game.countdown_game import COUNTDOWN


def transforms_wrongly_at_the_fourth_move(position, symmetry):
    early = popcount(position.own | position.opponent) == 7
    return othello_rules.transform(position, 0 if early else symmetry)


@pytest.mark.parametrize("games", [3, 10, 40])
def test_a_symmetry_that_is_wrong_at_one_early_ply_is_caught_in_any_number_of_games(othello: Game, games: int):
    broken = evolve(othello, transform=transforms_wrongly_at_the_fourth_move)
    report = check_game(broken, games=games, plain=True)
    assert "under symmetry 1" in next(result for result in report.results if result.name == "symmetries").failures[0]


def test_samples_hold_all_positions_of_the_first_plies_and_others_by_lot(othello: Game):
    sample = sample_of(othello, 40, 0, ConformanceReport("Othello"))
    rows = sample.some(30)
    assert rows == sorted(set(rows))

    def early(rows: Iterable[int]) -> list[Any]:
        return [tuple(sample.positions[row]) for row in rows if len(sample.history[row]) < FIRST_PLIES]

    different = list(dict.fromkeys(early(range(len(sample.positions)))))
    assert early(rows) == different
    assert len(rows) == len(different) + 30
    assert len({len(sample.history[row]) for row in rows}) > FIRST_PLIES + 15
    assert sample.some(10**6)[-1] == len(sample.positions) - 1


def loses_with_the_last_stone(position):
    return 1


def moves_anywhere_at_the_start(position, moves, start):
    count = othello_rules.legal_moves(position, moves, start)
    if popcount(position.own | position.opponent) == 4:
        moves[start + count] = 0
        count += 1
    return count


def test_how_random_games_went_is_told(othello: Game):
    told = check_game(COUNTDOWN, games=40, plain=True).notes
    assert "; who moved last won 40 and lost 0" in told[0]
    assert told[1].endswith("perft from the start 3, 9, 27")
    wrong_sign = check_game(evolve(COUNTDOWN, final_score=loses_with_the_last_stone), games=40, plain=True)
    assert wrong_sign.passed
    assert "; who moved last won 0 and lost 40" in wrong_sign.notes[0]
    assert check_game(othello, games=3, plain=True).notes[1].endswith("perft from the start 4, 12, 56, 244, 1396")
    illegal = evolve(othello, legal_moves=moves_anywhere_at_the_start, count_moves=None, search_functions={})
    assert "perft from the start 5, " in "".join(check_game(illegal, games=3, plain=True).notes)
