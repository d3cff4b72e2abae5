"""What the conformance suite says of a broken plugin is short, names the cause once, and tells what would be right."""

import json

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner

from glem.core.cli import check as check_command
from glem.core.conformance import check_game, check_learning, plugin
from glem.core.features.learning import Learning
from glem.core.game.game import Game
from glem.games.othello import rules as othello_rules
from tests.core.cli.terminal import Terminal
from tests.core.conformance.test_conformance import (
    _calls,
    failures,
    plays_nothing,
    raises,
    scores_too_high,
    transforms_squares_back,
)
from tests.core.game import countdown_game as sound
from tests.core.game.countdown_game import FACTS, Position


def shifts_python_numbers(position, move):
    return Position(position.stones & (-1 - (1 << int(move + 3))))


def lists_far_too_many(position, moves, start):
    for place in range(20):
        moves[start + place] = place
    return 20


def raises_at_the_end(position, move):
    if position.stones < 4:
        raise IndexError("a table is too short")
    return sound.play(position, move)


def test_more_moves_than_room_are_called_that():
    report = check_game(Game(**{**FACTS, "legal_moves": lists_far_too_many, "move_count": 20}), plain=True)
    (text,) = failures(report).values()
    assert text == "legal_moves lists more moves than max_moves = 3, in\n9 stones\nafter no move"


def test_numbers_out_of_bounds_are_told_of_numpy_constants():
    text = failures(check_game(Game(**{**FACTS, "play": shifts_python_numbers}), plain=True))["play"]
    assert "out of bounds for uint8 (test_texts.py, line " in text
    assert (
        "; constants and shifts that meet a np.uint8 are np.uint8(...), as in np.uint8(1) << np.uint8(...), in" in text
    )


def test_one_cause_is_one_failure(othello: Game):
    for change in ({"legal_moves": raises}, {"play": plays_nothing}, {"play": raises_at_the_end}):
        report = check_game(Game(**{**FACTS, **change}), plain=True)
        assert list(failures(report)) == ["play"], str(report)
        skipped = {result.name: result.skipped for result in report.results}
        assert skipped["scores"] == "not looked at: play is broken before a game has ended"
    chance = check_game(evolve(othello, name="broken", play=plays_by_chance), games=5, plain=True)
    assert list(failures(chance)) == ["repeatable"], str(chance)
    skipped = {result.name: result.skipped for result in chance.results}
    assert skipped["symmetries"].startswith("not looked at: the rules give different results for the same position")


def plays_by_chance(position, move):
    following = othello_rules.play(position, move)
    empty = ~(following.own | following.opponent)
    return othello_rules.Position(
        following.own | (empty & -empty & np.uint64(next(_calls) % 2 << 1)), following.opponent
    )


def test_moves_that_do_not_follow_a_symmetry_are_named(othello: Game):
    def first_failure(transform_move) -> str:
        broken = evolve(othello, name="broken", transform_move=transform_move)
        return failures(check_game(broken, games=2, plain=True))["symmetries"].splitlines()[0]

    assert first_failure(exchanges_two) == (
        "under symmetry 3, the legal moves d3 c4 become f5 f5, and no legal move becomes e6, legal in the image, in"
    )
    assert first_failure(transforms_squares_back).startswith("under symmetry 5, ")


def exchanges_two(move, symmetry):
    return othello_rules.transform_square(move if (move, symmetry) != (19, 3) else 26, symmetry)


def test_duplicate_patterns_are_a_note(othello_learning: Learning):
    sets = {"lines": {"left": ("a1", "a2"), "top": ("b1", "a1"), "middle": ("d4", "e4"), "right": ("h8", "h7")}}
    report = check_learning(evolve(othello_learning, pattern_sets=sets, default_evaluation=None), games=1)
    assert report.passed, str(report)
    assert report.notes == [
        "pattern set 'lines': 'left' and 'top' and 'right' are images of each other; keep one of them, whose images "
        "share its weights"
    ]
    assert str(report).endswith(f"\n  note {report.notes[0]}")
    assert check_learning(othello_learning, games=1).notes == []


def test_the_command(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    passed = json.loads(terminal("check", "connect_four", "--games", 2, "--plain", "--json"))
    assert (passed["passed"], passed["checks"][0]["name"]) == (True, "facts")
    assert terminal("check", "nosuchgame", status=2).count("\n") == 1
    broken = Game(**{**FACTS, "final_score": scores_too_high})
    monkeypatch.setattr(plugin, "load_game", lambda name: broken)
    found = CliRunner().invoke(check_command.command, ["countdown", "--games", "2", "--json"], standalone_mode=False)
    assert found.return_value == 1
    parts = json.loads(found.output)["parts"]
    assert [part["passed"] for part in parts] == [False, None, None, None]
    told = CliRunner().invoke(check_command.command, ["countdown", "--games", "2"], standalone_mode=False).output
    assert "\nlearning of Countdown: not looked at: what it builds on breaks a promise\n" in told
    assert parts[3] == {
        "subject": "fitter of Countdown",
        "passed": None,
        "not_looked_at": "what it builds on breaks a promise",
        "notes": [],
    }


@pytest.mark.repeats  # the parts: check_plugin is called with games of a moment in test_conformance
def test_the_command_runs_all_parts_or_one(terminal: Terminal):
    found = json.loads(terminal("check", "connect_four", "--games", 2, "--json"))
    parts = ["Connect Four", "learning of Connect Four", "evaluation of Connect Four", "fitter ConjugateGradient"]
    assert list(dict.fromkeys(check["subject"] for check in found["checks"])) == parts
    one = terminal("check", "connect_four", "--games", 2, "--only", "fitter", "--seed", 3)
    assert one.startswith("fitter ConjugateGradient: keeps its promises\n  ok   manners (")
