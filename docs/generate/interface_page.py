"""The page of the interface: one table per part, joined from docstrings and the contracts beside this file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
from attrs import define

from docs.generate.docstrings import Link, parameters, summary, to_markdown
from docs.generate.sources import Member, Module

__all__ = ["INTERFACE_PAGE", "Contract", "Part", "interface_page", "interface_parts"]

INTERFACE_PAGE = Path("interface.md")

_FILES = ("interface_game.toml", "interface_learning.toml")
_HEADER = ("What", "Meaning", "Types and units", "Who uses it, and when", "What it must and must not do", "Checked as")
_OPERATION = re.compile(r"^``(?P<signature>(?P<name>\w+)\(.*?)``\n(?P<text>(?:    .+\n?)+)", re.MULTILINE)

_FIRST = re.compile(r"(self|\w+: Operations)(, |(?=\)))")
"""What is there before the arguments that a caller gives."""

_INTRODUCTION = """
What a plugin gives to glem, and what glem promises in turn. The meanings come from the docstrings; whoever is about to
write a game reads [Add a game](../how-to/add-a-game.md) first.

- **Dual** functions run as plain Python, on numpy scalars, and compiled. They are functions of a module, take what they
  need from their arguments and the module's constants, give the same for the same arguments, and change nothing but the
  buffer that they are given. They raise nothing: nobody could catch it in compiled code. Bit constants are
  `np.uint64(...)`. Where numba cannot compile one, everything that calls it runs as plain Python, with one warning.
- **Plain** functions run as Python alone, outside of compiled code. Bad text raises
  [`BadInputError`](core/errors.md#badinputerror).
- **Points** are final scores as the game counts them, **label units** what `label_unit` says, **steps** integers of a
  search (`steps_per_unit` of them make a label unit), **plies** moves of one side. Scores are the side to move's.
- **Checked as** names lines of `glem check GAME`. What no check looks at is the author's own to test.
"""


@define(frozen=True)
class Contract:
    """What the docstring of one thing leaves unsaid.

    Parameters
    ----------
    kind
        ``dual``, ``plain`` or ``value``, and ``required`` or ``optional``.
    types
        Dtypes, shapes and units.
    used
        Who uses it, and when.
    rule
        What it must do and must not do.
    checks
        Names of the checks that look at it.
    """

    kind: str
    types: str = ""
    used: str = ""
    rule: str = ""
    checks: tuple[str, ...] = attrs.field(default=(), converter=tuple)


@define(frozen=True)
class Part:
    """One table of the page.

    Parameters
    ----------
    title
        Its heading.
    source
        Full name of the class or module that describes the rows.
    rows
        What each row is about, to its contract.
    note
        A paragraph before the table.
    """

    title: str
    source: str
    rows: Mapping[str, Contract]
    note: str = ""


def interface_parts() -> list[Part]:
    """All parts, as the files beside this one have them."""
    parts = []
    for name in _FILES:
        for part in tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["part"]:
            rows = {row: Contract(**contract) for row, contract in part.pop("rows").items()}
            parts.append(Part(rows=rows, **part))
    return parts


def interface_page(modules: list[Module], link_of: Callable[[Module], Link], notice: str) -> str:
    """Text of the page.

    Raises
    ------
    LookupError
        A contract is about something that its source does not describe.
    """
    text = [notice, "# The interface of games", _INTRODUCTION.strip()]
    for part in interface_parts():
        module, described = _described(part.source, modules)
        link = link_of(attrs.evolve(module, page=INTERFACE_PAGE))
        text += [f"## {part.title}", part.note]
        rows = []
        for name, contract in part.rows.items():
            if name not in described:
                raise LookupError(f"{part.source} says nothing of {name!r}, which has a contract")
            signature, meaning = described[name]
            rows.append(_row(name, signature, to_markdown(meaning, link), contract))
        text.append("\n".join([_line(_HEADER), "|---" * len(_HEADER) + "|", *rows]))
    return "\n\n".join(piece for piece in text if piece) + "\n"


def _row(name: str, signature: str, meaning: str, contract: Contract) -> str:
    what = f"`{name}`<br>{contract.kind}"
    if signature:
        meaning = f"`{signature}`: {meaning}"
    checks = ", ".join(f"`{check}`" for check in contract.checks)
    return _line((what, meaning, contract.types, contract.used, contract.rule, checks))


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _described(source: str, modules: list[Module]) -> tuple[Module, dict[str, tuple[str, str]]]:
    """Find the module of a source, and the signature and meaning of everything that the source describes."""
    for module in modules:
        if module.name == source:
            return module, dict(_operations(module))
        for member in module.members:
            if f"{module.name}.{member.name}" == source:
                fields = {name: ("", text) for name, text in parameters(member.docstring).items()}
                return module, fields | dict(_functions(member.members))
    raise LookupError(f"there is no {source!r}, which has a part of the interface")


def _operations(module: Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """List the functions that a plugin gives, as the module's text has them, else as its generic operations."""
    yield from _functions(module.members)
    for match in _OPERATION.finditer(module.docstring or ""):
        yield match["name"], (match["signature"], " ".join(match["text"].split()))


def _functions(members: tuple[Member, ...]) -> Iterator[tuple[str, tuple[str, str]]]:
    for member in members:
        if member.signature.startswith("def "):
            name = member.name.rsplit(".", 1)[-1]
            inside = member.signature.removeprefix("def ").removeprefix(f"{name}(")
            inside = _FIRST.sub("", inside).replace(": Any", "").replace(" -> None", "")
            yield name, (f"{name}({inside}", summary(member.docstring))
