"""The report of an experiment with playing strength: grades beside ratings, as one HTML file."""

from __future__ import annotations

import os
from xml.etree.ElementTree import Element

from glem.core.files.atomic import atomic_path
from glem.core.grading.experiments.lines import Correlation
from glem.core.grading.experiments.strength import StrengthExperiment, StrengthPoint
from glem.core.report.charts import strength_chart
from glem.core.report.frame import both_sizes, paragraph, section, whole_page
from glem.core.report.markup import data_table, element, number, signed, whole
from glem.core.tasks.counts import counted, interval_text

__all__ = ["correlation_text", "render_strength", "write_strength_report"]


def write_strength_report(found: StrengthExperiment, path: str | os.PathLike[str], *, game_title: str) -> None:
    """Write the report as one HTML file, which replaces an older one only when it is whole."""
    text = render_strength(found, game_title=game_title)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def correlation_text(what: str, found: Correlation) -> str:
    """One sentence about a correlation."""
    return (
        f"{what}: r = {found.pearson:+.2f} ({interval_text(found.low, found.high, 2)}), p = {found.p_value:.2g}, "
        f"of the ranks {found.spearman:+.2f}, {counted(found.points, 'point')}"
    )


def render_strength(found: StrengthExperiment, *, game_title: str) -> str:
    """HTML text of the report; equal experiments give equal texts.

    Parameters
    ----------
    found
        The experiment.
    game_title
        Name of the game for people.
    """
    title = "Grades by playing strength"
    return whole_page(
        title,
        f"{game_title} · experiment",
        f"{title} – {game_title}",
        correlation_text("Grade and rating", found.by_rating),
        None,
        [_picture(found), _players(found)],
    )


def _picture(found: StrengthExperiment) -> Element:
    line = found.line
    told = [
        "The grade is the geometric mean of the probability given to what happened; Ban finds it roughly linear in the "
        "rating, about a 6000th of it (2012, equation 16)."
    ]
    if line is not None and line.slope:
        told.append(
            f"Here the straight line has a slope of 1/{1 / line.slope:,.0f} and explains {line.r_squared:.0%} of the "
            "variance."
        )
    if found.by_difference is not None:
        told.append(correlation_text("Advantage and rating difference", found.by_difference) + ".")
    drawn = (
        [(point.rating, point.grade.grade, point.grade.low, point.grade.high) for point in found.points],
        None if line is None else (line.slope, line.intercept),
        [point.name for point in found.points],
    )
    charts = both_sizes(lambda width, height: strength_chart(*drawn, width=width, height=height))
    return section("picture", "Grades over ratings", *map(paragraph, told), element("figure", *charts))


def _players(found: StrengthExperiment) -> Element:
    header = ("name", "rating", "games", "grade", "interval", "b", "drawishness", "advantage", "rating difference")
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in header)))
    told = (
        "A score v is read as the expected result 1 / (1 + exp(-v / b)), and with a drawishness as probabilities of a "
        "win, a draw and a loss. An advantage is the mean log probability less that of the opponents in the same games."
    )
    if found.left_out:
        told += f" {counted(found.left_out, 'player')} with too few games left out."
    rows = [_row(point) for point in found.points]
    return section("players", "All grades", paragraph(told), data_table("Grades", head, element("tbody", *rows)))


def _row(point: StrengthPoint) -> Element:
    fit, advantage = point.fit, point.advantage
    own = fit is None or fit.drawishness is None
    cells = (
        f"{point.rating:.0f}",
        whole(point.grade.games),
        number(point.grade.grade, 4),
        f"{number(point.grade.low, 4)}-{number(point.grade.high, 4)}",
        "" if fit is None else number(fit.scale, 3),
        "its own" if own or fit is None else number(fit.drawishness or 0.0, 3),
        "" if advantage is None else f"{signed(advantage.difference, 3)} ± {number(advantage.error, 3)}",
        "" if advantage is None else signed(advantage.rating_difference, 0),
    )
    return element("tr", element("th", point.name, scope="row"), *(element("td", cell) for cell in cells))
