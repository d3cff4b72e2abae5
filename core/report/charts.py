"""Charts with axes, and the styles of the lines in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree.ElementTree import Element

from glem.core.report.data import Calibration, LearningCurve
from glem.core.report.markup import Child, element, legible, number
from glem.core.report.svg import FONT_SIZE, STAND_IN, Spot, both_sizes, chart
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARKERS = {
    "o": "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    "s": "M-2.8 -2.8h5.6v5.6h-5.6z",
    "D": "M0 -3.8L3.8 0L0 3.8L-3.8 0z",
    "^": "M0 -3.6L3.6 2.8H-3.6z",
}
_DOTS: dict[str, Any] = {
    "markersize": 5.5,
    "markeredgecolor": STAND_IN["paper"],
    "markeredgewidth": 0.8,
    "clip_on": False,
}
_DASHES = ((1.2, 2.0), (5.0, 2.5), (8.0, 2.0, 1.5, 2.0), (2.5, 2.5))


class LineStyle(NamedTuple):
    """How a line is told from the others: by colour, and by marker or dashes."""

    role: str
    marker: str | None = None
    dashes: tuple[float, ...] | None = None


def styles_of(models: Iterable[str], baselines: Sequence[str] = ()) -> dict[str, LineStyle]:
    """Give every model a style: colours and markers, greys and dashes for the baselines."""
    styles: dict[str, LineStyle] = {}
    shown = quiet = 0
    for name in models:
        if name in baselines:
            styles[name] = LineStyle("quiet", None, _DASHES[quiet % len(_DASHES)])
            quiet += 1
        else:
            styles[name] = LineStyle(f"series-{shown % 6 + 1}", list(_MARKERS)[shown % len(_MARKERS)])
            shown += 1
    return styles


def legend(entries: Iterable[tuple[LineStyle, *tuple[Child, ...]]], label: str | None = None) -> Element:
    """List lines, each a short piece of it and what it stands for."""
    items = [element("li", _swatch(style), *children) for style, *children in entries]
    return element("ul", *items, class_="legend", aria_label=label)


def _swatch(style: LineStyle) -> Element:
    colour = f"var(--{style.role})"
    dashes = " ".join(f"{dash:g}" for dash in style.dashes) if style.dashes else None
    line = element("line", x1=1, y1=6, x2=31, y2=6, stroke=colour, stroke_width=2, stroke_dasharray=dashes)
    marker = (
        element("path", d=_MARKERS[style.marker], transform="translate(16 6)", fill=colour) if style.marker else None
    )
    return element("svg", line, marker, viewBox="0 0 32 12", width=32, height=12, class_="swatch", aria_hidden="true")


def _draw_line(axes: Axes, style: LineStyle, places: Any, heights: Any, band: Sequence[Any] = (), **look: Any) -> None:
    """Draw a line of a style, with a band between two others where these are given."""
    colour = STAND_IN[style.role]
    if band:
        axes.fill_between(places, *band, color=colour, alpha=0.18, linewidth=0)
    axes.plot(places, heights, color=colour, linestyle=(0, style.dashes) if style.dashes else "solid", **look)


def phase_chart(
    quantity: str,
    phases: Sequence[str],
    counts: Sequence[int],
    curves: Mapping[str, Sequence[tuple[float, ...]]],
    baselines: Sequence[str],
    *,
    unit: str = "",
    grouping: str = "phase",
    description: str = "",
) -> list[Element]:
    """Draw a curve over the phases for every model, above the number of positions in each phase.

    Parameters
    ----------
    quantity
        What the curves show: ``error`` or ``grade``.
    phases, counts
        Names of the phases, and positions in each.
    curves
        Name of a model to its value in each phase, or to value, lower and upper limit, which become a band; nan where
        it has none.
    baselines
        Names of those that are there to be beaten.
    unit
        Of errors, whose axis begins at 0.
    grouping
        What stands in the place of the phases, where it is something else that has an order.
    description
        What the names of the groups say.
    """

    def draw(figure: Figure, width: int) -> Sequence[Spot]:
        from matplotlib.ticker import EngFormatter

        places = range(len(phases))
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[5, 1])
        upper.tick_params(axis="x", length=0, labelbottom=False)
        upper.locator_params(axis="y", nbins=6)
        lower.bar(places, counts, width=0.66, color=STAND_IN["bar"])
        lower.set_ylabel("positions")
        lower.set_ylim(bottom=0)
        lower.locator_params(axis="y", nbins=2)
        lower.yaxis.set_major_formatter(EngFormatter(sep=""))
        room = (width - 70) / max(len(places), 1)
        letters = max((len(_label(phase)) for phase in phases), default=1)
        step = max(1, math.ceil(letters * FONT_SIZE * 0.66 / room))
        lower.set_xticks(list(places)[::step], [_label(phase) for phase in phases[::step]])
        lower.set_xlim(-0.5, max(len(places), 1) - 0.5)
        if description:
            lower.set_xlabel(_label(f"{grouping}: {description}", 52))
        figure.align_ylabels()
        for name, style in styles_of(curves, baselines).items():
            values, *limits = zip(*curves[name], strict=True)
            _draw_line(upper, style, places, values, limits, marker=style.marker or "None", **_DOTS)
        upper.set_ylabel(f"{quantity}, {_label(unit)}" if unit else quantity)
        if unit:
            upper.set_ylim(bottom=0)
        spots = []
        for place, (phase, count) in enumerate(zip(phases, counts, strict=True)):
            told = [f"{name}: {_told(*curve[place])}" for name, curve in curves.items()]
            spots.append(Spot(upper, place, math.nan, "\n".join([f"{phase}: {counted(count, 'position')}", *told])))
        return spots

    key = f"{quantity}s" + ("" if unit else f"-{'-'.join(grouping.split())}")
    return both_sizes(key, draw, f"Line chart: {quantity} by {grouping} of {', '.join(curves)}")


def learning_chart(curve: LearningCurve, key: str) -> Element:
    """Draw training and validation error after each iteration; ``key`` tells this chart from others on the page."""

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        from matplotlib.ticker import MaxNLocator

        axes = figure.subplots()
        axes.plot(curve.iterations, curve.training, color=STAND_IN["quiet"], linestyle=(0, (4, 2)), linewidth=1.5)
        axes.plot(curve.iterations, curve.validation, color=STAND_IN["series-1"])
        if curve.best is not None:
            look = {**_DOTS, "markersize": 6.5, "markeredgewidth": 1.0}
            axes.plot(*curve.best, marker="o", color=STAND_IN["series-1"], **look)
        axes.set_xlabel("iteration")
        axes.margins(x=0.02, y=0.1)
        axes.locator_params(axis="y", nbins=4)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        return [
            Spot(axes, at, math.nan, f"iteration {at}\nvalidation: {number(held)}\ntraining: {number(fitted)}")
            for at, fitted, held in zip(curve.iterations, curve.training, curve.validation, strict=True)
        ]

    return chart(key, 330, 180, draw, f"Line chart: error by iteration, {curve.name}")


def calibration_chart(calibration: Calibration, key: str) -> Element:
    """Draw observed against predicted values, the dots' area growing with the number of positions."""

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        axes = figure.subplots()
        axes.grid(visible=True, axis="both")
        predicted, observed, counts = zip(*calibration.filled, strict=True)
        low, high = min(predicted + observed), max(predicted + observed)
        pad = 0.05 * (high - low) or 0.5
        ends = [low - pad, high + pad]
        axes.plot(ends, ends, color=STAND_IN["quiet"], linewidth=1.2, zorder=1)
        axes.scatter(
            predicted,
            observed,
            s=[10 + 130 * count / max(counts) for count in counts],
            color=STAND_IN["series-1"],
            edgecolors=STAND_IN["paper"],
            linewidths=0.8,
            alpha=0.85,
            zorder=2,
        )
        axes.set_xlim(*ends)
        axes.set_ylim(*ends)
        axes.locator_params(nbins=5)
        axes.set_xlabel(f"predicted, {_label(calibration.unit)}")
        axes.set_ylabel("observed")
        return [
            Spot(axes, x, y, f"predicted {number(x)}, observed {number(y)}\n{counted(count, 'position')}")
            for x, y, count in calibration.filled
        ]

    return chart(key, 330, 300, draw, f"Scatter chart: predicted and observed values, {calibration.model}")


class Curve(NamedTuple):
    """A function of one number, drawn as a line, with a band of its error and with what was observed.

    Parameters
    ----------
    style
        Of the line; its marker is that of the dots.
    places, heights
        Of the line.
    errors
        Half the height of the band at each place; none is drawn without.
    seen
        Places and heights of dots.
    """

    style: LineStyle
    places: Sequence[float]
    heights: Sequence[float]
    errors: Sequence[float] = ()
    seen: Sequence[tuple[float, float]] = ()


def curve_chart(key: str, curves: Mapping[str, Curve], labels: tuple[str, str], description: str) -> Element:
    """Draw functions from 0 up to what the lines and bands need; ``labels`` are those of the axes."""

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        axes = figure.subplots()
        spots, top = [], 0.0
        for name, curve in curves.items():
            errors = curve.errors or [0.0] * len(curve.heights)
            low, high = ([y + sign * e for y, e in zip(curve.heights, errors, strict=True)] for sign in (-1, 1))
            top = max(top, *high)
            _draw_line(axes, curve.style, curve.places, curve.heights, (low, high) if curve.errors else ())
            for x, y in curve.seen:
                axes.plot(x, y, color=STAND_IN[curve.style.role], marker=curve.style.marker or "o", markersize=4.5)
                spots.append((x, y, f"{name}: {number(y)} at {number(x)}"))
        axes.set_ylim(0, 1.08 * top)
        axes.margins(x=0.02)
        axes.locator_params(nbins=6)
        axes.set_xlabel(_label(labels[0], 40))
        axes.set_ylabel(labels[1])
        return [Spot(axes, x, y, text) for x, y, text in spots if y <= 1.08 * top]

    return chart(key, 330, 260, draw, description)


class Point(NamedTuple):
    """A grade with its interval, drawn at a place and called by a name."""

    name: str
    place: float
    grade: float
    low: float
    high: float


def point_chart(
    key: str, points: Sequence[Point], label: str, description: str, *, quantity: str = "grade"
) -> list[Element]:
    """Draw points over something with their intervals.

    Parameters
    ----------
    key
        Of the chart, unique on its page.
    points
        By rising place.
    label
        What the places are, for the axis.
    description
        Of the whole chart, for those who do not see it.
    quantity
        What stands in the place of the grades.
    """

    def draw(figure: Figure, _: int) -> Sequence[Spot]:
        axes = figure.subplots()
        places, grades, lows, highs = list(zip(*points, strict=True))[1:]
        axes.vlines(places, lows, highs, color=STAND_IN["series-1"], linewidth=1.0, alpha=0.5)
        axes.plot(
            places, grades, color=STAND_IN["series-1"], linestyle="None", marker="o", markersize=5.5, clip_on=False
        )
        axes.set_ylabel(quantity)
        axes.locator_params(axis="y", nbins=6)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel(_label(label))
        return [
            Spot(axes, point.place, point.grade, f"{point.name}: {_told(point.grade, point.low, point.high)}")
            for point in points
        ]

    return both_sizes(key, draw, description)


def _told(value: float, *limits: float) -> str:
    if not limits:
        return number(value)
    low, high = limits
    return f"{number(value, 4)} ({number(low, 4)} to {number(high, 4)})"


def _label(text: str, longest: int = 24) -> str:
    # Vertical room inside a chart is small, and a line feed would take more of it.
    return legible(" ".join(text.split()), longest)
