"""What every page of a report has: the head, its sections and their common parts, and the promise to load nothing."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from glem.core.report.charts import calibration_chart
from glem.core.report.data import Calibration
from glem.core.report.markup import Child, aligned, data_table, document, element, whole

# Nothing may be fetched and no other script may run, whatever a name in a stranger's file says.
_POLICY = "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data:"


def section(name: str, title: str, *children: Child) -> Element:
    """Build a section that the page's list of sections links to."""
    return element("section", element("h2", title), *children, id=name)


def paragraph(*parts: Child) -> Element:
    """Build the paragraph that leads a section."""
    return element("p", *parts, class_="lead")


def details(summary: str, *children: Child) -> Element:
    """Build a part that opens when its summary is clicked."""
    return element("details", element("summary", summary), *children)


def table(
    caption: str,
    header: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    class_: str | None = None,
    *,
    feet: Iterable[Sequence[Child]] = (),
) -> Element:
    """Build a table whose first column names the rows; without a header where that is empty.

    Heads may be elements, for what else they need; ``feet`` are rows below the others.
    """
    heads = [cell if isinstance(cell, Element) else element("th", cell, scope="col") for cell in header]
    head = element("thead", element("tr", *heads)) if header else None
    body, foot = element("tbody", *map(_row, rows)), element("tfoot", *map(_row, feet))
    return data_table(caption, head, body, foot if len(foot) else None, class_=class_)


def _row(cells: Sequence[Child]) -> Element:
    name, *others = cells
    return element("tr", element("th", name, scope="row"), *(element("td", cell) for cell in others))


def key_figures(figures: Iterable[tuple[str, str]]) -> Element:
    """Build the figures below a page's summary: each a value and what it is."""
    entries = [element("div", element("dt", label), element("dd", value)) for value, label in figures]
    return element("dl", *entries, class_="key-figures")


def calibration_section(name: str, title: str, lead: str, curves: Sequence[Calibration]) -> Element | None:
    """Build charts and tables of predicted against observed values; None without positions."""
    filled = [curve for curve in curves if curve.filled]
    if not filled:
        return None
    figures = [
        element("figure", element("figcaption", curve.model), calibration_chart(curve, f"{name}-{place}"))
        for place, curve in enumerate(filled)
    ]
    tables, header = [], ("predicted", "observed", "positions")
    for curve in filled:
        predicted, observed, counts = zip(*curve.filled, strict=True)
        rows = zip(aligned(predicted), aligned(observed), map(whole, counts), strict=True)
        tables.append(table(f"Calibration of {curve.model}, in {curve.unit}", header, rows))
    return section(
        name,
        title,
        paragraph(lead),
        element("div", *figures, class_="multiples"),
        details("The same as tables", element("div", *tables, class_="tables")),
    )


def facts_section(facts: Mapping[str, str]) -> Element | None:
    """Build the table of what a report was made from; None without facts."""
    listed = table("What this report was made from", (), facts.items(), "facts")
    return section("facts", "Facts", listed) if facts else None


def reading_section(text: str | None) -> Element | None:
    """Build the explanations for readers new to a report, from paragraphs between blank lines."""
    paragraphs = [element("p", part) for part in (text or "").split("\n\n") if part.strip()]
    return section("reading", "How to read this", element("div", *paragraphs, class_="prose")) if paragraphs else None


def whole_page(
    title: str,
    game_title: str,
    kind: str,
    summary: str,
    sections: Iterable[Element | None],
    figures: Element | None = None,
) -> str:
    """HTML text of a page.

    Parameters
    ----------
    title, game_title
        Names of the page and of the game for people.
    kind
        Of report, for the line above the title.
    summary
        What was found, in one paragraph.
    sections
        Of :func:`section`, in order; without those that are None.
    figures
        Of :func:`key_figures`, below the summary.
    """
    script, style = ((files("glem.core.report") / name).read_text("utf-8") for name in ("report.js", "report.css"))
    parts = [part for part in sections if part is not None]
    links = [element("li", element("a", part[0].text or "", href=f"#{part.get('id')}")) for part in parts]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY.format(digest)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} – {game_title}"),
        # Browsers ask a server for an icon unless the page names one.
        element("link", rel="icon", href="data:,"),
        _verbatim("style", style),
    )
    body = element(
        "body",
        element(
            "header",
            element("p", f"{game_title} · {kind}", class_="kicker"),
            element("h1", title),
            element("p", summary, class_="summary"),
            figures,
            element("nav", element("ul", *links), aria_label="Sections"),
            class_="page-head",
        ),
        element("main", *parts),
        element("footer", "Written by glem. This file stands alone: it loads nothing."),
        _verbatim("script", script),
    )
    return document(element("html", head, body, lang="en"))


def _verbatim(tag: str, text: str) -> Element:
    made = element(tag)
    made.text = text
    return made
