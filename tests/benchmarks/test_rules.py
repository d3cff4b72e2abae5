"""Speed of Othello's rules and of the first compiled call: ``pytest tests/benchmarks/test_rules.py``.

The rates are in the extra columns of the JSON output (``--benchmark-json``) and are printed with ``-s``. The
aims, on one core of a current x86 server: over 300 million leaves a second,
and a first compiled call within half a second of the start of a process.
"""

import subprocess
import sys
import time

import pytest

from glem.core.game.game import Game
from glem.core.game.perft import perft

FIRST_CALL = (
    "from glem.core.game.game import load_game; from glem.core.game.perft import perft; "
    "assert perft(load_game('othello'), 5) == 1396"
)


def report(benchmark, count: int, unit: str) -> None:
    rate = count / benchmark.stats.stats.median / 1e6
    benchmark.extra_info[f"million {unit}/s"] = round(rate, 1)
    print(f"{rate:,.0f} million {unit}/s")


@pytest.mark.parametrize("depth", [10, 11])
def test_perft(benchmark, othello: Game, depth: int):
    leaves = perft(othello, depth)
    benchmark.pedantic(perft, args=(othello, depth), rounds=5, warmup_rounds=1)
    report(benchmark, leaves, "leaves")


def test_first_compiled_call_of_a_process(benchmark):
    def start() -> None:
        subprocess.run([sys.executable, "-c", FIRST_CALL], check=True)

    start()  # compiles, if nothing has yet
    benchmark.pedantic(start, rounds=5)


def test_first_compiled_call_after_an_edit(benchmark, tmp_path, monkeypatch):
    def start() -> None:
        # An empty cache is what an edit leaves of the kernels that it reaches.
        monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path / str(time.monotonic_ns())))
        subprocess.run([sys.executable, "-c", FIRST_CALL], check=True)

    benchmark.pedantic(start, rounds=2)
