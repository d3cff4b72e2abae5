"""The pages of the reference that come from the sources: a page a module, a page a game, written before each build.

Public is a module that hand-written tutorials, how-to guides or reference pages name or link to; all others are
internals.
"""

import ast
import importlib
import inspect
import pkgutil
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

from sphinx.application import Sphinx

import glem.core
import glem.games
import glem.plugins
from glem.core.conformance.facts import FactTable, GameFacts, game_facts

_GENERATED = Path("reference", "generated")
_READ_BY_USERS = ("*.md", "tutorials/*.md", "how-to/*.md", "reference/*.md")
_FULL_NAME = re.compile(r"\bglem(?:\.\w+)+")
_LINK = re.compile(r"\(#([\w.]*?[A-Z]\w*|[\w.]+)")  # up to a class, without its attribute
_LISTED = {
    "Rules": ("board", "final scores", "plies in a game, at most", "board symmetries, identity included"),
    "Learning": ("labels are in",),
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx lists those that there are."""
    app.connect("builder-inited", _write_pages)
    app.connect("autodoc-skip-member", _says_nothing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    folder = docs / _GENERATED
    shutil.rmtree(folder, ignore_errors=True)
    named = set[str]()
    for pattern in _READ_BY_USERS:
        for page in docs.glob(pattern):
            text = page.read_text(encoding="utf-8")
            named |= {*_FULL_NAME.findall(text), *_LINK.findall(text)}
    by_package: dict[tuple[str, str], list[ModuleType]] = defaultdict(list)
    for module in _modules():
        kind = "public" if _is_named(module, named) else "internals"
        package = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
        by_package[kind, package].append(module)
    for (kind, package), modules in by_package.items():
        _write(folder / kind / f"{package}.rst", _package_page(package, modules))
        for module in modules:
            if module.__name__ != package:
                # Not in the navigation, which the theme writes into every page.
                _write(folder / "modules" / f"{module.__name__}.rst", f":orphan:\n\n{_module_page(module)}")
    _write_games(folder)


def _says_nothing(_app: Any, _what: str, _name: str, value: object, *_rest: Any) -> bool | None:
    """Leave out fields of a NamedTuple, described with their class, and names of types such as ``tuple[str, str]``."""
    is_field = str(getattr(value, "__doc__", "")).startswith("Alias for field number")
    return True if is_field or isinstance(value, GenericAlias) else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _modules() -> Iterator[ModuleType]:
    """All modules whose import name has no underscore in front of a part."""
    yield glem
    for room in (glem.core, glem.games, glem.plugins):
        yield room
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                yield importlib.import_module(found.name)


def _is_named(module: ModuleType, named: set[str]) -> bool:
    """Tell whether a text names the module or what it defines, in full or by the last parts of the name."""
    known = [module.__name__, *(f"{module.__name__}.{name}" for name in _own_names(module))]
    ends = {".".join(parts[start:]) for parts in (name.split(".") for name in known) for start in range(len(parts))}
    return not named.isdisjoint(ends)


def _own_names(module: ModuleType) -> list[str]:
    """List the names without an underscore that the module defines: functions, classes, constants with a docstring."""
    defined: list[str] = []
    for node, following in pairwise([*ast.parse(inspect.getsource(module)).body, ast.Pass()]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
            defined += [name.id for name in names if isinstance(name.ctx, ast.Store)]
    return [name for name in defined if not name.startswith("_")]


def _package_page(package: str, modules: list[ModuleType]) -> str:
    inner = [module for module in modules if module.__name__ != package]
    is_here = len(inner) < len(modules)
    parts = [_module_page(modules[0])] if is_here else [_heading(package), f".. currentmodule:: {package}"]
    if inner:
        parts.append("\n".join(f"- :mod:`~{module.__name__}`: {_summary(module)}" for module in inner))
    return "\n\n".join(parts) + "\n"


def _summary(module: ModuleType) -> str:
    return " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())


def _module_page(module: ModuleType) -> str:
    own = _own_names(module)
    members = f":members: {', '.join(own)}" if own else ":no-members:"
    parts = [_heading(module.__name__), f".. automodule:: {module.__name__}\n   {members}"]
    others = [name for name in getattr(module, "__all__", ()) if name not in own and not name.startswith("_")]
    if others:
        parts.append(f"It also offers {', '.join(_link(name, getattr(module, name)) for name in others)}.")
    return "\n\n".join(parts) + "\n"


def _heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}"


def _link(name: str, value: Any) -> str:
    """Link to the place where a name from elsewhere is defined, as far as the value tells."""
    is_told = inspect.isclass(value) or inspect.isfunction(value)
    return f":py:obj:`{name} <{value.__module__}.{name}>`" if is_told else f"``{name}``"


def _write_games(folder: Path) -> None:
    """Write the table of the games that come with glem, and a page of facts for each."""
    names = sorted(entry.name for entry in entry_points(group="glem.games") if entry.value.startswith("glem.games."))
    facts = [game_facts(name) for name in names]
    header = ["game", *(fact for listed in _LISTED.values() for fact in listed)]
    rows = [[f"[{known.title}](generated/games/{known.name}.md)", *_listed(known)] for known in facts]
    _write(folder / "games.txt", _table(header, rows))
    for known in facts:
        _write(folder / "games" / f"{known.name}.md", _game_page(known))


def _listed(facts: GameFacts) -> list[str]:
    tables = {title: facts.table(title) for title in _LISTED}
    known = {title: table.data() if table is not None else {} for title, table in tables.items()}
    return [str(known[title].get(name, "")) for title, names in _LISTED.items() for name in names]


def _game_page(facts: GameFacts) -> str:
    parts = [f"# {facts.title}", f"From the distribution `{facts.distribution}`."]
    if facts.board:
        parts.append("```text\n" + "\n".join(facts.board) + "\n```")
    for table in facts.tables:
        header = ["", ""] if table.is_list else list(table.header)
        rows = [
            [_cell(name, entry, table) for name, entry in zip(table.header, row, strict=True)] for row in table.rows
        ]
        parts += [f"## {table.title}", table.note, _table(header, rows)]
    parts += ["## To try", "```sh\n" + "\n".join(facts.commands) + "\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cell(column: str, entry: object, table: FactTable) -> str:
    text = f"{entry:,}" if isinstance(entry, int) else str(entry)
    return f"`{text}`" if column in table.code else text


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (header, *rows)]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]])
