"""``glem solve``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from attrs import define

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, prints_json
from glem.core.cli.options import playing
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.game.solver import Solution
    from glem.core.tasks.tasks import Workers


def _positions(
    game: Game, files: tuple[str, ...], file_format: str | None, texts: tuple[str, ...]
) -> Iterator[tuple[str, Any, float | None]]:
    """Where each position comes from, the position, and its score there if it has one."""
    import math

    from glem.core.compiling.columns import position_at
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
    try:
        return game.parse_position(text)
    except BadInputError:
        position, semicolon, _ = text.partition(";")
        if not semicolon:
            raise
    return game.parse_position(position)


def _solution_json(game: Game, solution: Solution) -> dict[str, Any]:
    return {
        # What a search that was broken off has at hand may be no score at all.
        "score": solution.score if solution.exact else None,
        "move": None if solution.move is None else game.format_move(solution.move),
        "variation": [game.format_move(move) for move in solution.variation],
        **{name: getattr(solution, name) for name in ("nodes", "seconds", "exact")},
    }


@define
class _Answer:
    """What became of a position.

    Parameters
    ----------
    source, position
        Where it comes from, and the position.
    expected
        Its score in the file, if it is to be compared.
    solutions
        Its own, or those of its moves; those that were not solved come last.
    missing
        Moves that were not reached.
    """

    source: str
    position: Any
    expected: float | None
    solutions: tuple[Solution, ...] = ()
    missing: int = 0

    @property
    def is_solved(self) -> bool:
        return not self.missing and all(solution.exact for solution in self.solutions)

    @property
    def is_checked(self) -> bool:
        """Whether the best score is known, which it is when all moves are, and the file has one."""
        return self.expected is not None and self.is_solved and bool(self.solutions)

    @property
    def is_wrong(self) -> bool:
        return self.is_checked and self.solutions[0].score != self.expected

    def as_json(self, game: Game) -> dict[str, Any]:
        return {
            "source": self.source,
            "position": game.format_position(self.position),
            "expected": self.expected,
            "solutions": [_solution_json(game, solution) for solution in self.solutions],
            "moves_not_reached": self.missing,
        }

    def print(self, game: Game) -> None:
        for place, solution in enumerate(self.solutions):
            score = f"{solution.score:+}" if solution.exact else "?"
            wrong = f"  (in the file: {self.expected:+g})" if self.is_wrong and place == 0 else ""
            told = f"{self.source}  {game.line_text(self.position, solution.variation)}{wrong}"
            click.echo(f"{score:>4}  {counted(solution.nodes, 'node'):>19} {solution.seconds:>9.3f} s  {told}")
        if not self.solutions and not self.missing:
            click.echo(f"      no moves, the game is over  {self.source}")
        if self.missing:
            click.echo(f"   ?  {counted(self.missing, 'move')} not reached  {self.source}")


@options.command(
    "solve",
    "solve GAME --position TEXT --all-moves",
    "solve GAME endgames.obf --check --workers 4",
)
@playing.game
@options.argument("files", nargs=-1, type=options.INPUT, metavar="[FILE]...")
@options.file_format
@options.option("--position", "texts", multiple=True, metavar="TEXT", help="A position, as the game writes it.")
@options.flag("--result-only", "Ask only who wins: 1, 0 or -1.")
@options.option("--convention", metavar="NAME", help="Meaning of a final score, where the game knows several.")
@options.flag("--all-moves", "Score all moves.", was=("--moves",))
@options.option(
    "--evaluation",
    default="default",
    metavar="EVALUATION",
    help='What orders the moves; "none" for nothing, "default" for what comes with the game, if anything does.',
)
@options.flag("--check", "Compare with the scores in the files; exit status 1 where they differ.")
@options.LIMITS["nodes"]
@options.LIMITS["seconds"]
@options.table_mb
@options.workers
def command(
    game: Game,
    files: tuple[str, ...],
    file_format: str | None,
    texts: tuple[str, ...],
    result_only: bool,
    convention: str | None,
    all_moves: bool,
    evaluation: str,
    check: bool,
    table_mb: int,
    workers: Workers,
    **limits: Any,
) -> int:
    """Solve positions near the end of GAME: their exact scores under best play by both sides.

    The positions come from FILEs in one of the game's formats, with scores or without, or from --position. Scores are
    from the side to move; ? stands where a position, or with --all-moves a move, was not solved within the limits of
    each position. The exit status is 1 if there is such a one, or with --check a position has another score in its
    file.
    """
    from glem.core.search.solver import SolverSpec, solve_positions

    if not files and not texts:
        raise BadInputError("nothing to solve: name files or give --position")
    asked = [
        _Answer(source, position, _expected(label, result_only) if check else None)
        for source, position, label in _positions(game, files, file_format, texts)
    ]
    unscored = sum(one.expected is None for one in asked) if check else 0
    if asked and unscored == len(asked):
        raise BadInputError("--check: none of the positions comes with a score to compare with")
    spec = SolverSpec(game.name, _evaluation(game, evaluation), table_mb, convention)
    spec.make()
    printed, waiting = 0, set()
    with display_progress()("solve", len(asked)) as task:
        for index, solutions in solve_positions(
            spec,
            (one.position for one in asked),
            all_moves=all_moves,
            result_only=result_only,
            workers=workers if len(asked) > 1 else None,
            **limits,
        ):
            task.advance()
            answer = asked[index]
            # Unsolved moves last: what the search had for them is no score to sort by.
            answer.solutions = tuple(sorted(solutions, key=lambda solution: not solution.exact))
            answer.missing = len(game.list_legal_moves(answer.position)) - len(solutions) if all_moves else 0
            waiting.add(index)
            while not prints_json() and printed in waiting:
                asked[printed].print(game)
                printed += 1
    unsolved, checked, wrong = (
        sum(map(is_so, asked))
        for is_so in (lambda one: not one.is_solved, lambda one: one.is_checked, lambda one: one.is_wrong)
    )
    differ = f"; {wrong:,} of {checked:,} scores differ from the files'" if check else ""
    told = [f"{counted(len(asked), 'position')}, {unsolved:,} not solved{differ}"]
    if unscored:
        told.append(f"{counted(unscored, 'position')} without a score to compare with")
    counts = {"checked": checked, "wrong": wrong, "unsolved": unsolved, "without_score": unscored}
    print_result({"game": game.name, "positions": [one.as_json(game) for one in asked], **counts}, told)
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
