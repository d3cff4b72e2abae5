"""Which labelled positions make the better evaluation: by kind, number, depth, solver, results and generation.

    python -m tests.benchmarks.training_tables othello POSITIONS --by default --choices SET... --openings FILE -o FOLDER

Of POSITIONS (results as labels), some are labelled in several ways; an evaluation is fitted to each way's labels,
equally many unless its name says otherwise. Prints labels and their mean, then the tables of ``choice_tables``. Files
that are there already are not made again.
"""

import argparse
from pathlib import Path

import numpy as np
from attrs import evolve

from glem.core.positions.files import read_positions, write_positions
from glem.core.positions.positions import Positions
from tests.benchmarks import choice_tables
from tests.benchmarks.measuring import glem, table_header, table_row

KINDS = {
    "given": ("(given)",),
    "children": ("(child)",),
    "sampled": ("(sampled)",),
    "given-children": ("(given)", "(child)"),
    "given-sampled": ("(given)", "(sampled)"),
    "every-kind": (),
}


def draw(positions: Positions, count: int, kinds: tuple[str, ...] = ()) -> Positions:
    """Draw positions, of some origins, in their order."""
    wanted = [number for number, name in enumerate(positions.sources) if name.endswith(kinds)]
    rows = np.flatnonzero(np.isin(positions.source, wanted)) if kinds else np.arange(len(positions))
    return positions.select(np.sort(np.random.default_rng(1).permutation(rows)[:count]))


class Trials:
    """Labels and evaluations in a folder."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.folder = options, Path(options.output)
        self.folder.mkdir(exist_ok=True)
        self.models: list[Path] = []
        table_header("evaluation", "labels", "mean label")

    def labelled(self, name: str, given: Positions, by: str | Path, limits: str) -> Positions:
        """Positions, those after random moves and of searches and all their successors, labelled by a player."""
        path, source = self.folder / f"{name}.parquet", self.folder / f"{name}-given.parquet"
        if not path.exists():
            write_positions(source, given)
            glem("label", source, "--children", "1", "--sampled", "1", "--by", f"{by},table=4,{limits}", "-o", path)
        return read_positions(path)

    def fit(self, name: str, *parts: Positions) -> Path:
        """Fit an evaluation to labels."""
        pool = Positions.concatenate([evolve(part, label_kind="score") for part in parts])
        path, source = self.folder / f"{name}.npz", self.folder / f"{name}-fitted.parquet"
        if not path.exists():
            write_positions(source, pool)
            glem("fit", source, "--l2", "10", "-o", path)
            source.unlink()
        self.models.append(path)
        table_row(name, f"{len(pool):,}", f"{pool.label.mean():+.2f}")
        return path


def main() -> None:
    parser = choice_tables.parser_of(__doc__)
    parser.add_argument("positions", help="distinct ones, apart from the choice sets")
    parser.add_argument("--by", default="default")
    parser.add_argument("--labels", type=int, default=100_000, help="of each evaluation")
    parser.add_argument("-o", "--output", default="training", help="folder")
    options = parser.parse_args()
    trials, count = Trials(options), options.labels
    given = read_positions(options.positions)
    # Five to six labels for each given position.
    few = draw(given, count // 4)

    every = trials.labelled("depth-10", given, options.by, "depth=10,solve=16")
    sizes = [count * 3**power for power in range(1, 9) if count * 3**power < len(every)]
    for size in (len(every), *reversed(sizes)):
        trials.fit(f"number-{size}", draw(every, size))
    for name, kinds in KINDS.items():
        trials.fit(name, draw(every, count, kinds))
    for depth in (2, 4, 6, 12):
        labels = trials.labelled(f"depth-{depth}", few, options.by, f"depth={depth},solve=16")
        trials.fit(f"depth-{depth}", draw(labels, count))
    for solve in (4, 10, 20):
        labels = trials.labelled(f"solve-{solve}", few, options.by, f"depth=10,solve={solve}")
        trials.fit(f"solve-{solve}", draw(labels, count))
    results = draw(given, count)
    trials.fit("results-and-search", results, draw(every, count))
    model = trials.fit("results", results)
    for generation in (1, 2, 3):
        labels = trials.labelled(f"generation-{generation}", few, model, "depth=6,solve=16")
        model = trials.fit(f"generation-{generation}", draw(labels, count))

    print()
    options.models = list(map(str, trials.models))
    choice_tables.measure(options, trials.folder / "choices.svg")


if __name__ == "__main__":
    main()
