"""The floors of core: a package imports only those below it, no file a circle, no folder is too long to read.

What a module imports inside functions and for types alone counts like everything else.
"""

import ast
from collections import Counter
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.tree import ROOT, Module, imports, modules, tracked

FLOORS = (
    *("errors", "machine", "compiling", "files", "tasks", "game", "features", "configurations", "patterns"),
    *(
        "positions",
        "evaluation",
        "fitting",
        "measures",
        "search",
        "players",
        "tournament",
        "discovery",
        "labelling",
        "grading",
        "tuning",
        "styles",
    ),
    *("report", "conformance", "_glem", "cli"),
)
"""What core holds, from the ground up; ``_glem`` is ``import glem``, of which the commands are shells."""

FACE = ("boards", "classifiers", "functions", "regressor")
"""Modules of ``glem`` itself that lie in ``core/_glem``, but for ``python -m glem``."""

MOST_ENTRIES = 14
LONG_FOLDERS = {"core", "core/cli"}


def floor(name: str) -> int:
    """Place in :data:`FLOORS` of a module of core; ``python -m glem``, games and plugins are the roof."""
    parts = name.split(".")
    if parts[1:2] == ["core"] and len(parts) > 2:
        return FLOORS.index(parts[2])
    return FLOORS.index("_glem") if parts[1:] in ([], *([face] for face in FACE)) else len(FLOORS)


def imported_modules(module: Module, tree: ast.AST) -> set[str]:
    """Modules that a source imports: of ``from a import b``, ``a.b`` if it is one, else ``a``."""
    known = frozenset(other.name for other in modules())
    return imports(tree, module.name, is_package=module.is_package, known=known) & known


def upward(module: Module, tree: ast.AST) -> set[str]:
    """What a source of core imports from floors above its own."""
    found = imported_modules(module, tree)
    return {name for name in found if floor(name) > floor(module.name) and name != "glem.core"}


def test_core_holds_its_floors_and_nothing_else() -> None:
    entries = {path.stem for path in (ROOT / "core").iterdir() if path.name != "__pycache__"}
    assert entries == {*FLOORS, "__init__"}


def test_no_import_leads_upwards() -> None:
    found = {module.name: upward(module, module.tree) for module in modules() if module.room == "core"}
    assert not {name: names for name, names in found.items() if names}


def test_no_circle_of_files() -> None:
    arrows = {module.name: imported_modules(module, module.tree) - {module.name} for module in modules()}
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize(
    "source",
    [
        "from glem.core.search.searcher import Searcher",
        "def late():\n    from glem.core.search import searcher",
        "if TYPE_CHECKING:\n    import glem.core.search.searcher",
        "import importlib\nimportlib.import_module('glem.core.search.searcher')",
        "from glem import __version__",
    ],
)
def test_an_upward_import_is_seen_wherever_it_stands(source: str) -> None:
    positions = next(module for module in modules() if module.name == "glem.core.positions.positions")
    assert upward(positions, ast.parse(source))


def test_no_folder_is_too_long_to_read() -> None:
    entries = {
        parent / name.relative_to(parent).parts[0]
        for name in tracked()
        for parent in name.parents
        if parent.parts[:1] in {("core",), ("games",), ("plugins",)}
    }
    counts = Counter(str(entry.parent) for entry in entries)
    assert not {
        folder: count for folder, count in counts.items() if count > MOST_ENTRIES and folder not in LONG_FOLDERS
    }
