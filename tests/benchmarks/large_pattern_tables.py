"""Large patterns against Othello's basic ones at equal and at unequal time: Table 1 of the GLEM paper, anew.

    python -m tests.benchmarks.large_pattern_tables POSITIONS... --openings FILE -o FOLDER

Fits each evaluation to POSITIONS and plays the versions with large patterns against the basic one, full width. The
squares of the paper's Fig. 8 are lost: A are two rows at the edge, B is the triangle of a corner (15 squares), C its
block of 4x4. Evaluations and matches that are in the folder are not made again.
A row has twice as many games as ``--pairs`` says, of ``--clock`` seconds for the basic version.
"""

from pathlib import Path

from glem.core.features.learning import load_learning
from tests.benchmarks.measuring import command_line, glem, table_header, table_row

LARGE = {
    "A": tuple(f"{column}{row}" for row in (1, 2) for column in "abcdefgh"),
    "B": tuple(f"{column}{row}" for row in (1, 2, 3, 4, 5) for column in "abcdef"[: 6 - row]),
    "C": tuple(f"{column}{row}" for row in (1, 2, 3, 4) for column in "abcd"),
}
ROWS = [("A", 1.0), ("B", 1.0), ("AB", 1.0), ("ABC", 1.0), ("A", 0.6), ("A", 0.7), ("A", 0.8)]
PAPER = ("0.89 55.8", "0.89 55.5", "0.83 53.7", "0.80 54.3", "0.51 46.4", "0.62 48.5", "0.71 52.2")


def fitted(name: str, positions: list[str], folder: Path) -> Path:
    """Fit the basic patterns and the large ones whose letters the name has."""
    path, patterns = folder / f"{name}.npz", folder / f"{name}.txt"
    if not path.exists():
        basic = load_learning("othello").pattern_sets["logistello"]
        chosen = {**basic, **{letter: LARGE[letter] for letter in name if letter in LARGE}}
        patterns.write_text("".join(f"{each}: {' '.join(squares)}\n" for each, squares in chosen.items()))
        glem("fit", *positions, "--patterns", patterns, "--l2", "10", "-o", path)
    return path


def main() -> None:
    parser = command_line(__doc__, positions=[str], pairs=217, clock=0.5, workers=2)
    parser.add_argument("--openings", required=True)
    parser.add_argument("-o", "--output", type=Path, default="large-patterns")
    options = parser.parse_args()
    options.output.mkdir(exist_ok=True)
    basic = fitted("basic", options.positions, options.output)
    limits = "solve=12,probcut=off"
    opponent = f"{basic},name=basic,clock={options.clock},{limits}"
    names = ("opponent", "time", "nodes a second", "nodes", "wins", "draws", "losses", "%", "Elo", "paper: nodes, %")
    table_header(*names)
    for (name, share), paper in zip(ROWS, PAPER, strict=True):
        model = fitted(name, options.positions, options.output)
        told = glem(
            "match", "othello", f"{model},name=large,clock={options.clock * share:g},{limits}", opponent,
            "--openings", options.openings, "--opening-count", str(options.pairs),
            "--seed", "1", "--workers", str(options.workers), "-o", options.output / f"{name}-{share}.jsonl",
        )  # fmt: skip
        pairing, (large, small) = told["pairings"][0], told["players"].values()
        elo = pairing["elo"]
        speeds = [each["nodes"] / each["seconds"] for each in (large, small)]
        table_row(
            name, f"{share:g}", f"{speeds[0] / speeds[1]:.2f}", f"{large['nodes'] / small['nodes']:.2f}",
            pairing["wins"], pairing["draws"], pairing["losses"], f"{100 * pairing['score']:.1f}",
            f"{elo['elo']:+.0f} ± {elo['error']:.0f}", paper,
        )  # fmt: skip


if __name__ == "__main__":
    main()
