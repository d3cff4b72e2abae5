"""The page of a training: how strong each generation is, where it errs, and what the best one learned."""

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.labelling.training import Generation
from glem.core.report.charts import Point, point_chart
from glem.core.report.markup import element
from glem.core.report.page import key_figures, paragraph, section, table, whole_page
from glem.core.tasks.counts import counted, rating_text
from glem.core.tasks.tables import Table


def generation_table(done: Sequence[Generation]) -> Table:
    """Make the table of all generations."""
    return Table.of(
        "Generations",
        done,
        {
            "": lambda each: str(each.number),
            "games": lambda each: f"{each.games:,}",
            "positions": lambda each: f"{each.positions:,}",
            "labels": lambda each: f"{each.labels:,}",
            "patterns": lambda each: each.patterns,
            "error": lambda each: _decimals(each.error[-1]),
            "choice error": _choice_error,
            "match": lambda each: f"{each.wins}-{each.draws}-{each.losses}",
            "Elo over the last best": lambda each: rating_text(each.elo.elo, each.elo.error),
            "best": lambda each: "yes" if each.is_best else "",
            "Elo over nothing": lambda each: f"{each.rating:+.0f}",
            "s": lambda each: f"{each.seconds:.0f}",
            "linear only": lambda each: ", ".join(each.linear_phases),
        },
    )


def _decimals(value: float) -> str:
    """Write an error; a dash where no position tells one."""
    return f"{value:.3f}" if math.isfinite(value) else "–"


def _choice_error(each: Generation) -> str:
    return "" if math.isnan(each.choice_error) else f"{each.choice_error:.3f} ± {each.choice_error_spread:.3f}"


def render_training(done: Sequence[Generation], best: LinearEvaluation | None) -> str:
    """HTML text of the report; ``best`` is None where none is better than one that calls all positions even."""
    learning = None if best is None else best.learning
    seconds = sum(each.seconds for each in done)
    summary = (
        f"The best of {counted(len(done), 'generation')} is {done[-1].rating:+.0f} Elo over an evaluation that calls "
        f"all positions even, after {seconds / 60:.1f} minutes."
    )
    told = (
        "Each generation plays the best one before it. Elo over nothing, over an evaluation that calls all positions "
        "even, is the sum of such differences. Where all games went one way, a match gives no error."
    )
    rated = [
        _point(each, before + each.elo.elo, each.elo.error)
        for before, each in zip([0.0, *(one.rating for one in done)], done, strict=False)
        if math.isfinite(each.elo.elo) and math.isfinite(each.elo.error)
    ]
    chosen = [
        _point(each, each.choice_error, 1.96 * each.choice_error_spread)
        for each in done
        if math.isfinite(each.choice_error)
    ]
    phases = [*([] if learning is None else learning.phases.names), "all"]
    rows = [
        (name, *(_decimals(each.error[place]) for each in done))
        for place, name in zip(range(-len(phases), 0), phases, strict=True)
    ]
    sections = (
        section("generations", "Generations", paragraph(told), table(*generation_table(done))),
        _picture("elo", "Elo over nothing", rated),
        _picture("choices", "choice error", chosen),
        section(
            "errors",
            "Errors",
            paragraph("Root mean square error on held-out games, of each phase and generation."),
            table("Errors", ("phase", *(str(each.number) for each in done)), rows),
        ),
        None
        if best is None
        else section("weights", "What the best one learned", table(*best.strongest_weights("Strongest weights"))),
    )
    title = "Training" if learning is None else learning.game.title
    figures = key_figures(
        (
            (f"{done[-1].rating:+.0f} Elo", "over an evaluation that calls all positions even"),
            (f"{sum(each.games for each in done):,}", "games played"),
        )
    )
    return whole_page("From the rules to an evaluation", title, "training", summary, sections, figures)


def _point(each: Generation, value: float, error: float) -> Point:
    return Point(f"generation {each.number}", each.number, value, value - error, value + error)


def _picture(key: str, quantity: str, points: list[Point]) -> Element | None:
    """Draw what generations have reached, with intervals of 95 %; nothing where all values are alike."""
    if len({point.grade for point in points}) < 2:
        return None
    described = f"Chart: {quantity} of {counted(len(points), 'generation')}"
    chart = point_chart(key, points, "generation", described, quantity=quantity)
    return section(key, f"{quantity[0].upper()}{quantity[1:]} by generation", element("figure", *chart))
