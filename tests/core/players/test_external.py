"""External engines: glem's own as the program on the other side, and programs that misbehave."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from glem.core.errors import BadInputError
from glem.core.game.protocols import PlayerFailureError
from glem.core.players.external import moves_between, program_command
from glem.core.players.making import make_player
from glem.core.players.spec import parse_player
from glem.core.search.results import Clock
from glem.games.connect_four import CONNECT_FOUR
from tests.core.cli.terminal import Terminal
from tests.othello import OTHELLO

GTP = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "genmove":
        {answer}
    else:
        print("= 2\\n", flush=True)
"""


def program(folder: Path, text: str) -> str:
    """Write a program, and return how to call it."""
    path = folder / "engine"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


def gtp(folder: Path, answer: str, options: str = "") -> Any:
    text = program(folder, GTP.format(answer=answer))
    return make_player(CONNECT_FOUR, parse_player(f"gtp:{text},depth=1{options}"))


def first_position() -> tuple[Any, tuple[Any, ...]]:
    start = CONNECT_FOUR.initial_position
    return CONNECT_FOUR.play(start, 3), (start,)


def test_a_program_chooses_and_its_processor_time_is_counted(tmp_path: Path) -> None:
    work = "sum(range(8_000_000)); print('= ' + 'abcdefg'[2] + '\\n', flush=True)"
    player = gtp(tmp_path, work)
    name = CONNECT_FOUR.format_move(2)
    player.close()
    player = gtp(tmp_path, work.replace("'abcdefg'[2]", repr(name)))
    choice = player.choose(*first_position(), None)
    assert choice.move == 2
    assert choice.processor_seconds > 0.02
    assert choice.failures == 0
    player.close()


@pytest.mark.parametrize(
    ("answer", "problem", "failures"),
    [
        ("sys.exit(1)", "it ended", 2),
        ("print('? cannot\\n', flush=True)", "refuses 'genmove white': cannot", 2),
        ("print('= zebra\\n', flush=True)", "answers 'zebra'", 2),
        ("import time; time.sleep(60)", "no answer in 0.5 s", 1),
        ("[print('x' * 60000) for _ in range(10 ** 9)]", "printed and printed", 1),
        ("sys.stdout.write('x' * (1 << 30)); time.sleep(9)", "it ended|printed and printed|no answer", None),
    ],
)
def test_programs_that_misbehave_fail_in_bounded_time(
    tmp_path: Path, answer: str, problem: str, failures: int | None
) -> None:
    player = gtp(tmp_path, answer, ",timeout=0.5" if failures != 2 else "")
    begin = time.monotonic()
    with pytest.raises(PlayerFailureError, match=problem) as failure:
        player.choose(*first_position(), None)
    assert time.monotonic() - begin < 30
    assert failures is None or failure.value.failures == failures
    player.close()


def test_an_illegal_move_is_asked_for_once_more(tmp_path: Path) -> None:
    noted = tmp_path / "asked"
    column = CONNECT_FOUR.format_move(3)
    other = CONNECT_FOUR.format_move(4)
    answer = f"""
        import pathlib
        path = pathlib.Path({str(noted)!r})
        print("= {column}" if not path.exists() else "= {other}", end="\\n\\n", flush=True)
        path.touch()"""
    player = gtp(tmp_path, answer.strip())
    position, previous = CONNECT_FOUR.initial_position, []
    for _ in range(6):
        previous.append(position)
        position = CONNECT_FOUR.play(position, 3)
    choice = player.choose(position, previous, Clock(5.0, 0.0))
    assert (choice.move, choice.failures) == (4, 1)
    player.close()


@pytest.mark.parametrize(("name", "engine"), [("connect_four", "gtp"), ("othello", "gtp"), ("othello", "nboard")])
def test_glem_plays_itself_over_a_protocol(name: str, engine: str, tmp_path: Path, terminal: Terminal) -> None:
    words = f"-c 'from glem.core.cli import main; main()' engine {name} --protocol {engine} --evaluation none --depth 2"
    text = f"{engine}:{sys.executable} {words}"
    report = terminal.json(
        "match", name, f"{text},depth=2,name=program", "none,depth=1", "--opening-count", 1, "--opening-plies", 6
    )
    assert report["players"]["program"]["failures"] == 0
    assert report["games"] == 2
    assert report["players"]["program"]["processor_seconds"] > 0


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such program"):
        make_player(OTHELLO, parse_player("gtp:/nowhere/at/all,depth=1"))
    with pytest.raises(BadInputError, match="unknown option 'Hash'; known: timeout"):
        make_player(OTHELLO, parse_player(f"nboard:{sys.executable},depth=1,Hash=3"))
    with pytest.raises(BadInputError, match="timeout must be seconds"):
        make_player(OTHELLO, parse_player(f"nboard:{sys.executable},depth=1,timeout=-3"))
    with pytest.raises(BadInputError, match="knows no programs"):
        make_player(CONNECT_FOUR, parse_player("nboard:ls,depth=1"))
    with pytest.raises(BadInputError, match="did not begin in the initial position"):
        moves_between(OTHELLO, [OTHELLO.play(OTHELLO.initial_position, 19)])
    assert program_command(f"{sys.executable} -c 'a b'")[1:] == ["-c", "a b"]
