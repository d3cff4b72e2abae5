"""Cards of configurations and patterns: a board, the conditions in words, weight and matches by phase."""

import math
from collections.abc import Sequence
from typing import Literal
from xml.etree.ElementTree import Element

from glem.core.report.boards import draw_board
from glem.core.report.data import DiscoveryReport, Item
from glem.core.report.markup import aligned, breakable, data_table, element, number, signed, whole
from glem.core.tasks.counts import counted

_BAR_STEP = 10.0
_BAR_HEIGHT = 40.0


Quantity = Literal["weight", "matches"]


def _phase_bars(values: Sequence[float], phases: Sequence[str], quantity: Quantity) -> tuple[Element, Element]:
    """Draw one bar per phase around the zero line, stretched to the width of its place, and a head that tells the span.

    Parameters
    ----------
    values
        One per phase; nan draws no bar.
    quantity
        What the bars are: weights have a sign and its colours, match counts only a size.
    """
    finite = [value for value in values if math.isfinite(value)]
    high, low = max([0.0, *finite]), min([0.0, *finite])
    unit = _BAR_HEIGHT / ((high - low) or 1.0)
    width = _BAR_STEP * max(len(values), 1)
    bars = []
    for place, (value, phase) in enumerate(zip(values, phases, strict=True)):
        left = place * _BAR_STEP
        # The whole column answers to the pointer, not only the bar.
        column = element("rect", x=left, y=0, width=_BAR_STEP, height=_BAR_HEIGHT, fill="transparent")
        bar = None
        if math.isfinite(value) and value:
            bar = element(
                "rect",
                x=left + 0.12 * _BAR_STEP,
                y=(high - max(value, 0.0)) * unit,
                width=0.76 * _BAR_STEP,
                height=max(abs(value) * unit, 0.6),
                class_="bar" if quantity == "matches" else "positive" if value > 0 else "negative",
            )
        bars.append(element("g", element("title", f"{phase}: {_text(value, quantity)}"), column, bar))
    zero = element("line", x1=0, y1=high * unit, x2=width, y2=high * unit, class_="zero")
    span = _span(finite, quantity)
    head = element("div", element("span", quantity), element("span", span, class_="span"), class_="bars-head")
    return head, element(
        "svg",
        *bars,
        zero,
        viewBox=f"0 -1 {width:g} {_BAR_HEIGHT + 2:g}",
        preserveAspectRatio="none",
        class_="bars",
        role="img",
        aria_label=f"Bar chart: {quantity} by phase, {span}",
    )


def _text(value: float, quantity: Quantity) -> str:
    if not math.isfinite(value):
        return "–"
    return whole(int(value)) if quantity == "matches" else signed(value)


def _span(finite: Sequence[float], quantity: Quantity) -> str:
    if not finite:
        return "none"
    low, high = min(finite), max(finite)
    if quantity == "matches":
        return f"up to {_short(high)}"
    ends = dict.fromkeys((_text(low, quantity), _text(high, quantity)))
    return " to ".join(ends)


def _short(count: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{number(count / size)}{letter}"
    return whole(int(count))


def draw_item(item: Item, rank: int, report: DiscoveryReport) -> Element:
    """Card of one configuration or pattern."""
    facts = []
    if item.q_value is not None and math.isfinite(item.q_value):
        facts.append(f"q {item.q_value:.2g}")
    if item.match_counts:
        facts.append(f"{counted(sum(item.match_counts), 'match')}")
    return element(
        "li",
        element(
            "header",
            element("span", str(rank), class_="rank", aria_hidden="true"),
            element("h3", *breakable(item.name)),
            element("p", " · ".join(facts), class_="item-facts") if facts else None,
        ),
        element("div", _conditions(item, report), _bars(item, report), class_="item-body"),
        element("p", item.note, class_="note") if item.note else None,
        class_="item",
    )


def _conditions(item: Item, report: DiscoveryReport) -> Element | None:
    board = None
    if report.layout is not None and item.cells:
        board = draw_board(item, report.layout, report.glyphs, report.cell_names)
    chips = [element("li", *breakable(condition)) for condition in item.other]
    if board is None and not chips:
        return None
    listed = element("ul", *chips, class_="chips", aria_label="Conditions beside the board") if chips else None
    return element("div", board, listed, class_="conditions")


def _bars(item: Item, report: DiscoveryReport) -> Element | None:
    charts: list[Element] = []
    if item.weights:
        charts += _phase_bars(item.weights, report.phases, "weight")
    if item.match_counts:
        charts += _phase_bars(item.match_counts, report.phases, "matches")
    if not charts:
        return None
    if len(report.phases) > 1:
        ends = (element("span", report.phases[0]), element("span", report.phases[-1]))
        charts.append(element("div", *ends, class_="bars-ends"))
    return element("div", *charts, class_="item-charts")


def phase_heads(phases: Sequence[str]) -> list[Element]:
    """Heads of the columns of a table that belong to phases."""
    return [element("th", phase, scope="col", data_phase=str(place)) for place, phase in enumerate(phases)]


def phase_choice(phases: Sequence[str]) -> Element | None:
    """Let a reader choose a phase; hidden until the script that follows the choice runs."""
    if len(phases) < 2:
        return None
    options = [element("option", phase, value=str(place)) for place, phase in enumerate(phases)]
    choice = element("select", element("option", "all", value=""), *options)
    return element("label", "Phase ", choice, class_="phase-choice", hidden="")


def weight_table(items: Sequence[Item], report: DiscoveryReport, caption: str) -> Element:
    """Weights and match counts of all items by phase."""
    groups = []
    for item in items:
        lines = {
            "weight": aligned(item.weights),
            "matches": [whole(count) for count in item.match_counts],
        }
        filled = [(quantity, texts) for quantity, texts in lines.items() if texts]
        rows = []
        for place, (quantity, texts) in enumerate(filled):
            name = element("th", *breakable(item.name), scope="rowgroup", rowspan=len(filled)) if place == 0 else None
            numbers = (element("td", text) for text in texts)
            rows.append(element("tr", name, element("td", quantity, class_="quantity"), *numbers))
        groups.append(element("tbody", *rows))
    head = element("tr", element("th", "phase", scope="col"), element("td"), *phase_heads(report.phases))
    return data_table(caption, element("thead", head), *groups)
