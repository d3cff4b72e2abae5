from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.labels import (
    LABELS,
    LabelCounts,
    Selection,
    frequent_players,
    label_records,
    positions_of_records,
    serious_error,
)
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records
from tests.core.game.countdown_game import COUNTDOWN
from tests.core.positions.test_positions import assert_same
from tests.oracles import positions as oracle
from tests.oracles.replay import random_game, records_of


def random_records(game: Game, games: int, seed: int, source: str = "random") -> GameRecords:
    """Random finished games without passes; two games of three have a score at an exact move."""
    rng = np.random.default_rng(seed)
    records = evolve(records_of([random_game(game, rng) for _ in range(games)]), source=source)
    exact = rng.integers(-10, 11, games).astype(np.float32) * 2
    has_exact = np.arange(games) % 3 > 0
    return evolve(
        records,
        theoretical_score=np.where(has_exact, exact, np.nan).astype(np.float32),
        theoretical_ply=np.where(has_exact, 36, -1).astype(np.int16),
        extra={"first_player": np.arange(games) % 4, "second_player": np.arange(games) % 7 - 1},
        names={"first_player": ("Ann", "Bob", "Cy", "Di"), "second_player": ("Ann", "Eve", "Fay", "Gus", "Hal", "Ida")},
    )


def cut(records: GameRecords, game: int, length: int) -> GameRecords:
    """Records with one game shortened to ``length`` moves."""
    parts = [records.moves_of(place)[: length if place == game else None].tolist() for place in range(len(records))]
    short = records_of(parts)
    return evolve(records, moves=short.moves, offsets=short.offsets)


@pytest.fixture(scope="module")
def records(othello: Game) -> GameRecords:
    return random_records(othello, 40, 1)


@pytest.mark.parametrize("label", LABELS)
def test_labels_agree_with_the_oracle(othello: Game, records: GameRecords, label: str) -> None:
    found = positions_of_records(othello, [records], label=label)
    row = 0
    for game in range(len(records)):
        score = float(records.theoretical_score[game])
        expected = oracle.labelled(
            othello,
            records.moves_of(game).tolist(),
            label,
            None if np.isnan(score) else score,
            int(records.theoretical_ply[game]),
        )
        for position, ply, value in expected:
            assert (found.positions.own[row], found.positions.opponent[row]) == position
            assert (found.record[row], found.ply[row]) == (game, ply)
            assert found.label[row] == pytest.approx(value, abs=1e-4)
            row += 1
    assert row == len(found)
    assert found.label_kind == label
    assert found.sources == ("random",)


def test_a_result_that_confirms_the_exact_score_labels_the_rest(othello: Game, records: GameRecords) -> None:
    results = positions_of_records(othello, [records])
    first_rows = np.flatnonzero(results.ply == 0)
    confirmed = evolve(
        records,
        theoretical_score=results.label[first_rows],
        theoretical_ply=np.full(len(records), 30, np.int16),
    )
    assert np.array_equal(positions_of_records(othello, [confirmed], label="theoretical").label, results.label)
    assert np.allclose(positions_of_records(othello, [confirmed], label="auto").label, results.label, atol=1e-5)


def test_unfinished_games_have_exact_labels_only(othello: Game, records: GameRecords) -> None:
    unfinished = cut(records, 4, 40)
    counts = LabelCounts()
    found = Positions.concatenate(list(label_records(othello, [unfinished], counts=counts)), renumber=False)
    assert (counts.records, counts.unfinished) == (40, 1)
    assert 4 not in found.record
    assert counts.positions == len(found)
    assert counts.without_label >= 41
    exact = positions_of_records(othello, [unfinished], label="theoretical")
    assert (exact.ply[exact.record == 4] >= 0).sum() >= 37
    assert (np.abs(exact.label[exact.record == 4]) == abs(records.theoretical_score[4])).all()


def test_games_with_illegal_moves_are_left_out_and_counted(othello: Game, records: GameRecords) -> None:
    moves = records.moves.copy()
    moves[records.offsets[3] + 10] = moves[records.offsets[3]]
    counts = LabelCounts()
    found = list(label_records(othello, [evolve(records, moves=moves)], counts=counts))
    assert counts.illegal == 1
    assert 3 not in found[0].record


def test_the_number_of_jobs_and_the_chunks_do_not_matter(
    othello: Game, records: GameRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = Selection(per_game=5)
    whole = positions_of_records(othello, [records], selection=selection, seed=3)
    monkeypatch.setattr("glem.core.positions.labels._GAMES_AT_ONCE", 7)
    chunks = [records.select(slice(0, 11)), records.select(slice(11, 40))]
    for jobs in (1, 3):
        assert_same(positions_of_records(othello, chunks, selection=selection, seed=3, jobs=jobs), whole)


def test_drawn_positions_are_uniform_and_as_many_as_asked(othello: Game) -> None:
    records = random_records(othello, 300, 2)
    everything = positions_of_records(othello, [records])
    lengths = np.bincount(everything.record)
    draws = np.zeros(70)
    for seed in range(20):
        found = positions_of_records(othello, [records], selection=Selection(per_game=6), seed=seed)
        assert np.array_equal(np.bincount(found.record), np.minimum(lengths, 6))
        draws += np.bincount(found.ply, minlength=70)
    # 300 games, 20 seeds, 6 of about 60 positions: 600 draws a ply with a deviation of about 23.
    assert np.all(np.abs(draws[:50] - 600) < 120)


def test_selection_by_ply_and_phase(othello: Game, othello_learning: Learning, records: GameRecords) -> None:
    everything = positions_of_records(othello, [records])
    found = positions_of_records(othello, [records], selection=Selection(plies=(10, 12)))
    assert np.array_equal(found.positions.own, everything.positions.own[np.isin(everything.ply, [10, 11, 12])])
    stages = othello_learning.phases
    found = positions_of_records(othello, [records], selection=Selection(phases=(2, 7), stages=stages))
    assert set(stages.of(found.positions).tolist()) == {2, 7}
    assert len(found) == np.isin(stages.of(everything.positions), [2, 7]).sum()


def test_selection_by_players(othello: Game, records: GameRecords) -> None:
    counts = LabelCounts()
    selection = Selection(players=frozenset({"Ann"}))
    (found,) = label_records(othello, [records], selection=selection, counts=counts)
    expected = [game for game in range(40) if game % 4 == 0 or game % 7 == 1]
    assert sorted(set(found.record.tolist())) == expected
    assert counts.other_players == 40 - len(expected)
    # 10 games as first player each; as second player Ann has 6, Eve to Hal 6, 6, 6, 5, Ida 5.
    assert frequent_players([records], 11) == {"Ann"}
    assert frequent_players([records.select(slice(0, 20)), records.select(slice(20, 40))], 10) == {
        "Ann", "Bob", "Cy", "Di",
    }  # fmt: skip
    nameless = evolve(records, names={})
    with pytest.raises(BadInputError, match="random: the games name no players"):
        frequent_players([nameless], 1)


def test_selection_by_errors(othello: Game, records: GameRecords) -> None:
    results = positions_of_records(othello, [records])
    error = np.abs(results.label[results.ply == 0] - records.theoretical_score)
    counts = LabelCounts()
    (found,) = label_records(othello, [records], selection=Selection(errors=(10, 30)), counts=counts)
    expected = np.flatnonzero((error >= 10) & (error <= 30))
    assert sorted(set(found.record.tolist())) == expected.tolist()
    assert counts.other_errors == 40 - len(expected)


def test_records_are_numbered_through_the_files(othello: Game, records: GameRecords) -> None:
    numbered = evolve(records.select(slice(0, 3)), source="numbered", extra={"number": np.array([2, 3, 9])}, names={})
    other = evolve(records.select(slice(3, 5)), source="other")
    found = positions_of_records(othello, [other, numbered, numbered.select(slice(0, 0)), other])
    assert sorted(set(found.record.tolist())) == [0, 1, 3, 4, 10, 11, 12]
    assert found.sources == ("other", "numbered")
    assert set(found.record[found.source == 1].tolist()) == {3, 4, 10}


def test_the_same_game_has_the_same_key_in_every_file_and_orientation(othello: Game, records: GameRecords) -> None:
    assert othello.transform_move is not None
    # The four symmetries that keep the starting position are 0, 3, 4 and 7.
    for symmetry in (0, 3, 4, 7):
        moves = np.array([othello.transform_move(int(move), symmetry) for move in records.moves], np.uint8)
        turned = positions_of_records(othello, [evolve(records, moves=moves, source="turned")])
        assert np.array_equal(turned.game_key, positions_of_records(othello, [records]).game_key)
    everything = positions_of_records(othello, [records])
    assert len(set(everything.game_key.tolist())) == 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"plies": (5, 3)}, "plies must be a range like 20-50, got 5-3"),
        ({"errors": (5, 3)}, "errors must be a range"),
        ({"per_game": 0}, "per_game is 0"),
        ({"phases": (1,)}, "needs the game's stages"),
    ],
)
def test_impossible_selections_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        Selection(**arguments)


def test_unknown_phases_labels_and_jobs_are_refused(othello: Game, othello_learning: Learning) -> None:
    with pytest.raises(BadInputError, match="no phase 13, they run from 0 to 12"):
        Selection(phases=(13,), stages=othello_learning.phases)
    with pytest.raises(BadInputError, match="unknown label 'exact'; there are: result, theoretical, auto"):
        list(label_records(othello, [], label="exact"))
    with pytest.raises(BadInputError, match="0 jobs: at least one is needed"):
        list(label_records(othello, [], jobs=0))
    assert len(positions_of_records(othello, [])) == 0


@pytest.mark.shared
def test_a_year_of_tournament_games(othello: Game, shared: Path) -> None:
    counts = LabelCounts()
    path = shared / "othello" / "wthor" / "WTH_1985.wtb"
    parts = list(label_records(othello, read_records(othello, path), label="auto", counts=counts))
    found = Positions.concatenate(parts, renumber=False)
    assert counts.records == 954
    assert found.sources == ("WTH_1985.wtb",)
    assert len(found) == counts.positions
    assert len(set(found.record.tolist())) > 940
    assert np.abs(found.label).max() <= 64


def test_what_a_serious_error_costs_depends_on_the_scores(othello: Game) -> None:
    assert serious_error(othello) == 8
    assert serious_error(COUNTDOWN) == 0.5


def test_scores_of_unfinished_games_are_labels(othello: Game, records: GameRecords) -> None:
    stopped = evolve(cut(records.select(slice(0, 2)), 0, 20), score=np.array([6, 5], np.float32))
    counts = LabelCounts()
    labelled = Positions.concatenate(list(label_records(othello, [stopped], label="result", counts=counts)))
    assert (counts.unfinished, counts.without_label) == (0, 0)
    assert labelled.label[labelled.record == 0].tolist() == [6, -6] * 10 + [6]
    # Where the moves end the game, they have the last word.
    finished = positions_of_records(othello, [records.select(slice(1, 2))], label="result")
    assert labelled.label[labelled.record == 1].tolist() == finished.label.tolist()
