"""Matplotlib's SVG as a part of a page, which follows the page's light and dark colours.

A chart is drawn with stand-in colours, one per role. In the SVG each of them becomes ``var(--role)``, fonts become the
page's, and identifiers are made unique to the chart, so that many charts share one page.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as Tree

from glem.core.errors import GlemWarning
from glem.core.report.markup import element, extend, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ROLES = ("ink", "ink-soft", "rule", "grid", "paper", "bar", *(f"series-{place}" for place in range(1, 7)), "quiet")
# Black is avoided: matplotlib leaves it out of the SVG as the default.
STAND_IN = {role: f"#0000{place:02x}" for place, role in enumerate(_ROLES, 1)}

_SIZES = (("wide-only", 1040, 380), ("narrow-only", 350, 320))

FONT_SIZE = 12.0
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.family": ["DejaVu Sans"],
    "font.size": FONT_SIZE,
    "text.color": STAND_IN["ink-soft"],
    "axes.edgecolor": STAND_IN["rule"],
    "axes.labelcolor": STAND_IN["ink-soft"],
    "axes.labelsize": FONT_SIZE,
    "axes.facecolor": "none",
    "axes.linewidth": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": STAND_IN["grid"],
    "grid.linewidth": 1.0,
    "xtick.color": STAND_IN["rule"],
    "ytick.color": STAND_IN["rule"],
    "xtick.labelcolor": STAND_IN["ink-soft"],
    "ytick.labelcolor": STAND_IN["ink-soft"],
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "ytick.major.size": 0.0,
    "xtick.major.size": 3.0,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}


class ChartsWarning(GlemWarning):
    """Charts are left out."""


def can_draw() -> bool:
    """Whether matplotlib, which charts need, is there; a :class:`ChartsWarning` says so where it is not."""
    is_there = importlib.util.find_spec("matplotlib") is not None
    if not is_there:
        warnings.warn(
            "charts are left out: they need matplotlib (pip install 'pyglem[report]')", ChartsWarning, stacklevel=2
        )
    return is_there


class Spot(NamedTuple):
    """What a chart tells of a point, or where ``y`` is nan of the whole column around ``x``, while one points there."""

    axes: Axes
    x: float
    y: float
    text: str


Draw = Callable[["Figure", int], Sequence[Spot]]
"""Draws on a figure of a width, and returns what it tells."""


def both_sizes(key: str, draw: Draw, description: str) -> list[Tree.Element]:
    """Draw a chart for wide and for narrow windows, of which each shows its own."""
    return [
        element("div", chart(f"{key}-{width}", width, height, draw, description), class_=kind)
        for kind, width, height in _SIZES
    ]


def chart(key: str, width: int, height: int, draw: Draw, description: str) -> Tree.Element:
    """Draw a chart of that size in CSS pixels; ``key`` is unique on the page."""
    if not can_draw():
        return _left_out(description)
    from matplotlib.figure import Figure

    written = io.BytesIO()
    with _house_style(key):
        # The SVG backend counts 72 dots an inch, so that a point is a CSS pixel of the viewBox.
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        spots = draw(figure, width)
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = Tree.fromstring(_for_page(written.getvalue().decode(), key))  # noqa: S314  (written by matplotlib above)
    svg.attrib = {
        "viewBox": f"0 0 {width} {height}",
        # Never larger than drawn, so that the letters of all charts have one size.
        "style": f"max-width:{width}px",
        "class": "chart",
        "role": "img",
        "aria-label": legible(description, 500),
    }
    return extend(svg, [_answering(spot, height) for spot in spots])


def _left_out(description: str) -> Tree.Element:
    return element("p", f"{legible(description, 500)}: left out, since matplotlib was not installed.", class_="soft")


@contextlib.contextmanager
def _house_style(salt: str) -> Iterator[None]:
    import matplotlib

    settings: Any = matplotlib.rcParams  # its keys are literals to the type checker, more of them in every version
    with matplotlib.rc_context(), warnings.catch_warnings():
        # The reader's browser draws the letters: what matplotlib's font lacks is no loss.
        warnings.filterwarnings("ignore", message="Glyph .* missing from ")
        matplotlib.rcdefaults()
        settings.update(_STYLE, **{"svg.hashsalt": salt})
        yield


def _answering(spot: Spot, height: int) -> Tree.Element | None:
    """Shape without colour that shows the text while one points at it."""
    title, bounds = element("title", spot.text), spot.axes.bbox
    if math.isnan(spot.y):
        ends = spot.axes.transData.transform([(spot.x - 0.5, 0), (spot.x + 0.5, 0)])[:, 0]
        left, right = max(ends[0], bounds.x0), min(ends[1], bounds.x1)
        top, tall = height - bounds.y1, bounds.height
        return element("rect", title, x=left, y=top, width=max(right - left, 1), height=tall, class_="spot")
    if not math.isfinite(spot.y):
        return None
    x, y = spot.axes.transData.transform((spot.x, spot.y))
    return element("circle", title, cx=x, cy=height - y, r=9, class_="spot")


# A style element inside would hold for the whole page.
_LEFT_OUT = re.compile(r"<!--.*?-->|<(metadata|style)\b.*?</\1>|(?<=>)\s+(?=<)", re.DOTALL)


def _for_page(svg: str, key: str) -> str:
    """Matplotlib's text with the page's colours and fonts, and ``key`` before every identifier."""
    changes: tuple[tuple[str, Any], ...] = (
        (r' xmlns(:\w+)?="[^"]*"|(?<=^<g) id="[^"]*"|(?<= )xlink:', ""),
        (r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"{key}-"),
        (r"#0000([0-9a-f]{2})", lambda colour: f"var(--{_ROLES[int(colour[1], 16) - 1]})"),
        # Versions of matplotlib differ: one shorthand, or size and family apart.
        (r"font: ([0-9.]+px) [^;\"]*", r"font-size: \1"),
        (r"font-family: [^;\"]*;? ?", ""),
    )

    def adapted(tag: re.Match[str]) -> str:
        text = tag[0]
        for pattern, replacement in changes:
            text = re.sub(pattern, replacement, text)
        return text

    return re.sub(r"<[^>]+>", adapted, _LEFT_OUT.sub("", svg))
