"""How fast PGN is read: glem, ``pgn-extract`` and python-chess side by side, on one core.

``python -m tests.benchmarks.chess_pgn_tables`` reads the players' and the engines' games of ``../shared/data/chess``,
unpacked beforehand into one file each in a temporary folder; the disk's share is nothing, the file has just been
written. Each program runs twice for warmth and then three times; the table gives games a second by the median of the
processor times. glem gives moves checked against the rules, ratings, names and comments' scores; pgn-extract checks
the moves and writes nothing (``-r``); python-chess reads the first 500 games.
"""

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import chess.pgn

from glem.core.files.packed import MAX_BYTES, open_bounded
from glem.core.positions.reading import read_records
from glem.games.chess import CHESS
from tests.benchmarks.measuring import median_seconds
from tests.conftest import SHARED

_TIMES = 3
_PLAIN_GAMES = 500
_PROGRAMS = os.pathsep.join([*os.get_exec_path(), "/usr/games"])


def _unpacked(folder: Path, target: Path) -> Path:
    with target.open("wb") as file:
        for packed in sorted(folder.glob("*.xz")):
            with open_bounded(packed) as source:
                file.write(source.read(MAX_BYTES) + b"\n\n")
    return target


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


def main() -> None:
    """Print the table."""
    readers: dict[str, Callable[[Path], int]] = {"glem": _glem, "python-chess": _python_chess}
    if shutil.which("pgn-extract", path=_PROGRAMS):
        readers["pgn-extract"] = _pgn_extract
    print(f"{'games a second':20} {' '.join(f'{name:>14}' for name in readers)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("players", "engines"):
            path = _unpacked(SHARED / "data" / "chess" / name, Path(folder) / f"{name}.pgn")
            print(f"{name:20} {' '.join(f'{_speed(read, path):14,.0f}' for read in readers.values())}", flush=True)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
