"""``glem play`` and ``glem search`` as a person uses them, with a pipe for the keyboard."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.features.learning import Learning
from glem.core.game.game import load_game
from glem.core.players.engine import Engine
from glem.core.positions.reading import read_records
from tests.core.cli.terminal import Terminal
from tests.killed_programs import killed_in_the_end
from tests.system import not_on_windows

RANDOM = ("othello", "--player", "random")


@pytest.fixture
def against_mobility(terminal: Terminal, mobility: str) -> Terminal:
    """Games of Othello against a player that searches."""
    return terminal.of("play", "othello", "--evaluation", mobility, "--solve", "0")


def test_a_game_is_begun_answered_and_left(against_mobility: Terminal) -> None:
    printed = against_mobility("--depth", "2", typed="f5\nline\nquit\n")
    assert printed.startswith("You play X (the first player).")
    assert "3 - - - * - - - - 3\n4 - - * O X - - - 4\n5 - - - X O * - - 5" in printed
    assert "X 2, O 2" in printed
    [answer] = [line for line in printed.splitlines() if line.startswith("glem plays ")]
    assert "depth 2" in answer
    assert printed.splitlines()[-1] == f"f5{answer.split()[2]}"
    assert "\x1b" not in printed


def test_the_end_of_input_ends_the_game(terminal: Terminal) -> None:
    for typed in ("", "f5", "f5\n", "\n\n\n"):
        terminal("play", *RANDOM, typed=typed)


@pytest.mark.parametrize(
    ("options", "typed", "said", "last"),
    [
        (("--second",), "line\n", "You play O (the second player).", ".."),
        ((), "f5\nundo\nline\nf5\n", "no moves yet", None),
        (("--second", "--moves", "f5"), "line\n", "You play X (the first player).", None),
        ((), "switch\nline\n", "You play O (the second player).", ".."),
        ((), "resign\nline\nf5\n", "the game is over: new, undo, switch, save FILE or quit", None),
        ((), "resign\nf5\nundo\nf5\nresign\nnew\nline\n", "You gave up. glem wins.", "no moves yet"),
        # After black's move white must pass, which needs no typing.
        (("--position", f"XO------{'-' * 48}XO------ X"), "c1\nc8\n", "glem has no move and must pass.", None),
        (("--position", f"XO------{'-' * 48}XO------ X"), "c1\nc8\n", "You win by 64.", None),
    ],
)
def test_what_a_person_may_do(
    terminal: Terminal, options: tuple[str, ...], typed: str, said: str, last: str | None
) -> None:
    printed = terminal("play", *RANDOM, *options, typed=typed)
    assert said in printed
    assert last is None or re.fullmatch(last, printed.splitlines()[-1])


def test_bad_input_is_explained(terminal: Terminal) -> None:
    typed = "a1\nzz\n\x00\n" + "x" * 30_000 + "\nsave\nsave /nowhere/at/all\nundo\nhint\n"
    wrong_numbers = ("-3", "x", "0", "1000", "3 3")
    printed = terminal("play", *RANDOM, typed=typed + "".join(f"hint {wrong}\n" for wrong in wrong_numbers))
    assert "'a1' is no legal move; legal: d3, c4, f5, e6" in printed
    assert "'zz' is no square (a1 to h8, or -- for a pass)\n" in printed
    assert "save where?" in printed
    assert "the folder /nowhere/at does not exist" in printed
    assert "there is no move to take back" in printed
    assert "does not search, so it cannot analyse" in printed
    for wrong in wrong_numbers:
        assert f"hint takes a number of moves from 1 to 999, as in hint 3, got {wrong!r}" in printed
    assert max(map(len, printed.splitlines())) < 200


def test_hints_and_legal_moves(against_mobility: Terminal) -> None:
    typed = "hint 2\nhint 99999\nmoves\nhelp\nboard\n"
    printed = against_mobility("--depth", "2", "--moves", "f5d6", typed=typed)
    lines = printed.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("X 3, O 3")) + 1
    values = [float(line.split()[0]) for line in lines[first : first + 2]]
    assert values == sorted(values, reverse=True)
    assert "c3 g3 c4 e3 c5 g5 c6 c7 e7" not in printed
    assert "hint [N]" in printed
    assert printed.count("X 3, O 3") == 2


def test_a_game_to_the_end_is_saved(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    # All moves but the last one; then the person plays it by any of the 64 names.
    every_square = [f"{column}{row}" for column in "abcdefgh" for row in range(1, 9)] * 61
    printed = terminal("play", *RANDOM, "--save", str(path), typed="\n".join(every_square))
    assert "The game: " in printed
    assert any(text in printed for text in ("You win by", "glem wins by", "A draw."))
    moves, score = path.read_text(encoding="utf-8").split()
    assert f"The game: {moves}" in printed
    assert -64 <= int(score) <= 64
    positions = tmp_path / "positions.parquet"
    terminal("positions", str(path), "--game", "othello", "-o", str(positions))
    assert positions.exists()


@pytest.mark.parametrize(
    ("name", "file", "moves", "result"),
    [
        ("othello", "some.games", "f5 d6 c3", ""),
        ("connect_four", "game.txt", "4 4 3", ""),
        ("connect_four", "game.txt", "1 2 1 2 1 2 1", "1"),
        ("chess", "game.txt", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8", "0"),
    ],
)
def test_a_game_of_any_game_is_saved_as_lines_that_are_read(
    terminal: Terminal, tmp_path: Path, name: str, file: str, moves: str, result: str
) -> None:
    game, path = load_game(name), tmp_path / file
    for begin in ((), ("--position", game.format_position(game.initial_position))):
        terminal("play", name, "--player", "random", *begin, "--moves", moves, typed=f"save {path}\n")
        line = path.read_text(encoding="utf-8")
        assert line.startswith(f"# glem games 1 {name}\n{moves}\t{result}\t\t\t")
        assert sorted(line.split()[-2:]) == ["glem", "human"]
        [found] = read_records(game, path)
        assert [game.format_move(move) for move in found.moves.tolist()] == moves.split()


@pytest.mark.repeats  # saving: a game without compiled chess is saved above, and written as PGN in test_pgn_writing
def test_a_game_of_chess_is_saved_as_pgn(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    player = ("--player", "default,depth=1")
    terminal("play", "chess", *player, "--second", "--save", str(path), typed="resign\nquit\n")
    text = path.read_text(encoding="utf-8")
    assert '[White "glem"]' in text
    assert '[Black "human"]' in text
    [found] = read_records(load_game("chess"), path)
    assert found.score.tolist() == [1]
    assert np.isfinite(found.move_columns["comment_score"]).tolist() == [True]
    terminal(
        "play", "chess", *player, "--position", "8/8/8/8/8/6k1/4q3/7K b - - 0 1", "--save", str(path), typed="Qg2#\n"
    )
    [found] = read_records(load_game("chess"), path)
    assert found.score.tolist() == [-1]
    assert found.start_side is not None
    assert found.start_side.tolist() == [-1]


@pytest.mark.parametrize(
    ("game", "name", "message"),
    [
        ("connect_four", "game.pgn", "games of Connect Four are not written as .pgn; name a file .games"),
        (
            "othello",
            "game.obf",
            "games of Othello are not written as .obf; name a file .wtb (wthor), .ggf (ggf), .games",
        ),
        ("othello", "game.csv", "not written as .csv"),
    ],
)
def test_a_name_whose_format_is_not_written_is_refused_before_the_game(
    terminal: Terminal, tmp_path: Path, game: str, name: str, message: str
) -> None:
    command = ("play", game, "--player", "random")
    printed = terminal(*command, "--save", str(tmp_path / name), typed="quit\n", status=2)
    assert message in printed
    assert "You play" not in printed
    assert message in terminal(*command, typed=f"save {tmp_path / name}\nquit\n")
    assert not list(tmp_path.iterdir())


def test_a_game_that_begins_elsewhere_needs_a_format_with_room_for_that(terminal: Terminal, tmp_path: Path) -> None:
    command = ("play", *RANDOM, "--position", f"OX------{'-' * 48}OX------ O", "--save")
    assert "transcripts have no room" in terminal(*command, str(tmp_path / "game.txt"), status=2)
    terminal(*command, str(tmp_path / "game.ggf"), typed="c1\nquit\n")
    assert "PB[glem]PW[human]RE[?]" in (tmp_path / "game.ggf").read_text()
    assert " O]W[C1]" in (tmp_path / "game.ggf").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("play", "othello", "--evaluation", "nowhere.npz"), "no such file"),
        (("search", "othello", "--evaluation", "nowhere.npz"), "no such file"),
        (("engine", "othello", "--evaluation", "nowhere.npz"), "no such file"),
        (("engine", "othello", "--player", "random,speed=3"), "unknown option"),
        (("engine", "othello", "--protocol", "uci"), "no protocol 'uci'; known: auto, gtp, nboard"),
        (("play", "xiangqi"), "no game 'xiangqi'"),
        (("play", *RANDOM, "--moves", "a1"), "'a1' is no legal move"),
        (("play", *RANDOM, "--position", "X"), "64 squares"),
        (("play", *RANDOM, "--depth", "3", "--solve", "4"), "--depth, --solve beside --player: say it there"),
        (
            ("play", *RANDOM, "--evaluation", "none", "--probcut", "x.npz", "--full-width", "--table", "8"),
            "--evaluation, --probcut, --full-width, --table beside --player",
        ),
        (("search", "othello", "--evaluation", "none", "--moves", "f5a1"), "is no legal move after the first 1"),
        (("label", "x.games", "-o", "x.parquet", "--even-within", "nan"), "even_within is nan"),
        (("label", "by-results", "x.games", "-o", "x.parquet", "--suspect-above", "nan"), "--suspect-above must be"),
        (("label", "by-results", "x.games", "-o", "x.parquet", "--loss", "nan"), "--loss must be"),
    ],
)
def test_wrong_arguments(terminal: Terminal, words: tuple[str, ...], message: str) -> None:
    assert message in terminal(*words, status=2)


def test_without_an_evaluation_the_error_says_how_to_make_one(
    terminal: Terminal, othello_learning: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    import attrs

    from glem.core.evaluation import named

    bare = attrs.evolve(othello_learning, default_evaluation=None, evaluations={}, strongest="default")
    monkeypatch.setattr(named, "load_learning", lambda name: bare)
    named._shipped_evaluation.cache_clear()
    for command in ("play", "search", "engine"):
        assert "make one with `glem fit`" in terminal(command, "othello", status=2)


def test_bytes_that_are_no_text_are_no_move() -> None:
    command = [sys.executable, "-m", "glem", "play", *RANDOM]
    run = subprocess.run(command, input=b"\xff\xfe\nline\n", capture_output=True, check=True)
    assert b"is no square" in run.stdout
    assert run.stdout.endswith(b"no moves yet\n")


@not_on_windows
def test_a_terminal_has_prompts_and_colors() -> None:
    import pty

    controller, worker = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "glem", "play", *RANDOM]
    process = subprocess.Popen(command, stdin=worker, stdout=worker, stderr=worker, env=environment)
    os.close(worker)
    os.write(controller, b"undo\n\x04")
    shown = b""
    try:
        while piece := os.read(controller, 4096):
            shown += piece
    except OSError:
        pass  # How Linux tells that nobody holds the other end any more.
    assert process.wait(timeout=300) == 0
    os.close(controller)
    assert b"X (the first player)> " in shown
    assert b"\x1b[32m*\x1b[0m" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "depth 5@68% (complete), "),
        (("--full-width",), "depth 5 (complete), "),
        (("--depth", "30", "--nodes", "2000"), "@68% (stopped), "),
    ],
)
def test_search_says_how_selective_it_was(terminal: Terminal, options: tuple[str, ...], said: str) -> None:
    printed = terminal("search", "othello", "--depth", "5", "--moves", "f5d6c3d3c4", *options)
    assert said in printed
    assert (" 4@68% " in printed) == ("@" in said)


def test_search_prints_every_iteration_and_the_best_lines(terminal: Terminal, mobility: str) -> None:
    arguments = ("search", "othello", "--evaluation", mobility, "--depth", "3", "--moves", "f5d6", "--lines", "2")
    lines = terminal(*arguments).splitlines()
    assert "5 - - - O X X - - 5" in lines
    assert [line.split()[0] for line in lines if line.startswith("    ")][:6] == ["1", "1", "2", "2", "3", "3"]
    assert any(line.startswith("depth 3 (complete), ") for line in lines)
    found = terminal.json(*arguments)
    assert found["depth"] == 3
    assert [iteration["depth"] for iteration in found["iterations"]] == [1, 2, 3]
    assert len(found["lines"]) == 2
    best = found["lines"][0]
    assert lines[-2].split() == ["1", best["text"], *best["moves"]]
    assert found["unit"] == "discs"
    assert found["nodes"] > 0


def test_a_search_that_ends_inside_an_iteration_tells_the_depth_of_each_line(terminal: Terminal, mobility: str) -> None:
    arguments = ("search", "othello", "--evaluation", mobility, "--lines", "4")
    depths: list[int] = []
    limit: tuple[str, ...] = ()
    before, last = terminal.json(*arguments, "--depth", "4")["iterations"][-2:]
    for share in range(1, 8):
        limit = ("--nodes", str(before["nodes"] + share * (last["nodes"] - before["nodes"]) // 8))
        depths = [line["depth"] for line in terminal.json(*arguments, *limit)["lines"]]
        if len(set(depths)) == 2:
            break
    assert set(depths) == {3, 4}
    lines = terminal(*arguments, *limit).splitlines()
    assert [line.split()[2:4] for line in lines[-4:]] == [["depth", str(depth)] for depth in depths]


def test_search_obeys_each_limit(terminal: Terminal, mobility: str) -> None:
    search = terminal.of("search", "othello", "--evaluation", mobility).json
    assert search("--nodes", "5000")["nodes"] < 10_000
    assert search("--nodes", "5000")["stopped"]
    assert search("--seconds", "0.2")["depth"] >= 1
    assert search("--depth", "2", "--full-width")["depth"] == 2
    position = f"XO------{'-' * 48}XO------ X"
    assert search("--depth", "1", "--position", position)["lines"][0]["moves"] in (["c1"], ["c8"])


@not_on_windows
def test_an_interrupted_search_shows_what_it_has(mobility: str) -> None:
    arguments = ["search", "othello", "--evaluation", mobility, "--depth", "60"]
    command = [sys.executable, "-u", "-m", "glem", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, killed_in_the_end(process):
        assert process.stdout is not None
        assert any(re.match(" +8 ", line) for line in process.stdout)
        # The next iterations take ever longer; the signal comes inside one of them.
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        shown = process.stdout.read()
        assert process.wait(timeout=300) == 0
    assert "(stopped), " in shown


@pytest.mark.parametrize("command", ["search", "play", "engine", "solve"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("seconds", "nan"), ("seconds", "inf"), ("seconds", "1e30"), ("nodes", "9" * 23)],
)
def test_limits_without_sense_are_one_line(
    terminal: Terminal, mobility: str, command: str, option: str, value: str
) -> None:
    given = ("--position", f"{'-' * 27}OX------XO{'-' * 27} X") if command == "solve" else ()
    error = terminal(command, "othello", "--evaluation", mobility, *given, f"--{option}", value, status=2)
    assert error.startswith(f"glem: {option} is {float(value) if option == 'seconds' else value}, expected a ")
    assert error.count("\n") == 1


def test_only_commands_that_continue_say_so(terminal: Terminal, mobility: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    # Not a function that modules import by name: one that is loaded meanwhile would keep this.
    monkeypatch.setattr(Engine, "analyse", interrupted)
    assert terminal("search", "othello", "--evaluation", mobility, status=130).strip() == "glem: interrupted"
    monkeypatch.setattr("glem.core.cli.outputs.check_writable", interrupted)
    error = terminal("label", "x.games", "-o", "x.parquet", status=130)
    assert error.strip() == "glem: interrupted; the same command continues where it can"


def test_ctrl_c_makes_glem_move_at_once(against_mobility: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = Engine.choose

    def interrupted(engine: Engine, **others: Any) -> Any:
        timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
        timer.start()
        try:
            return choose(engine, **others)
        finally:
            timer.join()

    monkeypatch.setattr(Engine, "choose", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    began = time.monotonic()
    printed = against_mobility("--seconds", "600", typed="f5\nline\nquit\n")
    assert time.monotonic() - began < 300
    assert "glem plays " in printed
    assert signal.getsignal(signal.SIGINT) is handler
