"""Gradings of files, and the command."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.game.game import load_game
from glem.core.grading import collection
from glem.core.grading.collection import CollectionGrading
from glem.core.grading.comparison import Comparison
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.scorers.scorer import Scorer
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.grading.scorers.searching import SearchScorer, StaticScorer
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from glem.core.positions.selection.selection import SelectionRule
from glem.core.report.pages.grading import render_grading
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.grading.random_games import write_random_games
from tests.othello import LEARNING, OTHELLO, sample_of_games

QUICK = GradingSettings(resamples=200, bins=5)
MOBILITY = StaticScorer("mobility", mobility_evaluation(LEARNING))


@pytest.fixture(scope="module")
def games() -> Positions:
    """All positions of 400 games of self-play."""
    return sample_of_games(400)


@pytest.fixture(scope="module")
def file(games: Positions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grading") / "games.parquet"
    write_positions(path, games)
    return path


@pytest.fixture(scope="module")
def found(file: Path) -> CollectionGrading:
    odds = StaticScorer("odds", mobility_evaluation(LEARNING, logistic=True))
    return collection.grade(OTHELLO, [file], MOBILITY, odds, settings=QUICK)


def test_one_position_of_each_game_is_graded(found: CollectionGrading, games: Positions) -> None:
    assert found.counts.games == found.counts.chosen == 400
    assert found.counts.positions == len(games)
    assert found.remarks == ()
    grade = found.grading.evaluations[0]
    assert (grade.grade.positions, grade.grade.games) == (400, 400)
    by_phase = grade.by_group["phase"]
    assert by_phase[0] is None  # the first ten moves of either side
    assert sum(one.positions for one in by_phase if one is not None) == 400
    assert len(by_phase) == len(found.grading.groups["phase"])
    assert found.grading.groups["margin"][:2] == ("drawn", "won by 1-4")


def test_log_odds_grade_as_the_values_that_they_are_proportional_to(found: CollectionGrading) -> None:
    mobility, odds = found.grading.evaluations
    assert mobility.fit is not None
    assert odds.fit is not None
    assert odds.unit == "log odds"
    assert mobility.fit.scale == pytest.approx(10 * odds.fit.scale, rel=1e-3)
    assert mobility.grade.grade == pytest.approx(odds.grade.grade, rel=1e-6)
    assert not found.grading.comparisons[0].is_significant


def test_all_positions_are_graded_by_game(games: Positions, file: Path) -> None:
    """Against the arrays themselves, without selection and files."""
    rule = SelectionRule("all", skip_moves=0, skip_end=0.0)
    found = collection.grade(OTHELLO, [file], MOBILITY, select=rule, settings=QUICK, scales=[5.0], drawishness=[0.1])
    value = mobility_evaluation(LEARNING).predict(games.positions)
    logs = log_correctness(value, np.sign(games.label), 5.0, 0.1)
    grade = found.grading.evaluations[0].as_given
    assert grade is not None
    assert grade.mean_log == pytest.approx(logs.mean())
    assert (grade.positions, grade.games) == (len(games), 400)


def test_two_files_hold_different_games(games: Positions, tmp_path: Path, found: CollectionGrading) -> None:
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    write_positions(first, games.select(games.record < 150))
    write_positions(second, games.select(games.record >= 150))
    parts = collection.grade(OTHELLO, [first, second], MOBILITY, settings=QUICK)
    assert parts.counts == found.counts
    assert parts.grading.evaluations[0].grade == found.grading.evaluations[0].grade


def test_a_search_grades_the_same_positions(mobility: str, games: Positions, tmp_path: Path) -> None:
    path = tmp_path / "few.parquet"
    write_positions(path, games.select(games.record < 60))
    scorers = [scorer_of(OTHELLO, mobility), scorer_of(OTHELLO, f"{mobility},depth=2")]
    assert isinstance(scorers[0], StaticScorer)
    assert isinstance(scorers[1], SearchScorer)
    rule = SelectionRule("every", step=10)
    once, again = (collection.grade(OTHELLO, [path], *scorers, select=rule, settings=QUICK) for _ in range(2))
    static, searched = once.grading.evaluations
    assert static.grade.positions == searched.grade.positions > 100
    assert static.grade.grade != searched.grade.grade
    assert again.grading.evaluations[1].grade == searched.grade


def test_labels_of_other_kinds_are_remarked(games: Positions, tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    some = games.select(slice(0, 600))
    write_positions(path, Positions.from_positions(OTHELLO, some.positions, some.label))
    found = collection.grade(OTHELLO, [path], MOBILITY, settings=QUICK)
    assert found.grading.evaluations[0].grade.games == 600
    assert "kind score" in found.remarks[0]
    assert "of unknown ply" in found.remarks[1]


def test_what_cannot_be_graded_is_told(games: Positions, file: Path, tmp_path: Path) -> None:
    empty, merged = tmp_path / "empty.games", tmp_path / "merged.parquet"
    empty.write_text("")
    write_positions(merged, games.merge_duplicates())
    refused: list[tuple[Path, list[Scorer], dict[str, Any], str]] = [
        (empty, [MOBILITY], {}, "hold no finished game"),
        (merged, [MOBILITY], {"select": SelectionRule("all", 0, 0.0)}, "without --merge"),
        (file, [MOBILITY], {"select": SelectionRule(skip_moves=40)}, "too short"),
        (file, [MOBILITY, MOBILITY], {}, "names of their own"),
        (file, [MOBILITY], {"scales": [1.0, 2.0]}, "2 values of scale"),
    ]
    for path, scorers, options, text in refused:
        with pytest.raises(BadInputError, match=text):
            collection.grade(OTHELLO, [path], *scorers, **options)


def test_games_in_text_files_of_any_game(tmp_path: Path) -> None:
    """A game that is won, drawn and lost, and has nothing of its own for grading."""
    game = load_game("connect_four")
    path = tmp_path / "random.games"
    write_random_games(game, path, 40)
    found = collection.grade(
        game, [path], scorer_of(game, "default"), select=SelectionRule(skip_moves=2), settings=QUICK
    )
    assert found.grading.evaluations[0].grade.games > 30
    assert "margin" not in found.grading.groups


def test_the_command_prints_tables_notes_and_verdicts(
    terminal: Terminal, file: Path, mobility: str, tmp_path: Path
) -> None:
    page, module = tmp_path / "report.html", tmp_path / "noise.py"
    module.write_text(
        "import numpy as np\n\ndef noise(p):\n    return np.random.default_rng(0).normal(size=len(p[0]))\n"
    )
    text = terminal(
        "grade", "othello", file, "--evaluation", "default", "--evaluation", f"name=mobility,evaluation={mobility}",
        "--evaluation", f"python:{module}:noise,name=noise", "--resamples", 500, "--report", page,
    )  # fmt: skip
    html = page.read_text(encoding="utf-8")
    assert "equal probabilities" in text
    assert "as given" in text
    assert "note: noise grades below the result frequencies" in text
    for told in ("default is better than mobility", "noise grades below the result frequencies"):
        assert told in text
        assert told in html
    assert '<th scope="col">as given</th>' in html
    assert html.count("<svg") >= 6
    assert html.count("<script") == 1


def test_the_command_prints_json(terminal: Terminal, file: Path, mobility: str) -> None:
    graded = ("grade", "othello", file, "--evaluation", mobility, "--evaluation", "default", "--resamples", 100)
    found = terminal.json(*graded, "--scale", "5", "--scale", "fit", "--drawishness", "0.2")
    first, second = found["evaluations"]
    assert (first["fit"]["scale"], first["fit"]["drawishness"], first["fit"]["fitted"]) == (5.0, 0.2, [])
    assert second["fit"]["fitted"] == ["scale"]
    assert len(first["by_group"]["phase"]) == len(found["groups"]["phase"])
    assert first["as_given"]["grade"] < first["grade"]["grade"] < second["grade"]["grade"]
    assert first["calibration"]["scale"] > 0
    comparison = found["comparisons"][0]
    assert comparison["grades"] == pytest.approx([first["grade"]["grade"], second["grade"]["grade"]])
    assert comparison["as_given"] == pytest.approx([first["as_given"]["grade"], second["as_given"]["grade"]])
    assert ", as given " in comparison["verdict"]
    assert found["notes"] == []
    assert found["selection"]["kind"] == "random"
    assert found["evaluations"][0]["scores"]["counts"]


def test_a_report_begins_with_one_sentence_and_explains_its_columns(found: CollectionGrading) -> None:
    def summary(comparisons: tuple[Comparison, ...]) -> str:
        page = render_grading(
            evolve(found, grading=evolve(found.grading, comparisons=comparisons)), game_title="Othello"
        )
        for column in ("b", "drawishness", "floored", "missing"):
            assert re.search(rf"<section id=\"grades\">.*?<p[^>]*>[^<]*\b{column}\b", page)
        (told,) = re.findall(r'<p class="summary">([^<]*)</p>', page)
        assert told.count(". ") == 0
        return told

    (one,) = found.grading.comparisons
    best = max(found.grading.evaluations, key=lambda each: each.grade.grade).name
    sign = 1 if one.first == best else -1
    limits = sorted((sign * 0.1, sign * 0.2))
    apart = evolve(one, difference=sign * 0.15, low=limits[0], high=limits[1], adjusted_p_value=0.001)
    assert re.fullmatch(rf"{best} is better than \w+, by 400 games\.", summary((apart,)))
    alike = tuple(evolve(one, low=-1.0, high=1.0, adjusted_p_value=1.0) for one in found.grading.comparisons)
    assert re.search(r"\d+ games cannot separate [\w,=]+ from ", summary(alike))
    assert " a probability of " in summary(())


def test_equal_gradings_make_equal_reports(found: CollectionGrading) -> None:
    assert render_grading(found, game_title="Othello") == render_grading(found, game_title="Othello")
