"""The public names of glem, read from the sources without importing them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import define

__all__ = ["ROOT", "Member", "Module", "public_modules"]

ROOT = Path(__file__).resolve().parents[2]
_ROOMS = ("core", "games", "plugins")
_FACADE = ("core", "_glem")
_RECORD_DECORATORS = {"dataclass", "define", "frozen"}
_LONGEST_VALUE = 60


@define(frozen=True)
class Member:
    """One public name: what a page says of it.

    Parameters
    ----------
    name
        As readers write it, methods with their class: ``Game.empty_columns``.
    signature
        Python text of the definition without its body.
    docstring
        As in the source, or None.
    members
        Public methods and properties of a class.
    """

    name: str
    signature: str
    docstring: str | None
    members: tuple[Member, ...] = ()


@define(frozen=True)
class Module:
    """One public module.

    Parameters
    ----------
    name
        Import name.
    docstring
        As in the source, or None.
    members
        Public names that it defines.
    reexports
        Public names that it takes from elsewhere, with the full names that they have there.
    definitions
        All names that it defines at its top level, those without a place on the page too.
    page
        Its page, relative to the folder of the reference.
    """

    name: str
    docstring: str | None
    members: tuple[Member, ...]
    reexports: Mapping[str, str]
    definitions: frozenset[str]
    page: Path


def public_modules() -> list[Module]:
    """All modules without an underscore in their import name, by name."""
    found = []
    for room in _ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[:2] == _FACADE:
                parts = parts[2:]
            is_package = parts[-1] == "__init__"
            if is_package:
                parts = parts[:-1]
            if any(part.startswith("_") for part in parts):
                continue
            page = Path(*parts, "README.md") if is_package else Path(*parts).with_suffix(".md")
            if not parts:
                page = Path("glem.md")
            tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
            name, docstring = ".".join(("glem", *parts)), ast.get_docstring(tree)
            definitions = _definitions(tree)
            members = tuple(_members(tree, definitions))
            found.append(Module(name, docstring, members, _reexports(tree), frozenset(definitions), page))
    return sorted(found, key=lambda module: module.name)


def _members(tree: ast.Module, definitions: Mapping[str, tuple[ast.stmt, str | None]]) -> Iterator[Member]:
    for name in _exported(tree):
        if name in definitions:
            node, docstring = definitions[name]
            yield _member(name, node, docstring)


def _reexports(tree: ast.Module) -> dict[str, str]:
    exported = set(_exported(tree))
    # Under a condition stands what is imported when it is first asked for.
    conditional = [inner for node in tree.body if isinstance(node, ast.If) for inner in node.body]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in [*tree.body, *conditional]
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (alias.asname or alias.name) in exported
    }


def _exported(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["__all__"]:
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def _definitions(tree: ast.Module) -> dict[str, tuple[ast.stmt, str | None]]:
    """Top-level name to its definition and docstring; a constant's docstring is the string after it."""
    found: dict[str, tuple[ast.stmt, str | None]] = {}
    for node, following in itertools.zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if not _is_overload(node):
                found[node.name] = (node, ast.get_docstring(node))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            docstring = None
            if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
                docstring = str(following.value.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        found[part.id] = (node, docstring)
    return found


def _is_overload(node: ast.stmt) -> bool:
    return "overload" in _decorators(node)


def _decorators(node: ast.stmt) -> set[str]:
    decorators = getattr(node, "decorator_list", [])
    return {ast.unparse(decorator).split("(")[0].rsplit(".", 1)[-1] for decorator in decorators}


def _member(name: str, node: ast.stmt, docstring: str | None) -> Member:
    if isinstance(node, ast.ClassDef):
        return Member(name, _class_signature(node), docstring, tuple(_class_members(node)))
    if isinstance(node, ast.FunctionDef):
        return Member(name, _function_signature(node), docstring)
    return Member(name, _constant_signature(name, node), docstring)


def _constant_signature(name: str, node: ast.stmt) -> str:
    annotation = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
    value = getattr(node, "value", None)
    text = ast.unparse(value) if value is not None else ""
    plain = isinstance(node, ast.AnnAssign) or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name))
    return f"{name}{annotation} = {text}" if text and plain and len(text) <= _LONGEST_VALUE else f"{name}{annotation}"


def _class_members(node: ast.ClassDef) -> Iterator[Member]:
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or _is_overload(item) or "setter" in _decorators(item):
            continue
        public = not item.name.startswith("_") or item.name == "__call__"
        if public and ast.get_docstring(item):
            yield Member(f"{node.name}.{item.name}", _function_signature(item), ast.get_docstring(item))


def _function_signature(node: ast.FunctionDef, name: str | None = None) -> str:
    kept = [item for item in node.decorator_list if ast.unparse(item) in {"classmethod", "property", "staticmethod"}]
    decorators = "".join(f"@{ast.unparse(item)}\n" for item in kept)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{decorators}def {name or node.name}({_arguments(node)}){returns}"


def _arguments(node: ast.FunctionDef) -> str:
    return ast.unparse(node.args)


def _class_signature(node: ast.ClassDef) -> str:
    bases = [ast.unparse(base) for base in node.bases]
    if _decorators(node) & _RECORD_DECORATORS or "NamedTuple" in bases:
        arguments = ", ".join(_record_fields(node))
    else:
        constructor = next((i for i in node.body if isinstance(i, ast.FunctionDef) and i.name == "__init__"), None)
        if constructor is None:
            return f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
        arguments = ", ".join(_arguments(constructor).split(", ")[1:])
    return f"class {node.name}({arguments})"


def _record_fields(node: ast.ClassDef) -> Iterator[str]:
    keyword_only = any("kw_only=True" in ast.unparse(item) for item in node.decorator_list)
    if keyword_only:
        yield "*"
    for item in node.body:
        if not isinstance(item, ast.AnnAssign) or not isinstance(item.target, ast.Name):
            continue
        name, annotation = item.target.id, ast.unparse(item.annotation)
        if annotation.startswith("ClassVar") or "init=False" in (ast.unparse(item.value) if item.value else ""):
            continue
        default = _record_default(item.value)
        yield f"{name.lstrip('_')}: {annotation}" + (f" = {default}" if default else "")


def _record_default(value: ast.expr | None) -> str:
    if value is None:
        return ""
    if isinstance(value, ast.Call) and ast.unparse(value.func).rsplit(".", 1)[-1] in {"field", "ib"}:
        named = {keyword.arg: ast.unparse(keyword.value) for keyword in value.keywords}
        if "default" in named:
            return named["default"]
        return "..." if "factory" in named else ""
    return ast.unparse(value)
