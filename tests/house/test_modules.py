"""What every source file of the project keeps to."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT, Module, modules, text_files

NUMBA_COMPILERS = {"cfunc", "generated_jit", "guvectorize", "jit", "jitclass", "njit", "stencil", "vectorize"}
TOP_LEVEL = {
    *("core", "games", "plugins", "tests", "docs", ".ci", ".packages"),
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "MANIFEST.in"),
}


def exported(tree: ast.Module) -> list[str] | None:
    """Names in ``__all__``, or None where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["__all__"]:
            return [str(name) for name in ast.literal_eval(node.value)]
    return None


def defined(tree: ast.Module) -> set[str]:
    """Names that a module binds at its top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        else:
            names.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
    return names


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_module_has_a_docstring(module: Module) -> None:
    assert ast.get_docstring(module.tree)


@pytest.mark.parametrize("module", [module for module in modules() if module.is_public], ids=lambda m: m.name)
def test_public_module_says_what_it_exports(module: Module) -> None:
    names = exported(module.tree)
    defines_something = any(not isinstance(node, ast.Expr | ast.ImportFrom) for node in module.tree.body)
    assert names is not None or (module.is_package and not defines_something), f"{module.path} has no __all__"
    lazy = "__getattr__" in defined(module.tree)
    assert lazy or set(names or ()) <= defined(module.tree)


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
def test_only_kernels_calls_the_compiler(module: Module) -> None:
    if module.name == "glem.core.compiling.kernels":
        pytest.skip("the one home of the jit options")
    calls = [
        node.lineno
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
    assert not calls, f"{module.path}: lines {calls} compile without glem.core.compiling.kernels"


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
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    entries = {name.split("/")[0] for name in listing.split("\0") if name}
    dotfiles = {name for name in entries if name.startswith(".") and (ROOT / name).is_file()}
    assert entries - dotfiles <= TOP_LEVEL
