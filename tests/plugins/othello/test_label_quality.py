"""How far labels of tournament games are from exact scores: what the choice of ``auto`` labels rests on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.games.othello.solver import EndgameSolver


@pytest.mark.shared
def test_fading_labels_are_better_than_either_score_alone(othello: Game, shared: Path) -> None:
    games = GameRecords.concatenate(list(read_records(othello, shared / "othello" / "wthor" / "WTH_2010.wtb")))
    chosen = np.random.default_rng(0).choice(len(games), 400, replace=False)
    games = games.select(np.sort(chosen))
    results, faded = (positions_of_records(othello, [games], label=label) for label in ("result", "auto"))
    exact_of_game = positions_of_records(othello, [games], label="theoretical")
    exact = dict(
        zip(exact_of_game.record[exact_of_game.ply == 0], exact_of_game.label[exact_of_game.ply == 0], strict=True)
    )
    empties = 64 - np.bitwise_count(results.positions.own | results.positions.opponent)
    solver = EndgameSolver(table_mb=16)
    for count in (14, 12, 10):
        # Without draws, whose labels do not tell the side to move.
        rows = np.flatnonzero((empties == count) & np.isin(results.record, list(exact)) & (results.label != 0))
        truth = np.array([solver.solve(position_at(results.positions, row)).score for row in rows])
        first = [np.flatnonzero((results.record == record) & (results.ply == 0))[0] for record in results.record[rows]]
        side = np.where(results.label[rows] == results.label[first], 1, -1)
        theoretical = side * np.array([exact[record] for record in results.record[rows]])
        by_result, by_theory, by_both = (
            np.sqrt(np.mean((label - truth) ** 2)) for label in (results.label[rows], theoretical, faded.label[rows])
        )
        print(f"{count} empties: result {by_result:.2f}, theoretical {by_theory:.2f}, auto {by_both:.2f}")
        assert by_both < by_result
        assert by_both < by_theory
