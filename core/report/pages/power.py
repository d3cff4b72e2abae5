"""The page of an experiment with processing power: curves, straight lines, steps."""

from xml.etree.ElementTree import Element

from glem.core.grading.experiments.lines import LineFit
from glem.core.grading.experiments.power import PowerCurve, PowerExperiment, PowerPoint
from glem.core.report.charts import Point, legend, point_chart, styles_of
from glem.core.report.markup import element, number, signed, whole
from glem.core.report.page import paragraph, section, table, whole_page
from glem.core.tasks.counts import counted


def render_power(found: PowerExperiment, *, game_title: str) -> str:
    """HTML text of the report; equal experiments give equal texts.

    Parameters
    ----------
    found
        The experiment.
    game_title
        Name of the game for people.
    """
    rising = sum(curve.rises for curve in found.curves)
    summary = (
        f"{counted(len(found.curves), 'evaluation')} judged {counted(found.positions, 'position')}, one of each game, "
        f"after searches of growing size. The grade rises with every step for {rising} of them."
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


def _line_cells(line: LineFit | None) -> tuple[str, str]:
    return ("", "") if line is None else (f"{line.slope:+.4f} ± {line.slope_error:.4f}", f"{line.r_squared:.3f}")


def line_table(found: PowerExperiment) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of a table of the straight lines through the grades of searches."""
    header = ("evaluation", f"per doubling of {found.kind}", "R²", "per doubling of time", "R²", "always rises")
    return header, [
        (curve.name, *_line_cells(curve.by_limit), *_line_cells(curve.by_seconds), "yes" if curve.rises else "no")
        for curve in found.curves
    ]


def _lines(found: PowerExperiment) -> Element:
    return section(
        "lines",
        "Straight lines",
        paragraph("Ban finds the grade approximately linear in the logarithm of the processing power (section 4.3)."),
        table("Straight lines through the grades of searches", *line_table(found)),
    )


def _points(found: PowerExperiment) -> Element:
    header = ("evaluation", found.kind, "seconds", "grade", "interval", "b", "drawishness", "missing", "rise", "p")
    rows = (_point_row(curve, point) for curve in found.curves for point in curve.points)
    return section(
        "points",
        "All grades",
        paragraph(
            "An evaluation v is read as the expected score 1 / (1 + exp(-v / b)), and with a drawishness as "
            "probabilities of win, draw and loss. Missing are positions without a value. A rise is the mean log "
            "probability less that of the row before, tested on the same positions."
        ),
        table("Grades of all evaluations at all limits", header, rows),
    )


def _point_row(curve: PowerCurve, point: PowerPoint) -> tuple[str, ...]:
    rise = point.rise
    return (
        curve.name,
        "static" if point.limit is None else f"{point.limit:,g}",
        f"{point.seconds:.2g}",
        number(point.grade.grade, 4),
        f"{number(point.grade.low, 4)}-{number(point.grade.high, 4)}",
        number(point.fit.scale, 3),
        "its own" if point.fit.drawishness is None else number(point.fit.drawishness, 3),
        whole(point.missing),
        "" if rise is None else signed(rise.difference, 4),
        "" if rise is None else f"{rise.p_value:.2g}",
    )
