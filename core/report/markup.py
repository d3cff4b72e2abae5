"""HTML and SVG as a tree of elements, so that every text is escaped by construction."""

import math
import re
import unicodedata
from collections.abc import Iterable
from xml.etree import ElementTree as Tree

Child = Tree.Element | str | None

_LONGEST_TEXT = 20_000
_LONGEST_ATTRIBUTE = 2_000
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def legible(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Text as it may be shown: control characters, surrogates and reordering marks replaced, cut to ``longest``."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(
        "\ufffd" if (unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\t") or sign in _REORDERING else sign
        for sign in shown
    )


def number(value: float, digits: int = 3) -> str:
    """Format a number to ``digits`` significant digits, integers above that whole, a dash for none."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    text = f"{value:,.{max(digits - 1 - magnitude, 0)}f}" if -6 < magnitude < 15 else f"{value:.{digits - 1}e}"
    return text.replace("-", "−")


def aligned(values: Iterable[float], digits: int = 3) -> list[str]:
    """Format numbers to equally many decimals, ``digits`` significant ones in the greatest; a dash for none."""
    listed = list(values)
    greatest = max((abs(value) for value in listed if math.isfinite(value)), default=0.0)
    decimals = max(digits - 1 - math.floor(math.log10(greatest)), 0) if greatest else 0
    if not decimals < 12 or greatest >= 1e15:
        return [number(value, digits) for value in listed]
    texts = [f"{value:,.{decimals}f}" if math.isfinite(value) else "–" for value in listed]
    return [text.replace("-", "−") for text in texts]


def signed(value: float, digits: int = 2) -> str:
    """Format a number with its sign."""
    return f"+{number(value, digits)}" if value > 0 else number(value, digits)


def whole(value: int) -> str:
    """Format an integer with separators."""
    return f"{value:,}".replace("-", "−")


def _attribute(value: str | float) -> str:
    if isinstance(value, str):
        return legible(value, _LONGEST_ATTRIBUTE)
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(tag: str, *children: Child, **attributes: str | float | None) -> Tree.Element:
    """Build an element; ``class_`` and ``aria_label`` stand for ``class`` and ``aria-label``, None is left out."""
    made = Tree.Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), _attribute(value))
    return extend(made, children)


def extend(parent: Tree.Element, children: Iterable[Child]) -> Tree.Element:
    """Append elements and texts to an element and return it."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, Tree.Element):
            parent.append(child)
        elif len(parent):
            parent[-1].tail = (parent[-1].tail or "") + legible(child)
        else:
            parent.text = (parent.text or "") + legible(child)
    return parent


def breakable(text: str) -> list[Child]:
    """Return a name of many parts that a narrow line may break after its joints."""
    parts = re.split(r"(?<=[_,;/.])(?=\S)", text)
    return [child for part in parts for child in (element("wbr"), part)][1:]


def data_table(caption: str, *parts: Child, class_: str | None = None) -> Tree.Element:
    """Build a table with a caption that scrolls inside itself, by keyboard too, and never the page."""
    table = element("table", element("caption", element("span", caption)), *parts, class_=class_)
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def document(root: Tree.Element) -> str:
    """Write the tree as an HTML document."""
    return "<!DOCTYPE html>\n" + Tree.tostring(root, encoding="unicode", method="html") + "\n"
