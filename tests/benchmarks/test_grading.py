"""Grading all tournament games: positions in, grades out, without compilation."""

from pathlib import Path
from typing import Any

import pytest

from glem.core.game.game import Game
from glem.core.grading import collection
from glem.core.grading.collection import CollectionGrading
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.positions.files import PositionWriter
from glem.core.positions.labels import label_records
from glem.core.positions.selection.selection import SelectionRule
from tests.benchmarks.measuring import tournament_records


@pytest.fixture(scope="module")
def tournament(othello: Game, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grading") / "tournament.parquet"
    records = tournament_records(othello, shared / "othello" / "wthor")
    with PositionWriter(path, othello, "result") as writer:
        for part in label_records(othello, records, label="result"):
            writer.append(part)
    return path


@pytest.mark.shared
@pytest.mark.parametrize("select", ["random", "all"])
def test_grade_collection(benchmark: Any, othello: Game, tournament: Path, select: str) -> None:
    def grade() -> CollectionGrading:
        return collection.grade(othello, [tournament], scorer_of(othello, "default"), select=SelectionRule(select))

    found = benchmark.pedantic(grade, rounds=3, warmup_rounds=1)
    benchmark.extra_info["positions graded"] = found.counts.chosen
    benchmark.extra_info["positions graded/s"] = round(found.counts.chosen / benchmark.stats["mean"])
    assert found.counts.games > 100_000
