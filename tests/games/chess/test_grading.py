"""Grading on PGN: the five games that the documentation grades by hand, and the engine games of the data sets."""

import re
import warnings
from pathlib import Path

import pytest

from glem.core.errors import GlemWarning
from glem.core.game.game import load_game
from glem.core.grading import collection
from glem.core.grading.collection import FEATURES, FIT
from glem.core.grading.correctness import GradingSettings
from glem.core.grading.scorers.comments import CommentScorer
from tests.core.cli.terminal import Terminal

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "grading.md"


def test_five_games_grade_as_by_hand(terminal: Terminal, tmp_path: Path) -> None:
    """2/3, 1/6, 1/3, 1/6 and 13/15: the fifth root of 13/2430."""
    games = re.search(r"```text\n(\[Result .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    command = re.search(r"^glem grade chess five\.pgn (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert games is not None
    assert command is not None
    path = tmp_path / "five.pgn"
    path.write_text(games[1])
    grade = terminal.json("grade", "chess", path, *command[1].split())["evaluations"][0]["grade"]
    assert grade["grade"] == pytest.approx((13 / 2430) ** (1 / 5), rel=1e-6)
    assert f"{grade['grade']:.4f} {grade['error']:.4f}" == "0.3513 0.1202"
    assert grade["positions"] == 5


def test_a_resigned_game_counts_and_an_unknown_result_is_told(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(
        '[Event "A"]\n[WhiteElo "2600"]\n[BlackElo "2500"]\n[Result "0-1"]\n\n1. e4 {+0.30/10} e5 {-0.10/12} 0-1\n\n'
        '[Event "A"]\n[Result "*"]\n\n1. e4 {+0.30/10} e5 *\n\n'
        '[Event "A"]\n[Result "1-0"]\n\n1. d4 d5 {-0.20/3} 2. c4 1-0\n'
    )
    arguments = "--evaluation comments --scale 1 --drawishness 0.5 --select all --skip-moves 0 --skip-end 0"
    found = terminal.json("grade", "chess", path, *arguments.split())
    assert found["counts"]["games"] == 2
    assert found["counts"]["without_result"] == 1
    assert found["results"] == [3, 0, 2]
    graded = found["evaluations"][0]
    assert (graded["grade"]["positions"], graded["missing"]) == (3, 2)
    by_rating = dict(zip(found["groups"]["rating difference"], graded["by_group"]["rating difference"], strict=True))
    assert {name: one["positions"] for name, one in by_rating.items() if one} == {"-100 to -51": 1, "+100 to +199": 1}


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("black", "comments has no value for 0% of the positions where the first player is to move, and for 100% of"),
        (
            "positive",
            r"comments has no value for 100% of the positions that the side to move won, and for 0% of those",
        ),
        ("book", ""),
    ],
)
def test_missing_scores_that_depend_on_the_side_or_the_sign_are_warned_of(
    terminal: Terminal, tmp_path: Path, missing: str, told: str
) -> None:
    path = tmp_path / "games.pgn"
    games = []
    for number in range(40):
        sign, result = (1, "1-0") if number % 2 else (-1, "0-1")
        texts = [f"{{{(sign if ply % 2 == 0 else -sign) * 0.5:+.2f}/9 1s}}" for ply in range(4)]
        for ply, text in enumerate(texts):
            if {"black": ply % 2 == 1, "positive": "+" in text, "book": number % 4 < 2}[missing]:
                texts[ply] = "{0s}"
        moves = " ".join(f"{move} {text}" for move, text in zip(["e4", "e5", "Nf3", "Nc6"], texts, strict=True))
        games.append(f'[Event "A"]\n[Result "{result}"]\n\n{moves} {result}\n\n')
    path.write_text("".join(games))
    arguments = "--evaluation comments --select all --skip-moves 0 --skip-end 0"
    with warnings.catch_warnings():
        warnings.simplefilter("default", GlemWarning)
        terminal("grade", "chess", path, *arguments.split())
    warned = [line for line in terminal.error.splitlines() if "warning" in line]
    assert len(warned) == bool(told)
    assert re.match(f"glem: warning: {told}", "".join(warned)) or not told


@pytest.mark.shared
def test_engine_games_grade_as_in_the_notes(shared: Path) -> None:
    """A tenth of the collection; the figures of all of it stand in the explanation of grading."""
    game = load_game("chess")
    files = [shared / "chess" / "engines" / "tcec-seasons-20-23.pgn.xz"]
    scorer = CommentScorer("comments")
    found = collection.grade(
        game,
        files,
        scorer,
        CommentScorer("featured"),
        drawishness=[FIT, FEATURES],
        settings=GradingSettings(resamples=1000),
        skip_bad=True,
        jobs=2,
    )
    equal, frequencies = found.grading.baselines
    assert equal.grade.grade == pytest.approx(1 / 3)
    assert 0.36 < frequencies.grade.grade < 0.40
    comments, featured = found.grading.evaluations
    assert comments.fit is not None
    assert comments.fit.drawishness is not None
    assert 0.58 < comments.grade.grade < 0.67
    assert any("scores that never change count as missing" in remark for remark in found.remarks)
    assert 0.9 < comments.fit.scale < 1.5
    assert 0.92 < comments.fit.drawishness < 0.98
    late, early = (comments.by_group["tenth of the game"][place] for place in (8, 3))
    assert late is not None
    assert early is not None
    assert late.grade > early.grade + 0.2
    assert {one.side for one in scorer.conventions if one.games > 20} == {"first"}
    assert featured.grade.grade > comments.grade.grade
    assert found.grading.comparisons[0].is_significant


@pytest.mark.shared
def test_scores_from_whites_side_are_read_so_in_every_event(shared: Path) -> None:
    """Spectators vote against a program at depth 1: they write 0.16 all along, and signs alternate."""
    scorer = CommentScorer("comments")
    files = [shared / "chess" / "engines" / "tcec-seasons-15-19.pgn.xz"]
    found = collection.grade(load_game("chess"), files, scorer, settings=GradingSettings(resamples=100), skip_bad=True)
    assert {one.side for one in scorer.conventions if one.kind == "wv"} == {"first"}
    [chat] = [one for one in scorer.conventions if one.event == "TCEC Season 19 - Chat vs Stockfish Depth 1"]
    assert chat.previous < -0.5
    assert chat.side_from == "defined"
    assert chat.is_doubtful
    assert any("contradict the side" in remark for remark in found.remarks)


def test_what_can_be_graded_is_where_comments_have_no_scores(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    game = '[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'
    path.write_text(3 * game)
    options = "--skip-moves 0 --skip-end 0 --scale 1 --drawishness 0.5"
    command = ["grade", "chess", path, *options.split(), "--evaluation", "comments"]
    both = terminal(*command, "--evaluation", "default")
    assert "note: comments has no value for any of the 3 positions: not graded" in both
    assert "│ default" in both
    assert "│ comments" not in both
    assert "comments has no value for any of the 3 positions" in terminal.fails(*command)
