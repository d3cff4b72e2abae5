"""Print what a sparse pattern of 16 squares costs in play (GLEM, section 4.4), beside Othello's default evaluation.

Beside Logistello's patterns alone its words fit into the same row of 64; beside all patterns they are in a second one.

    python -m tests.benchmarks.sparse_tables WTHOR

WTHOR is the folder of the ``.wtb`` files: the contents are those of its positions, the searched positions have 36 empty
squares. The sparse weights are 0, so that both evaluations search the same trees. Times are processor times of one
core, medians of rounds in turn; the kernels are compiled before.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled
from glem.core.evaluation.integers.accumulators import sum_entries
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.integers.sparse_sums import sum_of_sparse
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_value
from glem.core.game.game import load_game
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import PatternSet
from glem.core.patterns.sparse_patterns import valid_contents
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from glem.plugins.othello.patterns import LOGISTELLO
from tests.benchmarks.measuring import command_line, medians_in_turn, table_header, table_row
from tests.benchmarks.tournament_positions import real_positions, sample

EMPTIES = 36
REPEATS = 10
TWO_ROWS = tuple(f"{column}{row}" for row in (1, 2) for column in "abcdefgh")


class Memory(NamedTuple):
    data: Any
    words: Any
    width: np.int64


def _dense(memory: Any, rows: Any) -> Any:
    total = np.int64(0)
    for row in range(rows):
        table = np.int64(6) * memory.data.entries
        first = memory.width * np.int64(row)
        nothing, data = np.int64(0), memory.data
        total += sum_entries(memory.words, first, nothing, data.instances, data.starts, data.weights, table)
    return total


def _sparse(memory: Any, rows: Any) -> Any:
    total = np.int64(0)
    for row in range(rows):
        first = memory.width * np.int64(row) + memory.data.instances
        total += sum_of_sparse(memory.words, first, memory.data.sparse, np.int64(6))
    return total


def with_two_rows(evaluation: LinearEvaluation, values: Any, minimum: int) -> LinearEvaluation:
    """Add the two edge rows to an evaluation, with weights of 0 for the contents of so many positions."""
    features = evaluation.learning.features
    rows = Pattern("two rows", tuple(map(features.index, TWO_ROWS)))
    rows = evolve(rows, contents=valid_contents(features, rows, [values], minimum))
    return evaluation.with_patterns(PatternSet(features, (rows,)))


def _patterns_of_instances(evaluation: LinearEvaluation) -> list[Pattern]:
    assert evaluation.patterns is not None
    return [evaluation.patterns.patterns[instance.pattern] for instance in evaluation.patterns.instances]


def logistello(evaluation: LinearEvaluation) -> LinearEvaluation:
    """Leave out the patterns that the evaluation has beside Logistello's, so that its words fit into one row."""
    assert evaluation.patterns is not None
    patterns = PatternSet(evaluation.patterns.features, evaluation.patterns.patterns[: len(LOGISTELLO)])
    kept = evaluation.pattern_weights[:, : patterns.weight_count]
    return evolve(evaluation, patterns=patterns, pattern_weights=kept)


def lookups(evaluation: LinearEvaluation, positions: list[Any], rounds: int) -> None:
    """Time of a lookup, dense and sparse, on the indices of real positions."""
    evaluator = evaluator_of(evaluation)
    words = evaluator.empty_accumulators(len(positions))
    for row, position in enumerate(positions):
        evaluator.operations["start"](position, evaluator.data, words[evaluator.width * row :], 0)
    memory, count = Borrowed(Memory(evaluator.data, words, np.int64(evaluator.width))), np.int64(len(positions))

    def repeated(function: Any) -> Callable[[], None]:
        kernel = compiled(function)

        def work() -> None:
            for _ in range(REPEATS):
                kernel(memory, count)

        return work

    dense, sparse = medians_in_turn(repeated(_dense), repeated(_sparse), rounds=rounds)
    instances = sum(pattern.contents is None for pattern in _patterns_of_instances(evaluation))
    dense /= instances * REPEATS * len(positions)
    sparse /= int(evaluator.data.sparse.instances) * REPEATS * len(positions)
    table_row("lookup", f"{1e9 * dense:.2f} ns", f"{1e9 * sparse:.2f} ns", f"{sparse / dense:.2f} times")


def nodes(plain: LinearEvaluation, sparse: LinearEvaluation, positions: list[Any], depth: int, rounds: int) -> None:
    """Nodes a second of searches of the same trees."""
    counts: list[int] = []
    works = []
    for evaluation in (plain, sparse):
        searcher = Searcher(evaluation.learning.game, evaluator_of(evaluation))

        def work(searcher: Searcher = searcher) -> None:
            total = 0
            for position in positions:
                searcher.clear()
                total += searcher.search(position, Limits(depth=depth)).nodes
            counts.append(total)

        works.append(work)
    seconds = medians_in_turn(*works, rounds=rounds)
    if len(set(counts)) > 1:
        raise AssertionError(f"other trees: {counts}")
    one, other = (counts[0] / each / 1e6 for each in seconds)
    table_row("million nodes/s", f"{one:.2f}", f"{other:.2f}", f"{other / one:.3f} of it")


def main() -> None:
    """Print the table."""
    options = {"positions": 20, "depth": 9, "rounds": 9, "sample": 1_000_000, "minimum": 9}
    chosen = command_line(__doc__, wthor=Path, **options).parse_args()
    plain = load_value("default", load_game("othello"))
    every = np.arange(len(plain.learning.features))
    values = sample(chosen.wthor, chosen.sample, features=every).values
    for name, evaluation in (("Logistello's patterns", logistello(plain)), ("default", plain)):
        sparse = with_two_rows(evaluation, values, chosen.minimum)
        assert sparse.patterns is not None
        contents = sparse.patterns.patterns[-1].contents or ()
        (table,) = sparse.patterns.hash_tables.values()
        print(f"two edge rows: {len(contents):,} contents, {table.size:,} entries in the hash table")
        table_header("", name, "with the two rows", "ratio")
        # So many that calling the kernel costs nothing beside them.
        lookups(sparse, real_positions(chosen.wthor, EMPTIES, 2_000), chosen.rounds)
        nodes(evaluation, sparse, real_positions(chosen.wthor, EMPTIES, chosen.positions), chosen.depth, chosen.rounds)


if __name__ == "__main__":
    main()
