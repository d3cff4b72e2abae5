"""Scores in comments: which side they speak for, what they count in, and which position they belong to."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from glem.core.game.records import GameRecords
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.comments import (
    COMMENT_KINDS,
    FIRST,
    HUNDREDTHS,
    MOVER,
    PAWNS,
    CommentConvention,
    CommentScorer,
    CommentStatistics,
    conventions_of,
)
from glem.core.positions.positions import Positions
from tests.core.game.countdown_game import COUNTDOWN

PLIES = 40


class Board(NamedTuple):
    """Columns of a position that nobody looks at."""

    key: Any


def drifting_scores(games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores [games, PLIES] of the first player in pawns, as two players see a game drift, and results [games]."""
    generator = np.random.default_rng(seed)
    truth = np.cumsum(generator.normal(0.02, 0.4, (games, PLIES)), axis=1)
    scores = np.round(truth + generator.normal(0, 0.1, truth.shape), 2)
    return scores, np.sign(np.where(abs(truth[:, -1]) < 0.5, 0, truth[:, -1]))


def records_of(
    written: Any, results: Any, event: str, kind: str, start_side: int = 1, players: tuple[str, ...] = ()
) -> GameRecords:
    """Games of ``players``, if given: the first and the second of them change sides from game to game."""
    games, plies = written.shape
    sides = {"black": np.arange(games) % 2, "white": 1 - np.arange(games) % 2} if players else {}
    return GameRecords.from_moves(
        np.zeros(games * plies, np.int16),
        np.arange(games + 1) * plies,
        results.astype(np.float32),
        extra={"event": np.zeros(games, np.int32), **{name: side.astype(np.int32) for name, side in sides.items()}},
        names={"event": (event,), **dict.fromkeys(sides, players)},
        starts=None if start_side == 1 else Board(np.zeros(games, np.uint64)),
        start_side=None if start_side == 1 else np.full(games, start_side, np.int8),
        move_columns={
            "comment_score": written.astype(np.float32).ravel(),
            "comment_kind": np.full(games * plies, COMMENT_KINDS.index(kind), np.uint8),
        },
    )


def selected_of(records: GameRecords, move: Any) -> Positions:
    """Positions in which some moves were made."""
    record = np.searchsorted(records.offsets, move, side="right") - 1
    ply = np.where(move < 0, -1, move - records.offsets[record])
    begun = 1 if records.start_side is None else int(records.start_side[0])
    side = (begun * (1 - 2 * (ply % 2))).astype(np.int8)
    boards = COUNTDOWN.empty_columns(len(move))
    label = np.zeros(len(move), np.float32)
    extra = {"side": side, "row": record, "move": move}
    return Positions(COUNTDOWN, boards, label, records=records, extra=extra)


def written_as(scores: Any, side: str, unit: str) -> Any:
    turn = 1 - 2 * (np.arange(PLIES) % 2) if side == MOVER else 1
    return np.rint(100 * scores * turn) if unit == HUNDREDTHS else scores * turn


def convention(records: GameRecords) -> CommentConvention:
    statistics = CommentStatistics()
    statistics.add(records)
    (found,) = conventions_of(statistics)
    return found


@pytest.mark.parametrize("side", [FIRST, MOVER])
@pytest.mark.parametrize("unit", [PAWNS, HUNDREDTHS])
def test_side_and_unit_are_found(side: str, unit: str) -> None:
    scores, results = drifting_scores(6, seed=1)
    found = convention(records_of(written_as(scores, side, unit), results, "Match", "ev"))
    assert (found.side, found.unit, found.side_from, found.unit_from) == (side, unit, "previous", "size")
    assert (found.games, found.scores) == (6, 6 * PLIES)
    assert not found.is_doubtful
    assert abs(found.previous) > 0.5


def test_one_player_alone_is_told_by_the_results() -> None:
    scores, results = drifting_scores(60, seed=2)
    written = written_as(scores, MOVER, PAWNS)
    written[:, ::2] = np.nan
    found = convention(records_of(written, results, "Match", "plain"))
    assert (found.side, found.side_from) == (MOVER, "result")
    assert math.isnan(found.previous)


def test_results_that_contradict_are_told() -> None:
    scores, results = drifting_scores(60, seed=3)
    records = records_of(scores, -results, "Match", "wv")
    found = convention(records)
    assert found.side == FIRST
    assert found.is_doubtful


@pytest.mark.parametrize(
    ("kind", "side", "side_from"),
    [
        ("plain", MOVER, "assumed"),
        ("ev", FIRST, "assumed"),
        ("ce", FIRST, "assumed"),
        ("wv", FIRST, "defined"),
        ("eval", FIRST, "defined"),
    ],
)
def test_without_evidence_the_custom_is_assumed(kind: str, side: str, side_from: str) -> None:
    found = convention(records_of(np.full((1, 4), 0.25), np.zeros(1), "Match", kind))
    assert (found.side, found.side_from, found.unit_from) == (side, side_from, "assumed")
    assert found.unit == (HUNDREDTHS if kind == "ce" else PAWNS)


def test_one_player_writes_pawns_and_the_other_small_hundredths() -> None:
    scores, results = drifting_scores(12, seed=9)
    scores = np.round(scores * 2 / np.abs(scores).max(), 2)
    written = scores.copy()
    written[:, ::2] = np.rint(100 * scores[:, ::2])
    records = records_of(written, results, "Match", "plain")
    records.move_columns["comment_kind"][::2] = COMMENT_KINDS.index("ce")
    scorer = CommentScorer("comments", side=FIRST)
    selected = selected_of(records, np.arange(12 * PLIES))
    value = scorer.complete(scorer.predict(selected)).value
    np.testing.assert_allclose(value * selected.side, scores.ravel(), atol=0.006)


def test_what_speaks_for_the_first_player_by_definition_is_not_read_for_the_mover_by_its_signs() -> None:
    """Each of two players thinks itself ahead, and one of them writes the same all along."""
    scores, results = drifting_scores(12, seed=7)
    scores[:, ::2], scores[:, 1::2] = 0.16, -abs(scores[:, 1::2])
    wv, ev = (convention(records_of(scores, results, "Match", kind)) for kind in ("wv", "ev"))
    assert (wv.side, wv.is_doubtful) == (FIRST, True)
    assert (ev.side, ev.side_from) == (MOVER, "previous")


@pytest.mark.parametrize(("games", "side"), [(9, FIRST), (30, MOVER)])
def test_a_definition_yields_to_signs_and_results_of_many_games(games: int, side: str) -> None:
    scores, results = drifting_scores(games, seed=8)
    found = convention(records_of(written_as(scores, MOVER, PAWNS), results, "Match", "wv"))
    assert found.side == side
    assert found.is_doubtful == (side == FIRST)


def test_values_are_pawns_of_the_side_to_move() -> None:
    """Two events of different customs in one collection, in two parts; the second player begins in one."""
    scores, results = drifting_scores(8, seed=4)
    scorer = CommentScorer("comments")
    scorer.begin()
    predictions = []
    expected = []
    move = np.array([3, 46, 90, 200])
    for event, side, unit, start_side in (("A", FIRST, PAWNS, 1), ("B", MOVER, HUNDREDTHS, 1), ("C", FIRST, PAWNS, -1)):
        selected = selected_of(
            records_of(written_as(scores, side, unit), results, event, "ev", start_side=start_side), move
        )
        predictions.append(scorer.predict(selected).value)
        expected.append(scores.ravel()[move] * (selected.side if side == FIRST else 1 - 2 * (move % 2)))
    found = scorer.complete(Prediction(np.concatenate(predictions)))
    np.testing.assert_allclose(found.value, np.concatenate(expected), atol=0.006)


def test_a_game_in_hundredths_among_pawns() -> None:
    scores, results = drifting_scores(12, seed=5)
    scores[7] = np.round(0.9 * np.tanh(scores[7]), 2)
    written = scores.copy()
    written[7, :30] = np.rint(100 * (scores[7, :30] + 5))
    scorer = CommentScorer("comments")
    move = np.arange(7 * PLIES, 8 * PLIES)
    value = scorer.complete(scorer.predict(selected_of(records_of(written, results, "A", "wv"), move))).value
    turn = 1 - 2 * (np.arange(PLIES) % 2)
    np.testing.assert_allclose(value[:30] * turn[:30], np.round(scores[7, :30] + 5, 2), atol=0.006)
    np.testing.assert_allclose(value[30:] * turn[30:], scores[7, 30:], atol=0.006)
    assert any("1 game of events in pawns" in remark for remark in scorer.remarks())


def test_mates_missing_scores_and_options() -> None:
    scores, results = drifting_scores(8, seed=6)
    scores[0, 0], scores[0, 1], scores[0, 2] = math.inf, -math.inf, math.nan
    records = records_of(scores, results, "A", "wv")
    records.move_columns["comment_kind"][3] = COMMENT_KINDS.index("ev")
    selected = selected_of(records, np.array([0, 1, 2, 3, -1]))
    scorer = CommentScorer("comments", mate=50, kind="wv")
    value = scorer.complete(scorer.predict(selected)).value
    np.testing.assert_array_equal(value, [50, 50, math.nan, math.nan, math.nan])
    summary, by_event = scorer.tables()
    assert summary.rows[0][:2] == ("wv", FIRST)
    assert {row[1] for row in by_event.rows} == {"wv", "ev"}


def _always(size: float) -> Any:
    return lambda own, _decided: np.copysign(size, own)


def _mostly(size: float, share: float, *, decided: bool = True) -> Any:
    """Write one score in a share of the moves, of the decided games or of the drawn ones."""
    return lambda own, is_decided: np.where(
        (is_decided == decided) & (np.arange(own.size).reshape(own.shape) % 100 < 100 * share), size, own
    )


@pytest.mark.parametrize(
    ("writes", "told"),
    [
        (_always(0.0), "silent (0)"),
        (_always(0.16), "silent (0.16)"),
        (_mostly(0.0, 0.75), "silent (0)"),
        (_mostly(0.0, 1, decided=False), ""),
        (_mostly(50.0, 0.75), ""),
        (_mostly(math.inf, 0.75), ""),
    ],
)
@pytest.mark.parametrize("start_side", [1, -1])
def test_players_who_always_write_one_score_have_none(writes: Any, told: str, start_side: int) -> None:
    scorer = CommentScorer("comments", side=FIRST)
    values, expected, silent = [], [], []
    for seed in range(3):
        scores, results = drifting_scores(10, seed)
        own = (np.arange(PLIES) + np.arange(10)[:, None] + (start_side < 0)) % 2 == 0
        written = np.where(own, writes(scores, (results != 0)[:, None]), scores)
        records = records_of(written, results, "A", "ev", start_side, ("silent", "talking"))
        selected = selected_of(records, np.arange(10 * PLIES))
        values.append(scorer.predict(selected).value)
        expected.append(written.ravel() * selected.side)
        silent.append(own.ravel())
    value = scorer.complete(Prediction(np.concatenate(values))).value
    wanted, rows = np.concatenate(expected), np.concatenate(silent)
    if told:
        size = float(told[8:-1])
        wanted[rows & np.isclose(np.abs(wanted), size)] = np.nan
    np.testing.assert_allclose(value, wanted, atol=1e-6)
    remarks = [remark for remark in scorer.remarks() if "never change" in remark]
    assert len(remarks) == bool(told)
    assert not told or remarks[0].endswith(f"positions: {told}")


def test_what_has_no_comments_has_no_scores_and_that_is_told() -> None:
    scorer = CommentScorer("comments")
    scores, results = drifting_scores(2, seed=7)
    records, bare = (records_of(scores, results, "A", "wv") for _ in range(2))
    bare.move_columns.clear()  # type: ignore[attr-defined]
    parts = [
        scorer.predict(Positions(COUNTDOWN, COUNTDOWN.empty_columns(3), np.zeros(3, np.float32))),
        scorer.predict(selected_of(records, np.array([1]))),
        scorer.predict(selected_of(bare, np.array([1]))),
    ]
    found = scorer.complete(Prediction(np.concatenate([part.value for part in parts])))
    assert np.isnan(found.value).tolist() == [True] * 3 + [False, True]
    positions, format_, *_ = scorer.remarks()
    assert positions.endswith("files of positions, not of games, has no scores in comments (positions: 3)")
    assert format_.endswith("files whose format has no comments has no scores in comments (positions: 1)")
