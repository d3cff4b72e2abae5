"""The page of an experiment with processing power: curves, straight lines, steps."""

from xml.etree.ElementTree import Element

from glem.core.grading.experiments.power import PowerExperiment
from glem.core.report.charts import Point, legend, point_chart, styles_of
from glem.core.report.markup import element
from glem.core.report.page import paragraph, section, table, whole_page
from glem.core.tasks.counts import counted


def render_power(found: PowerExperiment, *, game_title: str) -> str:
    """HTML text of the report; equal experiments give equal texts."""
    rising, steps = (sum(numbers) for numbers in zip(*(curve.rising_steps for curve in found.curves), strict=True))
    summary = (
        f"{counted(len(found.curves), 'evaluation')} judged {counted(found.positions, 'position')}, one of each game, "
        f"after searches of growing size. The grade rises in {rising} of {counted(steps, 'step')}."
    )
    sections = (_curves(found), _lines(found), _points(found))
    return whole_page("Grades by processing power", game_title, "experiment", summary, sections)


def _curves(found: PowerExperiment) -> Element:
    searched = {
        curve.name: [
            Point(f"{curve.name}\n{limit:,g} {found.kind}", limit, grade.grade, grade.low, grade.high)
            for limit, grade in ((point.limit, point.grade) for point in curve.points)
            if limit is not None
        ]
        for curve in found.curves
    }
    drawn = {name: points for name, points in searched.items() if points}
    lines = {
        curve.name: (curve.by_limit.slope, curve.by_limit.intercept)
        for curve in found.curves
        if curve.by_limit is not None
    }
    described = f"Chart: grade over {found.kind} of {', '.join(drawn)}"
    chart = point_chart("power", drawn, lines, f"{found.kind} a position", described, doublings=True)
    entries = ((style, element("span", name)) for name, style in styles_of(searched).items())
    return section(
        "curves",
        "Curves",
        paragraph(
            "The grade is the geometric mean of the probability given to what happened (Ban 2012, equation 15). "
            "Vertical bars are confidence intervals; positions are the same for all, so that differences are known "
            "better than they tell."
        ),
        element("figure", legend(entries), *chart),
    )


def _lines(found: PowerExperiment) -> Element:
    return section(
        "lines",
        "Straight lines",
        paragraph("Ban finds the grade approximately linear in the logarithm of the processing power (section 4.3)."),
        table(*found.line_table()),
    )


def _points(found: PowerExperiment) -> Element:
    return section(
        "points",
        "All grades",
        paragraph(
            "An evaluation v is read as the expected score 1 / (1 + exp(-v / b)), and with a drawishness as "
            "probabilities of win, draw and loss. Missing are positions without a value. A rise is the mean log "
            "probability less that of the row before, tested on the same positions."
        ),
        table(*found.table()),
    )
