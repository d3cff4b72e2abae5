"""Charts with axes: matplotlib's SVG, its colours turned into the page's variables, which follow light and dark.

A chart is drawn with stand-in colours, one per role. In the SVG each of them becomes ``var(--role)``, fonts
become the page's, and identifiers are made unique to the chart, so that many charts share one page.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as Tree

from glem.core.report.data import Calibration, LearningCurve, PhaseErrors
from glem.core.report.markup import element, legible

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

_ROLES = (
    "ink",
    "ink-soft",
    "rule",
    "grid",
    "paper",
    "bar",
    *(f"series-{place}" for place in range(1, 7)),
    "quiet",
)
# Black is avoided: matplotlib leaves it out of the SVG as the default.
_STAND_IN = {role: f"#0000{place + 1:02x}" for place, role in enumerate(_ROLES)}
_ROLE_OF = {colour: role for role, colour in _STAND_IN.items()}

_FONT_SIZE = 12.0
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.family": ["DejaVu Sans"],
    "font.size": _FONT_SIZE,
    "text.color": _STAND_IN["ink-soft"],
    "axes.edgecolor": _STAND_IN["rule"],
    "axes.labelcolor": _STAND_IN["ink-soft"],
    "axes.labelsize": _FONT_SIZE,
    "axes.facecolor": "none",
    "axes.linewidth": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": _STAND_IN["grid"],
    "grid.linewidth": 1.0,
    "xtick.color": _STAND_IN["rule"],
    "ytick.color": _STAND_IN["rule"],
    "xtick.labelcolor": _STAND_IN["ink-soft"],
    "ytick.labelcolor": _STAND_IN["ink-soft"],
    "xtick.labelsize": _FONT_SIZE,
    "ytick.labelsize": _FONT_SIZE,
    "ytick.major.size": 0.0,
    "xtick.major.size": 3.0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}

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


def error_chart(errors: PhaseErrors, *, width: int, height: int) -> Tree.Element:
    """Draw the error of every model by phase above the number of positions in each phase.

    Parameters
    ----------
    errors
        What to draw.
    width, height
        Size in CSS pixels at which the letters have their natural size; also tells this chart from its other sizes.
    """

    def draw(figure: Figure) -> None:
        upper = _phase_axes(figure, errors.phases, errors.counts, width)
        for name, style in model_styles(errors).items():
            _draw_line(upper, errors.models[name], style)
        upper.set_ylabel(f"error, {_label(errors.unit)}")
        upper.set_ylim(bottom=0)
        upper.locator_params(axis="y", nbins=6)
        figure.align_ylabels()

    return _chart(f"errors-{width}", width, height, draw, f"Line chart: error by phase of {', '.join(errors.models)}")


def grade_chart(
    phases: Sequence[str],
    counts: Sequence[int],
    grades: Mapping[str, Sequence[tuple[float, float, float]]],
    baselines: Sequence[str],
    *,
    width: int,
    height: int,
    grouping: str = "phase",
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
    """

    def draw(figure: Figure) -> None:
        upper = _phase_axes(figure, phases, counts, width)
        for name, style in styles_of(tuple(grades), baselines).items():
            middle, low, high = zip(*grades[name], strict=True)
            upper.fill_between(range(len(phases)), low, high, color=_STAND_IN[style.role], alpha=0.18, linewidth=0)
            _draw_line(upper, middle, style)
        upper.set_ylabel("grade")
        upper.locator_params(axis="y", nbins=6)
        figure.align_ylabels()

    key = f"grades-{'-'.join(grouping.split())}-{width}"
    return _chart(key, width, height, draw, f"Line chart: grade by {grouping} of {', '.join(grades)}")


def _draw_line(axes: Axes, values: Sequence[float], style: ModelStyle) -> None:
    axes.plot(
        range(len(values)),
        values,
        color=_STAND_IN[style.role],
        linestyle=(0, style.dashes) if style.dashes else "solid",
        marker=style.marker or "None",
        markersize=5.5,
        markeredgecolor=_STAND_IN["paper"],
        markeredgewidth=0.8,
        clip_on=False,
    )


def _phase_axes(figure: Figure, phases: Sequence[str], counts: Sequence[int], width: int) -> Axes:
    """Return axes for curves over phases, above bars of the number of positions in each."""
    places = range(len(phases))
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[5, 1])
    upper.tick_params(axis="x", length=0, labelbottom=False)
    lower.bar(places, counts, width=0.66, color=_STAND_IN["bar"])
    lower.set_ylabel("positions")
    lower.set_ylim(bottom=0)
    lower.locator_params(axis="y", nbins=2)
    _short_numbers(lower)
    room = (width - 70) / max(len(places), 1)
    letters = max((len(_label(phase)) for phase in phases), default=1)
    step = max(1, math.ceil(letters * _FONT_SIZE * 0.66 / room))
    lower.set_xticks(list(places)[::step], [_label(phase) for phase in phases[::step]])
    lower.set_xlim(-0.5, max(len(places), 1) - 0.5)
    axes: Axes = upper
    return axes


def learning_chart(curve: LearningCurve, key: str, *, width: int = 330, height: int = 180) -> Tree.Element:
    """Draw training and validation error after each iteration; ``key`` tells this chart from others on the page."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.plot(curve.iterations, curve.training, color=_STAND_IN["quiet"], linestyle=(0, (4, 2)), linewidth=1.5)
        axes.plot(curve.iterations, curve.validation, color=_STAND_IN["series-1"])
        if curve.best is not None:
            axes.plot(
                *curve.best,
                marker="o",
                markersize=6.5,
                color=_STAND_IN["series-1"],
                markeredgecolor=_STAND_IN["paper"],
                clip_on=False,
            )
        axes.set_xlabel("iteration")
        axes.margins(x=0.02, y=0.1)
        axes.locator_params(axis="y", nbins=4)
        _whole_iterations(axes)

    return _chart(key, width, height, draw, f"Line chart: error by iteration, {curve.name}")


def calibration_chart(calibration: Calibration, key: str, *, width: int = 330, height: int = 300) -> Tree.Element:
    """Draw observed against predicted values, the dots' area growing with the number of positions."""
    filled = calibration.filled
    values = [value for prediction, observation, _ in filled for value in (prediction, observation)]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    pad = 0.05 * (high - low) or 0.5
    greatest = max((count for _, _, count in filled), default=1)

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        axes.grid(visible=True, axis="both")
        axes.plot([low - pad, high + pad], [low - pad, high + pad], color=_STAND_IN["quiet"], linewidth=1.2, zorder=1)
        axes.scatter(
            [prediction for prediction, _, _ in filled],
            [observation for _, observation, _ in filled],
            s=[10 + 130 * count / greatest for _, _, count in filled],
            color=_STAND_IN["series-1"],
            edgecolors=_STAND_IN["paper"],
            linewidths=0.8,
            alpha=0.85,
            zorder=2,
        )
        axes.set_xlim(low - pad, high + pad)
        axes.set_ylim(low - pad, high + pad)
        axes.locator_params(nbins=5)
        axes.set_xlabel(f"predicted, {_label(calibration.unit)}")
        axes.set_ylabel("observed")

    return _chart(key, width, height, draw, f"Scatter chart: predicted and observed values, {calibration.model}")


def power_chart(
    curves: Mapping[str, Sequence[tuple[float, float, float, float]]],
    lines: Mapping[str, tuple[float, float]],
    kind: str,
    *,
    width: int = 640,
    height: int = 380,
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

    def draw(figure: Figure) -> None:
        from matplotlib.ticker import EngFormatter, NullLocator

        axes = figure.subplots()
        for name, style in styles_of(tuple(curves), ()).items():
            limits, grades, lows, highs = zip(*curves[name], strict=True)
            colour = _STAND_IN[style.role]
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

    description = f"Chart: grade over {kind} of {', '.join(curves)}"
    return _chart(f"power-{width}", width, height, draw, description)


def strength_chart(
    points: Sequence[tuple[float, float, float, float]],
    line: tuple[float, float] | None,
    *,
    width: int = 640,
    height: int = 380,
) -> Tree.Element:
    """Draw grades over ratings, with their intervals and a straight line.

    Parameters
    ----------
    points
        Rating, grade, and lower and upper end of its interval.
    line
        Slope and intercept; None for none.
    width, height
        As for :func:`error_chart`.
    """

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        ratings, grades, lows, highs = zip(*points, strict=True)
        colour = _STAND_IN["series-1"]
        axes.vlines(ratings, lows, highs, color=colour, linewidth=1.0, alpha=0.4)
        axes.plot(ratings, grades, color=colour, linestyle="None", marker="o", markersize=5, clip_on=False)
        if line is not None:
            ends = [min(ratings), max(ratings)]
            axes.plot(ends, [line[1] + line[0] * end for end in ends], color=_STAND_IN["series-2"], linewidth=1.2)
        axes.set_xlabel("rating")
        axes.set_ylabel("grade")
        axes.locator_params(axis="y", nbins=6)

    return _chart(f"strength-{width}", width, height, draw, f"Chart: grade over rating of {len(points)} players")


def _label(text: str) -> str:
    # Vertical room inside a chart is small, and a line feed would take more of it.
    return legible(" ".join(text.split()), 24)


def _short_numbers(axes: Axes) -> None:
    from matplotlib.ticker import EngFormatter

    axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _whole_iterations(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


@contextlib.contextmanager
def _house_style(salt: str) -> Iterator[None]:
    import matplotlib

    settings: Any = matplotlib.rcParams  # its keys are literals to the type checker, more of them in every version
    with matplotlib.rc_context(), warnings.catch_warnings():
        # The reader's browser draws the letters: what matplotlib's font lacks is no loss.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        settings.update(_STYLE, **{"svg.hashsalt": salt})
        yield


def _chart(key: str, width: int, height: int, draw: Callable[[Figure], None], description: str) -> Tree.Element:
    from matplotlib.figure import Figure

    written = io.BytesIO()
    with _house_style(key):
        # The SVG backend counts 72 dots an inch, so that a point is a CSS pixel of the viewBox.
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        draw(figure)
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = Tree.fromstring(written.getvalue())  # noqa: S314  (written by matplotlib a line above)
    return _for_page(svg, key, width, height, legible(description, 500))


_COLOUR = re.compile(r"#[0-9a-f]{6}")
# Versions of matplotlib differ: one shorthand, or size and family apart.
_FONT = re.compile(r"font: ([0-9.]+px) [^;]*")
_FONT_FAMILY = re.compile(r"font-family: [^;]*;? ?")
_TARGET = re.compile(r"#([A-Za-z_][\w.-]*)")


def _for_page(svg: Tree.Element, key: str, width: int, height: int, description: str) -> Tree.Element:
    used = {name for part in svg.iter() for name in _references(part)}
    for parent in list(svg.iter()):
        for child in list(parent):
            # A style element inside would hold for the whole page.
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for part in svg.iter():
        _adapt(part, key, used)
    svg.attrib = {
        "viewBox": f"0 0 {width} {height}",
        "class": "chart",
        "role": "img",
        "aria-label": description,
    }
    return svg


def _references(part: Tree.Element) -> Sequence[str]:
    return [
        name
        for attribute, value in part.attrib.items()
        if attribute.endswith("href") or "url(" in value
        for name in _TARGET.findall(value)
    ]


def _adapt(part: Tree.Element, key: str, used: set[str]) -> None:
    part.tag = part.tag.rpartition("}")[2]
    if not (part.text or "").strip():
        part.text = None
    part.tail = None
    attributes = {}
    for name, value in part.attrib.items():
        plain = name.rpartition("}")[2]
        if plain == "id" and value not in used:
            continue
        if plain == "id":
            value = f"{key}-{value}"
        elif plain == "href" or "url(" in value:
            value = _TARGET.sub(rf"#{key}-\1", value)
        elif plain == "style":
            value = _FONT_FAMILY.sub("", _FONT.sub(r"font-size: \1", _COLOUR.sub(_variable, value)))
        attributes[plain] = value
    part.attrib = attributes


def _variable(colour: re.Match[str]) -> str:
    role = _ROLE_OF.get(colour.group())
    return f"var(--{role})" if role else "currentColor"
