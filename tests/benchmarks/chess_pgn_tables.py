"""How fast PGN is read, beside ``pgn-extract`` and python-chess, and what ``glem grade`` takes from it.

    python -m tests.benchmarks.chess_pgn_tables
    python -m tests.benchmarks.chess_pgn_tables grade [GAMES]

The first reads the players' and the engines' games of ``../shared/data/chess``, unpacked beforehand into one file each
in a temporary folder; the disk's share is nothing, the file has just been written. Each program runs twice for warmth
and then three times, on one core; the table gives games a second by the median of the processor times. glem gives moves
checked against the rules, ratings, names and comments' scores; pgn-extract checks the moves and writes nothing
(``-r``); python-chess reads the first 500 games.

``grade`` joins the same games, repeated until there are GAMES (80,000 by default), into one file, packs it as ``.gz``,
``.xz`` and ``.zst``, and grades the evaluation that comes with chess on each file, then on the same twice over, to show
how the memory grows with the number of games. A line a file: wall and processor seconds, and the most memory that the
process held. A run before the first one is for compilation.
"""

import itertools
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import chess.pgn

from glem.core.files.packed import open_packed
from glem.core.positions.reading import read_records
from glem.games.chess import CHESS
from tests.benchmarks.measuring import median_seconds, table_header, table_row
from tests.conftest import SHARED

_FOLDER = SHARED / "data" / "chess"
_TIMES = 3
_PLAIN_GAMES = 500
_PROGRAMS = os.pathsep.join([*os.get_exec_path(), "/usr/games"])
_PACKINGS = ("", ".gz", ".xz", ".zst")
_EVENT = b'[Event "'


def _joined(files: Iterable[Path], target: Path, wanted: int = sys.maxsize) -> int:
    """Write the games of packed files, whole files, until there are so many; return their number."""
    count = 0
    with target.open("wb") as file:
        for packed in files:
            if count >= wanted:
                break
            with lzma.open(packed) as source:
                for line in source:
                    count += line.startswith(_EVENT)
                    file.write(line)
            file.write(b"\n\n")
    return count


def _glem(path: Path) -> int:
    return sum(len(records) for records in read_records(CHESS, path))


def _pgn_extract(path: Path) -> int:
    program = shutil.which("pgn-extract", path=_PROGRAMS)
    found = subprocess.run([str(program), "-r", path], check=True, capture_output=True)
    return int(found.stderr.rsplit(b"matched out of ", 1)[1].split(b".")[0])


def _python_chess(path: Path) -> int:
    with path.open(encoding="latin-1") as handle:
        return sum(chess.pgn.read_game(handle) is not None for _ in range(_PLAIN_GAMES))


def _speed(read: Callable[[Path], int], path: Path) -> float:
    return read(path) / median_seconds(lambda: read(path), _TIMES)


def reading(folder: Path) -> None:
    """Games a second of each program."""
    readers: dict[str, Callable[[Path], int]] = {"glem": _glem, "python-chess": _python_chess}
    if shutil.which("pgn-extract", path=_PROGRAMS):
        readers["pgn-extract"] = _pgn_extract
    table_header("games", *readers)
    for name in ("players", "engines"):
        path = folder / f"{name}.pgn"
        _joined(sorted((_FOLDER / name).glob("*.xz")), path)
        table_row(name, *(f"{_speed(read, path):,.0f}" for read in readers.values()))
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def _packed(plain: Path, suffix: str) -> Path:
    target = plain.with_name(f"once.pgn{suffix}")
    with (
        lzma.open(target, "wb", preset=0) if suffix == ".xz" else open_packed(target) as file,
        plain.open("rb") as source,
    ):
        shutil.copyfileobj(source, file)
    return target


def _twice(path: Path) -> Path:
    """Join a file with itself; packed ones may be joined like plain ones."""
    target = path.with_name(path.name.replace("once", "twice"))
    with target.open("wb") as file:
        for _ in range(2):
            with path.open("rb") as source:
                shutil.copyfileobj(source, file)
    return target


def _graded(path: Path) -> tuple[float, float, int]:
    """Wall seconds, processor seconds and bytes of memory of grading one file."""
    begin = time.perf_counter()
    process = os.posix_spawnp(
        "glem",
        ["glem", "grade", "chess", str(path), "--evaluation", "default", "--skip-bad"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"glem grade failed on {path}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def grading(folder: Path, wanted: int) -> None:
    """Time and memory of grading, by packing."""
    plain = folder / "games.pgn"
    files = [*sorted(_FOLDER.glob("players/*.xz")), *sorted(_FOLDER.glob("engines/*.xz"))]
    count = _joined(itertools.cycle(files), plain, wanted)
    _graded(plain)
    table_header("games", "file", "MB", "wall s", "processor s", "memory, MB")
    for suffix in _PACKINGS:
        once = _packed(plain, suffix)
        for times, path in ((1, once), (2, _twice(once))):
            wall, processor, memory = _graded(path)
            sizes = f"{path.stat().st_size / 1e6:.0f} | {wall:.1f} | {processor:.1f} | {memory / 1e6:.0f}"
            table_row(f"{times * count:,}", f"`{path.suffix}`", sizes)
            path.unlink()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if sys.argv[1:2] == ["grade"]:
            grading(Path(scratch), int((*sys.argv[2:], 80_000)[0]))
        else:
            reading(Path(scratch))
