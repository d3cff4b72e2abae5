"""What every page of a report has: the head, the names of its sections, and the promise to load nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from glem.core.report.markup import Child, document, element

__all__ = ["both_sizes", "details", "paragraph", "section", "whole_page"]

# Nothing may be fetched and no other script may run, whatever a name in a stranger's file says.
_POLICY = "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:"

_SIZES = (("wide-only", 1040, 380), ("narrow-only", 350, 320))


def section(name: str, title: str, *children: Child) -> Element:
    """Build a section that the page's list of sections links to."""
    return element("section", element("h2", title), *children, id=name)


def paragraph(*parts: Child) -> Element:
    """Build the paragraph that leads a section."""
    return element("p", *parts, class_="lead")


def both_sizes(draw: Callable[[int, int], Element]) -> list[Element]:
    """Draw a chart of a width and a height for wide and for narrow windows, of which each shows its own."""
    return [element("div", draw(width, height), class_=kind) for kind, width, height in _SIZES]


def details(summary: str, *children: Child) -> Element:
    """Build a part that opens when its summary is clicked."""
    return element("details", element("summary", summary), *children)


def whole_page(
    title: str, kicker: str, window_title: str, summary: str, figures: Element | None, sections: Sequence[Element]
) -> str:
    """HTML text of a page.

    Parameters
    ----------
    title, kicker
        The page's name, and the line above it.
    window_title
        Name for tabs and bookmarks.
    summary
        What was found, in one paragraph.
    figures
        Key figures below it.
    sections
        Of :func:`section`, in order.
    """
    script = (files("glem.core.report") / "report.js").read_text(encoding="utf-8")
    links = [element("li", element("a", part[0].text or "", href=f"#{part.get('id')}")) for part in sections]
    body = element(
        "body",
        element(
            "header",
            element("p", kicker, class_="kicker"),
            element("h1", title),
            element("p", summary, class_="summary"),
            figures,
            element("nav", element("ul", *links), aria_label="Sections"),
            class_="page-head",
        ),
        element("main", *sections),
        element("footer", "Written by glem. This file stands alone: it loads nothing."),
        _verbatim("script", script),
    )
    return document(element("html", _head(window_title, script), body, lang="en"))


def _verbatim(tag: str, text: str) -> Element:
    made = element(tag)
    made.text = text
    return made


def _head(title: str, script: str) -> Element:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY.format(digest)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Browsers ask a server for an icon unless the page names one.
        element("link", rel="icon", href="data:,"),
        _verbatim("style", (files("glem.core.report") / "report.css").read_text(encoding="utf-8")),
    )
