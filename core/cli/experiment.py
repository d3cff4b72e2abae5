"""``glem experiment``: whether grades rise with processing power, and with playing strength."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.grading.experiments.lines import LineFit
    from glem.core.grading.experiments.power import PowerCurve, PowerExperiment
    from glem.core.grading.experiments.strength import StrengthExperiment

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])


def _with(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Give a command some options, in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_selection_options = _with(
    click.option("--skip-moves", type=click.IntRange(0), default=10, show_default=True, help="As for `glem grade`."),
    click.option(
        "--skip-end", type=click.FloatRange(0, 0.99), default=0.1, show_default=True, help="As for `glem grade`."
    ),
)
_experiment_options = _with(
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Confidence level."),
    click.option("--seed", default=0, show_default=True, help="Draws games and positions."),
    click.option("--skip-bad", is_flag=True, help="Leave bad game records out instead of stopping."),
    click.option("--report", type=click.Path(dir_okay=False), help="Write an HTML report."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
)


@click.group("experiment")
def command() -> None:
    """Experiments on what the grades of evaluations tell (Ban 2012, section 4)."""


@command.command("power", short_help="Grade evaluations after searches of growing size.")
@click.argument("game_name", metavar="GAME")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="GAMES...")
@click.option(
    "--evaluation", "evaluations", multiple=True, required=True, metavar="TEXT",
    help="As for `glem grade`, without a limit. May be repeated.",
)  # fmt: skip
@click.option(
    "--limits", default="nodes=64,256,1024,4096,16384", show_default=True, metavar="KIND=A,B,...",
    help="Sizes of the searches, in nodes, depth or seconds.",
)  # fmt: skip
@click.option("--static/--no-static", default=True, show_default=True, help="Grade evaluations without a search too.")
@click.option("--positions", type=click.IntRange(2), default=2000, show_default=True, help="One of each game.")
@_selection_options
@_experiment_options
@click.option(
    "--journal", type=click.Path(dir_okay=False), help="File for values; the same command continues with it."
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@executor_options
def power(
    game_name: str,
    files: tuple[str, ...],
    evaluations: tuple[str, ...],
    limits: str,
    static: bool,
    positions: int,
    skip_moves: int,
    skip_end: float,
    confidence: float,
    seed: int,
    skip_bad: bool,
    journal: str | None,
    report: str | None,
    jobs: int,
    workers: int,
    dask: str | None,
    as_json: bool,
) -> None:
    """Grade evaluations of GAME after searches of growing size (Ban 2012, figure 1).

    All evaluations judge the same positions. A straight line is fitted to the grades over the logarithm of the limit;
    each step to the next greater limit is tested on the same positions.
    """
    from glem.core.game.game import load_game
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.experiments.power import check_limits, measure_power, sample_positions
    from glem.core.grading.scorers.scorer import Scorer
    from glem.core.grading.scorers.scorers import scorer_of
    from glem.core.positions.selection.selection import RANDOM, SelectionRule
    from glem.core.tasks.chunked_work import Workers

    game = load_game(game_name)
    kind, sizes = _limits(limits)
    check_limits(kind, sizes)
    check_outputs(report, journal)
    progress = display_progress(quiet=as_json)
    rule = SelectionRule(RANDOM, skip_moves, skip_end, 1, seed)
    with opened_executor(workers, dask) as where:

        def scorer(text: str, limit: float | None) -> Scorer:
            limited = text if limit is None else f"{text},{kind}={limit:g}"
            return scorer_of(game, limited, jobs=jobs, workers=Workers(**where))

        makers = {text: (lambda limit, text=text: scorer(text, limit)) for text in evaluations}
        sampled, counts = sample_positions(game, files, rule=rule, most=positions, skip_bad=skip_bad, progress=progress)
        found = measure_power(
            sampled,
            makers,
            kind=kind,
            limits=sizes,
            games=counts.games,
            static=static,
            settings=GradingSettings(confidence=confidence, seed=seed),
            journal=journal,
            progress=progress,
        )
    if report is not None:
        from glem.core.report.page import write_page
        from glem.core.report.pages.power import render_power

        write_page(render_power(found, game_title=game.title), report)
    if as_json:
        import attrs

        plain = attrs.asdict(found, recurse=True)
        for curve, entry in zip(found.curves, plain["curves"], strict=True):
            entry["rises"] = curve.rises
        print_json({"rule": str(rule), **plain})
        return
    _print_power(found, str(rule))
    if report is not None:
        click.echo(f"wrote {report}")


@command.command("players", short_help="Grade players by the scores in their comments.")
@click.argument("game_name", metavar="GAME")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="GAMES...")
@click.option("--fewest", type=click.IntRange(2), default=100, show_default=True, help="Least games of a player.")
@_selection_options
@_experiment_options
def players(
    game_name: str,
    files: tuple[str, ...],
    fewest: int,
    skip_moves: int,
    skip_end: float,
    confidence: float,
    seed: int,
    skip_bad: bool,
    report: str | None,
    as_json: bool,
) -> None:
    """Grade the players of GAMES by the scores in their comments, beside their ratings (Ban 2012, figure 2)."""
    from glem.core.game.game import load_game
    from glem.core.grading.experiments.strength import strength_of_players

    game = load_game(game_name)
    check_outputs(report)
    found = strength_of_players(
        game,
        files,
        fewest=fewest,
        skip_moves=skip_moves,
        skip_end=skip_end,
        seed=seed,
        confidence=confidence,
        skip_bad=skip_bad,
        progress=display_progress(quiet=as_json),
    )
    _show_strength(found, report, game.title, as_json)


@command.command("strength", short_help="Grade evaluations beside their playing strength.")
@click.argument("game_name", metavar="GAME")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="GAMES...")
@click.option(
    "--evaluation", "evaluations", multiple=True, required=True, metavar="TEXT",
    help="As for `glem grade`. At least three.",
)  # fmt: skip
@click.option(
    "--ratings", required=True, type=click.Path(dir_okay=False),
    help="JSON of `glem tournament --json` with players of the same names (name=...).",
)  # fmt: skip
@_experiment_options
@executor_options
def strength(
    game_name: str,
    files: tuple[str, ...],
    evaluations: tuple[str, ...],
    ratings: str,
    confidence: float,
    seed: int,
    skip_bad: bool,
    report: str | None,
    workers: int,
    dask: str | None,
    as_json: bool,
) -> None:
    """Grade evaluations of GAME on the same positions, beside their ratings from a tournament (Ban 2012, figure 2)."""
    from glem.core.game.game import load_game
    from glem.core.grading.collection import grade_collection
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.experiments.strength import read_ratings, strength_of_evaluations
    from glem.core.grading.scorers.scorers import scorer_of
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.chunked_work import Workers

    game = load_game(game_name)
    check_outputs(report)
    rated = read_ratings(ratings)
    with opened_executor(workers, dask) as where:
        graded = grade_collection(
            game,
            files,
            [scorer_of(game, text, workers=Workers(**where)) for text in evaluations],
            rule=SelectionRule(seed=seed),
            settings=GradingSettings(confidence=confidence, seed=seed),
            skip_bad=skip_bad,
            progress=display_progress(quiet=as_json),
        )
    found = strength_of_evaluations(graded.grading, rated, confidence=confidence)
    _show_strength(found, report, game.title, as_json)


def _show_strength(found: StrengthExperiment, report: str | None, title: str, as_json: bool) -> None:
    from glem.core.report.page import write_page
    from glem.core.report.pages.strength import correlation_text, render_strength

    if report is not None:
        write_page(render_strength(found, game_title=title), report)
    if as_json:
        import attrs

        print_json(attrs.asdict(found, recurse=True))
        return
    rows = []
    for point in found.points:
        advantage: Any = point.advantage
        rows.append(
            (
                point.name,
                f"{point.rating:.0f}",
                f"{point.grade.games:,}",
                f"{point.grade.grade:.4f}",
                f"{point.grade.error:.4f}",
                "" if advantage is None else f"{advantage.difference:+.3f} ± {advantage.error:.3f}",
                "" if advantage is None else f"{advantage.rating_difference:+.0f}",
            )
        )
    print_table(
        "Grades by rating", ("name", "rating", "games", "grade", "error", "advantage", "rating difference"), rows
    )
    click.echo(correlation_text("grade and rating", found.by_rating))
    line = found.line
    if line is not None and line.slope:
        click.echo(
            f"straight line: {line.intercept:.3f} + rating / {1 / line.slope:,.0f}, R² = {line.r_squared:.2f} "
            "(Ban 2012, equation 16: rating / 6,000)"
        )
    if found.by_difference is not None:
        click.echo(correlation_text("advantage and rating difference", found.by_difference))
    if found.left_out:
        click.echo(f"{counted(found.left_out, 'player')} with too few games left out")
    if report is not None:
        click.echo(f"wrote {report}")


def _limits(text: str) -> tuple[str, list[float]]:
    from glem.core.errors import BadInputError
    from glem.core.grading.experiments.power import LIMIT_KINDS

    kind, equals, numbers = text.partition("=")
    try:
        sizes = [float(number) for number in numbers.split(",")]
    except ValueError:
        sizes = []
    if not equals or kind not in LIMIT_KINDS or not sizes:
        raise BadInputError(f"--limits must be {'|'.join(LIMIT_KINDS)}=A,B,..., got {text!r}")
    return kind, sizes


def _print_power(found: PowerExperiment, rule: str) -> None:
    click.echo(f"{counted(found.positions, 'position')} of {counted(found.games, 'game')}: {rule}\n")
    rows = [row for curve in found.curves for row in _rows(curve, found.kind)]
    print_table(
        "Grade by processing power",
        ("evaluation", found.kind, "seconds", "grade", "error", "b", "drawishness", "rise", "p"),
        rows,
    )
    lines = [
        (curve.name, *_line(curve.by_limit), *_line(curve.by_seconds), "yes" if curve.rises else "no")
        for curve in found.curves
    ]
    print_table(
        "Straight lines: gain in grade of a doubling",
        ("evaluation", f"per doubling of {found.kind}", "R²", "per doubling of time", "R²", "always rises"),
        lines,
    )


def _rows(curve: PowerCurve, kind: str) -> Sequence[tuple[str, ...]]:
    rows = []
    for point in curve.points:
        rise: Any = point.rise
        rows.append(
            (
                curve.name,
                "static" if point.limit is None else f"{point.limit:,g}",
                f"{point.seconds:.2g}",
                f"{point.grade.grade:.4f}",
                f"{point.grade.error:.4f}",
                f"{point.fit.scale:.3g}",
                "its own" if point.fit.drawishness is None else f"{point.fit.drawishness:.3f}",
                "" if rise is None else f"{rise.difference:+.4f}",
                "" if rise is None else f"{rise.p_value:.2g}",
            )
        )
    return rows


def _line(line: LineFit | None) -> tuple[str, str]:
    return ("", "") if line is None else (f"{line.slope:+.4f} ± {line.slope_error:.4f}", f"{line.r_squared:.3f}")
