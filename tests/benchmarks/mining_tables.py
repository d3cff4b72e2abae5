"""Print the figures of ``docs/explanation/mining.md``.

    python -m tests.benchmarks.mining_tables TABLE FOLDER_OF_WTB_FILES

``compare``: beside pyfim, each in a process of its own; ``subset``: one 16-square subset of 4 million positions;
``board``: the 64 squares and mobility; ``sequential``: the sequential test; ``significance``: label sums.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.configurations.configurations import symmetry_classes
from glem.core.configurations.mining import label_significance, label_statistics, mine
from glem.core.features.learning import load_learning
from tests.benchmarks.measuring import table_header, table_row, timed
from tests.benchmarks.tournament_positions import SQUARES, TWO_EDGE_ROWS, Positions, sample

MID_GAME = (30, 34)
MOBILITY = (64, 65)


def _peak_megabytes() -> float:
    # Not getrusage: its peak of a started process includes that of the process which started it.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _warm_up(positions: Positions) -> None:
    """Compile or load every kernel."""
    few = mine(positions.values[:600], minimum_matches=200, maximum_size=4).flatten()
    mine(positions.values[:600], minimum_matches=200, maximum_size=2).flatten()
    label_statistics(few, positions.values[:600], positions.labels[:600])


def _measure(program: str, values: np.ndarray, minimum: int, size: int | None) -> None:
    """Run in a process of its own; the last line printed is the outcome."""
    found: Any = None
    if program == "glem":
        few = np.asfortranarray(values[:600])
        mine(few, minimum_matches=200, maximum_size=4).flatten()
        before = _peak_megabytes()
        rounds = []
        peak = 0.0
        for _ in range(5):
            # Fresh memory costs the system between nothing and more than the search takes.
            found = None
            found, seconds = timed(lambda: mine(values, minimum_matches=minimum, maximum_size=size).flatten())
            rounds.append(seconds)
            peak = peak or _peak_megabytes()
        seconds = float(np.median(rounds))
    else:
        import fim

        items = [tuple(row) for row in (values + 3 * np.arange(values.shape[1])).tolist()]
        before = _peak_megabytes()
        report = "a" if program == "pyfim" else "#"
        settings = {"target": "s", "supp": -minimum, "zmin": 1, "report": report, "algo": "b"}
        if size is not None:
            settings["zmax"] = size
        found, seconds = timed(lambda: fim.eclat(items, **settings))
        peak = _peak_megabytes()
    count = sum(found.values()) if program == "pyfim counting" else len(found)
    print(json.dumps([int(count), seconds, before, peak]))


def compare(folder: Path) -> None:
    """Both programs on the same 50,000 positions; where the itemsets would fill the memory, pyfim only counts them."""
    cases = [(MID_GAME, 0.05, 4), (MID_GAME, 0.02, 4), (MID_GAME, 0.01, 4), ((20, 24), 0.10, None)]
    table_header("empties", "support", "size", "program", "configurations", "CPU s", "peak MB", "before it MB")
    for empties, support, size in cases:
        minimum = int(support * 50_000)
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "values.npy"
            np.save(file, sample(folder, 50_000, empties).values)
            for program in ("glem", "pyfim" if support >= 0.02 and size else "pyfim counting"):
                command = [sys.executable, "-m", MODULE, "measure", str(file), program, str(minimum), str(size or 0)]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                count, seconds, before, peak = json.loads(output.splitlines()[-1])
                found = f"{count:,} | {seconds:.2f} | {peak:.0f} | {before:.0f}"
                table_row(f"{empties[0]}-{empties[1]}", f"{support:.0%}", size or "all", program, found)


def subset(folder: Path) -> None:
    """All configurations inside the first two rows, at n = 75 over 4 million positions."""
    positions = sample(folder, 4_000_000, features=TWO_EDGE_ROWS)
    _warm_up(positions)
    before = _peak_megabytes()
    found, seconds = timed(lambda: mine(positions.values, minimum_matches=75))
    for size, count in enumerate(found.size_counts().tolist()):
        if size:
            table_row(size, f"{count:,}")
    print(
        f"{len(found):,} configurations, {seconds:.1f} s, peak {_peak_megabytes():.0f} MB of which {before:.0f} before"
    )
    digits = positions.values.astype(np.int64) @ 3 ** np.arange(16)
    print(f"by tabulation: {np.count_nonzero(np.bincount(digits) >= 75):,} of 16 relations")


def board(folder: Path) -> None:
    """The 64 squares and both mobilities over a million positions of all stages."""
    positions = sample(folder, 1_000_000, features=np.array([*SQUARES, *MOBILITY]))
    _warm_up(positions)
    symmetries = load_learning("othello").features.symmetries
    for share, size in ((0.05, 3), (0.01, 3), (0.08, 4)):
        minimum = int(share * len(positions.values))
        found, seconds = timed(
            lambda minimum=minimum, size=size: mine(
                positions.values, minimum_matches=minimum, maximum_size=size
            ).flatten()
        )
        classes, merging = timed(partial(symmetry_classes, found, symmetries))
        print(
            f"n = {minimum:,}, up to {size}: {len(found):,} configurations, {seconds:.1f} s; "
            f"{classes.max() + 1:,} classes under symmetry, {merging:.1f} s"
        )
    print(f"peak {_peak_megabytes():.0f} MB")


def sequential(folder: Path) -> None:
    """Configurations that the sequential test loses, and its time, against the exact search."""
    positions = sample(folder, 1_000_000)
    _warm_up(positions)
    cases: list[dict[str, Any]] = [
        {"minimum_matches": 50_000, "maximum_size": 4},
        {"minimum_matches": 5_000, "maximum_size": 6, "features": range(16)},
    ]
    for settings in cases:
        exact, exact_seconds = timed(partial(mine, positions.values, **settings))
        print(f"\n{settings}\n{len(exact):,} configurations in {exact_seconds:.2f} s\n")
        table_header("t", "chunk", "lost", "share", "time / exact")
        for confidence in (1.0, 2.0, 3.0, 4.0, 6.0):
            for chunk_size in (512, 2048, 8192):
                test = {"method": "sequential", "confidence": confidence, "chunk_size": chunk_size, **settings}
                found, seconds = timed(partial(mine, positions.values, **test))
                lost = len(exact) - len(found)
                table_row(
                    f"{confidence:g}",
                    f"{chunk_size:,}",
                    f"{lost:,} | {lost / len(exact):.4%}",
                    f"{seconds / exact_seconds:.2f}",
                )


def significance(folder: Path) -> None:
    """Label sums and tests of a million configurations over a million positions."""
    positions = sample(folder, 1_000_000)
    _warm_up(positions)
    found = mine(positions.values, minimum_matches=20_000, maximum_size=4, limit=4_000_000).flatten()
    chosen = np.random.default_rng(1).choice(len(found), 1_000_000, replace=False)
    configurations = found.select(np.sort(chosen))
    statistics, seconds = timed(lambda: label_statistics(configurations, positions.values, positions.labels))
    print(f"label sums: {seconds:.1f} s")
    for repeats in (1.0, 60.0):
        tested, seconds = timed(partial(label_significance, statistics, positions_per_label=repeats))
        table_row(f"{repeats:.1f}", f"{(tested <= 0.01).mean():.1%}", f"{seconds:.1f} s")


MODULE = "tests.benchmarks.mining_tables"
TABLES = {"compare": compare, "subset": subset, "board": board, "sequential": sequential, "significance": significance}


def main() -> None:
    """Run one table, or one measurement of ``compare``."""
    if sys.argv[1:2] == ["measure"]:
        _, _, file, program, minimum, size = sys.argv
        _measure(program, np.load(file), int(minimum), int(size) or None)
        return
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("folder", type=Path, help="folder of .wtb files")
    arguments = parser.parse_args()
    TABLES[arguments.table](arguments.folder)


if __name__ == "__main__":
    main()
