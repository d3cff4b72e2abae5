"""What each step of the selective search of chess is worth beside the others (docs/explanation/search.md, Pruning).

    python -m tests.benchmarks.pruning_steps OPENINGS --nodes 5000 --openings 500 [STEP ...]

A step is left out in a copy of the sources, and the search with it plays the search without it at equal nodes, until a
sequential test decides whether the step is worth nothing or 20 Elo, or the openings are played, each twice.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import glem
from tests.benchmarks.measuring import command_line, table_header, table_row
from tests.benchmarks.measuring import glem as run

_SEARCH, _HISTORY, _PRUNING = "core/search/negascout.py", "core/search/history.py", "core/search/pruning.py"
_SEARCHER, _CHESS = "core/search/searcher.py", "games/chess/rules/searching.py"
_STEPS = {
    "null moves": (_SEARCH, "if depth >= NULL_DEPTH and", "if False and"),
    "reductions of late moves": (
        _SEARCH,
        "reduction = max(min(reduction, below - np.int64(1)), np.int64(0))",
        "reduction = np.int64(0)",
    ),
    "static scores above beta": (_SEARCH, "if depth <= FUTILE_DEPTH and state.swing > np.int64(0) and", "if False and"),
    "static scores below alpha": (_SEARCH, "near <= FUTILE_DEPTH", "False"),
    "late moves left out": (_SEARCH, "if may_be_left_out and depth <= LATE_DEPTH and", "if False and"),
    "losing moves left out": (_SEARCH, "or (depth <= LOSING_DEPTH and is_losing_move(rules, position, move))", ""),
    "captures that gain too little": (_SEARCH, "if is_pruned and stands > np.int64(0):", "if False:"),
    "table in quiescence": (_SEARCHER, "_PRUNED_TABLE_DEPTH = 0", "_PRUNED_TABLE_DEPTH = 1"),
    "histories of pairs": (_HISTORY, "for distance in range(1, 3):", "for distance in range(1, 1):"),
    "better off than before": (_SEARCH, "improves = ply > np.int64(1) and", "improves = True or"),
    "a ply less without a known move": (_SEARCH, "if is_pruned and depth > REDUCED_DEPTH and", "if False and"),
    "singular extensions": (_PRUNING, "SINGULAR_DEPTH = np.int64(7)", "SINGULAR_DEPTH = np.int64(255)"),
    "extensions of checks": (_CHESS, "return 1 if in_check(after)", "return 0 if in_check(after)"),
    "no captures among killers": (_HISTORY, "if not takes and killers[killer] != move:", "if killers[killer] != move:"),
    "histories that stay": (_SEARCHER, "if not state.prunes:", "state.follow_ups[:] = 0\n        if True:"),
}


def copy_without(step: str, folder: Path) -> None:
    """Copy the package, the step left out, into a folder that Python can import it from."""
    package = folder / "glem"
    for source in Path(glem.__file__).parent.iterdir():
        if source.is_dir() and source.name != "__pycache__":
            shutil.copytree(source, package / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            package.mkdir(exist_ok=True)
            shutil.copy(source, package)
    name, old, new = _STEPS[step]
    text = (package / name).read_text(encoding="utf-8")
    if old not in text:
        sys.exit(f"{name} no longer has {old!r}")
    (package / name).write_text(text.replace(old, new), encoding="utf-8")


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__, openings_file=Path, nodes=5_000, openings=500, workers=os.cpu_count() or 1)
    parser.add_argument("step", nargs="*", help=", ".join(_STEPS))
    chosen = parser.parse_args()
    if unknown := set(chosen.step) - set(_STEPS):
        parser.error(f"there is no step {min(unknown)!r}; there are: {', '.join(_STEPS)}")
    table_header("step", "games", "W-D-L", "Elo", "sequential test")
    for step in chosen.step or _STEPS:
        with tempfile.TemporaryDirectory() as folder:
            copy_without(step, Path(folder))
            engine = f"{sys.executable} -m glem engine chess --evaluation played"
            told = run(
                "match",
                "chess",
                f"name=with,evaluation=uci:{engine}",
                f"name=without,evaluation=uci:/usr/bin/env PYTHONPATH={folder} {engine}",
                *("--limit", f"nodes={chosen.nodes}", "--sprt", "0,20", "--workers", str(chosen.workers)),
                *("--openings", chosen.openings_file, "--opening-count", str(chosen.openings)),
            )
        pairing, test = told["pairings"][0], told["sprt"]
        results = "-".join(str(pairing[name]) for name in ("wins", "draws", "losses"))
        elo = f"{pairing['elo']['elo']:+.0f} ± {pairing['elo']['error']:.0f}"
        table_row(step, pairing["games"], results, elo, f"{test['verdict']} (LLR {test['llr']:.2f})")


if __name__ == "__main__":
    main()
