"""The conformance suite passes sound plugins and catches each of many broken ones."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from glem.core.compiling.kernels import mix, popcount
from glem.core.conformance import check_features, check_game, check_learning, check_phases, plugin
from glem.core.conformance.playouts import FIRST_PLIES, sample_of
from glem.core.conformance.plugin import check_plugin
from glem.core.conformance.report import ConformanceReport
from glem.core.errors import BadInputError, ConformanceError
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Phases
from glem.core.game.game import Game, load_game
from glem.games.othello import rules as othello_rules
from tests.core.cli.terminal import Terminal
from tests.core.game import countdown_game as sound
from tests.core.game.countdown_game import COUNTDOWN, FACTS, Position
from tests.core.game.countdown_game import legal_moves as sound_legal_moves
from tests.core.game.kalah_game import kalah
from tests.core.search import duel_game
from tests.core.search.duel_game import duel
from tests.othello import LEARNING, OTHELLO


def failures(report) -> dict[str, str]:
    return {result.name: "\n".join(result.failures) for result in report.results if result.failure_count}


@pytest.mark.slow
def test_sound_games_pass():
    for game in (COUNTDOWN, OTHELLO):
        report = check_game(game, games=10)
        assert report.passed, str(report)
        report.require()
        assert "no broken promise found" in str(report)
        assert all(result.cases or result.skipped for result in report.results)


def test_sound_learning_passes():
    for report in (
        check_learning(LEARNING, games=5),
        check_features(LEARNING.features, games=2),
        check_phases(LEARNING.phases, games=2),
    ):
        assert report.passed, str(report)


def writes_behind(position, moves, start):
    count = sound.legal_moves(position, moves, start)
    moves[start + 3] = 0
    return count


def writes_before(position, moves, start):
    if start > 0:
        moves[start - 1] = 0
    return sound.legal_moves(position, moves, start)


def lists_out_of_range(position, moves, start):
    count = sound.legal_moves(position, moves, start)
    moves[start] = 3
    return count


def lists_twice(position, moves, start):
    count = sound.legal_moves(position, moves, start)
    moves[start] = moves[start + count - 1]
    return count


def ignores_start(position, moves, start):
    count = sound.legal_moves(position, moves, start)
    if start == 0:
        moves[0] = 2 - moves[0]
    return count


_calls = itertools.count()


def lists_at_random(position, moves, start):
    count = sound.legal_moves(position, moves, start)
    if next(_calls) % 3 == 0:
        moves[start : start + count] = moves[start : start + count][::-1].copy()
    return count


def raises(position, moves, start):
    raise IndexError("a table is too short")


def gives_another_type(position, move):
    return Position(np.int64(sound.play(position, move).stones))  # pyright: ignore[reportArgumentType]  # the defect


def gives_python_numbers(position, move):
    return Position(int(sound.play(position, move).stones))  # pyright: ignore[reportArgumentType]  # the defect


def plays_with_a_memory(position, move):
    following = sound.play(position, move)
    return Position(np.uint8(0)) if next(_calls) % 7 == 0 else following


def scores_too_high(position):
    return 5


def parses_another_at(position, text):
    if not text.startswith("take"):
        raise BadInputError(text)
    return 0


def to_the_64th(number):
    """Right in Python's whole numbers; in 64 bits the power of an even number is 0."""
    power = int(number)
    for _ in range(6):
        power *= power
    return power


def overflows(position):
    return -(to_the_64th(np.int64(position.stones) + 4) % 3)


def lists_by_overflow(position, moves, start):
    count = sound_legal_moves(position, moves, start)
    if count > 1 and to_the_64th(position.stones - position.stones + 2) == 0:
        moves[start] = count - 1
        moves[start + count - 1] = 0
    return count


def plays_nothing(position, move):
    return None


def parses_nothing(text):
    if text not in {f"{stones} stones" for stones in range(10)}:
        raise BadInputError("no")
    return


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


_last: list[int] = [0]


def plays_with_the_last_move(position, move):
    previous, _last[0] = _last[0], int(move)
    return sound.play(position, move if previous != 2 else min(int(move), 0))


# Check of the suite to rules that it must catch, and what it must say.
PLAIN_MUTANTS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "play": [
        ({"legal_moves": writes_behind}, "wrote outside start to start [+] max_moves"),
        ({"legal_moves": writes_before}, "wrote outside start"),
        (
            {"legal_moves": lambda position, moves, start: sound.legal_moves(position, moves, start) + 3},
            "returned 6, expected 0 to max_moves = 3",
        ),
        (
            {"legal_moves": lambda position, moves, start: float(sound.legal_moves(position, moves, start))},
            "returned a float: 3.0, expected the number of moves",
        ),
        ({"legal_moves": lists_out_of_range}, r"move 3 is not in range\(move_count = 3\)"),
        ({"legal_moves": lists_twice}, "a move twice"),
        (
            {"legal_moves": lambda position, moves, start: None},
            "legal_moves returned None, expected the number of moves",
        ),
        ({"play": lambda position, move: [sound.play(position, move)]}, "returned a list: .*, expected a Position"),
        ({"play": plays_nothing}, r"play\(\d, take\d\) returned None, expected a Position"),
        ({"is_over": lambda position: "no"}, "is_over returned a str: 'no', expected True or False"),
        ({"legal_moves": raises}, "IndexError: a table is too short"),
        ({"is_over": lambda position: False}, "legal_moves finds 0 moves, is_over says no"),
        ({"play": lambda position, move: position}, "goes on after max_plies = 9 plies"),
        (
            {"play": lambda position, move: (sound.play(position, move).stones,)},
            r"returned a tuple: \(np.uint8\(.\),\), expected a Position",
        ),
        ({"play": gives_another_type}, "field 'stones' the int64"),
        ({"play": gives_python_numbers}, "field 'stones' the int"),
        ({"max_plies": 3}, "goes on after max_plies = 3 plies"),
        (
            {"legal_moves": lists_far_too_many, "move_count": 20},
            r"\n +legal_moves lists more moves than max_moves = 3, in\n +9 stones\n +after no move\n",
        ),
        (
            {"play": shifts_python_numbers},
            r"out of bounds for uint8 \(test_conformance.py, line \d+\); constants and shifts that meet a np.uint8 are "
            r"np.uint8\(...\), as in np.uint8\(1\) << np.uint8\(...\), in",
        ),
    ],
    "repeatable": [
        ({"legal_moves": ignores_start}, "depends on start"),
        ({"legal_moves": lists_at_random}, "legal_moves (gives different|depends)"),
        ({"play": plays_with_the_last_move}, "gives different results for the same position"),
        ({"play": plays_with_a_memory}, "play of take. gives different results for the same position: chance"),
        ({"count_moves": lambda position: 2}, "count_moves gives 2, there are 3"),
    ],
    "scores": [
        ({"final_score": lambda position: None}, "final_score is None, expected a whole number"),
        ({"final_score": lambda position: -1 if next(_calls) % 2 else 1}, "final_score is (-1|1), then (-1|1)"),
        (
            {"final_score": lambda position: -1 // int(position.stones)},
            r"ZeroDivisionError: .* \(test_conformance.py, line \d+\), in\s+0 st",
        ),
        ({"final_score": scores_too_high}, "final_score 5 is outside score_bounds -1..1"),
        ({"final_score": lambda position: 0.5}, "0.5, expected a whole number"),
    ],
    "hash": [
        ({"hash_key": lambda position: str(position)}, "hash_key gives .*, expected a np.uint64"),
        ({"hash_key": lambda position: np.uint64(1)}, "0x1 stands for two positions"),
        ({"hash_key": lambda position: -1 - int(position.stones)}, "expected 0 to 2"),
        ({"hash_key": lambda position: mix(np.uint64(next(_calls)))}, "gives one position"),
    ],
    "text": [
        ({"format_position": lambda position: None}, "format_position gives None, expected a text"),
        ({"parse_position": parses_nothing}, r"parse_position\('9 stones'\) returned None, expected a Position"),
        ({"format_position": lambda position: f"{position.stones}\nstones"}, "more than one line"),
        (
            {"parse_position": lambda text: Position(np.uint8(max(int(sound.parse_position(text).stones) - 1, 0)))},
            "reads another position",
        ),
        ({"parse_position": lambda text: Position(np.uint8(int(text.split()[0])))}, "expected BadInputError"),
        ({"format_move": lambda move: "take1"}, "as 'take1'"),
        (
            {
                "format_move_at": lambda position, move: "move",
                "parse_move_at": lambda position, text: 0 if text == "move" else sound.parse_move(text),
            },
            "as 'move'",
        ),
        (
            {"format_move_at": lambda position, move: f"take{move + 1}", "parse_move_at": parses_another_at},
            "parse_move_at reads 0",
        ),
    ],
    "facts": [
        ({"hash_key": lambda position: sound.hash_key(position)}, "lambda"),
        ({"interface_version": 0}, "interface_version is 0"),
    ],
    "pickling": [
        ({"hash_key": lambda position: sound.hash_key(position)}, "lambda"),
    ],
}


@pytest.mark.parametrize(
    ("check", "change", "text"), [(check, *case) for check, cases in PLAIN_MUTANTS.items() for case in cases]
)
def test_broken_plain_rules_are_caught(check, change, text):
    report = check_game(Game(**{**FACTS, "name": "broken", **change}), games=20, plain=True)
    found = failures(report)
    assert check in found, str(report)
    with pytest.raises(ConformanceError, match=text):
        report.require()


@pytest.mark.parametrize(
    ("change", "check", "text"),
    [
        ({"final_score": overflows}, "final_score compiled", "plain rules give .*, compiled"),
        ({"legal_moves": lists_by_overflow}, "legal_moves compiled", "plain rules give"),
    ],
)
def test_rules_that_compile_to_something_else_are_caught(change, check, text):
    report = check_game(Game(**{**FACTS, "name": "broken", **change}), games=20)
    assert set(failures(report)) == {check}, str(report)
    with pytest.raises(ConformanceError, match=text):
        report.require()


def transforms_half(position, symmetry):
    image = othello_rules.transform(position, symmetry)
    return othello_rules.Position(image.own, position.opponent)


def transforms_squares_back(square: int, symmetry: int) -> int:
    # The inverse: equal for the reflections, wrong for the two quarter turns.
    inverse = {5: 6, 6: 5}.get(symmetry, symmetry)
    return othello_rules.transform_square(square, inverse)


def plays_favourites(position, move):
    following = othello_rules.play(position, move)
    return following if move != 19 else othello_rules.Position(following.own | np.uint64(1), following.opponent)


@pytest.mark.parametrize(
    ("change", "check", "text"),
    [
        ({"transform": transforms_half}, "symmetries", "under symmetry 1, the legal moves d3 c4 f5 e6 become"),
        (
            {"transform": lambda position, symmetry: othello_rules.transform(position, (symmetry + 1) % 8)},
            "symmetries",
            "symmetry 0 is not the identity",
        ),
        ({"transform_move": transforms_squares_back}, "symmetries", "under symmetry [56]"),
        (
            {"play": plays_favourites},
            "symmetries",
            "under symmetry ., .. becomes .., but playing and transforming do not commute|legal in the image",
        ),
        ({"final_score": lambda position: popcount(position.own)}, "scores", "for the other side"),
        (
            {"final_score": lambda position: int(position.own & np.uint64(1)) - int(position.opponent & np.uint64(1))},
            "symmetries",
            "the final score changes",
        ),
        (
            {"hash_key": lambda position: othello_rules.hash_key(position) | np.uint64(0xFFFF0000)},
            "hash",
            "scatters badly: in bits 16 to 31",
        ),
        (
            {"hash_key": lambda position: position.own ^ (position.opponent << np.uint64(1))},
            "hash",
            "stands for two positions",
        ),
        ({"max_moves": 8}, "play", "expected 0 to max_moves = 8"),
        ({"move_count": 64, "pass_move": None}, "play", "move 64 is not in range"),
    ],
)
def test_broken_boards_are_caught(change, check, text):
    report = check_game(evolve(OTHELLO, name="broken", **change), games=10, plain=True)
    assert check in failures(report), str(report)
    with pytest.raises(ConformanceError, match=text):
        report.require()


def keys_no_second_move(position):
    return mix(position.own ^ mix(position.opponent))


def plays_empty_pits(position, moves, start):
    count = kalah.legal_moves(position, moves, start)
    if count == 0 or moves[start] == kalah.PASS:
        return count
    moves[start : start + kalah.PITS] = range(kalah.PITS)
    return kalah.PITS


def never_passes(position, moves, start):
    return kalah.legal_moves(position._replace(again=np.uint8(0)), moves, start)


def loses_a_stone(position, move):
    following = kalah.play(position, move)
    in_store = following.opponent >> np.uint64(48)
    return following._replace(opponent=following.opponent - np.uint64(int(in_store > 3) << 48))


def scores_for_the_other(position):
    return -kalah.final_score(position)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"hash_key": keys_no_second_move}, "hash_key leaves out 'again': with 1 in place of 0, other moves are legal"),
        ({"legal_moves": plays_empty_pits}, "note several legal moves lead to one position in "),
        ({"legal_moves": never_passes}, "note never legal in these games: pass, the forced pass among them"),
        ({"play": loses_a_stone}, "FAIL invariants: what the game says of every position holds (40 of "),
        ({"final_score": scores_for_the_other}, "note not shown: whether these are the rules that you mean"),
    ],
)
def test_mistakes_of_a_kalah_are_told(change, told):
    sound = check_game(kalah.KALAH, plain=True)
    assert sound.passed
    assert told in str(check_game(evolve(kalah.KALAH, name="broken", **change), plain=True))
    # A wrong sign is a game of its own: the report says so of every game.
    assert (told in str(sound)) == ("final_score" in change)


def test_a_key_that_reads_no_castling_is_caught():
    chess = load_game("chess")

    def broken(*left_out: str) -> str:
        def hash_key(position):
            number = np.uint64(0)
            for name, value in position._asdict().items():
                number = number if name in left_out else mix(number ^ np.uint64(value))
            return number

        found = failures(check_game(evolve(chess, name="broken", hash_key=hash_key), games=1, plain=True))
        return found.get("hash", "")

    # The game keeps a key in a field of its own, which follows from the others.
    assert broken("key", "clock") == ""
    assert "hash_key leaves out 'castling': with " in broken("key", "clock", "castling")


def test_a_counter_that_nothing_declares_is_told_with_what_would_declare_it():
    told = failures(check_game(duel(), games=5, plain=True))
    assert "They differ in 'quiet' alone" in told["hash"]
    assert "let the search function reversible_plies return it" in told["hash"]
    declared = failures(check_game(duel(reversible_plies=duel_game.reversible_plies), games=5, plain=True))
    assert "hash" not in declared


def test_a_failure_shows_the_position_and_how_it_came_about():
    report = check_game(evolve(OTHELLO, name="broken", max_plies=3), plain=True)
    text = failures(report)["play"]
    assert text.splitlines()[1].endswith(" X")
    assert len(text.splitlines()[2].removeprefix("after ").split()) == 3


def test_broken_features_are_caught():
    features = LEARNING.features

    def broken(**change: Any) -> str:
        return str(check_features(evolve(features, **change), games=3))

    def writes_too_much(position, values):
        features.write(position, values)
        values[len(features)] = 1

    def leaves_one_out(position, values):
        kept = values[70].copy()
        features.write(position, values)
        values[70] = kept

    assert "values are written" in broken(write=writes_too_much)
    assert "'disc_difference' is not written" in broken(write=leaves_one_out)
    narrow = list(features.features)
    narrow[64] = evolve(narrow[64], high=3, value_names=())
    assert "'mobility' is 4, expected 0 to 3" in broken(features=tuple(narrow))
    assert features.symmetries is not None
    wrong = features.symmetries.copy()
    wrong[2, [0, 1]] = wrong[2, [1, 0]]
    assert "under symmetry 2 its image" in broken(symmetries=wrong)
    wrong[2, 1] = wrong[2, 0]
    assert "row 2 of symmetries is no permutation" in broken(symmetries=wrong)
    assert "expected (8, " in broken(symmetries=wrong[:4])


def phase_too_high(position):
    return 13


def phase_by_corner(position):
    return 1 if (position.own | position.opponent) & np.uint64(1) else 0


def test_broken_phases_are_caught():
    def broken(function) -> str:
        names = tuple("abcdefghijklm")
        return str(check_phases(Phases(game=OTHELLO, names=names, phase_of=function), games=3))

    assert "gives 13, expected 0 to 12" in broken(phase_too_high)
    assert "under symmetry" in broken(phase_by_corner)


def test_unknown_feature_names_are_caught():
    report = check_learning(evolve(LEARNING, linear=("mobility", "luck")), games=1)
    assert "linear names unknown features: ['luck']" in failures(report)["names"]


def test_bad_arguments():
    with pytest.raises(BadInputError, match="at least one game"):
        check_game(COUNTDOWN, games=0)


def test_features_of_no_symmetry_are_skipped():
    features: AtomicFeatures = evolve(LEARNING.features, symmetries=None)
    (skipped,) = [result for result in check_features(features, games=1).results if result.skipped]
    assert skipped.name == "features and symmetries"


def test_parts_may_be_chosen(monkeypatch):
    monkeypatch.setattr(plugin, "load_game", lambda name: COUNTDOWN)
    (rules, learning) = check_plugin("countdown", games=3, only=("learning", "rules"))
    assert rules.passed
    assert learning.not_looked_at == "the game gives nothing to learning"
    assert (rules.not_looked_at, rules.passed) == ("", True)


def transforms_wrongly_at_the_fourth_move(position, symmetry):
    early = popcount(position.own | position.opponent) == 7
    return othello_rules.transform(position, 0 if early else symmetry)


@pytest.mark.parametrize("games", [3, 10, 40])
def test_a_symmetry_that_is_wrong_at_one_early_ply_is_caught_in_any_number_of_games(games: int):
    broken = evolve(OTHELLO, transform=transforms_wrongly_at_the_fourth_move)
    report = check_game(broken, games=games, plain=True)
    assert "under symmetry 1" in next(result for result in report.results if result.name == "symmetries").failures[0]


def test_samples_hold_all_positions_of_the_first_plies_and_others_by_lot():
    sample = sample_of(OTHELLO, 40, 0, ConformanceReport("Othello"))
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


def test_how_random_games_went_is_told():
    told = check_game(COUNTDOWN, games=40, plain=True).notes
    assert "; who moved last won 40 and lost 0" in told[0]
    assert told[1].endswith("perft from the start 3, 9, 27")
    wrong_sign = check_game(evolve(COUNTDOWN, final_score=loses_with_the_last_stone), games=40, plain=True)
    assert wrong_sign.passed
    assert "; who moved last won 0 and lost 40" in wrong_sign.notes[0]
    assert check_game(OTHELLO, games=3, plain=True).notes[1].endswith("perft from the start 4, 12, 56, 244, 1396")
    illegal = evolve(OTHELLO, legal_moves=moves_anywhere_at_the_start, count_moves=None, search_functions={})
    assert "perft from the start 5, " in "".join(check_game(illegal, games=3, plain=True).notes)


def test_one_cause_is_one_failure():
    for change in ({"legal_moves": raises}, {"play": plays_nothing}, {"play": raises_at_the_end}):
        report = check_game(Game(**{**FACTS, **change}), plain=True)
        assert list(failures(report)) == ["play"], str(report)
        skipped = {result.name: result.skipped for result in report.results}
        assert skipped["scores"] == "not looked at: play is broken before a game has ended"
    chance = check_game(evolve(OTHELLO, name="broken", play=plays_by_chance), games=5, plain=True)
    assert list(failures(chance)) == ["repeatable"], str(chance)
    skipped = {result.name: result.skipped for result in chance.results}
    assert skipped["symmetries"].startswith("not looked at: the rules give different results for the same position")


def plays_by_chance(position, move):
    following = othello_rules.play(position, move)
    empty = ~(following.own | following.opponent)
    return othello_rules.Position(
        following.own | (empty & -empty & np.uint64(next(_calls) % 2 << 1)), following.opponent
    )


def test_moves_that_do_not_follow_a_symmetry_are_named():
    def first_failure(transform_move) -> str:
        broken = evolve(OTHELLO, name="broken", transform_move=transform_move)
        return failures(check_game(broken, games=2, plain=True))["symmetries"].splitlines()[0]

    assert first_failure(exchanges_two) == (
        "under symmetry 3, the legal moves d3 c4 become f5 f5, and no legal move becomes e6, legal in the image, in"
    )
    assert first_failure(transforms_squares_back).startswith("under symmetry 5, ")


def exchanges_two(move, symmetry):
    return othello_rules.transform_square(move if (move, symmetry) != (19, 3) else 26, symmetry)


def test_duplicate_patterns_are_a_note():
    sets = {"lines": {"left": ("a1", "a2"), "top": ("b1", "a1"), "middle": ("d4", "e4"), "right": ("h8", "h7")}}
    report = check_learning(evolve(LEARNING, pattern_sets=sets, default_evaluation=None), games=1)
    assert report.passed, str(report)
    assert report.notes == [
        "pattern set 'lines': 'left' and 'top' and 'right' are images of each other; keep one of them, whose images "
        "share its weights"
    ]
    assert str(report).endswith(f"\n  note {report.notes[0]}")
    assert check_learning(LEARNING, games=1).notes == []


def test_the_command(terminal: Terminal, monkeypatch: pytest.MonkeyPatch):
    passed = terminal.json("check", "connect_four", "--games", 2, "--plain")
    assert (passed["passed"], passed["checks"][0]["name"]) == (True, "facts")
    assert terminal("check", "nosuchgame", status=2).count("\n") == 1
    shown = terminal("check", "connect_four", "--games", 2, "--plain", "--show-game")
    assert "\n  ply 1, first player: plays " in shown
    assert "who is to move: the second player wins" in shown.splitlines()[-1]
    assert "shown_game" in terminal.json("check", "connect_four", "--games", 2, "--plain", "--show-game")
    broken = Game(**{**FACTS, "final_score": scores_too_high})
    monkeypatch.setattr(plugin, "load_game", lambda name: broken)
    parts = terminal.json("check", "countdown", "--games", 2, status=1)["parts"]
    assert [part["passed"] for part in parts] == [False, None, None, None]
    told = terminal("check", "countdown", "--games", 2, status=1)
    assert "\nlearning of Countdown: not looked at: what it builds on breaks a promise\n" in told
    assert parts[3] == {
        "subject": "fitter of Countdown",
        "passed": None,
        "not_looked_at": "what it builds on breaks a promise",
        "notes": [],
    }


@pytest.mark.repeats  # the parts: check_plugin is called with games of a moment in test_conformance
def test_the_command_runs_all_parts_or_one(terminal: Terminal):
    found = terminal.json("check", "connect_four", "--games", 2)
    parts = [
        "Connect Four",
        "learning of Connect Four",
        "evaluation of Connect Four",
        "fitter least-squares on Connect Four",
    ]
    assert list(dict.fromkeys(check["subject"] for check in found["checks"])) == parts
    one = terminal("check", "connect_four", "--games", 2, "--only", "fitter", "--seed", 3)
    assert one.startswith("fitter least-squares on Connect Four: no broken promise found\n  ok   play (")
