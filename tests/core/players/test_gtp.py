"""Sessions of the Go Text Protocol, as programs and strangers hold them."""

import queue
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import glem
from glem.core.game.game import Game, load_game
from glem.core.players.engine import Engine
from glem.core.players.protocols.gtp import serve_gtp
from glem.core.players.spec import PlayerSpec
from glem.core.search.results import Clock, Limits
from tests.core.game.countdown_game import COUNTDOWN

RANDOM = PlayerSpec("random", kind="random")
GREEDY = PlayerSpec("greedy", kind="greedy", evaluation="mobility")
OTHELLO = load_game("othello")


def answers(lines: Iterable[str], *, game: Game = OTHELLO, spec: PlayerSpec = RANDOM) -> list[str]:
    """Answers of a session, without the blank lines that end them."""
    return session(Engine(game, spec), lines)


def session(engine: Engine, lines: Iterable[str]) -> list[str]:
    written: list[str] = []
    serve_gtp(engine, lines, written.append)
    text = "\n".join(written)
    assert not text or text.endswith("\n")
    return text.removesuffix("\n").split("\n\n") if text else []


def test_a_session() -> None:
    """Commands, identity numbers, comments and refusals, with a player whose moves are known."""
    dialogue = [
        ("1 protocol_version", "=1 2"),
        ("name", "= glem"),
        ("002 version", f"=002 {glem.__version__}"),
        ("known_command genmove", "= true"),
        ("known_command fly", "= false"),
        ("known_command", "= false"),
        ("list_games", "= Othello"),
        ("set_game Othello", "="),
        ("set_game Go", "? unsupported game"),
        ("boardsize 8", "="),
        ("boardsize 19", "? unacceptable size"),
        ("boardsize", "? syntax error: a size is missing"),
        ("boardsize nan", "? syntax error: a size is missing"),
        ("komi 6.5", "="),
        ("komi much", "? syntax error: a komi is missing"),
        ("3 clear_board # begin", "=3"),
        ("4 play black F5", "=4"),
        ("5 play black D6", "?5 illegal move: it is white's turn"),
        ("play white a1", "? illegal move: a1 is not legal here; legal: f4, d6, f6"),
        ("play white zz", "? illegal move: 'zz' is no square (a1 to h8, or -- for a pass)"),
        ("play white pass", "? illegal move: -- is not legal here; legal: f4, d6, f6"),
        ("play red f4", "? syntax error: a color is missing, black or white"),
        ("play white", "? syntax error: a move is missing"),
        ("play", "? syntax error: a color is missing, black or white"),
        ("PLAY white f4", "? unknown command"),
        ("play\tWhite\tf6", "="),
        ("final_score", "? cannot score: the game is not over"),
        ("undo", "="),
        ("undo", "="),
        ("undo", "? cannot undo"),
        ("7", "?7 unknown command"),
        ("8 fly me", "?8 unknown command"),
        ("stop", "="),
    ]
    assert answers([command for command, _ in dialogue]) == [answer for _, answer in dialogue]


def test_commands_are_listed() -> None:
    [listed] = answers(["list_commands"])
    names = listed.removeprefix("= ").split("\n")
    # Section 6 of the specification: these are required.
    required = "protocol_version name version known_command list_commands quit boardsize clear_board komi play genmove"
    assert set(required.split()) <= set(names)
    assert [answers([f"known_command {name}"]) for name in names] == [["= true"]] * len(names)


def test_board_is_shown_in_the_players_own_colors() -> None:
    first, second = answers(["showboard", "play b f5", "showboard"])[::2]
    assert first.split("\n")[:2] == ["=", "  a b c d e f g h"]
    assert "4 - - - O X - - - 4\n5 - - - X O - - - 5" in first
    assert first.endswith("black to move")
    assert "4 - - - O X - - - 4\n5 - - - X X X - - 5" in second
    assert second.endswith("white to move")


def test_quit_and_the_end_of_input_end_a_session_blank_lines_do_not() -> None:
    assert answers(["9 quit", "name"]) == ["=9"]
    assert answers([]) == []
    assert answers(["", "   ", "\t", "# nothing", "\x01\x02", "name"]) == ["= glem"]


def test_a_whole_game_is_played_and_scored() -> None:
    """One program makes the moves of both sides and passes by name; another one is told them and agrees."""
    engine, other = Engine(OTHELLO, GREEDY), Engine(OTHELLO, RANDOM)
    colors = ("black", "white") * 60
    moves = [session(engine, [f"genmove {color}"])[0].removeprefix("= ") for color in colors]
    assert engine.is_over
    assert moves[-1] == "pass"
    score = engine.first_score
    assert session(engine, ["final_score"]) == [f"= {'B' if score > 0 else 'W'}+{abs(score)}" if score else "= 0"]
    assert set(session(other, [f"play {color} {move}" for color, move in zip(colors, moves, strict=True)])) == {"="}
    assert other.position == engine.position


def test_forced_passes_may_be_left_out_and_a_refused_move_leaves_none_behind() -> None:
    engine = Engine(OTHELLO, RANDOM)
    engine.set_position(OTHELLO.parse_position(f"XO------{'-' * 48}XO------ X"))
    assert session(engine, ["play black c1"]) == ["="]
    assert engine.must_pass()
    refused, answer = session(engine, ["play black zz", "reg_genmove black"])
    assert refused.startswith("? illegal move") and answer.startswith("= ")
    assert [OTHELLO.format_move(move) for move in engine.moves] == ["c1"]
    assert session(engine, ["play black c8"]) == ["="]
    assert [OTHELLO.format_move(move) for move in engine.moves] == ["c1", "--", "c8"]


def test_any_game_is_spoken() -> None:
    talk = ["play black take3", "play white take4", "showboard", "genmove white", "boardsize 8", "play white pass"]
    told = answers(talk, game=COUNTDOWN)
    assert told[:3] == ["=", "? illegal move: 'take4' is no move", "=\n6 stones\nwhite to move"]
    assert told[3].startswith("= take")
    assert told[4] == "? unacceptable size"
    assert told[5].startswith("? illegal move")


def test_answered_moves_follow_the_limits(searching: PlayerSpec) -> None:
    engine = Engine(OTHELLO, searching)
    assert session(engine, ["genmove white"]) == ["? illegal move: it is black's turn"]
    move = engine.choose().move
    assert session(engine, ["reg_genmove black"]) == [f"= {OTHELLO.format_move(move)}"]
    assert engine.moves == ()
    assert session(engine, ["genmove black"]) == [f"= {OTHELLO.format_move(move)}"]
    assert engine.moves == (move,)


def test_clocks_reach_the_player(clocks: list[Any]) -> None:
    ask = "reg_genmove black"
    for told in (
        [],
        ["time_settings 300 0 0"],
        ["time_settings 300 0 0", "time_left black 20 0", "time_left white 5 0"],
        ["time_settings 0 30 10"],
        ["time_left black 30 10"],
        ["time_settings 300 10 0"],
        ["time_left black 0 0"],
    ):
        answers([*told, ask])
    assert clocks[:6] == [None, Clock(300), Clock(20), Clock(3, 3), Clock(3, 3), None]
    assert clocks[6].remaining > 0
    assert answers(["time_left black", "time_settings 1", "time_left 1 2 3"]) == [
        "? syntax error: a time is missing",
        "? syntax error: byo yomi time is missing",
        "? syntax error: a color is missing, black or white",
    ]


def test_a_clock_runs_while_nobody_tells(searching: PlayerSpec, clocks: list[Any]) -> None:
    answers(["time_settings 100 0 0", *(["reg_genmove black"] * 3)], spec=searching)
    first, second, third = (clock.remaining for clock in clocks)
    assert 100 == first > second > third > 0


@pytest.mark.parametrize("interruption", ["stop", "17 quit"])
def test_thinking_ends_when_asked(searching: PlayerSpec, interruption: str) -> None:
    """The engine would think for ever; the line comes once it does."""
    engine = Engine(OTHELLO, attrs.evolve(searching, limits=Limits(depth=100)))
    engine.prepare()
    thinking: queue.Queue[bool] = queue.Queue()
    choose = Engine.choose

    def telling(engine: Engine, **others: Any) -> Any:
        thinking.put(True)
        return choose(engine, **others)

    def lines() -> Iterator[str]:
        yield "genmove black"
        thinking.get(timeout=300)
        yield interruption

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "choose", telling)
        told = session(engine, lines())
    assert len(engine.moves) == 1
    assert told == [f"= {OTHELLO.format_move(engine.moves[0])}", "=17" if "17" in interruption else "="]


WORDS = st.sampled_from(
    [*"12# \t-\x00", "play", "genmove", "undo", "black", "w", "f5", "pass", "--", "time_left", "komi", "é", "9" * 500]
)
LINES = st.lists(st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=6).map(" ".join)), max_size=8)


@settings(deadline=None)
@given(LINES)
@example(["x" * 100_000, "play black " + "f5 " * 10_000])
@example(["²", "1² name", "٣ name"])
def test_whatever_comes_is_answered(lines: list[str]) -> None:
    lines = [line.replace("\n", " ").replace("\r", " ") for line in lines]
    for answer in answers(lines):
        assert answer[0] in "=?"
        assert len(answer) < 200_000


def test_scored_draws() -> None:
    """Countdown has no draws; a game that ends level is Othello's with 32 discs each."""
    engine = Engine(OTHELLO, RANDOM)
    engine.set_position(OTHELLO.parse_position("X" * 32 + "O" * 32 + " X"))
    assert session(engine, ["final_score", "genmove black"]) == ["= 0", "= pass"]
