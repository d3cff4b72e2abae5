"""Sessions of the UCI protocol, as graphical boards and strangers hold them; at the end with the real search."""

from __future__ import annotations

import math
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import chess
import chess.engine
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling.columns import column_of_one
from glem.core.errors import BadInputError
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.result_distribution import result_distribution
from glem.core.evaluation.result_models import Calibration, ResultModels, WdlModel
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.game.game import load_game
from glem.core.players.chances import ResultChances
from glem.core.players.engine import Engine
from glem.core.players.spec import PlayerSpec
from glem.core.search.results import Bound, Clock, Limits, Line, SearchResult
from glem.games.chess.boards import from_board
from glem.games.chess.notation import parse_move
from glem.games.chess.uci.commands import GameLine, Go, centipawns, info_lines, limits_of, parse_go
from glem.games.chess.uci.protocol import serve_uci
from tests.core.players.line_feed import Feed
from tests.killed_programs import killed_in_the_end

SPEC = PlayerSpec("glem", evaluation="none", limits=Limits(clock=Clock(40.0)), table_mb=1)
RANDOM = PlayerSpec("random", kind="random")
PATIENCE = 60
COMMANDS = ["uci", "isready", "go", "position", "stop", "ponderhit", "ucinewgame", "setoption"]
OTHERS = ["startpos", "fen", "moves", "e2e4", "depth", "-1", "infinite", "ponder", "searchmoves", "name", "value"]
WORDS = [*COMMANDS, *OTHERS, "Hash", "MultiPV", "wtime", "100", "movestogo", "0", "mate"]


class FakeEngine(Engine):
    """An engine whose analysis is at once, or as long as it may be: what is tested is the talk."""

    def __init__(self, spec: PlayerSpec = SPEC, *, lasts: bool = False, preparing_seconds: float = 0.0) -> None:
        super().__init__(load_game("chess"), spec)
        self.asked: list[dict[str, Any]] = []
        self._lasts, self._preparing_seconds = lasts, preparing_seconds

    def prepare_analysis(self) -> Any:
        time.sleep(self._preparing_seconds)

    def analyse(self, *, lines: int = 1, stop: threading.Event | None = None, **others: Any) -> SearchResult:
        self.asked.append({"lines": lines, "position": self.position, "previous": self.previous, **others})
        moves = [move for move in self.legal_moves() if move not in others.get("exclude", ())]
        found = tuple(Line(5, 0.5, Bound.EXACT, (move,), 3) for move in moves[:lines])
        analysis = SearchResult(found, 3, 9, 1000, 0.5, stopped=False)
        others["on_iteration"](analysis)
        if self._lasts:
            assert stop is not None
            assert stop.wait(PATIENCE)
        return analysis


def told(engine: Engine, lines: Iterable[str]) -> list[str]:
    written: list[str] = []
    serve_uci(engine, lines, written.append)
    return written


class Talk(Feed):
    """A session with an engine in a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.answers: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=serve_uci, args=(engine, self, self.answers.put), daemon=True)
        self._thread.start()

    def until(self, begin: str) -> list[str]:
        heard = []
        while not heard or not heard[-1].startswith(begin):
            heard.append(self.answers.get(timeout=PATIENCE))
        return heard

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *error: object) -> None:
        self.say("quit")
        self.end()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def test_an_ordinary_session() -> None:
    engine = FakeEngine()
    answers = told(engine, ["uci", "isready", "ucinewgame", "position startpos moves e2e4", "go depth 5", "quit"])
    assert answers[0].startswith("id name glem ")
    assert "option name Hash type spin default 1 min 1 max 65536" in answers
    place = answers.index("uciok")
    assert answers[place + 1 :] == [
        "readyok",
        "info depth 3 seldepth 9 multipv 1 score cp 121 nodes 1000 nps 2000 time 500 pv " + answers[-1].split()[1],
        answers[-1],
    ]
    assert answers[-1].startswith("bestmove ")
    assert engine.asked[0]["limits"] == Limits(depth=5)
    assert engine.asked[0]["position"] == from_board(_board("e2e4"))


def _board(*moves: str) -> chess.Board:
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return board


def test_the_search_is_told_of_the_moves_before() -> None:
    engine = FakeEngine()
    told(engine, ["position startpos moves e2e4 g8f6 g1f3 f6g8 f3g1", "go depth 1", "quit"])
    before = engine.asked[0]["previous"]
    # From the last pawn move on.
    assert len(before) == 4
    assert before[0] == from_board(_board("e2e4"))
    assert before[-1] == from_board(_board("e2e4", "g8f6", "g1f3", "f6g8"))


CASTLING = "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        ([CASTLING, "go depth 1 searchmoves e1g1"], ["bestmove e1g1"]),
        (["setoption name UCI_Chess960 value true", CASTLING, "go depth 1 searchmoves e1h1"], ["bestmove e1h1"]),
        (
            ["position startpos moves f2f3 e7e5 g2g4 d8h4", "go depth 3"],
            ["info depth 0 score mate 0", "bestmove (none)"],
        ),
        (
            ["position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 3"],
            ["info depth 0 score cp 0", "bestmove (none)"],
        ),
        # Words before a command are passed over.
        (["joho isready", "", "debug on", "register later"], ["readyok"]),
    ],
)
def test_answers(lines: list[str], answers: list[str]) -> None:
    assert told(FakeEngine(), [*lines, "quit"])[-len(answers) :] == answers


def test_promotions_and_lines() -> None:
    position = "position fen 8/P6k/8/8/8/8/8/K7 w - - 0 1"
    asked = ["setoption name MultiPV value 3", position, "go nodes 7 searchmoves a7a8n a7a8q", "quit"]
    *lines, _ = told(FakeEngine(), asked)
    assert sorted(line.split(" pv ")[1] for line in lines) == ["a7a8n", "a7a8q"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["position startpos moves e2e5", "go depth 1"], "'e2e5' is no legal move"),
        (["position fen 8/8/8/8/8/8/8/8 w - - 0 1", "go depth 1"], "no game of chess leads to"),
        (["position fen nonsense", "go depth 1"], "is no position of chess"),
        (["position startpos", "go depth 1 dpeth 9"], "go: unknown words 'dpeth 9' are passed over"),
        (["position", "go depth 1"], "startpos or fen"),
        (["setoption name Hash value lots"], "option Hash must be a whole number"),
        (["setoption name Contempt value 3"], "No such option: Contempt"),
        (["setoption name UCI_Chess960 value maybe"], "true or false"),
        (["setoption name EvalFile value nowhere.npz"], "nowhere.npz"),
        (["setoption Hash 3"], "followed by name"),
        (["go depth many"], "go depth needs a whole number"),
        (["hello"], "unknown command 'hello'"),
    ],
)
def test_nonsense_is_answered(lines: list[str], said: str) -> None:
    answers = told(FakeEngine(), [*lines, "isready", "quit"])
    assert any(answer.startswith("info string ") and said in answer for answer in answers)
    assert answers.count("readyok") == 1
    # Whoever waits for a move gets an answer.
    assert sum(answer.startswith("bestmove") for answer in answers) == sum("go" in line.split() for line in lines)


@pytest.mark.parametrize("method", ["prepare_analysis", "analyse", "is_over"])
def test_an_error_becomes_no_move(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise BadInputError("something is wrong")

    monkeypatch.setattr(FakeEngine, method, property(fail) if method == "is_over" else fail)
    answers = told(FakeEngine(), ["position startpos", "go depth 1", "quit"])
    assert (answers[0], answers[-1]) == ("info string something is wrong", "bestmove (none)")
    assert told(FakeEngine(), ["go depth many", "quit"])[-1] == "bestmove (none)"


# The second position of https://www.chessprogramming.org/Perft_Results, and one of Chess960.
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"


@pytest.mark.parametrize(
    ("position", "depth", "total", "one"),
    [
        ("startpos", 4, 197_281, "e2e4: 13160"),
        ("startpos moves e2e4 e7e5", 1, 29, "e1e2: 1"),
        (f"fen {KIWIPETE}", 3, 97_862, "e1g1: 2059"),
        ("fen 7k/8/6K1/8/8/8/8/1R6 w - - 0 1 moves b1b8", 2, 0, ""),
        ("fen 7k/8/8/8/8/8/8/KR6 w - - 0 1", 6, 264_322, ""),
    ],
)
def test_perft_is_counted_as_stockfish_tells_it(position: str, depth: int, total: int, one: str) -> None:
    answers = told(FakeEngine(), [f"position {position}", f"go perft {depth}", "quit"])
    *counts, blank, said, last = answers
    assert blank == last == ""
    assert said == f"Nodes searched: {total}"
    assert sum(int(count.partition(": ")[2]) for count in counts) == total
    assert not one or one in counts


def test_perft_is_stopped_and_bounded() -> None:
    with Talk(FakeEngine()) as talk:
        talk.say("go perft 12", "isready")
        talk.until("readyok")
        talk.say("stop")
        assert talk.until("info string")[-1] == "info string stopped before all was counted"
        talk.say("go perft 0", "go perft")
    heard = list(talk.answers.queue)
    assert "info string go perft counts from 1 to 20 moves, got 0" in heard
    assert "info string go perft needs a whole number, got ''" in heard


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30) | st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=6))
def test_no_input_ends_it_but_its_own_word(lines: list[str]) -> None:
    lines = [line.replace("quit", "") for line in lines]
    answers = told(FakeEngine(), [*lines, "stop", "isready"])
    commands = [next((word for word in line.split() if word in COMMANDS), "") for line in lines]
    assert answers.count("readyok") == 1 + commands.count("isready")
    assert sum(answer.startswith("bestmove ") for answer in answers) == commands.count("go")


def test_a_player_that_does_not_search() -> None:
    answers = told(Engine(load_game("chess"), RANDOM), ["isready", "position startpos", "go movetime 10", "quit"])
    assert answers[0] == "readyok"
    assert chess.Move.from_uci(answers[1].split()[1]) in chess.Board().legal_moves


@pytest.mark.parametrize(("option", "field"), [("Hash", "table_mb"), ("Threads", "threads")])
def test_table_and_threads_are_changed_before_the_search(option: str, field: str) -> None:
    engine = FakeEngine()
    told(engine, [f"setoption name {option} value 7", "isready", "position startpos", "go depth 1", "quit"])
    assert engine.spec == attrs.evolve(SPEC, **{field: 7})


def test_stop_and_isready_while_it_thinks() -> None:
    with Talk(FakeEngine(lasts=True)) as talk:
        for command in ("go infinite", "go movetime 600000", "go"):
            talk.say("position startpos", command)
            talk.until("info depth")
            talk.say("isready")
            assert talk.until("readyok") == ["readyok"]
            talk.say("stop")
            assert talk.until("bestmove")[-1].startswith("bestmove ")


def test_a_stop_right_behind_counts() -> None:
    with Talk(FakeEngine(lasts=True)) as talk:
        talk.say("position startpos", "go infinite", "stop", "isready", "go infinite", "isready", "stop", "isready")
        heard: list[str] = []
        while sum(line.startswith("bestmove") for line in heard) < 2 or heard.count("readyok") < 3:
            heard.append(talk.answers.get(timeout=PATIENCE))


MATED = "position startpos moves f2f3 e7e5 g2g4 d8h4"


@pytest.mark.parametrize(
    ("position", "go"),
    [
        ("position startpos", "go infinite"),
        (MATED, "go infinite"),
        (MATED, "go ponder wtime 1000 btime 1000"),
        ("position startpos moves e2e5", "go infinite"),
        ("position startpos", "go infinite depth many"),
    ],
)
def test_infinite_gives_no_answer_before_stop(position: str, go: str) -> None:
    with Talk(FakeEngine()) as talk:
        talk.say(position, go)
        talk.until("info")
        time.sleep(0.1)
        while not talk.answers.empty():
            assert talk.answers.get().startswith("info string")
        assert talk.answers.empty()
        talk.say("stop")
        assert talk.until("bestmove")


@pytest.mark.parametrize("ends", [False, True])
def test_quit_and_the_end_of_the_input_end_thinking(ends: bool) -> None:
    with Talk(FakeEngine(lasts=True)) as talk:
        talk.say("position startpos", "go infinite")
        talk.until("info depth")
        talk.end() if ends else talk.say("quit")


def test_pondering() -> None:
    engine = FakeEngine()
    with Talk(engine) as talk:
        talk.say("position startpos moves e2e4", "go ponder wtime 1000 btime 1000")
        talk.until("info depth")
        time.sleep(0.1)
        assert talk.answers.empty()
        talk.say("ponderhit")
        assert talk.until("bestmove")
        # Told to stop instead: the other side has played something else.
        talk.say("go ponder movetime 5", "stop")
        assert talk.until("bestmove")
        assert [asked["limits"] for asked in engine.asked] == [Limits()] * 2


def test_the_clock_runs_from_ponderhit_on() -> None:
    with Talk(FakeEngine(lasts=True)) as talk:
        talk.say("position startpos", "go ponder movetime 30")
        talk.until("info depth")
        time.sleep(0.1)
        assert talk.answers.empty()
        talk.say("ponderhit")
        assert talk.until("bestmove")


def test_it_answers_before_it_is_ready() -> None:
    with Talk(FakeEngine(preparing_seconds=3.0)) as talk:
        talk.say("uci", "setoption name MultiPV value 2")
        assert talk.until("uciok")
        talk.say("isready", "position startpos", "go infinite", "stop")
        assert talk.until("info") == ["info string stopped before the player was ready"]
        assert talk.until("bestmove")


def test_words_of_go() -> None:
    words = "wtime 1000 btime 2000 winc 10 binc 20 movestogo 5 searchmoves e2e4 d2d4 nodes 9 nonsense infinite ponder"
    assert parse_go(words.split()) == Go(
        wtime=1000, btime=2000, winc=10, binc=20, movestogo=5, searchmoves=("e2e4", "d2d4"), nodes=9,
        infinite=True, ponder=True, unknown=("nonsense",),
    )  # fmt: skip
    assert parse_go([]) == Go()
    assert parse_go(["wtime", "60000.0", "btime", "+5", "winc", "-0.5"]) == Go(wtime=60000, btime=5, winc=0)
    with pytest.raises(BadInputError, match="wtime needs a whole number, got 'x'"):
        parse_go(["wtime", "x"])


def limits(words: str, *, white: bool = True, own: Limits | None = None, overhead: float = 0.0) -> Limits:
    return limits_of(parse_go(words.split()), white_to_move=white, own=own or SPEC.limits, overhead=overhead)


def test_limits() -> None:
    assert limits("depth 4 nodes 70") == Limits(depth=4, nodes=70)
    assert limits("movetime 750", overhead=0.25) == Limits(seconds=0.5)
    assert limits("movetime 5", overhead=0.01) == Limits(seconds=0.001)
    clocks = "wtime 1000 btime 60000 winc 100 binc 200"
    assert limits(clocks) == Limits(clock=Clock(1.0, 0.1))
    assert limits(clocks, white=False) == Limits(clock=Clock(60.0, 0.2))
    assert limits(clocks, overhead=0.25) == Limits(clock=Clock(0.75, 0.0))
    assert limits("wtime -50 btime 1").clock == Clock(0.001, 0.0)
    assert limits(f"{clocks} infinite") == limits("") == Limits()
    assert limits("mate 3") == Limits(depth=6)
    # The player's own limits hold besides, its clock does not.
    assert limits("depth 9 movetime 100", own=Limits(depth=4, seconds=1.0)) == Limits(depth=4, seconds=0.1)
    assert limits("infinite", own=Limits(nodes=5)) == Limits(nodes=5)


@given(milliseconds=st.integers(1, 10**7), moves=st.integers(1, 100))
def test_moves_to_go_share_the_clock(milliseconds: int, moves: int) -> None:
    from glem.core.search.results import longest_seconds, usual_seconds

    found = limits(f"wtime {milliseconds} movestogo {moves}")
    left = milliseconds / 1000
    assert found.clock is not None
    assert found.seconds is not None
    share = usual_seconds(found.clock, None)
    assert share == pytest.approx(left / min(moves + 1, 20))
    assert min(longest_seconds(found.clock, None), found.seconds) <= left


@pytest.mark.parametrize(
    ("value", "log_odds", "expected"),
    [(0.0, 1, 0), (1.0, 1, 110), (-0.5, 1, -55), (1000.0, 1, 10_000), (0.0, 0, 0), (0.46212, 0, 110)],
)
def test_centipawns(value: float, log_odds: int, expected: int) -> None:
    assert centipawns(value, "log odds" if log_odds else "expected result") == expected
    assert centipawns(1.0, "expected result") > 2000
    assert [centipawns(value, "centipawns") for value in (31.0, -1e6)] == [31, -10_000]


class ResultsEngine(FakeEngine):
    """Prepares what tells win, draw and loss; its values are 0.5, but 9 in a position with a mate in two plies more."""

    def __init__(self, evaluation: str, calibration: ResultModels | None = None) -> None:
        super().__init__(attrs.evolve(SPEC, evaluation=evaluation))
        self.calibration = calibration

    def analyse(self, **others: Any) -> SearchResult:
        found = super().analyse(**others)
        mates = (Line(9, value, Bound.EXACT, found.lines[0].moves, 3, 2) for value in (9.0, -9.0))
        return attrs.evolve(found, lines=(*found.lines, *mates))


def wdl_of(answers: list[str]) -> list[tuple[int, ...]]:
    lines = [answer for answer in answers if " wdl " in answer]
    return [tuple(map(int, line.split(" wdl ")[1].split()[:3])) for line in lines]


SHOWN = ["setoption name UCI_ShowWDL value true", "position startpos moves e2e4", "go depth 3", "quit"]
MODELS = ResultModels(
    game="chess",
    evaluation="default",
    unit="log odds",
    ban=Calibration(2.0, 0.5, 1.0),
    wdl={
        "material": WdlModel(17, 78, 58, (0.0, 0.0, 1.0, 0.2), (0.0, 0.0, 0.0, 0.4)),
        "move": WdlModel(1, 120, 32, (0.0, 0.0, 1.0, 0.2), (0.0, 0.0, 0.0, 0.4)),
    },
    chosen="material",
    grades={},
)


def test_win_draw_and_loss_are_told_on_demand_alone() -> None:
    assert "option name UCI_ShowWDL type check default false" in told(FakeEngine(), ["uci", "quit"])
    assert not wdl_of(told(ResultsEngine("default"), SHOWN[1:]))
    first, *mates = wdl_of(told(ResultsEngine("default"), SHOWN))[-3:]
    assert mates == [(1000, 0, 0), (0, 0, 1000)]
    # The player is ready when they are asked for.
    late = told(ResultsEngine("default"), [SHOWN[1], "go depth 3", *SHOWN])
    assert wdl_of(late)[-3:] == [first, *mates]
    assert not wdl_of(late[: next(place for place, line in enumerate(late) if line.startswith("bestmove"))])
    default = load_evaluation("default", load_game("chess"))
    assert isinstance(default, ResultEvaluation)
    _, alpha = default.predict(column_of_one(from_board(_board("e2e4"))))
    expected = 1000 * np.ravel(result_distribution(np.array([0.5]), default.scale, alpha))
    assert first == tuple(np.rint(expected).astype(int).tolist())
    assert sum(first) == 1000


@pytest.mark.parametrize(("chosen", "measure"), [("material", 78), ("move", 1)])
@pytest.mark.parametrize("evaluation", ["default", "played"])
def test_a_calibration_says_what_values_mean(chosen: str, measure: int, evaluation: str) -> None:
    models = attrs.evolve(MODELS, chosen=chosen)
    first, *mates = wdl_of(told(ResultsEngine(evaluation, models), SHOWN))[-3:]
    chances = 1000 * np.ravel(models.wdl[chosen].distribution(np.array([0.5]), measure))
    assert first == pytest.approx(chances, abs=1)
    assert sum(first) == 1000
    assert mates == [(1000, 0, 0), (0, 0, 1000)]


def test_bans_calibration_goes_by_the_drawishness_of_the_position() -> None:
    models = attrs.evolve(MODELS, chosen="Ban")
    (found, *_) = wdl_of(told(ResultsEngine("default", models), SHOWN))[-3:]
    default = load_evaluation("default", load_game("chess"))
    assert isinstance(default, ResultEvaluation)
    _, alpha = default.predict(column_of_one(from_board(_board("e2e4"))))
    odds = 0.5 + math.log(float(alpha[0]) / (1 - float(alpha[0])))
    expected = result_distribution(np.array([0.5]), 2.0, 1 / (1 + math.exp(-odds)))
    assert found == pytest.approx(1000 * np.ravel(expected), abs=1)


def test_what_nothing_tells_is_said_once() -> None:
    twice = [*SHOWN[:3], *SHOWN[1:]]
    answers = told(ResultsEngine("none"), twice)
    assert not wdl_of(answers)
    [said] = [answer for answer in answers if answer.startswith("info string")]
    assert said.startswith("info string win, draw and loss are not known: none has no drawishness")
    answers = told(ResultsEngine("none", MODELS), twice)
    [said] = [answer for answer in answers if answer.startswith("info string")]
    assert "the calibration of default is of values in log odds, those of none are points" in said
    assert answers[-1].startswith("bestmove")


def test_a_calibration_of_other_values_is_refused() -> None:
    game = load_game("chess")
    with pytest.raises(BadInputError, match="calibration is of othello, the game is chess"):
        ResultChances(game, "default", attrs.evolve(MODELS, game="othello"))
    with pytest.raises(BadInputError, match="values in pawns, those of default are log odds"):
        ResultChances(game, "default", attrs.evolve(MODELS, unit="pawns"))
    weather = {"weather": MODELS.wdl["material"]}
    with pytest.raises(BadInputError, match="goes by weather, which Chess does not know"):
        ResultChances(game, "default", attrs.evolve(MODELS, wdl=weather, chosen="weather"))
    with pytest.raises(BadInputError, match="needs a drawishness, and none has none"):
        ResultChances(game, "none", attrs.evolve(MODELS, unit="points", chosen="Ban"))


@pytest.mark.parametrize(("plies", "value", "mate"), [(1, 9.0, "mate 1"), (3, 9.0, "mate 2"), (2, -9.0, "mate -1")])
def test_mates(plies: int, value: float, mate: str) -> None:
    line = Line(0, value, Bound.EXACT, (parse_move("e2e4"),), 4, plies)
    analysis = SearchResult((line,), 4, 0, 10, 0.0, stopped=False)
    (info,) = info_lines(analysis, chess.Board(), "log odds", wdl=[(1000, 0, 0)])
    assert f" score {mate} wdl 1000 0 0 nodes 10 nps 0 time 0 pv e2e4" in info


def test_a_variation_ends_before_what_is_not_legal() -> None:
    moves = tuple(map(parse_move, ("e2e4", "e7e5", "e2e4")))
    line = Line(0, 0.0, Bound.LOWER, moves, 4)
    (info,) = info_lines(SearchResult((line,), 4, 0, 10, 0.1, stopped=False), chess.Board(), "log odds")
    assert info.endswith("score cp 0 lowerbound nodes 10 nps 100 time 100 pv e2e4 e7e5")


@settings(max_examples=25)
@given(data=st.data())
def test_lines_go_back_and_forth(data: st.DataObject) -> None:
    """Commands that take moves back, change them or begin anew end in the position that they tell."""
    line = GameLine()
    for _ in range(3):
        fen = data.draw(st.sampled_from(("", "r3k2r/pPp5/8/8/3pP3/8/8/R3K2R w KQkq - 0 1")))
        board = chess.Board(fen or chess.STARTING_FEN)
        for _ in range(data.draw(st.integers(0, 6))):
            legal = list(board.legal_moves)
            board.push(legal[data.draw(st.integers(0, 2)) % len(legal)])
        words = ["fen", *fen.split()] if fen else ["startpos"]
        line.set([*words, "moves", *(move.uci() for move in board.move_stack)], chess960=False)
        assert line.board == board
        assert line.position == from_board(board)
        assert len(line.previous) == min(board.halfmove_clock, len(board.move_stack))


COMMAND = [sys.executable, "-m", "glem", "engine", "chess", "--evaluation", "none"]


@pytest.fixture(scope="module")
def engine(shared: Path) -> Iterator[chess.engine.SimpleEngine]:
    assert shared.is_dir()
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=10 * PATIENCE) as running:
        running.ping()
        yield running


QUIET_MATES = [
    "k7/7n/3K4/8/8/1N6/8/6Q1 w - - 0 1",
    # P. Morphy.
    "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1",
]


def test_mates_are_told_in_moves(engine: chess.engine.SimpleEngine) -> None:
    info: Any = engine.analyse(chess.Board("7k/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"), chess.engine.Limit(mate=2))
    assert info["score"].white() == chess.engine.Mate(1)
    assert info["pv"] == [chess.Move.from_uci("a1a8")]


@pytest.mark.parametrize("position", QUIET_MATES)
def test_a_mate_search_misses_no_quiet_move(engine: chess.engine.SimpleEngine, position: str) -> None:
    info: Any = engine.analyse(chess.Board(position), chess.engine.Limit(mate=2))
    assert info["score"].white() == chess.engine.Mate(2)


def test_lines_and_moves_to_search(engine: chess.engine.SimpleEngine) -> None:
    wanted = [chess.Move.from_uci("a2a3"), chess.Move.from_uci("e2e4")]
    found: Any = engine.analyse(chess.Board(), chess.engine.Limit(depth=2), multipv=3, root_moves=wanted)
    assert {info["pv"][0] for info in found} == set(wanted)


def test_stop_and_quit_end_what_has_no_end(engine: chess.engine.SimpleEngine) -> None:
    for _ in range(3):
        with engine.analysis(chess.Board()) as analysis:
            while "pv" not in analysis.get():
                continue
            analysis.stop()
            move = analysis.wait().move
            assert move is not None
            assert move in chess.Board().legal_moves
    engine.analysis(chess.Board())
    engine.quit()


@pytest.mark.slow
def test_it_quits_while_it_compiles(shared: Path, tmp_path: Path) -> None:
    """On an empty cache: the handshake at once, then the end, long before anything is compiled."""
    environment = {**os.environ, "GLEM_CACHE_DIR": str(tmp_path)}
    with (
        subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        ) as process,
        killed_in_the_end(process),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("uci\n")
        assert "uciok\n" in process.stdout
        process.stdin.write("isready\nquit\n")
        # The input stays open: this is no script, whose end would let it finish.
        assert process.stdout.read() == ""
    assert process.returncode == 0
