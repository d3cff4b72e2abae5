"""Sets larger than memory.

``python -m tests.benchmarks.large_sets make POSITIONS COUNT --output FILE`` makes a set of successors of the POSITIONS
(Parquet, such as all of WTHOR), and of successors of a random share of these, COUNT of them, each labelled with its
value by Othello's strongest evaluation, without a search. A position belongs to the game of the one that it comes from.
The games are in a random order, so that the first positions of a large set are a smaller one of the same kind; with
``--last`` they come from the other end.

``... passes POSITIONS COUNT`` compares passes of a fit over the items of so many positions, in files, and in memory
where these are not many millions.
"""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from glem.core.evaluation.named import load_value
from glem.core.features.learning import load_learning
from glem.core.fitting.least_squares import value_chunks
from glem.core.fitting.packed.blocks import Packing
from glem.core.fitting.packed.design import Design
from glem.core.game.equal_positions import scatter
from glem.core.machine.large_arrays import scratch_folder
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import PositionWriter, read_positions
from glem.core.positions.positions import Positions
from glem.core.positions.successors import successors_of
from tests.benchmarks.measuring import command_line, table_header, table_row
from tests.oracles.fitting import problem_of

_PARENTS = 1 << 16
_JOBS, _ROUNDS = 2, 7
_MOST_IN_MEMORY = 1 << 25
_AGAIN = 0.06
"""Share of the successors whose own successors are taken, too."""


def make(positions: str, count: int, output: str, *, last: bool) -> None:
    """Make the set."""
    parents, random = read_positions(positions), np.random.default_rng(0)
    game = parents.game
    evaluation = load_value("strongest", game)
    order = np.argsort(scatter(parents.game_key, 1), kind="stable")[:: -1 if last else 1]
    with PositionWriter(output, game, "score") as writer:
        for start in range(0, len(order), _PARENTS):
            some = parents.select(order[start : start + _PARENTS])
            for _ in range(2):
                found = successors_of(game, some.positions)
                values = evaluation.predict(found.positions, jobs=_JOBS).astype(np.float32)
                some = Positions(game, found.positions, values, game_key=some.game_key[found.parent])
                writer.append(some.select(slice(0, count - writer.count)))
                some = some.select(random.random(len(some)) < _AGAIN)
            if writer.count >= count:
                return


def passes(positions: str, count: int, output: str, **_unused: bool) -> None:
    """Compare passes, one after the other in turn."""
    some = read_positions(positions).head(count)
    learning = load_learning(some.game.name)
    packing = Packing(len(learning.phases), PatternSet.named(learning, "logistello"))
    with tempfile.TemporaryDirectory(dir=output or scratch_folder()) as folder:
        designs = {
            name: Design.build(value_chunks(learning, some.positions), packing, folder=place, jobs=_JOBS)
            for name, place in {"in files": Path(folder), "in memory": None}.items()
            if place is not None or count <= _MOST_IN_MEMORY
        }
        problems = {name: problem_of(design, some.label, jobs=_JOBS) for name, design in designs.items()}
        zeros = np.zeros(problems["in files"].parameter_count)
        times: dict[str, list[float]] = {name: [] for name in problems}
        for _ in range(_ROUNDS):
            for name, problem in problems.items():
                # On the clock: a disk takes no time of a processor.
                began = time.perf_counter()
                problem.errors_and_gradient(zeros)
                times[name].append(time.perf_counter() - began)
        medians = {name: statistics.median(each) for name, each in times.items()}
        table_header("items", "s a pass", "ns a position")
        for name, median in medians.items():
            table_row(name, f"{median:.2f}", f"{median / len(some) * 1e9:.1f}")


if __name__ == "__main__":
    works = {"make": make, "passes": passes}
    given = command_line(__doc__, what=works, positions=str, count=int, output="", last=False).parse_args()
    works[given.what](given.positions, given.count, given.output, last=given.last)
