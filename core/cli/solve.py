"""``glem solve``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, print_json
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.game.solver import Solution

__all__ = ["command"]


def _positions(
    game: Game, files: tuple[str, ...], file_format: str | None, texts: tuple[str, ...]
) -> Iterator[tuple[str, Any, float | None]]:
    """Where each position comes from, the position, and its score there if it has one."""
    import math

    from glem.core.compiling.columns import position_at
    from glem.core.errors import BadInputError
    from glem.core.positions.reading import read_scored_positions

    for text in texts:
        yield text, _parsed(game, text), None
    for file in files:
        number = 0
        for chunk in read_scored_positions(game, file, format=file_format, unscored=True):
            for row, label in enumerate(chunk.label.tolist()):
                number += 1
                yield f"{file} #{number}", position_at(chunk.positions, row), None if math.isnan(label) else label
        if not number:
            raise BadInputError(f"{file}: no positions")


def _parsed(game: Game, text: str) -> Any:
    """Position of a text, also of a file's line, which goes on behind a semicolon."""
    from glem.core.errors import BadInputError

    try:
        return game.parse_position(text)
    except BadInputError:
        position, semicolon, _ = text.partition(";")
        if not semicolon:
            raise
    return game.parse_position(position)


def _move_count(game: Game, position: Any) -> int:
    return len(game.list_legal_moves(position))


def _solution_json(game: Game, solution: Solution) -> dict[str, Any]:
    return {
        # What a search that was broken off has at hand may be no score at all.
        "score": solution.score if solution.exact else None,
        "move": None if solution.move is None else game.format_move(solution.move),
        "variation": [game.format_move(move) for move in solution.variation],
        "nodes": solution.nodes,
        "seconds": solution.seconds,
        "exact": solution.exact,
    }


def _print_solution(game: Game, source: str, solution: Solution, expected: float | None) -> None:
    score = f"{solution.score:+}" if solution.exact else "?"
    differs = expected is not None and solution.exact and solution.score != expected
    wrong = f"  (in the file: {expected:+g})" if differs else ""
    variation = " ".join(game.format_move(move) for move in solution.variation)
    click.echo(f"{score:>4}  {solution.nodes:>13,} nodes {solution.seconds:>9.3f} s  {source}  {variation}{wrong}")


def _print_solutions(
    game: Game, source: str, solutions: tuple[Solution, ...], expected: float | None, missing: int
) -> None:
    """Print the solution of a position, or those of its moves, of which the file has the first one's score."""
    for place, solution in enumerate(solutions):
        _print_solution(game, source, solution, None if place else expected)
    if not solutions and not missing:
        click.echo(f"      no moves, the game is over  {source}")
    if missing:
        click.echo(f"   ?  {counted(missing, 'move')} not reached  {source}")


@click.command("solve")
@click.argument("game_name", metavar="GAME")
@click.argument("files", nargs=-1, type=click.Path(dir_okay=False), metavar="[FILE]...")
@click.option("--format", "file_format", metavar="NAME", help="Format of the files, if their names do not tell.")
@click.option("--position", "texts", multiple=True, metavar="TEXT", help="A position, as the game writes it.")
@click.option("--result-only", is_flag=True, help="Ask only who wins: 1, 0 or -1.")
@click.option("--convention", metavar="NAME", help="Meaning of a final score, where the game knows several.")
@click.option("--moves", "all_moves", is_flag=True, help="Score all moves.")
@click.option(
    "--evaluation",
    default="default",
    show_default=True,
    metavar="FILE",
    help='What orders the moves; "none" for nothing, "default" for what comes with the game, if anything does.',
)
@click.option("--check", is_flag=True, help="Compare with the scores in the files; exit status 1 where they differ.")
@click.option("--nodes", type=click.IntRange(1), help="Most positions visited for each position.")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Most seconds for each position.")
@click.option("--table", "table_mb", default=64, show_default=True, type=click.IntRange(1), help="Table, in MB.")
@executor_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game_name: str,
    files: tuple[str, ...],
    file_format: str | None,
    texts: tuple[str, ...],
    result_only: bool,
    convention: str | None,
    all_moves: bool,
    evaluation: str,
    check: bool,
    nodes: int | None,
    seconds: float | None,
    table_mb: int,
    workers: int,
    dask: str | None,
    as_json: bool,
) -> int:
    """Solve positions near the end of GAME: their exact scores under best play by both sides.

    The positions come from FILEs in one of the game's formats, with scores or without, or from --position. Scores are
    from the side to move; ? stands where a position, or with --moves a move, was not solved within the limits. The exit
    status is 1 if there is such a one, or with --check a position has another score in its file.
    """
    from glem.core.errors import BadInputError
    from glem.core.game.game import load_game
    from glem.core.search.solve_many import SolverSpec, solve_positions

    game = load_game(game_name)
    if not files and not texts:
        raise BadInputError("nothing to solve: name files or give --position")
    asked = list(_positions(game, files, file_format, texts))
    unscored = sum(label is None for _, _, label in asked) if check else 0
    if asked and unscored == len(asked):
        raise BadInputError("--check: none of the positions comes with a score to compare with")
    spec = SolverSpec(game.name, _evaluation(game, evaluation), table_mb, convention)
    spec.make()
    if len(asked) == 1:
        workers = 1
    unsolved = wrong = checked = 0
    reports: list[dict[str, Any]] = [{} for _ in asked]
    waiting: dict[int, tuple[tuple[Solution, ...], float | None, int]] = {}
    printed = 0
    with display_progress(quiet=as_json)("solve", len(asked)) as task, opened_executor(workers, dask) as where:
        for index, solutions in solve_positions(
            spec,
            (position for _, position, _ in asked),
            all_moves=all_moves,
            result_only=result_only,
            nodes=nodes,
            seconds=seconds,
            **where,
        ):
            task.advance()
            source, position, label = asked[index]
            expected = _expected(label, result_only) if check else None
            missing = _move_count(game, position) - len(solutions) if all_moves else 0
            # Unsolved moves last: what the search had for them is no score to sort by.
            solutions = tuple(sorted(solutions, key=lambda solution: not solution.exact))
            solved = missing == 0 and all(solution.exact for solution in solutions)
            unsolved += not solved
            # The best score is known when all moves are.
            if not solved or not solutions:
                expected = None
            if expected is not None:
                checked += 1
                wrong += solutions[0].score != expected
            reports[index] = {
                "source": source,
                "position": game.format_position(position),
                "expected": _expected(label, result_only) if check else None,
                "solutions": [_solution_json(game, solution) for solution in solutions],
                "moves_not_reached": missing,
            }
            waiting[index] = solutions, expected, missing
            while not as_json and printed in waiting:
                _print_solutions(game, asked[printed][0], *waiting.pop(printed))
                printed += 1
    if as_json:
        counts = {"checked": checked, "wrong": wrong, "unsolved": unsolved, "without_score": unscored}
        print_json({"game": game.name, "positions": reports, **counts})
    else:
        summary = f"{counted(len(asked), 'position')}, {unsolved:,} not solved"
        click.echo(summary + (f"; {wrong:,} of {checked:,} scores differ from the files'" if check else ""))
        if unscored:
            click.echo(f"{counted(unscored, 'position')} without a score to compare with")
    return 1 if wrong or unsolved else 0


def _expected(label: float | None, result_only: bool) -> float | None:
    if label is None or not result_only:
        return label
    return float((label > 0) - (label < 0))


def _evaluation(game: Game, name: str) -> str | None:
    """Name of the evaluation to load; None for none, also where the default does not exist."""
    if name == "none":
        return None
    if name == "default":
        from glem.core.features.learning import learning_names, load_learning

        known = game.name in learning_names() and load_learning(game.name).default_evaluation is not None
        return name if known else None
    return name
