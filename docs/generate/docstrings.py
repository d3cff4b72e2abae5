"""Docstrings in numpy style as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

__all__ = ["Link", "parameters", "slug", "summary", "to_markdown"]

Link = Callable[[str], str | None]
"""Gives the link target of a name that a docstring mentions, or None where it has no page."""

_LISTS = {"Attributes", "Other Parameters", "Parameters", "Raises", "Returns", "Warns", "Yields"}
_ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod|obj):`(~?)([\w.]+)`")
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
_UNDERLINE = re.compile(r"-{3,}$")


def slug(heading: str) -> str:
    """Anchor that GitHub gives to a heading."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def summary(docstring: str | None) -> str:
    """First paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(docstring or "").split("\n\n")[0].split())


def to_markdown(docstring: str | None, link: Link) -> str:
    """Whole docstring as Markdown; its sections become bold words, since headings are for names."""
    parts = []
    for title, lines in _sections(inspect.cleandoc(docstring or "").splitlines()):
        if title:
            parts.append(f"**{title}**")
        parts.append(_items(title, lines, link) if title in _LISTS else _text(lines, link))
    return "\n\n".join(part for part in parts if part)


def parameters(docstring: str | None) -> dict[str, str]:
    """Find the description of every parameter of a docstring; names that share one are parted."""
    found = {}
    for title, lines in _sections(inspect.cleandoc(docstring or "").splitlines()):
        if title == "Parameters":
            for names, body in _definitions(lines):
                text = inspect.cleandoc("\n".join(["", *body]))
                found |= {name.strip(): text for name in names.partition(" : ")[0].split(",")}
    return found


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    starts = [
        place for place in range(len(lines) - 1) if lines[place].strip() and _UNDERLINE.match(lines[place + 1].strip())
    ]
    bounds = [*starts, len(lines)]
    yield "", lines[: bounds[0]]
    for start, end in zip(starts, bounds[1:], strict=True):
        yield lines[start].strip(), lines[start + 2 : end]


def _definitions(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Parse a definition list: a name at the margin, its description indented below."""
    items: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            items.append((line.strip(), []))
        elif items:
            items[-1][1].append(line)
    return items


def _items(title: str, lines: list[str], link: Link) -> str:
    """Definition list as Markdown; exceptions are linked."""
    return "\n".join(_item(term, body, link, linked=title == "Raises") for term, body in _definitions(lines))


def _item(term: str, body: list[str], link: Link, *, linked: bool) -> str:
    description = _text(inspect.cleandoc("\n".join(["", *body])).splitlines(), link)
    target = link(term) if linked else None
    shown = f"[`{term}`]({target})" if target else f"`{term}`"
    if not description:
        return f"- {shown}"
    return f"- {shown}: " + description.replace("\n", "\n  ")


def _text(lines: list[str], link: Link) -> str:
    """Paragraphs; an indented block and a doctest become fenced code."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        starts_code = not blocks[-1] or not _is_code(blocks[-1][0])
        if not line.strip():
            blocks.append([])
        elif _is_code(line) and starts_code and blocks[-1]:
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return "\n\n".join(_block(block, link) for block in blocks if block)


def _is_code(line: str) -> bool:
    return line.startswith(("    ", ">>> "))


def _block(block: list[str], link: Link) -> str:
    if not _is_code(block[0]):
        return _inline("\n".join(block), link)
    language = "python" if block[0].lstrip().startswith(">>>") else "text"
    return "\n".join([f"```{language}", *inspect.cleandoc("\n" + "\n".join(block)).splitlines(), "```"])


def _inline(text: str, link: Link) -> str:
    def role(match: re.Match[str]) -> str:
        short, name = match[1], match[2]
        shown = name.rsplit(".", 1)[-1] if short else name
        target = link(name)
        return f"[`{shown}`]({target})" if target else f"`{shown}`"

    return _LITERAL.sub(r"`\1`", _ROLE.sub(role, re.sub(r"::$", ":", text)))
