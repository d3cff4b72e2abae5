"""Sessions of the NBoard protocol, as boards and strangers hold them."""

import os
import queue
import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glem.core.players.engine import Engine
from glem.core.players.protocols.conversation import DescriptorLines
from glem.core.players.spec import PlayerSpec
from glem.core.search.results import Clock, Limits
from glem.core.search.solver import solver_of
from glem.games.othello import OTHELLO
from glem.games.othello.nboard import serve_nboard
from tests.games.othello.test_ggf import NBOARD_GAME

RANDOM = PlayerSpec("random", kind="random")


def told(engine: Engine, lines: Iterable[str]) -> list[str]:
    written: list[str] = []
    serve_nboard(engine, lines, written.append)
    return written


def test_the_published_session(searching: PlayerSpec) -> None:
    """The example session of the protocol's description."""
    engine = Engine(OTHELLO, searching)
    answers = told(engine, ["nboard 2", f"set game {NBOARD_GAME}", "set depth 3", "ping 1", "go"])
    assert answers[:4] == ["set myname glem", "set myname glem3", "pong 1", "status glem is thinking"]
    assert re.fullmatch(r"nodestats \d+ \d+\.\d\d", answers[4])
    move = re.fullmatch(r"=== ([A-H][1-8])/-?\d+\.\d\d/\d+\.\d\d", answers[5])
    assert move is not None
    assert OTHELLO.parse_move(move[1]) in engine.legal_moves()
    assert answers[6:] == ["status glem is waiting"]
    # The board is not changed by the answer; the graphical board says what was played.
    assert len(engine.moves) == 8
    assert engine.spec.limits.depth == 3


def test_moves_are_told_one_by_one(searching: PlayerSpec) -> None:
    engine = Engine(OTHELLO, searching)
    assert told(engine, ["nboard 2", "move F5", "move D6/-1.50/2.5", "move c3//1"]) == ["set myname glem"]
    assert engine.transcript() == "f5d6c3"
    assert told(engine, ["move A1", "move", "move Z9/1/1"]) == [
        "status a1 is not legal here; legal: d3, f3, f4, g5",
        "status '' is no square (a1 to h8, or -- for a pass)",
        "status 'Z9' is no square (a1 to h8, or -- for a pass)",
    ]
    assert engine.transcript() == "f5d6c3"
    told(engine, ["set game (;;)", "nboard 1", "F5", "D6/1.2/3"])
    assert engine.transcript() == "f5d6"


def test_hints_are_the_best_moves_of_each_iteration(searching: PlayerSpec) -> None:
    engine = Engine(OTHELLO, searching)
    answers = told(engine, ["nboard 2", f"set game {NBOARD_GAME}", "set depth 3", "hint 2"])
    assert answers[2] == "status glem is analyzing"
    assert answers[-1] == "status glem is waiting"
    searches = [line for line in answers if line.startswith("search ")]
    pattern = r"search (?:[A-H][1-8]|PA)+ -?\d+\.\d\d 0 [123]"
    assert [bool(re.fullmatch(pattern, line)) for line in searches] == [True] * 6
    assert sum(line.startswith("nodestats ") for line in answers) == 3
    first, second = (line.split()[1][:2] for line in searches[-2:])
    assert first != second


def test_analysis_evaluates_every_position_backwards(searching: PlayerSpec) -> None:
    engine = Engine(OTHELLO, searching)
    answers = told(engine, ["nboard 2", f"set game {NBOARD_GAME}", "analyze"])
    analyses = [re.fullmatch(r"analysis (\d+) -?\d+\.\d\d", line) for line in answers[2:-1]]
    assert [int(found[1]) for found in analyses if found] == list(range(8, -1, -1))
    assert engine.transcript() == "f5f6d3c5e6f7e7f4"


@pytest.mark.parametrize("settings", [[], ["set depth 2"], ["set depth 2", "set depth 3"]])
def test_all_commands_are_exact_near_the_end(searching: PlayerSpec, settings: list[str]) -> None:
    """A board sets the depth of the middle game; a player that solves as time allows solves all the same."""
    engine = Engine(OTHELLO, attrs.evolve(searching, limits=Limits(clock=Clock(10))))
    random = Engine(OTHELLO, RANDOM)
    while len(random.moves) < 52:
        random.play(random.choose().move)
    # From the forty-fourth move on: the analysis takes a share of the clock for every position of the game.
    items = [("PA" if move == OTHELLO.pass_move else OTHELLO.format_move(move)) for move in random.moves[44:]]
    first = random.previous[44]
    board = "".join("*" if first.own >> cell & 1 else "O" if first.opponent >> cell & 1 else "-" for cell in range(64))
    game = f"BO[8 {board} *]" + "".join(f"{'BW'[place % 2]}[{item}]" for place, item in enumerate(items))
    answers = told(engine, ["nboard 2", *settings, f"set game (;{game};)", "go", "hint 1", "hint 2", "analyze"])
    solver = solver_of(OTHELLO)
    position = (*random.previous, random.position)
    exact = solver.solve(position[-1]).score
    assert [float(line.split("/")[1]) for line in answers if line.startswith("===")] == [exact]
    hints = [line.split() for line in answers if line.startswith("search") and line.endswith("100%")]
    assert [float(words[2]) for words in hints[:2]] == [exact, exact]
    told_values = {int(words[1]): float(words[2]) for words in map(str.split, answers) if words[0] == "analysis"}
    for ply in range(2, 9):
        assert told_values[ply] == solver.solve(position[44 + ply]).score


def test_a_finished_game_can_be_analysed_but_not_played_on(searching: PlayerSpec) -> None:
    played = Engine(OTHELLO, attrs.evolve(RANDOM, seed=3))
    while not played.is_over:
        played.play(played.choose().move)
    names = ["PA" if move == OTHELLO.pass_move else OTHELLO.format_move(move) for move in played.moves]
    tags = "".join(f"{'BW'[place % 2]}[{name}]" for place, name in enumerate(names))
    engine = Engine(OTHELLO, attrs.evolve(searching, limits=Limits(depth=1)))
    answers = told(engine, ["nboard 2", f"set game (;{tags};)", "go", "hint 1", "analyze"])
    assert answers[1] == "status the game is over"
    assert "status the game is over, there is nothing to analyse" in answers
    assert f"analysis {len(played.moves)} {OTHELLO.final_score(played.position):.2f}" in answers
    assert answers[-2].startswith("analysis 0 ")
    assert engine.moves == played.moves


def test_forced_passes(searching: PlayerSpec) -> None:
    """Black took a disc and left white without a move."""
    engine = Engine(OTHELLO, searching)
    game = f"(;BO[8 *O------{'-' * 48}*O------ *]B[C1];)"
    answers = told(engine, ["nboard 2", f"set game {game}", "go"])
    assert re.fullmatch(r"=== PA//\d\.\d\d", answers[2])
    told(engine, ["move PA"])
    assert engine.moves[-1] == OTHELLO.pass_move
    told(engine, [f"set game {game}", "move C8"])
    assert [OTHELLO.format_move(move) for move in engine.moves] == ["c1", "--", "c8"]
    told(engine, [f"set game {game}", "move D8"])
    assert [OTHELLO.format_move(move) for move in engine.moves] == ["c1"]


@pytest.mark.parametrize(
    ("game", "is_new"),
    [("F5D6C3D3", False), ("F5D6C3", False), ("F5D6", True), ("F5F6", True), ("F5D6C4D3", True), ("", True)],
)
def test_only_another_game_lets_the_player_forget(monkeypatch: pytest.MonkeyPatch, game: str, is_new: bool) -> None:
    def sent(moves: str) -> str:
        items = [f"{'BW'[place // 2 % 2]}[{moves[place : place + 2]}]" for place in range(0, len(moves), 2)]
        return f"set game (;{''.join(items)};)"

    forgotten: list[None] = []
    engine = Engine(OTHELLO, RANDOM)
    told(engine, [sent("F5D6C3")])
    engine.prepare()
    monkeypatch.setattr(engine._player, "new_game", lambda number=0: forgotten.append(None))
    told(engine, [sent(game)])
    assert engine.transcript() == game.lower()
    assert len(forgotten) == is_new


def test_clocks_of_the_game_reach_the_player(searching: PlayerSpec, clocks: list[Any]) -> None:
    game = "set game (;TI[10:00]B[F5//30]W[D6//5];)"
    told(Engine(OTHELLO, searching), ["nboard 2", game, "go", "move C3//20", "go", "set game (;;)", "go"])
    told(Engine(OTHELLO, searching), ["nboard 1", game, "go"])
    assert clocks == [Clock(570), Clock(595), None, None]


@pytest.mark.parametrize("command", ["go", "hint 3", "analyze"])
@pytest.mark.parametrize("interruption", ["ping 7", "quit", "set depth 1", ""])
def test_thinking_ends_when_the_next_command_comes(searching: PlayerSpec, command: str, interruption: str) -> None:
    """Without a limit the engine would think for ever."""
    engine = Engine(OTHELLO, attrs.evolve(searching, limits=Limits(depth=100)))
    engine.prepare()
    thinking: queue.Queue[bool] = queue.Queue()
    written: list[str] = []

    def write(line: str) -> None:
        written.append(line)
        if line in {"status glem is thinking", "status glem is analyzing"}:
            thinking.put(True)

    def lines() -> Iterator[str]:
        yield "nboard 2"
        yield command
        thinking.get(timeout=300)
        if interruption:
            yield interruption

    serve_nboard(engine, lines(), write)
    answers = {"ping 7": "pong 7", "set depth 1": "set myname glem1"}
    assert written[-1] == answers.get(interruption, "status glem is waiting")
    if interruption == "ping 7":
        # The board has moved on: a move would be taken for one in its new position.
        assert not any(line.startswith("===") for line in written)
        assert written[-2] == "status glem is waiting"


def test_a_script_with_a_ping_gets_its_moves(searching: PlayerSpec) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"nboard 2\nset depth 2\ngo\nping 2\nquit\n")
    os.close(writer)
    answers = told(Engine(OTHELLO, searching), DescriptorLines(reader))
    os.close(reader)
    assert [line[:4] for line in answers if line[:3] in {"===", "pon"}] == ["=== ", "pong"]


def test_what_makes_no_sense_is_answered(searching: PlayerSpec) -> None:
    engine = Engine(OTHELLO, searching)
    assert told(engine, ["nboard", "set depth", "set depth 0", "set depth x", "set contempt 5", "set x", "fly"]) == [
        "status a version must be a whole number from 0 to 1000, got ''",
        "status a depth must be a whole number from 1 to 10000, got ''",
        "status a depth must be a whole number from 1 to 10000, got '0'",
        "status a depth must be a whole number from 1 to 10000, got 'x'",
        "status unknown setting 'x'",
        "status unknown command 'fly'",
    ]
    assert told(engine, ["set game x", "hint 0", "hint x", "learn", "stop", "", "quit", "ping 1"]) == [
        "status 'x' is no game: it begins with (; and ends with ;)",
        "status a number of moves must be a whole number from 1 to 10000, got '0'",
        "status a number of moves must be a whole number from 1 to 10000, got 'x'",
        "learned",
    ]
    assert told(Engine(OTHELLO, RANDOM), ["hint 1"])[1].startswith("status player 'random'")
    assert told(engine, ["set depth 9999"]) == ["set myname glem9999"]
    assert engine.spec.limits.depth == 60


WORDS = st.sampled_from([*"12 -é", "nboard", "set", "game", "depth", "move", "F5", "go", "ping", "learn", "(;", ";)"])


@settings(deadline=None)
@given(st.lists(st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=5).map(" ".join)), max_size=8))
@example(["x" * 100_000, "move " + "F5/" * 10_000, "set game (;" + "B[F5]" * 10_000 + ";)", "ping " + "9" * 10_000])
def test_whatever_comes_is_no_crash(lines: list[str]) -> None:
    for answer in told(Engine(OTHELLO, RANDOM), lines):
        assert "\n" not in answer
        assert len(answer) < 1000
