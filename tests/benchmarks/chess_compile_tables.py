"""How long the commands of chess take in a process that finds no machine code, and in one that finds all of it.

``python -m tests.benchmarks.chess_compile_tables`` runs ``glem grade chess`` on one player's games of
``../shared/data/chess`` and ``glem engine chess`` up to its first move, each with an empty kernel cache, the engine
also with what the grading has left, and both again. Wall seconds, and processor seconds.
The imports of numba and the rest are part of them. Python keeps byte code here, whatever the environment says: without
it each process would translate glem's own sources anew, 0.15 s of it.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measuring import table_header, table_row, timed
from tests.conftest import SHARED

_GAMES = SHARED / "data" / "chess" / "players" / "nimzowitsch.pgn.xz"
_GRADE = ("grade", "chess", str(_GAMES), "--evaluation", "default", "--skip-bad")
_ENGINE = ("engine", "chess")
_TALK = "uci\nisready\nposition startpos\ngo depth 3\n"


def _run(command: tuple[str, ...], cache: Path) -> str:
    began = time.perf_counter()
    _, used = timed(
        lambda: subprocess.run(
            [sys.executable, "-m", "glem", *command],
            input=_TALK if command == _ENGINE else "",
            env={**os.environ, "GLEM_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""},
            stdout=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    )
    return f"{time.perf_counter() - began:.2f} | {used:.2f}"


def main() -> None:
    """Print a table."""
    table_header("command", "kernel cache", "wall, s", "processor, s")
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        for name, command, state, cache in (
            ("`glem grade chess`", _GRADE, "empty", first),
            ("`glem engine chess`", _ENGINE, "left by `glem grade`", first),
            ("`glem grade chess`", _GRADE, "full", first),
            ("`glem engine chess`", _ENGINE, "full", first),
            ("`glem engine chess`", _ENGINE, "empty", second),
            ("`glem engine chess`", _ENGINE, "full", second),
        ):
            cache.mkdir(exist_ok=True)
            table_row(name, state, _run(command, cache))


if __name__ == "__main__":
    main()
