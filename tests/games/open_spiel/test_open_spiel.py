"""Wrapped games of OpenSpiel against pyspiel itself, and against glem's own Connect Four."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from glem.core.compiling.columns import position_at, store_position
from glem.core.conformance import check_game
from glem.core.errors import BadInputError, GlemError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.features.learning import load_learning
from glem.core.game.families import check_named_by_file
from glem.core.game.game import load_game
from glem.core.game.perft import perft
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from glem.games.open_spiel import positions
from tests.core.evaluation.evaluator_scores import random_line
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.oracles.open_spiel import random_game, sequences

pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed; pip install 'pyglem[open-spiel]'")

pytestmark = pytest.mark.filterwarnings("ignore::glem.core.compiling.plain_python.PlainRulesWarning")

ALTERNATING = ["tic_tac_toe", "connect_four", "breakthrough(rows=6,columns=6)", "othello", "nim", "oware"]
WITH_EXTRA_TURNS = ["dots_and_boxes", "mancala", "checkers", "ultimate_tic_tac_toe"]


@pytest.mark.parametrize("text", ["tic_tac_toe", "othello()", "mnk(m=9,n=9,k=5)", "breakthrough(rows=6,columns=19)"])
def test_files_may_name_games_of_usual_sizes(text: str) -> None:
    assert check_named_by_file(f"open_spiel:{text}", "a file") == f"open_spiel:{text}"


@pytest.mark.parametrize(
    "text",
    ["mnk(m=50000,n=50000,k=5)", "mnk(m=20,n=9,k=5)", "gomoku(size=15,dims=8)", "efg_game(filename=/etc/hostname)",
     "misere(game=tic_tac_toe())", "mnk(m=9", "mnk(m=\u0669)", "", "MNK"],
)  # fmt: skip
def test_files_must_not_name_others(text: str) -> None:
    with pytest.raises(BadInputError, match="a file must not choose"):
        check_named_by_file(f"open_spiel:{text}", "a file")


@pytest.mark.parametrize("text", ALTERNATING + WITH_EXTRA_TURNS)
def test_a_wrapped_game_follows_its_state(text: str) -> None:
    game = load_game(f"open_spiel:{text}")
    passes = 0
    for seed in range(5):
        position = game.initial_position
        mover = 0
        for state, action in random_game(pyspiel.load_game(text), seed):
            if not state.is_terminal() and state.current_player() != mover:
                assert game.list_legal_moves(position) == [game.pass_move]
                position, mover = game.play(position, int(game.pass_move or 0)), 1 - mover
                passes += 1
            assert game.is_over(position) == state.is_terminal()
            assert game.list_legal_moves(position) == ([] if state.is_terminal() else state.legal_actions())
            if action is None:
                assert game.final_score(position) == state.returns()[mover]
                other = game.play(position, int(game.pass_move or 0))
                assert game.final_score(other) == state.returns()[1 - mover]
                break
            position, mover = game.play(position, action), 1 - mover
        assert int(position.mover) == mover
    assert (passes > 0) == (text in WITH_EXTRA_TURNS)


@pytest.mark.parametrize("text", [*ALTERNATING[:3], "dots_and_boxes(num_rows=2,num_cols=2)"])
def test_a_wrapped_game_keeps_the_promises_of_a_game(text: str) -> None:
    check_game(load_game(f"open_spiel:{text}"), games=4).require()


@pytest.mark.parametrize("moves", ["", "(0,0) (1,1)"])
def test_perft_leaves_out_games_that_have_ended(moves: str) -> None:
    game = load_game("open_spiel:tic_tac_toe")
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for move in moves.split():
        state.apply_action(game.parse_move(move))
    position = game.parse_position(moves or "start")
    for depth in range(6 if not moves else 8):
        assert perft(game, depth, position) == sequences(state, depth)


def test_tic_tac_toe_is_a_draw() -> None:
    learning = load_learning("open_spiel:tic_tac_toe")
    game = learning.game
    searcher = Searcher(game, evaluator_of(linear_evaluation(learning, mover=0.0)))
    found = searcher.search(game.parse_position("(1,1)"), Limits(depth=8))
    assert found.lines[0].score == 0
    assert found.move is not None
    assert game.format_move(found.move) in {"(0,0)", "(0,2)", "(2,0)", "(2,2)"}  # every other answer loses
    assert len(found.lines[0].moves) == 8


@pytest.mark.parametrize("text", ["breakthrough(rows=6,columns=6)", "dots_and_boxes"])
def test_positions_survive_columns_text_and_pickling(text: str) -> None:
    game = load_game(f"open_spiel:{text}")
    for position in random_line(game, np.random.default_rng(3))[0]:
        columns = game.empty_columns(2)
        store_position(columns, 1, position)
        for copy in (
            position_at(columns, 1),
            pickle.loads(pickle.dumps(position)),
            game.parse_position(game.format_position(position)),
        ):
            assert copy == position
            assert type(copy) is game.position_type
            assert game.hash_key(copy) == game.hash_key(position)
            assert game.list_legal_moves(copy) == game.list_legal_moves(position)


def test_states_are_found_again_after_they_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glem.games.open_spiel.rules._KEPT_STATES", 2)
    game = load_game("open_spiel:nim")
    line, _ = random_line(game, np.random.default_rng(1))
    expected = [game.list_legal_moves(position) for position in line]
    assert [game.list_legal_moves(position) for position in reversed(line)] == expected[::-1]


def test_classes_of_positions_are_made_where_they_are_asked_for() -> None:
    assert positions.Position3 is positions.position_type(3)
    assert positions.Position3._fields == ("mover", "length", "actions_0", "actions_1", "actions_2")
    with pytest.raises(AttributeError, match="Position_"):
        _ = positions.Position_
    position = load_game("open_spiel:othello").initial_position
    program = f"import pickle; print(pickle.loads({pickle.dumps(position)!r}).length)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "0\n"


def test_games_are_the_same_object_everywhere() -> None:
    game = load_game("open_spiel:nim")
    assert load_game("open_spiel:nim") is game
    assert pickle.loads(pickle.dumps(game)) is game
    learning = load_learning("open_spiel:nim")
    assert load_learning("open_spiel:nim") is learning
    copy = pickle.loads(pickle.dumps(learning))
    assert copy.game is game
    assert copy.features.write == learning.features.write


def test_moves_are_written_without_the_player() -> None:
    names = {
        "tic_tac_toe": "(0,1)",
        "connect_four": "1",
        "dots_and_boxes": "(h,0,1)",
        "breakthrough": "a8`7*",
        "nim": "pile:2,take:1;",
        "oware": "b",
        "hex": "b1",
    }
    for text, expected in names.items():
        game = load_game(f"open_spiel:{text}")
        assert game.format_move(1) == expected
        assert game.parse_move(expected) == 1
        written = [game.format_move(move) for move in range(game.move_count)]
        assert len(set(written)) == game.move_count
        assert not any(" " in name or name.startswith("#") for name in written)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tic_tac_tow", "has no game 'tic_tac_tow'; did you mean tic_tac_toe"),
        ("backgammon", "chance plays a part"),
        ("kuhn_poker", "chance plays a part, players do not see everything"),
        ("matrix_rps", "players move at the same time"),
        ("nim(num_players=2)", "cannot make"),
        ("chess", "can last 17,695 actions of 4,674 kinds"),
        ("phantom_ttt", "players do not see everything"),
    ],
)
def test_other_games_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(GlemError, match=reason.replace("(", r"\(")):
        load_game(f"open_spiel:{text}")


def test_positions_that_no_game_leads_to_are_refused() -> None:
    game = load_game("open_spiel:tic_tac_toe")
    for text, reason in (
        ("(0,0) (0,0)", r"\(0,0\) is illegal after \(0,0\)"),
        ("(0,0) here", "'here' is no move; moves are written as"),
        ("", "the moves that lead there"),
    ):
        with pytest.raises(BadInputError, match=reason):
            game.parse_position(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("efg_game", "OpenSpiel cannot make 'efg_game'; it takes filename"),
        ("nfg_game", "OpenSpiel cannot make 'nfg_game'; it takes filename"),
        ("othello(foo=1)", "OpenSpiel cannot make 'othello(foo=1)': Unknown parameter 'foo'; it takes no parameters"),
        (
            "breakthrough(rows=x)",
            "rows. Expected type: a whole number, got a text with x; it takes columns, rows",
        ),
        ("misere(game=foo())", "OpenSpiel cannot make 'misere(game=foo())': Unknown game 'foo'; it takes game"),
        ("mnk(m=3", "OpenSpiel cannot make 'mnk(m=3': Missing closing bracket ')'; it takes k, m, n"),
        ("breakthrough(rows=0)", "OpenSpiel's breakthrough(rows=0) has no moves; it takes columns, rows"),
        ("chess", "a position would take 4,424 words, glem takes 256"),
        ("mnk(m=150,n=150,k=5)", "glem takes 256; a smaller m or n may do"),
    ],
)
def test_what_is_no_game_is_told_in_words(text: str, told: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInputError) as error:
        load_game(f"open_spiel:{text}")
    assert str(error.value).endswith(told)
    assert len(str(error.value)) < 250
    assert capfd.readouterr().err == ""


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from glem.games.open_spiel import rules

    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(GlemError, match=r"pip install 'pyglem\[open-spiel\]'"):
        rules.rules_of("a game that nobody has asked for yet")
