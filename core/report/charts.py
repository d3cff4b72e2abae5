"""Charts with axes, and the styles of the lines in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as Tree

from glem.core.report.data import Calibration, LearningCurve, PhaseErrors
from glem.core.report.markup import element, legible, number, whole
from glem.core.report.svg import FONT_SIZE, STAND_IN, Spot, chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ModelStyle",
    "calibration_chart",
    "error_chart",
    "grade_chart",
    "learning_chart",
    "line_swatch",
    "model_styles",
    "power_chart",
    "strength_chart",
    "styles_of",
]

_MARKERS = {
    "o": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    "s": "M-2.8 -2.8h5.6v5.6h-5.6z",
    "D": "M0 -3.8L3.8 0L0 3.8L-3.8 0z",
    "^": "M0 -3.6L3.6 2.8H-3.6z",
}
_DASHES = ((1.2, 2.0), (5.0, 2.5), (8.0, 2.0, 1.5, 2.0), (2.5, 2.5))


class ModelStyle(NamedTuple):
    """How a model's line is told from the others: by colour, and by marker or dashes."""

    role: str
    marker: str | None
    dashes: tuple[float, ...] | None


def model_styles(errors: PhaseErrors) -> dict[str, ModelStyle]:
    """Give every model a style: colours and markers, greys and dashes for the baselines."""
    return styles_of(tuple(errors.models), errors.baselines)


def styles_of(models: Sequence[str], baselines: Sequence[str]) -> dict[str, ModelStyle]:
    """Give each of some names a style; see :func:`model_styles`."""
    styles: dict[str, ModelStyle] = {}
    shown = quiet = 0
    for name in models:
        if name in baselines:
            styles[name] = ModelStyle("quiet", None, _DASHES[quiet % len(_DASHES)])
            quiet += 1
        else:
            styles[name] = ModelStyle(f"series-{shown % 6 + 1}", list(_MARKERS)[shown % len(_MARKERS)], None)
            shown += 1
    return styles


def line_swatch(style: ModelStyle) -> Tree.Element:
    """Return the short piece of line that stands for a model in a legend."""
    line = element(
        "line",
        x1=1,
        y1=6,
        x2=31,
        y2=6,
        stroke=f"var(--{style.role})",
        stroke_width=2,
        stroke_dasharray=" ".join(f"{dash:g}" for dash in style.dashes) if style.dashes else None,
    )
    marker = (
        element("path", d=_MARKERS[style.marker], transform="translate(16 6)", fill=f"var(--{style.role})")
        if style.marker
        else None
    )
    return element("svg", line, marker, viewBox="0 0 32 12", width=32, height=12, class_="swatch", aria_hidden="true")


def error_chart(errors: PhaseErrors, *, width: int, height: int, description: str = "") -> Tree.Element:
    """Draw the error of every model by phase above the number of positions in each phase.

    Parameters
    ----------
    errors
        What to draw.
    width, height
        Size in CSS pixels at which the letters have their natural size; also tells this chart from its other sizes.
    description
        What the names of the phases say.
    """

    def draw(figure: Figure) -> Sequence[Spot]:
        told = {name: [number(value) for value in values] for name, values in errors.models.items()}
        upper, spots = _phase_axes(figure, errors.phases, errors.counts, told, width, "phase", description)
        for name, style in model_styles(errors).items():
            _draw_line(upper, errors.models[name], style)
        upper.set_ylabel(f"error, {_label(errors.unit)}")
        upper.set_ylim(bottom=0)
        upper.locator_params(axis="y", nbins=6)
        figure.align_ylabels()
        return spots

    return chart(f"errors-{width}", width, height, draw, f"Line chart: error by phase of {', '.join(errors.models)}")


def grade_chart(
    phases: Sequence[str],
    counts: Sequence[int],
    grades: Mapping[str, Sequence[tuple[float, float, float]]],
    baselines: Sequence[str],
    *,
    width: int,
    height: int,
    grouping: str = "phase",
    description: str = "",
) -> Tree.Element:
    """Draw the grade of every evaluation by phase, its interval as a band, above the number of positions.

    Parameters
    ----------
    phases, counts
        Names of the phases, and positions in each.
    grades
        Name of an evaluation to grade, lower and upper limit in each phase; nan where it has none.
    baselines
        Names of those that are there to be beaten.
    width, height
        As for :func:`error_chart`.
    grouping
        What stands in the place of the phases, where it is something else that has an order.
    description
        What the names of the groups say.
    """

    def draw(figure: Figure) -> Sequence[Spot]:
        told = {name: [_graded(*limits) for limits in one] for name, one in grades.items()}
        upper, spots = _phase_axes(figure, phases, counts, told, width, grouping, description)
        for name, style in styles_of(tuple(grades), baselines).items():
            middle, low, high = zip(*grades[name], strict=True)
            upper.fill_between(range(len(phases)), low, high, color=STAND_IN[style.role], alpha=0.18, linewidth=0)
            _draw_line(upper, middle, style)
        upper.set_ylabel("grade")
        upper.locator_params(axis="y", nbins=6)
        figure.align_ylabels()
        return spots

    key = f"grades-{'-'.join(grouping.split())}-{width}"
    return chart(key, width, height, draw, f"Line chart: grade by {grouping} of {', '.join(grades)}")


def _draw_line(axes: Axes, values: Sequence[float], style: ModelStyle) -> None:
    axes.plot(
        range(len(values)),
        values,
        color=STAND_IN[style.role],
        linestyle=(0, style.dashes) if style.dashes else "solid",
        marker=style.marker or "None",
        markersize=5.5,
        markeredgecolor=STAND_IN["paper"],
        markeredgewidth=0.8,
        clip_on=False,
    )


def _phase_axes(
    figure: Figure,
    phases: Sequence[str],
    counts: Sequence[int],
    told: Mapping[str, Sequence[str]],
    width: int,
    grouping: str,
    description: str,
) -> tuple[Axes, Sequence[Spot]]:
    """Return axes for curves over phases, above bars of the number of positions in each, and what each phase tells."""
    places = range(len(phases))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[5, 1])
    upper.tick_params(axis="x", length=0, labelbottom=False)
    lower.bar(places, counts, width=0.66, color=STAND_IN["bar"])
    lower.set_ylabel("positions")
    lower.set_ylim(bottom=0)
    lower.locator_params(axis="y", nbins=2)
    _short_numbers(lower)
    room = (width - 70) / max(len(places), 1)
    letters = max((len(_label(phase)) for phase in phases), default=1)
    step = max(1, math.ceil(letters * FONT_SIZE * 0.66 / room))
    lower.set_xticks(list(places)[::step], [_label(phase) for phase in phases[::step]])
    lower.set_xlim(-0.5, max(len(places), 1) - 0.5)
    if description:
        lower.set_xlabel(_label(f"{grouping}: {description}", 52))
    spots = []
    for place, (phase, count) in enumerate(zip(phases, counts, strict=True)):
        values = [f"{name}: {texts[place]}" for name, texts in told.items()]
        spots.append(Spot(upper, place, math.nan, "\n".join([f"{phase}: {whole(count)} positions", *values])))
    return upper, spots


def learning_chart(curve: LearningCurve, key: str, *, width: int = 330, height: int = 180) -> Tree.Element:
    """Draw training and validation error after each iteration; ``key`` tells this chart from others on the page."""

    def draw(figure: Figure) -> Sequence[Spot]:
        axes = figure.subplots()
        axes.plot(curve.iterations, curve.training, color=STAND_IN["quiet"], linestyle=(0, (4, 2)), linewidth=1.5)
        axes.plot(curve.iterations, curve.validation, color=STAND_IN["series-1"])
        if curve.best is not None:
            axes.plot(
                *curve.best,
                marker="o",
                markersize=6.5,
                color=STAND_IN["series-1"],
                markeredgecolor=STAND_IN["paper"],
                clip_on=False,
            )
        axes.set_xlabel("iteration")
        axes.margins(x=0.02, y=0.1)
        axes.locator_params(axis="y", nbins=4)
        _whole_iterations(axes)
        return [
            Spot(axes, at, math.nan, f"iteration {at}\nvalidation: {number(held)}\ntraining: {number(fitted)}")
            for at, fitted, held in zip(curve.iterations, curve.training, curve.validation, strict=True)
        ]

    return chart(key, width, height, draw, f"Line chart: error by iteration, {curve.name}")


def calibration_chart(calibration: Calibration, key: str, *, width: int = 330, height: int = 300) -> Tree.Element:
    """Draw observed against predicted values, the dots' area growing with the number of positions."""
    filled = calibration.filled
    values = [value for prediction, observation, _ in filled for value in (prediction, observation)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    pad = 0.05 * (high - low) or 0.5
    greatest = max((count for _, _, count in filled), default=1)

    def draw(figure: Figure) -> Sequence[Spot]:
        axes = figure.subplots()
        axes.grid(visible=True, axis="both")
        axes.plot([low - pad, high + pad], [low - pad, high + pad], color=STAND_IN["quiet"], linewidth=1.2, zorder=1)
        axes.scatter(
            [prediction for prediction, _, _ in filled],
            [observation for _, observation, _ in filled],
            s=[10 + 130 * count / greatest for _, _, count in filled],
            color=STAND_IN["series-1"],
            edgecolors=STAND_IN["paper"],
            linewidths=0.8,
            alpha=0.85,
            zorder=2,
        )
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(low - pad, high + pad)
        axes.locator_params(nbins=5)
        axes.set_xlabel(f"predicted, {_label(calibration.unit)}")
        axes.set_ylabel("observed")
        return [
            Spot(
                axes,
                prediction,
                observation,
                f"predicted {number(prediction)}, observed {number(observation)}\n{whole(count)} positions",
            )
            for prediction, observation, count in filled
        ]

    return chart(key, width, height, draw, f"Scatter chart: predicted and observed values, {calibration.model}")


def power_chart(
    curves: Mapping[str, Sequence[tuple[float, float, float, float]]],
    lines: Mapping[str, tuple[float, float]],
    kind: str,
    *,
    width: int,
    height: int,
) -> Tree.Element:
    """Draw grades over the logarithm of the processing power, with their intervals and straight lines.

    Parameters
    ----------
    curves
        Name of an evaluation to limit, grade, and lower and upper end of its interval, by rising limit.
    lines
        Name to slope and intercept over the logarithm to base 2 of the limit.
    kind
        What the limit is, for the axis.
    width, height
        As for :func:`error_chart`.
    """

    def draw(figure: Figure) -> Sequence[Spot]:
        from matplotlib.ticker import EngFormatter, NullLocator

        axes = figure.subplots()
        for name, style in styles_of(tuple(curves), ()).items():
            limits, grades, lows, highs = zip(*curves[name], strict=True)
            colour = STAND_IN[style.role]
            axes.vlines(limits, lows, highs, color=colour, linewidth=1.0, alpha=0.6)
            axes.plot(limits, grades, color=colour, linestyle="None", marker=style.marker, markersize=6, clip_on=False)
            if name in lines:
                slope, intercept = lines[name]
                ends = [limits[0], limits[-1]]
                axes.plot(ends, [intercept + slope * math.log2(end) for end in ends], color=colour, linewidth=1.2)
        axes.set_xscale("log", base=10)
        # matplotlib writes powers of ten in a mark-up that an SVG does not know.
        axes.set_xticks(sorted({point[0] for points in curves.values() for point in points}))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlabel(_label(f"{kind} a position"))
        axes.set_ylabel("grade")
        axes.locator_params(axis="y", nbins=6)
        return [
            Spot(axes, limit, grade, f"{name}\n{limit:,g} {kind}: {_graded(grade, low, high)}")
            for name, points in curves.items()
            for limit, grade, low, high in points
        ]

    description = f"Chart: grade over {kind} of {', '.join(curves)}"
    return chart(f"power-{width}", width, height, draw, description)


def _graded(grade: float, low: float, high: float) -> str:
    return f"{number(grade, 4)} ({number(low, 4)} to {number(high, 4)})"


def strength_chart(
    points: Sequence[tuple[float, float, float, float]],
    line: tuple[float, float] | None,
    names: Sequence[str],
    *,
    width: int,
    height: int,
) -> Tree.Element:
    """Draw grades over ratings, with their intervals and a straight line.

    Parameters
    ----------
    points
        Rating, grade, and lower and upper end of its interval.
    line
        Slope and intercept; None for none.
    names
        Of the points.
    width, height
        As for :func:`error_chart`.
    """

    def draw(figure: Figure) -> Sequence[Spot]:
        axes = figure.subplots()
        ratings, grades, lows, highs = zip(*points, strict=True)
        colour = STAND_IN["series-1"]
        axes.vlines(ratings, lows, highs, color=colour, linewidth=1.0, alpha=0.4)
        axes.plot(ratings, grades, color=colour, linestyle="None", marker="o", markersize=5, clip_on=False)
        if line is not None:
            ends = [min(ratings), max(ratings)]
            axes.plot(ends, [line[1] + line[0] * end for end in ends], color=STAND_IN["series-2"], linewidth=1.2)
        axes.set_xlabel("rating")
        axes.set_ylabel("grade")
        axes.locator_params(axis="y", nbins=6)
        return [
            Spot(axes, rating, grade, f"{name} ({rating:.0f}): {_graded(grade, low, high)}")
            for name, (rating, grade, low, high) in zip(names, points, strict=True)
        ]

    return chart(f"strength-{width}", width, height, draw, f"Chart: grade over rating of {len(points)} players")


def _label(text: str, longest: int = 24) -> str:
    # Vertical room inside a chart is small, and a line feed would take more of it.
    return legible(" ".join(text.split()), longest)


def _short_numbers(axes: Axes) -> None:
    from matplotlib.ticker import EngFormatter

    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _whole_iterations(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
