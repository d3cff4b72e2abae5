"""Files as people have them, and damaged ones, through the commands: graded, or left out with counted reasons."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from glem.core.cli import command_group
from glem.core.errors import GlemError
from tests.games.chess.test_pgn import FISCHER, LONG, TAGS

GAME = LONG.replace(" 9.Bd2", " {+0.31/14 3s} 9.Bd2").replace(" 21.Qe1", " {-0.20/9} 21.Qe1")
GRADE = ("--skip-moves", "0", "--skip-end", "0", "--select", "all", "--resamples", "100")
COMMENTS = ("--evaluation", "comments", "--scale", "1", "--drawishness", "0.5", *GRADE)
SKIP_BAD = "--skip-bad"


def run(*words: object) -> Result:
    """Run a command; only errors that become one line are errors."""
    result = CliRunner().invoke(command_group, [str(word) for word in words], standalone_mode=False)
    assert result.exception is None or isinstance(result.exception, GlemError), result.exception
    return result


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xef\xbb\xbf" + GAME.encode(), ""),
        ((GAME + "\n" + FISCHER).encode(), ""),
        ((GAME + TAGS + "\n1. e4 e5 *\n").encode(), "1 game without a result left out"),
        ((GAME + TAGS + "\n1. e4 e5 2. Ke3 1-0\n").encode(), "half-move 3, 'Ke3', is illegal"),
        ((GAME + TAGS + "\n1. e4 e5 2. N").encode(), "the file ends within the game"),
        ((GAME + TAGS + "\n1. Pe4 e5 1-0\n").encode(), "read by python-chess: 1 game"),
    ],
)
def test_good_games_are_graded(path: Path, tmp_path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    graded = run("grade", "chess", path, *COMMENTS, SKIP_BAD)
    assert graded.exception is None
    assert reason in graded.output
    assert ("1 bad record skipped" in graded.output) == ("half-move" in reason or "the file ends" in reason)
    written = run("positions", path, "--game", "chess", "-o", tmp_path / "out.parquet", SKIP_BAD)
    assert written.exception is None
    if "left out" not in reason:
        assert reason.removesuffix(" game") in written.output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no games; expected PGN"),
        (b"\0" * 100, "no games; expected PGN"),
        (b"[" * 5000, "the file ends within the game"),
        (b'[Event "' + b'"' * 5000, "the file ends within the game"),
        (b"1. e4 " + b"(" * 5000 + b" 1-0", "a variation has no end"),
        (f"{TAGS}\n1. e5 1-0\n\n{TAGS}\n1. e6 1-0\n".encode(), "half-move 1, 'e5', is illegal"),
    ],
)
def test_where_nothing_is_left_the_reason_is_told(path: Path, tmp_path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    changes = tmp_path / "changes.txt"
    changes.write_text("scale rook_mobility 1.2\n")
    commands: Sequence[Sequence[object]] = (
        ("grade", "chess", path, *COMMENTS),
        ("positions", path, "--game", "chess", "-o", tmp_path / "out.parquet"),
        ("learn", "chess", path, "--changes", changes),
        ("tune", path, "--game", "chess", "-o", tmp_path / "out.npz", "--prior", "default"),
    )
    for words in commands:
        told = str(run(*words).exception)
        assert told.startswith(f"{path}:")
        assert reason in told
        left_out = str(run(*words, SKIP_BAD).exception)
        assert left_out.startswith("no position is left")
        assert f"the first: {told}" in left_out
