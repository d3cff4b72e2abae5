"""``glem grade``."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.executors import executor_options, opened_executor
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted, interval_text

if TYPE_CHECKING:
    from glem.core.grading.collection import CollectionGrading
    from glem.core.grading.correctness import Grade
    from glem.core.grading.grading import EvaluationGrade

__all__ = ["command"]

_FIT, _OWN, _FEATURES = "fit", "own", "features"
_ALL = "all"
_MOST_ROWS = 12


@click.command(
    "grade",
    epilog="""\b
Examples:
  glem grade GAME games.pgn --evaluation default --evaluation model.npz
  glem grade GAME games.pgn --evaluation model.npz --evaluation model.npz,depth=4,name=deep --report grades.html""",
)
@click.argument("game_name", metavar="GAME")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="FILES...")
@click.option(
    "--evaluation", "evaluations", multiple=True, required=True, metavar="TEXT",
    help="Evaluation file or `default`, with depth=, nodes= or seconds= after a search; `comments`, csv:FILE, "
    "python:MODULE:FUNCTION; a program. May be repeated.",
)  # fmt: skip
@click.option(
    "--scale", "scales", multiple=True, default=(_OWN,), show_default=True, metavar="B",
    help="Scale b of the expectation, in units of the evaluation; fit; or own: that of probabilities is 1, others are "
    "fitted. Once for all, or once for each.",
)  # fmt: skip
@click.option(
    "--drawishness", multiple=True, default=(_OWN,), show_default=True, metavar="ALPHA",
    help="Constant drawishness, 0 to 1; fit: one for all positions; features: fitted from features of the positions, "
    "on other games than are graded; or own: the evaluation's, fitted if it has none. Once for all, or once for each.",
)  # fmt: skip
@click.option(
    "--tuning", multiple=True, type=click.Path(dir_okay=False), metavar="FILE",
    help="Games that a drawishness from features is fitted to; may be repeated. By default each fifth of the graded "
    "games has one fitted to the others.",
)  # fmt: skip
@click.option(
    "--tuning-select", default="every:7", show_default=True, metavar="RULE", help="Positions of each tuning game."
)
@click.option(
    "--select", default="random", show_default=True, metavar="RULE",
    help="Positions of each game: random (one), last (one), all, or every:N.",
)  # fmt: skip
@click.option(
    "--skip-moves",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="First moves of each side that are left out.",
)
@click.option(
    "--skip-end",
    type=click.FloatRange(0, 0.99),
    default=0.1,
    show_default=True,
    help="Leave out this share of each game, at its end.",
)
@click.option(
    "--as-given", is_flag=True,
    help="Grade and compare evaluations with the scales and drawishnesses that they come with or are given, not "
    "recalibrated: who is calibrated better counts as well.",
)  # fmt: skip
@click.option("--floor", type=float, default=1e-12, show_default=True, help="A correctness below this counts as this.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Confidence level.")
@click.option(
    "--resamples",
    type=click.IntRange(100),
    default=10_000,
    show_default=True,
    help="Samples of each test.",
)
@click.option("--bins", type=click.IntRange(1), default=20, show_default=True, help="Bins of the reliability curves.")
@click.option("--seed", default=0, show_default=True, help="Chooses positions and resamples.")
@click.option("--skip-bad", is_flag=True, help="Leave bad game records out instead of stopping.")
@click.option(
    "--by", "groupings", multiple=True, default=("phase", "result"), show_default=True, metavar="GROUPING",
    help="Print grades by it, or by `all`: phase, ply, tenth of the game, result and so on. May be repeated.",
)  # fmt: skip
@click.option("--write-positions", type=click.Path(dir_okay=False), help="Write the selected positions as CSV.")
@click.option("--keep", type=click.Path(file_okay=False), help="Keep scores of external engines here; continue there.")
@click.option("--report", type=click.Path(dir_okay=False), help="Write an HTML report.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@executor_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    game_name: str,
    files: tuple[str, ...],
    evaluations: tuple[str, ...],
    scales: tuple[str, ...],
    drawishness: tuple[str, ...],
    tuning: tuple[str, ...],
    tuning_select: str,
    select: str,
    skip_moves: int,
    skip_end: float,
    as_given: bool,
    floor: float,
    confidence: float,
    resamples: int,
    bins: int,
    seed: int,
    skip_bad: bool,
    groupings: tuple[str, ...],
    write_positions: str | None,
    keep: str | None,
    report: str | None,
    jobs: int,
    workers: int,
    dask: str | None,
    as_json: bool,
) -> None:
    """Grade evaluations of GAME by how well they predict the results of games (Ban 2012).

    FILES are game records, or Parquet files of `glem positions --label result`. The grade is the geometric mean of
    the probabilities that the evaluation gave to what happened; 1/3 is that of knowing nothing. Every two evaluations
    are compared on the same positions, recalibrated to the games alike; the grades as given stand beside.
    """
    from glem.core.cli.compiling_ahead import FEATURES, compile_ahead
    from glem.core.game.game import load_game
    from glem.core.grading.collection import grade_collection
    from glem.core.grading.correctness import GradingSettings
    from glem.core.grading.scorers.scorers import StaticScorer, scorer_of
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.positions.selection.written_positions import PositionTable
    from glem.core.tasks.chunked_work import Workers

    game = load_game(game_name)
    rule, tuning_rule = (
        SelectionRule.parse(text, skip_moves=skip_moves, skip_end=skip_end, seed=seed)
        for text in (select, tuning_select)
    )
    settings = GradingSettings(floor, confidence, resamples, seed, bins, recalibrate=not as_given)
    check_outputs(report, write_positions)
    written = PositionTable(game) if write_positions is not None else None
    kept = Path(keep) if keep is not None else None
    with opened_executor(workers, dask) as where:
        scorers = [scorer_of(game, text, jobs=jobs, workers=Workers(**where), kept=kept) for text in evaluations]
        if any(isinstance(scorer, StaticScorer) for scorer in scorers):
            compile_ahead(FEATURES, game)
        found = grade_collection(
            game,
            files,
            scorers,
            rule=rule,
            settings=settings,
            scales=[_number(text, "--scale") for text in scales],
            drawishness=[_number(text, "--drawishness", _FEATURES) for text in drawishness],
            tuning=tuning,
            tuning_rule=tuning_rule,
            skip_bad=skip_bad,
            jobs=jobs,
            observe=None if written is None else written.add,
            progress=display_progress(quiet=as_json),
        )
    if written is not None and write_positions is not None:
        written.write(write_positions)
    if report is not None:
        from glem.core.report.page import write_page
        from glem.core.report.pages.grading import render_grading

        write_page(render_grading(found, game_title=game.title), report)
    if as_json:
        print_json(_as_json(found))
        return
    _print_grades(found, groupings)
    for remark in (*found.grading.notes, *found.remarks):
        click.echo(f"note: {remark}")
    for path in (write_positions, report):
        if path is not None:
            click.echo(f"wrote {path}")


def _number(text: str, option: str, *more: str) -> float | str:
    from glem.core.errors import BadInputError

    words = (_FIT, *more, _OWN)
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        known = ", ".join(f"`{word}`" for word in words[:-1])
        raise BadInputError(f"{option} must be a number, {known} or `{_OWN}`, got {text!r}") from None


# ------------------------------------------------------------------------------------------------- tables


def _print_grades(found: CollectionGrading, groupings: Sequence[str]) -> None:
    grading, counts = found.grading, found.counts
    first = grading.baselines[0].grade
    click.echo(f"{counted(first.positions, 'position')} of {counted(first.games, 'game')}: {found.rule}")
    won, drawn, lost = grading.results
    read = counted(counts.positions, "position")
    click.echo(f"the side to move won {won:,}, drew {drawn:,} and lost {lost:,}; {read} read\n")
    for table in found.tables:
        print_table(table.title, table.header, table.rows[:_MOST_ROWS])
        if len(table.rows) > _MOST_ROWS:
            click.echo(f"{len(table.rows) - _MOST_ROWS} more rows: --json and --report have all\n")
    confidence = f"{grading.settings.confidence:.3g}"
    graded = (*grading.baselines, *grading.evaluations)
    print_table(
        "Grades: geometric mean of the probability given to the result",
        (
            "evaluation",
            "grade",
            "error",
            f"{float(confidence):.4g} interval",
            "as given",
            "b",
            "drawishness",
            "floored",
            "missing",
        ),
        [_grade_row(one, is_featured=one.name in found.featured) for one in graded],
    )
    if any(one.calibration is not None for one in grading.evaluations):
        click.echo(
            "grade: recalibrated, scale and drawishness of each fifth of the games fitted to the others; as given: "
            "with the b and drawishness beside it, which are fitted to these games where they have an error (±)\n"
        )
    for one in grading.evaluations:
        if one.fit is not None and one.fit.message:
            click.echo(f"{one.name}: {one.fit.message}")
    for grouping, names in grading.groups.items():
        if grouping in groupings or _ALL in groupings:
            _print_groups(graded, grouping, names)
    if grading.comparisons:
        print_table(
            "Comparisons on the same positions: mean log probability of the first less the second",
            ("first - second", "positions", "difference", "error", "interval", "ratio", "p", "p adjusted", "as given"),
            [
                (
                    f"{one.first} - {one.second}",
                    f"{one.positions:,}",
                    f"{one.difference:+.5f}",
                    f"{one.error:.5f}",
                    interval_text(one.low, one.high, 5),
                    f"{one.ratio:.4f}",
                    f"{one.p_value:.2g}",
                    f"{one.adjusted_p_value:.2g}",
                    "" if one.as_given is None else f"{one.as_given_difference:+.5f} ± {one.as_given_error:.5f}",
                )
                for one in grading.comparisons
            ],
        )
        for comparison in grading.comparisons:
            click.echo(comparison.verdict)


def _interval(low: float, high: float) -> str:
    return f"{low:.4f}-{high:.4f}" if math.isfinite(low) and math.isfinite(high) else ""


def _with_error(value: float, error: float) -> str:
    return f"{value:.4g}" + (f" ± {error:.2g}" if math.isfinite(error) else "")


def _grade_row(one: EvaluationGrade, *, is_featured: bool) -> tuple[str, ...]:
    grade, fit = one.grade, one.fit
    error = f"{grade.error:.4f}" if math.isfinite(grade.error) else ""
    figures = (one.name, f"{grade.grade:.4f}", error, _interval(grade.low, grade.high))
    if fit is None:
        return (*figures, "", "", "", "", "")
    assert one.as_given is not None
    scale = f"{_with_error(fit.scale, fit.scale_error)} {one.unit}".strip()
    drawishness = "from features" if is_featured else "its own"
    return (
        *figures,
        f"{one.as_given.grade:.4f}",
        scale,
        drawishness if fit.drawishness is None else _with_error(fit.drawishness, fit.drawishness_error),
        f"{grade.floored:,}",
        f"{one.missing:,}",
    )


def _print_groups(graded: Sequence[EvaluationGrade], grouping: str, names: Sequence[str]) -> None:
    rows = []
    for place, name in enumerate(names):
        grades: list[Grade | None] = [one.by_group[grouping][place] for one in graded]
        counted = grades[0]
        if counted is not None:
            cells = (_with_error(grade.grade, grade.error) if grade is not None else "" for grade in grades)
            rows.append((name, f"{counted.positions:,}", *cells))
    print_table(f"By {grouping}", (grouping, "positions", *(one.name for one in graded)), rows)


def _as_json(found: CollectionGrading) -> dict[str, Any]:
    import attrs

    grading = found.grading
    plain = attrs.asdict(grading, recurse=True)
    return {
        "selection": {**attrs.asdict(found.rule), "text": str(found.rule)},
        "counts": attrs.asdict(found.counts),
        "label_kinds": found.label_kinds,
        "remarks": found.remarks,
        "tables": [attrs.asdict(table) for table in found.tables],
        "drawishness_from_features": sorted(found.featured),
        **plain,
        "comparisons": [
            {**attrs.asdict(one), "is_significant": one.is_significant, "verdict": one.verdict}
            for one in grading.comparisons
        ],
    }
