"""Positions drawn from searches, and labels by search."""

from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.evaluators import Evaluator
from glem.core.labelling.by_search import Origin, SearchCounts, SearchLabelling, judge_of, label_by_search
from glem.core.labelling.sampled import PositionSampler, Samples
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.players.thinker import Thinker
from glem.core.positions.files import read_positions
from glem.core.positions.positions import Positions
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.labelling.labelling_examples import exact_value, some_positions
from tests.core.positions.test_positions import assert_same
from tests.core.search.othello_mobility import mobility_evaluator
from tests.othello import LEARNING, OTHELLO


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return evaluator_of(mobility_evaluation(LEARNING))


def keys(samples: Samples) -> list[tuple[int, int]]:
    return list(zip(*(column.tolist() for column in samples.positions), strict=True))


class Recording:
    """Notes every position that plain Python code evaluates."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.seen: list[tuple[int, int]] = []
        self.scores: dict[tuple[int, int], int] = {}
        inner = evaluator.operations["static_score"]

        def static_score(position: Any, data: Any, accumulators: Any, ply: int) -> int:
            self.seen.append((int(position.own), int(position.opponent)))
            self.scores[self.seen[-1]] = int(inner(position, data, accumulators, ply))
            return self.scores[self.seen[-1]]

        operations = type(evaluator.operations)(
            "othello-recorded", {**evaluator.operations.functions, "static_score": static_score}
        )
        self.evaluator = attrs.evolve(evaluator, operations=operations)


def test_sampling_changes_no_search_and_draws_what_it_evaluates() -> None:
    evaluator = mobility_evaluator()
    recording = Recording(evaluator)
    recorded = Searcher(OTHELLO, recording.evaluator, plain=True)
    for seed, position in enumerate(position_at(some_positions(OTHELLO, 2).positions, row) for row in range(2)):
        recorded.clear()
        recording.seen.clear()
        expected = recorded.search(position, Limits(depth=3))
        everything = PositionSampler(OTHELLO, evaluator, 1 << 14, even_room=1 << 14, window=0.5)
        few = PositionSampler(OTHELLO, evaluator, 6)
        for sampler in (everything, few):
            for plain in (True, False):
                sampler.begin(seed)
                found = Searcher(OTHELLO, sampler.evaluator, plain=plain).search(position, Limits(depth=3))
                assert (found.lines, found.nodes) == (expected.lines, expected.nodes)
                drawn = sampler.drawn()
                assert sampler.evaluator.data.counters[0] == len(recording.seen)
                if sampler is few:
                    assert len(drawn.ply) == 6
                    assert set(keys(drawn)) <= set(recording.seen)
                    continue
                usual = Counter(key for key, even in zip(keys(drawn), drawn.near_even, strict=True) if not even)
                assert usual == Counter(recording.seen)
                even = {key for key, near in zip(keys(drawn), drawn.near_even, strict=True) if near}
                steps = 0.5 * evaluator.steps_per_unit
                assert even == {key for key in usual if abs(recording.scores[key]) <= steps}


def test_equal_seeds_draw_equally_and_every_position_has_the_same_chance(evaluator: Evaluator) -> None:
    position = position_at(some_positions(OTHELLO, 1).positions, 0)
    with pytest.raises(BadInputError, match="sampled is -1"):
        SearchLabelling(parse_player("depth=2"), sampled=-1)
    with pytest.raises(BadInputError, match="3 random moves lead nowhere"):
        SearchLabelling(parse_player("depth=2"), child_moves=3)
    every = PositionSampler(OTHELLO, evaluator, 1 << 14)
    every.begin(0)
    Searcher(OTHELLO, every.evaluator).search(position, Limits(depth=2))
    room = 5
    sampler = PositionSampler(OTHELLO, evaluator, room)
    counts: Counter[tuple[int, int]] = Counter()
    rounds = 300
    searcher = Searcher(OTHELLO, sampler.evaluator)

    def drawn(seed: int) -> list[tuple[int, int]]:
        sampler.begin(seed)
        searcher.clear()
        searcher.search(position, Limits(depth=2))
        return keys(sampler.drawn())

    for seed in range(rounds):
        counts.update(drawn(seed))
    assert drawn(17) == drawn(17)
    total = int(every.evaluator.data.counters[0])
    assert total > 3 * room
    for key, times in Counter(keys(every.drawn())).items():
        expected = rounds * room * times / total
        assert abs(counts[key] - expected) < 6 * expected**0.5


def labelled(positions: Positions, settings: SearchLabelling, work: Path, **where: Any) -> Positions:
    return Positions.concatenate(list(label_by_search(positions, settings, work, **where)), renumber=False)


def settings_of(mobility: str, text: str = "depth=2,table=1", **changes: Any) -> SearchLabelling:
    return SearchLabelling(parse_player(f"{mobility},{text}"), **{"positions_per_task": 40, **changes})


def test_labels_are_search_values_and_successors_their_negation(mobility: str, tmp_path: Path) -> None:
    positions = some_positions(OTHELLO, 30)
    found = labelled(positions, settings_of(mobility, positions_per_task=30), tmp_path / "work")
    labeller = Thinker(OTHELLO, parse_player(f"{mobility},depth=2,table=1"))
    row = 0
    for place in range(len(positions)):
        position = position_at(positions.positions, place)
        expected = labeller.judge(position)
        assert position_at(found.positions, row) == position
        assert found.label[row] == np.float32(expected.score)
        assert found.ply[row] == positions.ply[place]
        assert found.game_key[row] == positions.game_key[place]
        assert found.source[row] % len(Origin) == Origin.GIVEN
        row += 1
        after = OTHELLO.play(position, expected.move)
        if not OTHELLO.is_over(after):
            assert position_at(found.positions, row) == after
            assert found.label[row] == -found.label[row - 1]
            assert found.ply[row] == positions.ply[place] + 1
            assert found.record[row] == positions.record[place]
            assert found.source[row] % len(Origin) == Origin.SUCCESSOR
            row += 1
    assert row == len(found)
    only = labelled(positions, settings_of(mobility, positions_per_task=30, only_successors=True), tmp_path / "only")
    assert_same(only, found.select(found.source % len(Origin) == Origin.SUCCESSOR))
    with pytest.raises(BadInputError, match="only successors are asked for, but none are added"):
        settings_of(mobility, only_successors=True, successors=False)
    assert found.sources == tuple(f"random ({name})" for name in ("given", "sampled", "even", "successor", "child"))


def test_children_are_positions_after_different_moves(mobility: str, tmp_path: Path) -> None:
    positions = some_positions(OTHELLO, 40)
    settings = settings_of(mobility, given=False, children=2, successors=False)
    found = labelled(positions, settings, tmp_path / "work")
    assert set(found.source % len(Origin)) == {Origin.CHILD}
    row = 0
    for place in range(len(positions)):
        position = position_at(positions.positions, place)
        legal = [OTHELLO.play(position, move) for move in OTHELLO.list_legal_moves(position)]
        room = min(2, len(legal))
        drawn = [position_at(found.positions, row + number) for number in range(room)]
        assert len(set(drawn)) == room
        assert set(drawn) <= set(legal)
        row += room
    assert row == len(found)
    settings = settings_of(mobility, given=False, children=1, child_moves=3, successors=False)
    further = labelled(positions, settings, tmp_path / "further")
    assert set(further.ply - positions.ply) == {1, 2, 3}


def test_near_the_end_labels_are_exact(mobility: str, tmp_path: Path) -> None:
    positions = some_positions(OTHELLO, 200)
    positions = positions.select(positions.ply >= 54)
    found = labelled(positions, settings_of(mobility, "depth=1,solve=8,table=1", successors=False), tmp_path / "work")
    assert len(found) == len(positions) > 10
    for row in range(len(found)):
        assert found.label[row] == exact_value(OTHELLO, position_at(found.positions, row))


def deeper(mobility: str) -> PlayerSpec:
    return parse_player(f"{mobility},depth=3,table=1")


def test_sampled_positions_lie_below_the_given_ones(mobility: str, tmp_path: Path) -> None:
    positions = some_positions(OTHELLO, 60)
    settings = settings_of(
        mobility,
        given=False,
        sampled=3,
        even=2,
        even_within=1.0,
        successors=False,
        sample_by=deeper(mobility),
    )
    found = labelled(positions, settings, tmp_path / "work")
    kind = found.source % len(Origin)
    assert set(kind) == {Origin.SAMPLED, Origin.EVEN}
    root = {int(record): int(ply) for record, ply in zip(positions.record, positions.ply, strict=True)}
    assert len(root) < len(positions)
    assert (found.ply >= min(positions.ply)).all()
    evaluation = evaluator_of(LinearEvaluation.load(mobility))
    for row in np.flatnonzero(kind == Origin.EVEN):
        position = position_at(found.positions, int(row))
        data = evaluation.data
        accumulators = evaluation.empty_accumulators(1)
        evaluation.operations["start"](position, data, accumulators, 0)
        assert abs(evaluation.operations["static_score"](position, data, accumulators, 0)) <= evaluation.steps_per_unit
    counts = SearchCounts()
    counts.add(found)
    assert counts.origins["sampled"] == np.sum(kind == Origin.SAMPLED)
    assert counts.mean_labels()[2][1] == len(found)


def test_successors_take_the_bias_to_the_side_to_move_away(mobility: str, tmp_path: Path) -> None:
    settings = settings_of(mobility, "depth=1,table=1", sampled=4, given=False, sample_by=deeper(mobility))
    counts = SearchCounts()
    for part in label_by_search(some_positions(OTHELLO, 200), settings, tmp_path / "work"):
        counts.add(part)
    (_, _, first, _, _), (_, _, second, _, _), (_, _, without, _, with_successors) = counts.mean_labels()
    assert min(first, second) > 1
    assert abs(with_successors) < 0.2 < without


def test_the_rest_is_done_after_an_interruption(mobility: str, tmp_path: Path) -> None:
    positions = some_positions(OTHELLO, 130)
    settings = settings_of(mobility, sampled=1, even=1)
    expected = labelled(positions, settings, tmp_path / "work")
    files = sorted((tmp_path / "work").glob("labels-*.npz"))
    assert len(files) == 4
    files[1].unlink()
    kept = files[2].stat().st_mtime_ns
    assert_same(expected, labelled(positions, settings, tmp_path / "work"))
    assert files[2].stat().st_mtime_ns == kept
    with pytest.raises(BadInputError, match="unfinished work of other settings"):
        labelled(positions, attrs.evolve(settings, seed=1), tmp_path / "work")
    files[0].write_bytes(files[0].read_bytes()[:100])
    with pytest.raises(BadInputError, match=r"labels-000000\.npz: damaged"):
        labelled(positions, settings, tmp_path / "work")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("random", "does not search"),
        ("default,seconds=1", "by the clock"),
        ("default,depth=1,threads=2", "with several threads: its labels"),
        ("default,depth=2,result=9", "win, draw and loss"),
    ],
)
def test_players_that_cannot_label_are_refused(spec: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        SearchLabelling(parse_player(spec))


def test_winning_chances_are_no_labels_where_scores_count(tmp_path: Path) -> None:
    path = tmp_path / "chances.npz"
    mobility_evaluation(LEARNING, logistic=True).save(path)
    spec = PlayerSpec("chances", evaluation=str(path), limits=Limits(depth=1))
    with pytest.raises(BadInputError, match="winning chances"):
        judge_of(OTHELLO, spec)


def test_command_labels_games_and_positions(terminal: Terminal, mobility: str, tmp_path: Path) -> None:
    terminal("generate", "othello", "-o", tmp_path, "--player", "random", "--games", 6, "--workers", 1)
    target, again = tmp_path / "labelled.parquet", tmp_path / "again.parquet"
    common = ("--by", f"{mobility},depth=1", "--workers", 1)
    label = ("label", "othello", tmp_path / "games-000000.games")
    assert "Mean label by side to move" in terminal(*label, "-o", target, *common)
    assert not Path(f"{target}.work").exists()
    terminal("label", target, "-o", again, *common, "--json")
    assert len(read_positions(again)) > len(read_positions(target).merge_duplicates())
    # What selects positions of games selects those of position files too.
    given = read_positions(target)
    few = ("label", target, "-o", again, *common, "--no-successors", "--plies", "10-20", "--per-game", 2)
    terminal(*few)
    drawn = read_positions(again)
    assert set(np.unique(drawn.ply)) <= set(range(10, 21))
    assert 0 < len(drawn) <= 2 * len(np.unique(given.record))
    assert "no position of the files has these plies" in terminal.fails(*few[:-4], "--plies", "900-901")


def test_some_positions_of_each_game_are_drawn() -> None:
    record = np.array([0, 1, 0, 1, -1, 0, -1, 2], np.int32)
    positions = Positions(
        OTHELLO,
        OTHELLO.columns_of([OTHELLO.initial_position] * 8),
        np.arange(8, dtype=np.float32),
        record=record,
    )
    drawn = positions.some_of_each_game(2, seed=3)
    assert np.bincount(drawn.record[drawn.record >= 0]).tolist() == [2, 2, 1]
    assert (drawn.record < 0).sum() == 2
    assert (np.diff(drawn.label) > 0).all()
    assert len({tuple(positions.some_of_each_game(1, seed).label) for seed in range(20)}) > 1
