"""``plugins -> games -> core``, never back; core names no game; and what else every source file keeps to."""

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from glem.core.game.game import game_names, load_game
from tests.house.tree import ROOT, built_in_games, imports, modules, project, text_files, tracked

MAY_IMPORT = {"core": {"core"}, "games": {"core", "games"}, "plugins": {"core", "games", "plugins"}}
"""Room to the rooms that its modules may import from."""

ENTRY_POINT_HOMES = {"glem.games": "glem.games.", "glem.learning": "glem.plugins."}
"""Entry-point group to the room that may fill it."""


NUMBA_COMPILERS = {"cfunc", "generated_jit", "guvectorize", "jit", "jitclass", "njit", "stencil", "vectorize"}
TOP_LEVEL = {
    *("core", "games", "plugins", "tests", "docs", ".ci", ".github", ".packages"),
    *(
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CITATION.cff",
        "MANIFEST.in",
        "setup.py",
    ),
}


def rooms_of(names: set[str]) -> set[str]:
    """Rooms that some imported names lie in; the facade belongs to core."""
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "glem" and len(part) > 1 and part[1] in MAY_IMPORT}


def test_modules_import_only_the_rooms_they_may() -> None:
    beyond = {module.name: rooms_of(module.imported) - MAY_IMPORT[module.room] for module in modules()}
    assert not {name: rooms for name, rooms in beyond.items() if rooms}


def test_no_game_leans_on_another() -> None:
    others = re.compile(r"glem\.(?:games|plugins)\.(\w+)")
    for module in modules():
        if module.room != "core" and module.name.count(".") > 1:
            games = {found[1] for name in module.imported if (found := others.match(name))}
            assert games <= {module.name.split(".")[2]}, f"{module.path} imports from {sorted(games)}"


def test_modules_import_glem_by_its_import_name() -> None:
    """``import core`` would be a second copy of every class."""
    for module in modules():
        assert not {name for name in module.imported if name.split(".")[0] in MAY_IMPORT}, module.path


def test_core_holds_no_path_into_another_room() -> None:
    """A string like an entry point's value would be an import that no import statement shows."""
    for module in modules():
        strings = [node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant)]
        paths = [
            text for text in strings if isinstance(text, str) and re.search(r"\bglem\.(games|plugins)[.:]\w", text)
        ]
        assert module.room != "core" or not paths, f"{module.path} reaches into another room: {paths}"


def game_word(names: Iterable[str]) -> re.Pattern[str]:
    """Any of the names as a word or part of an identifier, its own parts joined in any way."""
    spelled = ("[ _-]?".join(map(re.escape, re.split(r"[ _-]", name))) for name in sorted(names))
    return re.compile(rf"(?<![a-z])({'|'.join(spelled)})(?![a-z])", re.IGNORECASE)


def test_core_names_no_game() -> None:
    """Not in sources, docstrings, help texts, templates or styles."""
    folders = {path.parent.name for path in (ROOT / "games").glob("*/__init__.py")}
    built_in = built_in_games()
    titles = {load_game(name).title for name in game_names() if name in built_in}
    word = game_word({*folders, *built_in, *titles})
    mentions = [
        f"{path}:{number}: {line.strip()}"
        for path in text_files()
        if path.parts[0] == "core"
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line)
    ]
    assert not mentions, "core knows no game:\n" + "\n".join(mentions)


def test_names_of_games_are_found_as_words_and_in_identifiers() -> None:
    word = game_word(["hex", "tic_tac_toe", "Nine Men's Morris"])
    found = ["hex", "HEX_RULES", "play_hex(", "Tic-Tac-Toe", "tictactoe.py", "nine men's morris", "(hex)"]
    assert all(word.search(text) for text in found)
    assert not any(word.search(text) for text in ["hexadecimal", "vertexhex", "tic tac", "nine men"])


@pytest.mark.parametrize(("group", "home"), ENTRY_POINT_HOMES.items())
def test_entry_points_lie_in_their_room(group: str, home: str) -> None:
    entries = project()["project"]["entry-points"][group]
    assert entries
    assert [value for value in entries.values() if not value.startswith(home)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import glem.plugins.x",
        "from glem.plugins import x",
        "from glem import plugins",
        "from ...plugins import x",
        "def late():\n    from glem.plugins.x import y",
        "import importlib\nimportlib.import_module('glem.plugins.x')",
        "if TYPE_CHECKING:\n    import glem.plugins",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    assert rooms_of(imports(ast.parse(source), "glem.core.game.game", is_package=False)) == {"plugins"}


def test_relative_import_of_a_package_counts_from_itself() -> None:
    found = imports(ast.parse("from . import a\nfrom .. import b"), "glem.core.cli", is_package=True)
    assert found == {"glem.core.cli", "glem.core.cli.a", "glem.core", "glem.core.b"}


def test_only_kernels_calls_the_compiler() -> None:
    calls = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        if module.name != "glem.core.compiling.kernels"
        for node in ast.walk(module.tree)
        if (
            isinstance(node, ast.Attribute)
            and node.attr in NUMBA_COMPILERS
            and getattr(node.value, "id", "") == "numba"
        )
        or (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").split(".")[0] == "numba"
            and NUMBA_COMPILERS & {alias.name for alias in node.names}
        )
    ]
    assert not calls, "these compile without glem.core.compiling.kernels"


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    own = [re.escape(f"{folder}/") for folder in (ROOT, ROOT.parent / "shared", Path.home())]
    machine = re.compile("|".join([*own, r"/(?:home|Users|tmp|root)/\w", r"\b[A-Z]:\\\w"]))
    mentions = [
        f"{path}:{number}: {line.strip()[:120]}"
        for path in text_files()
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1)
        if machine.search(line)
    ]
    assert not mentions, "\n".join(mentions)


def test_top_level_holds_the_rooms_and_the_customary_files() -> None:
    entries = {path.parts[0] for path in tracked()}
    dotfiles = {name for name in entries if name.startswith(".") and (ROOT / name).is_file()}
    assert entries - dotfiles <= TOP_LEVEL
