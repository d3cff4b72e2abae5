"""Matplotlib's SVG as a part of a page: its colours turned into the page's variables, which follow light and dark.

A chart is drawn with stand-in colours, one per role. In the SVG each of them becomes ``var(--role)``, fonts
become the page's, and identifiers are made unique to the chart, so that many charts share one page.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as Tree

from glem.core.report.markup import element, extend, legible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FONT_SIZE", "STAND_IN", "Spot", "chart"]

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
STAND_IN = {role: f"#0000{place + 1:02x}" for place, role in enumerate(_ROLES)}
_ROLE_OF = {colour: role for role, colour in STAND_IN.items()}

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


class Spot(NamedTuple):
    """What a chart tells of a point, or where ``y`` is nan of the whole column around ``x``, while one points there."""

    axes: Axes
    x: float
    y: float
    text: str


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


def chart(
    key: str, width: int, height: int, draw: Callable[[Figure], Sequence[Spot]], description: str
) -> Tree.Element:
    """Draw a chart of that size in CSS pixels; ``draw`` returns what it tells, ``key`` is unique on the page."""
    from matplotlib.figure import Figure

    written = io.BytesIO()
    with _house_style(key):
        # The SVG backend counts 72 dots an inch, so that a point is a CSS pixel of the viewBox.
        figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        spots = draw(figure)
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = Tree.fromstring(written.getvalue())  # noqa: S314  (written by matplotlib a line above)
    page = _for_page(svg, key, width, height, legible(description, 500))
    return extend(page, [_answering(spot, height) for spot in spots])


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
        # Never larger than drawn, so that the letters of all charts have one size.
        "style": f"max-width:{width}px",
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
