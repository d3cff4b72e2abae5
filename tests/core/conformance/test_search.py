"""The conformance suite on what a game gives to the search: faster rules, optional operations, a solver, formats."""

import re
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.conformance import check_game, check_learning
from glem.core.errors import PluginError
from glem.core.game.game import Game
from glem.core.game.perft import perft
from glem.core.game.protocols import Protocol
from glem.core.game.solver import Solution
from tests.core.conformance.test_conformance import failures
from tests.core.game import plain_game as nim
from tests.core.game.countdown_game import COUNTDOWN
from tests.core.game.plain_game import COMPILED, PLAIN, PLAIN_LEARNING, mirror_nim
from tests.core.game.plain_game import legal_moves as nim_legal_moves


def lists_backwards(position, moves, start):
    count = nim_legal_moves(position, moves, start)
    moves[start : start + count] = np.sort(moves[start : start + count])[::-1]
    return count


def lists_one_less(position, moves, start):
    return max(0, nim.legal_moves(position, moves, start) - 1)


def small_heap_moves(position, moves, start):
    """Tactical: moves while both heaps are small, so that they come to an end."""
    return nim_legal_moves(position, moves, start) if position.left + position.right <= 4 else 0


def tactics_out_of_nowhere(position, moves, start):
    moves[start] = 5
    return 1


def never_extends(before, move, after):
    return 0


def stones_left(position):
    return int(position.left) + int(position.right)


def loses(position):
    return -1


def wins(position):
    return 1


def never_reversible(position):
    return 0


def never(position):
    return False


def hints_of_moves(position, move):
    return 5 * int(move)


SOUND = {
    "legal_moves": lists_backwards,
    "play": nim.play,
    "tactical_moves": small_heap_moves,
    "extension": never_extends,
    "move_order": never_extends,
    "plies_left": stones_left,
    "no_moves_score": loses,
    "reversible_plies": never_reversible,
    "is_drawn": never,
    "table_key": nim.hash_key,
    "move_hint": hints_of_moves,
    "must_move": never,
}


def test_sound_search_functions_pass():
    report = check_game(mirror_nim("searched_nim", search_functions=SOUND), games=10, plain=True)
    assert report.passed, str(report)
    names = [result.name for result in report.results if not result.skipped]
    assert {"search functions", "tactical moves", "search operations"} <= set(names)


# Check of the suite to functions that it must catch, and what it must say.
BROKEN: dict[str, list[tuple[str, Any, str]]] = {
    "search functions": [
        ("legal_moves", lists_one_less, r"legal_moves of the search lists \[0, 1, 2, 3, 4\], the"),
        ("play", lambda position, move: position, "after l1 play of the search gives"),
        ("hash_key", stones_left, "hash_key of the search gives"),
        ("tactical_move", small_heap_moves, "did you mean 'tactical_moves'"),
    ],
    "tactical moves": [
        ("tactical_moves", tactics_out_of_nowhere, r"lists \[5\], which are not legal"),
        (
            "tactical_moves",
            lambda position, moves, start: ~lists_one_less(position, moves, start),
            "expected all legal moves",
        ),
        ("tactical_moves", lambda position, moves, start: "none", "returned 'none', expected a number of moves"),
        ("must_move", lambda position: True, "must_move gives True, tactical_moves 0"),
    ],
    "search operations": [
        ("extension", lambda before, move, after: 1, "expected 0 for most: the search would never end"),
        ("extension", lambda before, move, after: -1, "extension of l1 gives -1, expected a whole number, at least 0"),
        ("move_order", lambda position, move, after: 1001, "gives 1001, expected a whole number, -1000 to 1000"),
        ("plies_left", lambda position: 1, "plies_left gives 1, the game went on for"),
        ("no_moves_score", wins, "no_moves_score gives 1, final_score -1"),
        ("reversible_plies", lambda position: 0.5, "reversible_plies gives 0.5"),
        ("is_drawn", lambda position: nim.is_over(position), "is_drawn is True in a finished game with the score -1"),
        ("move_hint", lambda position, move: 1001, "move_hint of l1 gives 1001"),
        ("is_drawn", lambda position: 0, "is_drawn gives 0, expected True or False"),
    ],
}


@pytest.mark.parametrize(
    ("check", "name", "function", "text"), [(check, *case) for check, cases in BROKEN.items() for case in cases]
)
def test_broken_search_functions_are_caught(check, name, function, text):
    report = check_game(mirror_nim("broken", search_functions={**SOUND, name: function}), games=10, plain=True)
    found = failures(report)
    assert set(found) == {check}, str(report)
    assert re.search(text, found[check]), found[check]
    if "did you mean" not in text and "for most" not in text:
        assert "\nafter " in found[check], "the moves that led to the position are shown"


def goes_round(position, moves, start):
    moves[start] = 0
    return 1


def turns(position, move):
    return nim.Position(position.right, position.left)


def test_repetitions_are_compared_with_reversible_plies():
    turning: dict[str, Any] = {"legal_moves": goes_round, "play": turns, "is_over": never}
    functions = {"reversible_plies": never_reversible, "tactical_moves": goes_round}
    start = nim.Position(np.uint8(5), np.uint8(4))
    game = mirror_nim("turning", **turning, search_functions=functions, initial_position=start, max_plies=7)
    found = failures(check_game(game, games=1, plain=True))
    assert "reversible_plies gives 0, an equal position lies 2 plies back" in found["search operations"]
    assert "tactical moves follow each other for more than max_plies = 7 plies" in found["tactical moves"]


class HeapSolver:
    """Countdown: the stones modulo four tell who wins."""

    def __init__(self, evaluator: Any = None, table_mb: int = 64, **defects: Any) -> None:
        self.defects = defects

    def plies_left(self, position: Any) -> int:
        return int(self.defects.get("plies_left", position.stones))

    def solve(self, position: Any, *, result_only: bool = False, **limits: Any) -> Solution:
        stones = int(position.stones)
        move = None if not stones else (stones % 4 or 1) - 1
        score = 1 if stones % 4 else -1
        if result_only:
            return Solution(self.defects.get("result", score), move, (), 1, 0.0)
        return Solution(
            self.defects.get("score", score),
            self.defects.get("move", move) if stones else None,
            self.defects.get("variation", () if move is None else (move,)),
            1,
            0.0,
            self.defects.get("exact", True),
        )


def test_a_sound_solver_passes():
    report = check_game(evolve(COUNTDOWN, make_solver=HeapSolver), games=5, plain=True)
    assert report.passed, str(report)
    (solver,) = [result for result in report.results if result.name == "solver"]
    assert solver.cases > 5


@pytest.mark.parametrize(
    ("defects", "text"),
    [
        ({"score": 1}, "the solver finds 1, brute force -1"),
        ({"result": -1}, "asked for the result alone, the solver finds -1, brute force 1"),
        ({"plies_left": 2}, "plies_left gives 2, 9 moves are possible"),
        ({"exact": False}, "a solution without limits is not exact"),
        ({"move": 2, "variation": ()}, r"the solver plays 2, the best moves are \['take1'\]"),
        ({"variation": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)}, "has the move 0, which is not legal"),
        ({"variation": (1,)}, r"the variation \(1,\) does not begin with the move 0"),
    ],
)
def test_broken_solvers_are_caught(defects, text):
    game = evolve(COUNTDOWN, make_solver=lambda **arguments: HeapSolver(**arguments, **defects))
    found = failures(check_game(game, games=5, plain=True))
    assert re.search(text, found["solver"]), found["solver"]


def test_formats_stand_under_their_own_names():
    protocol = Protocol("tock", "Talks.", lambda engine, lines, write: None)
    game = evolve(COUNTDOWN, protocols={"Tick": protocol})
    found = failures(check_game(game, games=1, plain=True))
    assert "protocols['Tick'] calls itself 'tock', expected one name for both" in found["formats"]
    assert "lower case" in found["formats"]


def test_rules_that_cannot_be_compiled_are_skipped_with_the_reason():
    report = check_game(PLAIN, games=3)
    assert report.passed, str(report)
    skipped = {result.name: result.skipped for result in report.results if result.skipped}
    for name in ("legal_moves compiled", "play compiled", "is_over compiled", "hash_key compiled"):
        assert skipped[name].startswith("runs as plain Python: "), str(report)
    others = ("random games", "plies a game", "not shown: ")
    reasons = [note for note in report.notes if not any(words in note for words in others)]
    assert reasons
    assert all(note.startswith("runs as plain Python, many times slower: ") for note in reasons)
    assert len(set(report.notes)) == len(report.notes) > 0
    assert str(report).splitlines()[-1] == f"  note {report.notes[-1]}"
    learning = check_learning(PLAIN_LEARNING, games=3)
    assert learning.passed, str(learning)
    assert {"features compiled", "phases compiled"} <= {result.name for result in learning.results if result.skipped}


@pytest.mark.repeats  # the comparisons: sound games are compared in test_conformance
def test_rules_that_can_be_compiled_are_compared():
    report = check_game(evolve(COMPILED, search_functions=SOUND), games=3)
    assert report.passed, str(report)
    compiled = [result.name for result in report.results if result.name.endswith("compiled") and not result.skipped]
    assert len(compiled) == 18, compiled


def writes_too_many(position, moves, start):
    for taken in range(position.stones):
        moves[start + taken] = 0
    return int(position.stones)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (writes_too_many, "raised IndexError: .*, expected 0 to max_moves = 3 moves"),
        (lambda position, moves, start: 12, "returned 12, expected 0 to max_moves = 3 moves, in .*stones"),
        (lambda position, moves, start: None, "returned None"),
    ],
)
def test_too_many_moves_are_noticed_without_a_check_too(function, text):
    game: Game = evolve(COUNTDOWN, legal_moves=function)
    with pytest.raises(PluginError, match=f"game 'countdown': legal_moves {text}"):
        perft(game, 2, plain=True)
    with pytest.raises(PluginError, match=f"legal_moves {text}"):
        game.list_legal_moves(game.initial_position)
    found = failures(check_game(game, games=1, plain=True))
    assert "legal_moves" in found["play"]
