"""How long ``glem grade`` takes from PGN, plain and packed, and how its memory grows with the number of games.

``python -m tests.benchmarks.chess_grading_tables [GAMES]`` joins the players' and the engines' games of
``../shared/data/chess``, repeated until there are GAMES (80,000 by default), into one file, packs it as ``.gz``,
``.xz`` and ``.zst``, and grades the evaluation that comes with chess on each file, then on the same twice over. A line
a file: wall and processor seconds, and the most memory that the process held. A run before the first one is for
compilation.
"""

import itertools
import lzma
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from glem.core.files.packed import open_packed
from tests.benchmarks.measuring import table_header, table_row
from tests.conftest import SHARED

_PACKINGS = ("", ".gz", ".xz", ".zst")
_EVENT = b'[Event "'


def _joined(target: Path, wanted: int) -> int:
    """Write the games of the collections, whole files, until there are so many; return their number."""
    folder = SHARED / "data" / "chess"
    files = [*sorted(folder.glob("players/*.xz")), *sorted(folder.glob("engines/*.xz"))]
    count = 0
    with target.open("wb") as file:
        for packed in itertools.cycle(files):
            if count >= wanted:
                break
            with lzma.open(packed) as source:
                for line in source:
                    count += line.startswith(_EVENT)
                    file.write(line)
            file.write(b"\n\n")
    return count


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


def main(arguments: list[str]) -> None:
    """Measure and print a table."""
    wanted = int(arguments[0]) if arguments else 80_000
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "games.pgn"
        count = _joined(plain, wanted)
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
    main(sys.argv[1:])
