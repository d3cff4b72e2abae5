"""What a digest covers: sources reached by any form of import, constants, bytecode."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from glem.core.compiling import code_digest as sources
from glem.core.compiling.code_digest import code_digest, source_digest

PACKAGE = "digested"
FILES = {
    "__init__.py": "",
    "start.py": "{statement}\n\ndef rule(x):\n    return x\n",
    "near.py": "VALUE = 1\n",
    "deep/__init__.py": "",
    "deep/far.py": "VALUE = 1\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Write a package, digest it as a fresh process would, and forget it again."""
    monkeypatch.syspath_prepend(tmp_path)

    def digest(statement: str, **changed: str) -> str:
        for name, text in FILES.items():
            path = tmp_path / PACKAGE / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("{statement}", statement), newline="")
        for name, text in changed.items():
            (tmp_path / PACKAGE / f"{name.replace('__', '/')}.py").write_text(text)
        for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
            del sys.modules[name]
        importlib.invalidate_caches()
        monkeypatch.setattr(sources, "_known_modules", {})
        monkeypatch.setattr(sources, "_known_digests", {})
        importlib.import_module(PACKAGE)
        return source_digest(f"{PACKAGE}.start")

    return digest


@pytest.mark.parametrize(
    "statement",
    [
        "from digested.deep.far import VALUE",
        "from digested.deep.far import *",
        "from digested.deep import far",
        "from digested.deep import far as away, nothing",
        "from .deep import far",
        "from .deep.far import VALUE",
        "from . import deep\nfrom .deep import (\n    # (comment)\n    far,\n)",
        "import digested.deep.far",
        "import digested.deep.far as away",
        "import math, digested.deep.far",
        "from digested.deep import \\\n    far",
        "from digested.deep import \\\r\n    far",
        "def inner():\n    from digested.deep import far",
        "if True: import digested.deep.far",
        "try:\n    import digested.deep.far\nexcept ImportError:\n    pass",
        "x = 1; import digested.deep.far",
        "from .near import VALUE",  # near imports far below
    ],
)
def test_every_form_of_import_is_followed(package, statement):
    near = "from .deep.far import VALUE\n"
    before = package(statement, near=near)
    assert package(statement, near=near) == before
    assert package(statement, near=near, deep__far="VALUE = 2\n") != before


def test_what_is_not_imported_does_not_matter(package):
    assert package("import math") == package("import math", deep__far="VALUE = 2\n")


def test_modules_are_not_imported_for_their_digest(package):
    package("def inner():\n    import digested.deep.far", deep__far="raise SystemError('imported')\n")
    assert f"{PACKAGE}.deep" not in sys.modules


def test_a_package_that_imports_itself_in_a_circle(package):
    assert package("from . import near", near="from . import start\n")


def test_constants_read_from_data_are_covered():
    def digest(table: object) -> str:
        namespace = {"__name__": "made_up", "TABLE": table}
        exec("def look_up(x):\n    return TABLE[x]\n", namespace)
        return code_digest(namespace["look_up"])  # type: ignore[arg-type]

    same = np.array([1, 2, 3])
    assert digest(same) == digest(same.copy())
    different: list[object] = [np.array([1, 2, 4]), same.astype(np.int32), same.reshape(1, 3), (1, 2, 3), (1, (2, 4))]
    different += ["text", 1.5, np.float32(1.5), None, np.uint64(1), True, 1, b"1"]
    assert len({digest(table) for table in [same, *different]}) == len(different) + 1


def test_functions_named_by_functions_are_covered():
    def digest(inner: str, constant: int) -> str:
        namespace = {"__name__": "made_up", "STEP": constant}
        exec(f"def inner(x):\n    return {inner}\ndef outer(x):\n    return inner(x) if x else outer(x)\n", namespace)
        return code_digest(namespace["outer"])  # type: ignore[arg-type]

    assert digest("x + STEP", 1) == digest("x + STEP", 1)
    assert len({digest("x + STEP", 1), digest("x + STEP", 2), digest("x - STEP", 1), digest("x + 7", 1)}) == 4


def test_sets_of_text_have_one_digest_in_every_process():
    code = (
        "from glem.core.compiling.code_digest import code_digest\n"
        "def rule(x):\n    return x in {'a', 'b', 'c', 'd', 'e', 'f'}\n"
        "print(code_digest(rule))"
    )
    found = {
        subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    }
    assert len(found) == 1
