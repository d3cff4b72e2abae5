"""What every page of a report has: the head, the names of its sections, and the promise to load and run nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from glem.core.report.markup import Child, document, element

__all__ = ["details", "paragraph", "section", "whole_page"]

# Nothing may be fetched and no script may run, whatever a name in a stranger's file says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def section(name: str, title: str, *children: Child) -> Element:
    """Build a section that the page's list of sections links to."""
    return element("section", element("h2", title), *children, id=name)


def paragraph(text: str) -> Element:
    """Build the paragraph that leads a section."""
    return element("p", text, class_="lead")


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
        element("footer", "Written by glem. This file stands alone: it loads nothing and runs no script."),
    )
    return document(element("html", _head(window_title), body, lang="en"))


def _head(title: str) -> Element:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Browsers ask a server for an icon unless the page names one.
        element("link", rel="icon", href="data:,"),
        element("style", (files("glem.core.report") / "report.css").read_text(encoding="utf-8")),
    )
