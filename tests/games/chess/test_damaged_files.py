"""Files as people have them, and damaged ones, through the commands: graded, or left out with counted reasons."""

from pathlib import Path

import pytest

from tests.core.cli.terminal import Terminal
from tests.games.chess.test_pgn import FISCHER, LONG, TAGS

GAME = LONG.replace(" 9.Bd2", " {+0.31/14 3s} 9.Bd2").replace(" 21.Qe1", " {-0.20/9} 21.Qe1")
GRADE = ("--skip-moves", "0", "--skip-end", "0", "--select", "all", "--resamples", "100")
COMMENTS = ("--evaluation", "comments", "--scale", "1", "--drawishness", "0.5", *GRADE)
SKIP_BAD = "--skip-bad"


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
def test_good_games_are_graded(terminal: Terminal, path: Path, tmp_path: Path, content: bytes, reason: str) -> None:
    path.write_bytes(content)
    graded = terminal("grade", "chess", path, *COMMENTS, SKIP_BAD) + terminal.error
    assert reason in graded
    assert ("1 bad record skipped" in graded) == ("half-move" in reason or "the file ends" in reason)
    written = terminal("positions", "chess", path, "-o", tmp_path / "out.parquet", SKIP_BAD) + terminal.error
    if "left out" not in reason:
        assert reason.removesuffix(" game") in written


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
def test_where_nothing_is_left_the_reason_is_told(
    terminal: Terminal, path: Path, tmp_path: Path, content: bytes, reason: str
) -> None:
    path.write_bytes(content)
    changes = tmp_path / "changes.txt"
    changes.write_text("scale rook_mobility 1.2\n")
    for words in (
        ("grade", "chess", path, *COMMENTS),
        ("positions", "chess", path, "-o", tmp_path / "out.parquet"),
        ("improve", "chess", path, "--changes", changes),
        ("fit", "likelihood", "chess", path, "-o", tmp_path / "out.npz", "--prior", "default"),
    ):
        told = terminal.fails(*words).removeprefix("glem: ")
        assert told.startswith(f"{path}:")
        assert reason in told
        left_out = terminal(*words, SKIP_BAD, status=2)
        assert "glem: no position is left" in left_out
        assert f"the first: {told}" in left_out
