"""What the house tests know of the checkout: its rooms, its modules, their imports."""

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import define

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"__pycache__", "generated", "_build"}
"""Folders of what is made from the project's files."""
ROOMS = ("core", "games", "plugins")
FACADE = Path("core/_glem")
TEXT_SUFFIXES = {".css", ".cfg", ".html", ".js", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""}


@define(frozen=True)
class Module:
    """One source file of glem: its path relative to the checkout and its import name."""

    path: Path
    name: str

    @property
    def text(self) -> str:
        return (ROOT / self.path).read_text(encoding="utf-8")

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.path)

    @property
    def imported(self) -> set[str]:
        """What :func:`imports` finds."""
        return imports(self.tree, self.name, is_package=self.is_package)

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def room(self) -> str:
        return self.path.parts[0]


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), str(path))


def import_name(path: Path) -> str:
    """Import name of a source file given relative to the checkout: ``core/_glem`` is ``glem`` itself."""
    parts = path.with_suffix("").parts
    inside = parts[2:] if Path(*parts[:2]) == FACADE else parts
    return ".".join(("glem", *(part for part in inside if part != "__init__")))


@cache
def modules() -> tuple[Module, ...]:
    """All modules of the three rooms, sorted by path."""
    paths = sorted(path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return tuple(Module(path, import_name(path)) for path in paths)


def imports(tree: ast.AST, module: str, *, is_package: bool, known: frozenset[str] = frozenset()) -> set[str]:
    """Full names of everything that a source imports, inside functions and by ``importlib`` too.

    ``from a import b`` gives ``a.b``, and ``a`` as well unless ``a.b`` is among the known modules: the tree does not
    tell whether ``b`` is a module.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node.module or "", node.level, module, is_package=is_package)
            names = {f"{base}.{alias.name}" for alias in node.names}
            found |= names if names <= known else {base, *names}
        elif isinstance(node, ast.Call) and _called_name(node.func) in {"import_module", "__import__"}:
            found.update(
                argument.value.lstrip(".")
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )
    return found


def _absolute(source: str, level: int, module: str, *, is_package: bool) -> str:
    if level == 0:
        return source
    parts = module.split(".")
    kept = parts[: len(parts) - level + (1 if is_package else 0)]
    return ".".join([*kept, source]).strip(".")


def _called_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@cache
def project() -> dict[str, Any]:
    """The parsed ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def built_in_games() -> dict[str, str]:
    """Name of every game, or family of games, that glem brings, to the folder that it has in its room."""
    entries = project()["project"]["entry-points"]
    return {
        name: value.split(":")[0].split(".")[2]
        for group in ("glem.games", "glem.game_families")
        for name, value in entries.get(group, {}).items()
    }


def text_files() -> Iterator[Path]:
    """Text files that belong to the project, relative to the checkout."""
    folders = [ROOT / name for name in (*ROOMS, "tests", "docs", ".ci")]
    candidates = [path for path in ROOT.iterdir() if path.is_file()]
    candidates += [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    for path in sorted(candidates):
        if path.suffix in TEXT_SUFFIXES and not GENERATED & {*path.parts} and not path.name.startswith(".cov"):
            yield path.relative_to(ROOT)


def tracked(pattern: str = "*") -> list[Path]:
    """List the files that git tracks, relative to the checkout; a test is skipped where there is no git."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    command = ["git", "ls-files", "-z", "--", pattern]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [Path(name) for name in names if name and (ROOT / name).is_file()]
