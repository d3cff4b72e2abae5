"""Boards as inline SVG: what a configuration asks of each cell, and heat maps over the cells."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

from glem.core.features.features import side_and_kind
from glem.core.game.game import BoardLayout
from glem.core.report.data import CellMap, Glyph, Item
from glem.core.report.markup import element, signed

_CELL = 20.0
_NAMELESS = "any value"


def glyphs_for(values: Iterable[str], glyphs: Mapping[str, Glyph]) -> dict[str, Glyph]:
    """Drawings of all values, no two alike: the given ones, discs with letters for kinds of pieces, else letters."""
    others = {value: side_and_kind(value) for value in sorted(set(values) - set(glyphs))}
    letters = _letters({kind for _, kind in others.values()})
    return {
        **glyphs,
        **{
            value: Glyph("disc", "own" if side == "own" else "opponent", letters[kind])
            if side
            else Glyph("text", text=letters[kind])
            for value, (side, kind) in others.items()
        },
    }


def _letters(names: Iterable[str]) -> dict[str, str]:
    """One or two characters for each name, no two alike: a name's initials, other letters of it, or a number."""
    found = {"": ""}
    for name in sorted(set(names) - {""}):
        words = re.findall(r"[^\W\d_]+|\d+", name[:40])
        initials = words[0][0] + words[-1][0] if len(words) > 1 else "".join(words)[:1]
        pairs = map("".join, itertools.combinations("".join(words), 2))
        choices = itertools.chain((initials,), pairs, map(str, itertools.count(1)))
        found[name] = next(text for text in choices if text not in found.values())
    return found


def _glyph(glyph: Glyph, left: float, top: float) -> list[Element]:
    middle_x, middle_y = left + _CELL / 2, top + _CELL / 2
    cell = element("rect", x=left, y=top, width=_CELL, height=_CELL, class_="cell")
    if glyph.shape == "disc":
        disc = element("circle", cx=middle_x, cy=middle_y, r=_CELL * 0.39, class_="disc " + glyph.tone)
        kind = element("text", glyph.text[:3], x=middle_x, y=middle_y, class_="letters on-" + glyph.tone)
        return [cell, disc, kind] if glyph.text else [cell, disc]
    if glyph.shape == "ring":
        return [cell, element("circle", cx=middle_x, cy=middle_y, r=_CELL * 0.16, class_="ring")]
    letters = element("text", glyph.text[:3], x=middle_x, y=middle_y, class_="letters " + glyph.tone)
    return [cell, letters] if glyph.shape == "text" else [cell]


def _grid(layout: BoardLayout) -> Element:
    width, height = layout.columns * _CELL, layout.rows * _CELL
    lines = [f"M{column * _CELL:g} 0V{height:g}" for column in range(layout.columns + 1)]
    lines += [f"M0 {row * _CELL:g}H{width:g}" for row in range(layout.rows + 1)]
    return element("path", d="".join(lines), class_="grid")


def _svg(layout: BoardLayout, description: str, *children: Element) -> Element:
    width, height = layout.columns * _CELL, layout.rows * _CELL
    frame = element("rect", x=0, y=0, width=width, height=height, class_="frame")
    return element(
        "svg",
        element("rect", x=0, y=0, width=width, height=height, class_="ground"),
        *children,
        frame,
        viewBox=f"-1 -1 {width + 2:g} {height + 2:g}",
        class_="board",
        role="img",
        aria_label=description,
    )


def _cell_name(cell: int, layout: BoardLayout, names: Mapping[int, str]) -> str:
    row, column = divmod(cell, layout.columns)
    return names.get(cell, f"row {row + 1} column {column + 1}")


def draw_board(
    item: Item, layout: BoardLayout, glyphs: Mapping[str, Glyph], names: Mapping[int, str] = MappingProxyType({})
) -> Element:
    """Board on which the cells that the item speaks of are filled and all others are faint."""
    drawn: list[Element] = []
    words = []
    for cell, value in item.cells.items():
        row, column = divmod(cell, layout.columns)
        words.append(f"{_cell_name(cell, layout, names)} {value or _NAMELESS}")
        drawn.append(element("g", element("title", words[-1]), *_glyph(glyphs[value], column * _CELL, row * _CELL)))
    description = f"Board, {layout.rows} by {layout.columns} cells: {'; '.join(words) or 'no cell'}"
    return _svg(layout, description, _grid(layout), *drawn)


def board_legend(items: Iterable[Item], glyphs: Mapping[str, Glyph]) -> Element | None:
    """Legend of the values that occur in the items; None when none does."""
    used = {value for item in items for value in item.cells.values()}
    if not used:
        return None
    ordered = [value for value in glyphs if value in used]
    single = BoardLayout(1, 1)
    named = [(glyphs[value], value or _NAMELESS) for value in ordered]
    entries = [element("li", _svg(single, name, *_glyph(glyph, 0, 0)), name) for glyph, name in named]
    open_cell = element("li", _svg(single, "not looked at", _grid(single)), "not looked at")
    return element("ul", *entries, open_cell, class_="legend board-legend", aria_label="Legend of the boards")


def greatest_value(maps: Iterable[CellMap]) -> float:
    """Greatest finite size of a value over the maps; 0 when there is none."""
    return max((abs(value) for one in maps for value in one.values if math.isfinite(value)), default=0.0)


def draw_cell_map(
    cell_map: CellMap,
    layout: BoardLayout,
    greatest: float,
    unit: str,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Element:
    """Board whose cells are tinted by the square roots of their values, fully at ``greatest``."""
    cells = []
    for cell, value in enumerate(cell_map.values):
        if math.isfinite(value):
            row, column = divmod(cell, layout.columns)
            title = element("title", f"{_cell_name(cell, layout, names)}: {signed(value)} {unit}")
            cells.append(_tinted(value >= 0, _tint(value, greatest), column * _CELL, row * _CELL, title))
    finite = [value for value in cell_map.values if math.isfinite(value)]
    span = f"{signed(min(finite))} to {signed(max(finite))} {unit}" if finite else "no values"
    return _svg(layout, f"Heat map of the board, {cell_map.name}: {span}", *cells, _grid(layout))


def _tint(value: float, greatest: float) -> float:
    # The few great values would leave all others blank on a linear scale.
    return math.sqrt(abs(value) / greatest) if greatest else 0.0


def _tinted(is_positive: bool, opacity: float, x: float, y: float, *title: Element) -> Element:
    sign = "positive" if is_positive else "negative"
    return element("rect", *title, x=x, y=y, width=_CELL, height=_CELL, class_=sign, fill_opacity=opacity)


def map_legend(greatest: float, unit: str) -> Element:
    """Colour scale of heat maps."""
    single = BoardLayout(1, 1)
    entries = []
    for part in (-1.0, -0.25, 0.0, 0.25, 1.0):
        value = part * greatest
        text = f"{signed(value)} {unit}" if part == 1.0 else signed(value)
        cell = _tinted(part >= 0, _tint(value, greatest), 0, 0)
        entries.append(element("li", _svg(single, signed(value), cell), text))
    return element("ul", *entries, class_="legend board-legend", aria_label="Colours of the maps")
