"""``glem engine`` as another program runs it: as a process, with pipes."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from glem.core.evaluation.result_models import BAN, Calibration, ResultModels

PATIENCE = 300
RANDOM = ("--player", "random")


def talk(typed: str | bytes, *arguments: str, game: str = "othello") -> str:
    """What the engine says to a script."""
    process = subprocess.run(
        [sys.executable, "-m", "glem", "engine", game, *arguments],
        input=typed.encode() if isinstance(typed, str) else typed,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert b"Traceback" not in process.stderr
    return process.stdout.decode()


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "glem", "engine", "othello", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("typed", "arguments", "said"),
    [
        ("\nnboard 2\nping 3\n", (), "set myname glem\npong 3\n"),
        ("1 name\n", (), "=1 glem\n\n"),
        ("", (), ""),
        # One more process each: the protocol is recognized above.
        pytest.param("name\n", ("--protocol", "nboard"), "status unknown command 'name'\n", marks=pytest.mark.repeats),
        pytest.param("nboard 2\n", ("--protocol", "gtp"), "? unknown command\n\n", marks=pytest.mark.repeats),
    ],
)
def test_the_protocol_is_recognized_or_chosen(typed: str, arguments: tuple[str, ...], said: str) -> None:
    assert talk(typed, *arguments, *RANDOM) == said


def test_a_script_gets_whole_answers(mobility: str) -> None:
    """Neither its end nor its quit cuts short what was asked for before."""
    script = "play black f5\ngenmove white\n"
    first, second = (
        talk(script + end, "--solve", "0", "--evaluation", mobility, "--depth", "5") for end in ("", "quit\n")
    )
    assert second == first + "=\n\n"
    assert first.startswith("=\n\n= ")


def test_the_end_of_a_script_ends_what_has_no_end_of_its_own() -> None:
    said = talk("uci\nisready\nposition startpos\ngo infinite\n", *RANDOM, game="chess")
    assert re.search(r"uciok\nreadyok\nbestmove [a-h][1-8][a-h][1-8]\n$", said)


def test_garbage_is_answered() -> None:
    garbage = b"\xff\xfe\x00\n" + b"x" * 500_000 + b"\n\n\r\nplay black " + b"\xc3" * 100 + b"\nname"
    answers = talk(garbage, "--protocol", "gtp", *RANDOM).split("\n\n")
    assert [answer[:1] for answer in answers] == ["?", "?", "?", "=", ""]


def test_answers_fit_any_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    said = talk("nboard 2\nmöve\n", *RANDOM)
    assert said == "set myname glem\nstatus unknown command 'm\\xf6ve'\n"


def test_thinking_is_interrupted_in_the_running_process(mobility: str) -> None:
    with running("--solve", "0", "--evaluation", mobility, "--depth", "60") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("nboard 2\ngo\n")
        assert "status glem is thinking\n" in process.stdout
        process.stdin.write("ping 4\n")
        said = []
        while not said or said[-1] != "pong 4\n":
            said.append(next(process.stdout))
        assert not any(line.startswith("===") for line in said)
        process.stdin.write("hint 1\n")
        assert any(line.startswith("search ") for line in process.stdout)
        process.stdin.write("quit\n")
        assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("end", ["stdin", pytest.param("stdout", marks=pytest.mark.repeats)])
def test_a_program_that_goes_away_ends_the_engine(mobility: str, end: str) -> None:
    with running("--solve", "0", "--evaluation", mobility, "--depth", "60") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("nboard 2\nhint 1\n")
        assert any(line.startswith("search ") for line in process.stdout)
        getattr(process, end).close()
        assert (process.wait(timeout=PATIENCE) == 0) == (end == "stdin")


def test_a_calibration_that_nothing_could_tell_is_refused(tmp_path: Path) -> None:
    ban = Calibration(1.0, 0.0, 0.0)
    path = tmp_path / "calibration.json"
    ResultModels("othello", "default", "discs", ban, {}, BAN, {}).save(path)
    command = [sys.executable, "-m", "glem", "engine", "othello", "--calibration"]
    for words, error in (
        ([path, "--protocol", "gtp"], "--calibration: gtp has no word for win, draw and loss"),
        ([path, "--evaluation", "none"], "is of values in discs, those of none are points"),
        ([tmp_path / "none.json"], "none.json: cannot be read"),
    ):
        said = subprocess.run([*command, *map(str, words)], input="", capture_output=True, text=True, check=False)
        assert said.returncode == 2
        assert error in said.stderr
        assert "Traceback" not in said.stderr
