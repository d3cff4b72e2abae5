"""Cards of configurations and patterns: a board, the conditions in words, weight and matches by phase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from glem.core.report.boards import draw_board
from glem.core.report.data import DiscoveryReport, Item
from glem.core.report.markup import element, number, scroll_table, signed, whole

__all__ = ["draw_item", "phase_bars", "weight_table"]

_BAR_STEP = 10.0
_BAR_HEIGHT = 40.0


def phase_bars(values: Sequence[float], phases: Sequence[str], what: str, *, signs: bool) -> Element:
    """Draw one bar per phase around the zero line; it stretches to the width of its place.

    Parameters
    ----------
    values
        One per phase; nan draws no bar.
    phases
        Their names.
    what
        Name of the quantity, for those who hear the page.
    signs
        Whether the values are weights, with a sign, or counts.
    """
    finite = [value for value in values if math.isfinite(value)]
    high, low = max([0.0, *finite]), min([0.0, *finite])
    unit = _BAR_HEIGHT / ((high - low) or 1.0)
    width = _BAR_STEP * max(len(values), 1)
    bars = []
    for place, (value, phase) in enumerate(zip(values, phases, strict=True)):
        text = "none" if not math.isfinite(value) else signed(value) if signs else whole(int(value))
        size = abs(value) * unit if math.isfinite(value) else 0.0
        bars.append(
            element(
                "g",
                element("title", f"{phase}: {text}"),
                # The whole column answers to the pointer, not only the bar.
                element("rect", x=place * _BAR_STEP, y=0, width=_BAR_STEP, height=_BAR_HEIGHT, fill="transparent"),
                element(
                    "rect",
                    x=place * _BAR_STEP + 1.2,
                    y=(high - max(value, 0.0)) * unit if size else high * unit,
                    width=_BAR_STEP - 2.4,
                    height=max(size, 0.6) if size else 0.0,
                    class_=("positive" if value >= 0 else "negative") if signs else "bar",
                ),
            )
        )
    zero = element("line", x1=0, y1=high * unit, x2=width, y2=high * unit, class_="zero")
    return element(
        "svg",
        *bars,
        zero,
        viewBox=f"0 -1 {width:g} {_BAR_HEIGHT + 2:g}",
        preserveAspectRatio="none",
        class_="bars",
        role="img",
        aria_label=f"Bar chart: {what} by phase, {_span(finite, signs)}",
    )


def _span(finite: Sequence[float], signs: bool) -> str:
    if not finite:
        return "none"
    low, high = min(finite), max(finite)
    if signs:
        return signed(low) if low == high else f"{signed(low)} to {signed(high)}"
    return f"at most {_short(high)}"


def _short(count: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{number(count / size)}{letter}"
    return whole(int(count))


def _bars_row(label: str, values: Sequence[float], report: DiscoveryReport, *, signs: bool) -> list[Element]:
    finite = [value for value in values if math.isfinite(value)]
    head = element(
        "div",
        element("span", label),
        element("span", _span(finite, signs), class_="span"),
        class_="bars-head",
    )
    return [head, phase_bars(values, report.phases, label, signs=signs)]


def draw_item(item: Item, rank: int, report: DiscoveryReport) -> Element:
    """Card of one configuration or pattern."""
    facts = []
    if item.significance is not None and math.isfinite(item.significance):
        facts.append(f"{report.significance_name} {signed(item.significance, 3)}")
    if item.match_counts:
        facts.append(f"{whole(sum(item.match_counts))} matches")
    charts = []
    if item.weights:
        charts += _bars_row("weight", item.weights, report, signs=True)
    if item.match_counts:
        charts += _bars_row("matches", item.match_counts, report, signs=False)
    if charts and len(report.phases) > 1:
        ends = (element("span", report.phases[0]), element("span", report.phases[-1]))
        charts.append(element("div", *ends, class_="bars-ends"))
    board = draw_board(item, report.layout, report.glyphs) if report.layout is not None and item.cells else None
    chips = [element("li", condition) for condition in item.other]
    return element(
        "li",
        element(
            "header",
            element("span", str(rank), class_="rank", aria_hidden="true"),
            element("h3", item.name),
            element("p", " · ".join(facts), class_="item-facts") if facts else None,
        ),
        element(
            "div",
            board,
            element("div", *charts, class_="item-charts") if charts else None,
            class_="item-body" if board is not None else "item-body boardless",
        ),
        element("ul", *chips, class_="chips", aria_label="Further conditions") if chips else None,
        element("p", item.note, class_="note") if item.note else None,
        class_="item",
    )


def weight_table(items: Sequence[Item], report: DiscoveryReport, caption: str) -> Element:
    """Weights and match counts of all items by phase, as a table that scrolls inside itself."""
    rows = []
    for item in items:
        for label, texts in (
            ("weight", [signed(weight) if math.isfinite(weight) else "–" for weight in item.weights]),
            ("matches", [whole(count) for count in item.match_counts]),
        ):
            if texts:
                name = element("th", f"{item.name} ", element("small", label), scope="row")
                rows.append(element("tr", name, *(element("td", text) for text in texts)))
    head = element("tr", element("th", "phase", scope="col"), *(element("th", one, scope="col") for one in report.phases))
    table = element("table", element("caption", caption), element("thead", head), element("tbody", *rows))
    return scroll_table(table, caption)
