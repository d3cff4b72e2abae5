"""Print the figures of ``docs/explanation/endgame-solver.md``.

    python -m tests.benchmarks.solver_tables TABLE DATA_FOLDER [--evaluation MODEL]

``suites``: the FFO endgame suite, problems 1 to 44, and positions of real games; ``problems``: each problem from
``--first`` to ``--last``; ``ablation``: problems 20 to 39 with one technique after the other left out; ``moves``: the
known scores of all moves of the positions of ``hard-20``. MODEL orders the moves: a file, ``default`` or ``none``.
``DATA_FOLDER`` holds the folders ``ffo``, ``endgame`` and ``wthor``. Times are those of the processor.

The aims of ``suites``, on one core of a current x86 server: FFO 1 to 19 in under 0.3 s, 20 to 39 in under 5 s, 40 to 44
in under 6 s; positions of real games with 20 empty squares at over 5 a second, with 14 at over 600.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.named import load_value
from glem.core.features.evaluators import Evaluator
from glem.core.game.game import load_game
from glem.core.search.solver import solve_moves
from glem.games.othello.solver import EndgameSolver, Techniques
from tests.benchmarks.measuring import command_line, table_header, table_row
from tests.benchmarks.tournament_positions import real_positions
from tests.oracles.obf import solved_positions

TABLE_MB = 256
SUITES = (("fforum-1-19.obf", 1), ("fforum-20-39.obf", 20), ("fforum-40-59.obf", 40), ("fforum-60-79.obf", 60))
MILLION = 1e6


class Known(NamedTuple):
    """What is known of a position."""

    score: float
    best_moves: frozenset[int] | None


class Effort(NamedTuple):
    """What solving some positions took."""

    positions: int
    nodes: int
    seconds: float
    wrong: int

    def print(self, name: str) -> None:
        rate = f"{self.nodes / self.seconds / MILLION:.1f} | {self.positions / self.seconds:.1f}"
        table_row(name, f"{self.positions:,}", f"{self.nodes / MILLION:.1f}", f"{self.seconds:.2f}", rate, self.wrong)


def solve_each(solver: EndgameSolver, positions: Iterable[tuple[Any, Known | None]]) -> Effort:
    """Solve positions, each with a solver that knows nothing, and compare with what is known."""
    count = nodes = wrong = 0
    seconds = 0.0
    for position, known in positions:
        solver.clear()
        begun = time.thread_time()
        solution = solver.solve(position)
        seconds += time.thread_time() - begun
        nodes += solution.nodes
        if known is not None:
            good = known.best_moves is None or solution.move in known.best_moves
            wrong += not good or solution.score != known.score
        count += 1
    return Effort(count, nodes, seconds, wrong)


def problems(folder: Path, first: int, last: int) -> list[tuple[Any, Known | None]]:
    """Problems of the FFO suite, their scores and best moves."""
    found: list[tuple[Any, Known | None]] = []
    for name, number in SUITES:
        if number > last:
            break
        for position, scores in solved_positions(folder / "ffo" / name):
            best = max(scores.values())
            found.append((position, Known(best, frozenset(move for move in scores if scores[move] == best))))
    return found[first - 1 : last]


def warmed(evaluator: Evaluator | None, techniques: Techniques | None = None) -> EndgameSolver:
    """Make a solver whose machine code is loaded and whose tables the system has given memory for."""
    solver = EndgameSolver(evaluator, TABLE_MB, techniques=techniques)
    solver.solve(load_game("othello").initial_position, nodes=2_000_000)
    return solver


HEADER = ("", "positions", "million nodes", "seconds", "million nodes/s", "positions/s", "wrong")


def suites(folder: Path, evaluator: Evaluator | None) -> None:
    solver = warmed(evaluator)
    table_header(*HEADER)
    for first, last in ((1, 19), (20, 39), (40, 44)):
        solve_each(solver, problems(folder, first, last)).print(f"FFO {first}-{last}")
    for empties, count in ((20, 100), (14, 1000)):
        chosen = [(position, None) for position in real_positions(folder / "wthor", empties, count)]
        solve_each(solver, chosen).print(f"games, {empties} empty")


def each_problem(folder: Path, evaluator: Evaluator | None, first: int, last: int) -> None:
    game = load_game("othello")
    solver = warmed(evaluator)
    table_header("problem", "empty", "score", "known", "best move", "million nodes", "seconds")
    for number, (position, known) in enumerate(problems(folder, first, last), first):
        solver.clear()
        begun = time.thread_time()
        solution = solver.solve(position)
        seconds = time.thread_time() - begun
        assert known is not None
        assert solution.move is not None
        scores = f"{solution.score:+} | {known.score:+.0f} | {game.format_move(solution.move)}"
        table_row(number, solver.plies_left(position), scores, f"{solution.nodes / MILLION:.1f} | {seconds:.1f}")


ABLATION = {
    "all techniques": Techniques(),
    "no selective pass": Techniques(selective_pass=False),
    "no evaluation": Techniques(),
    "no enhanced transposition cut-offs": Techniques(enhanced_cutoffs=False),
    "no stability cut-offs": Techniques(stability=False),
    "no parity": Techniques(parity=False),
    "no mobility ordering": Techniques(mobility=False),
    "one hash table for all": Techniques(near_table=False),
    "no hash table": Techniques(hash_table=False),
}


def ablation(folder: Path, evaluator: Evaluator | None) -> None:
    chosen = problems(folder, 20, 39)
    table_header(*HEADER)
    for name, techniques in ABLATION.items():
        solver = warmed(None if name == "no evaluation" else evaluator, techniques)
        solve_each(solver, chosen).print(name)


def moves(folder: Path, evaluator: Evaluator | None) -> None:
    game, solver = load_game("othello"), warmed(evaluator)
    count = nodes = wrong = 0
    begun = time.thread_time()
    for position, known in solved_positions(folder / "endgame" / "hard-20.obf"):
        solver.clear()
        for solution in solve_moves(game, solver, position):
            nodes += solution.nodes
            if solution.move in known:
                count += 1
                wrong += known[solution.move] != solution.score
    table_header(*HEADER)
    Effort(count, nodes, time.thread_time() - begun, wrong).print("moves of hard-20")


def main() -> None:
    tables = {"suites": suites, "ablation": ablation, "moves": moves, "problems": each_problem}
    parser = command_line(__doc__, table=tables, folder=Path, evaluation="default", first=45, last=49)
    arguments = parser.parse_args()
    evaluator = None
    if arguments.evaluation != "none":
        evaluator = evaluator_of(load_value(arguments.evaluation, load_game("othello")))
    asked = (arguments.first, arguments.last) if arguments.table == "problems" else ()
    tables[arguments.table](arguments.folder, evaluator, *asked)


if __name__ == "__main__":
    main()
