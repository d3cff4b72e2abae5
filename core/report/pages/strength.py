"""The page of an experiment with playing strength: grades beside ratings."""

from xml.etree.ElementTree import Element

from glem.core.grading.experiments.strength import StrengthExperiment
from glem.core.report.charts import Point, point_chart
from glem.core.report.markup import element
from glem.core.report.page import paragraph, section, table, whole_page
from glem.core.tasks.counts import counted


def render_strength(found: StrengthExperiment, *, game_title: str) -> str:
    """HTML text of the report; equal experiments give equal texts."""
    summary = found.by_rating.text("Grade and rating")
    sections = (_picture(found), _players(found))
    return whole_page("Grades by playing strength", game_title, "experiment", summary, sections)


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
        told.append(found.by_difference.text("Advantage and rating difference") + ".")
    points = [
        Point(f"{one.name} ({one.rating:.0f})", one.rating, one.grade.grade, one.grade.low, one.grade.high)
        for one in found.points
    ]
    lines = {} if line is None else {"players": (line.slope, line.intercept)}
    described = f"Chart: grade over rating of {len(points)} players"
    chart = point_chart("strength", {"players": points}, lines, "rating", described)
    return section("picture", "Grades over ratings", *map(paragraph, told), element("figure", *chart))


def _players(found: StrengthExperiment) -> Element:
    told = (
        "A score v is read as the expected result 1 / (1 + exp(-v / b)), and with a drawishness as probabilities of a "
        "win, a draw and a loss. An advantage is the mean log probability less that of the opponents in the same games."
    )
    if found.left_out:
        told += f" {counted(found.left_out, 'player')} with too few games left out."
    return section("players", "All grades", paragraph(told), table(*found.table()))
