"""What every source file of the project keeps to."""

import ast
import re
from pathlib import Path

from tests.house.tree import ROOT, modules, text_files, tracked

NUMBA_COMPILERS = {"cfunc", "generated_jit", "guvectorize", "jit", "jitclass", "njit", "stencil", "vectorize"}
TOP_LEVEL = {
    *("core", "games", "plugins", "tests", "docs", ".ci", ".packages"),
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "MANIFEST.in"),
}


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
