"""What compiled code depends on: a digest of the sources, constants and bytecode that a function can reach.

numba's own cache looks at the one file that defines a function. A kernel is made of more: functions of other
files compiled into it, overloads, tables frozen into the machine code. The digests here cover all of it, so
that machine code kept under a digest is never stale.
"""

import contextlib
import hashlib
import importlib.util
import re
import sys
import threading
import types as python_types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

_lock = threading.RLock()
_known_modules: dict[str, tuple[str, frozenset[str]] | None] = {}
_known_digests: dict[frozenset[str], str] = {}

# numba's cache key knows numba's and Python's versions; these packages are not compiled from source here.
_WORLD = sys.stdlib_module_names - {"__main__"} | {"llvmlite", "numba", "numpy", "scipy"}

# Found anywhere in a line, since an import can follow a colon or a semicolon. A match inside a string or a comment only
# adds a module to the digest or names none.
_SOURCE = re.compile(r"\bfrom[ \t]*(\.*[\w.]*)[ \t]*$")
_IMPORT = re.compile(r"import\b[ \t]*(\((?:[^)#]|#[^\n]*)*\)|[^\n;]*)")
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"[\w.]+")


def plain(function: Any) -> Any:
    """Plain Python function behind a kernel or a compiled twin; other functions are returned unchanged."""
    return getattr(function, "py_func", function)


def _source_file(name: str) -> Path | None:
    """File of a module's Python source, found without importing anything."""
    module = sys.modules.get(name)
    parent_name, _, last = name.rpartition(".")
    if module is not None:
        file = getattr(module, "__file__", None)
    elif parent_name in sys.modules:
        if not hasattr(sys.modules[parent_name], "__path__"):
            return None
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        file = spec.origin if spec is not None else None
    else:
        parent = _source_file(parent_name) if parent_name else None
        if parent is None or parent.name != "__init__.py":
            return None
        candidates = (parent.parent / f"{last}.py", parent.parent / last / "__init__.py")
        return next((candidate for candidate in candidates if candidate.is_file()), None)
    return Path(file) if file is not None and file.endswith(".py") else None


def _imported_names(text: str, module: str, is_package: bool) -> set[str]:
    """Names of modules that a source text may import; names that are no modules are sorted out later."""
    found: set[str] = set()
    text = text.replace("\r\n", "\n").replace("\\\n", " ")
    # To search for the word and to look around it there takes a tenth of the time of one expression for all.
    place = text.find("import")
    while place >= 0:
        match = _IMPORT.match(text, place)
        if match is not None:
            head = text[text.rfind("\n", 0, place) + 1 : place]
            names = _COMMENT.sub("", match[1])
            before = _SOURCE.search(head)
            if before is not None:
                source = before[1]
                if source.startswith("."):
                    dots = len(source) - len(source.lstrip("."))
                    base = module.split(".")
                    base = base[: len(base) - dots + (1 if is_package else 0)]
                    source = ".".join([*base, source[dots:]]).strip(".")
                found.add(source)
                found.update(f"{source}.{name}" for name in _NAME.findall(names) if "." not in name)
            elif not re.search(r"\w$", head):
                found.update(part.split()[0] for part in names.split(",") if part.split())
        place = text.find("import", place + 1 if match is None else match.end())
    return found


def _read_module(name: str) -> tuple[str, frozenset[str]] | None:
    """Digest of one module's source and the names it imports, read once in a process; None for no module."""
    if name not in _known_modules:
        file = _source_file(name)
        try:
            content = file.read_bytes() if file is not None else None
        except OSError:
            content = None
        if file is None or content is None:
            _known_modules[name] = None
        else:
            imports = _imported_names(content.decode("utf-8", "replace"), name, file.name == "__init__.py")
            _known_modules[name] = (hashlib.sha256(content).hexdigest(), frozenset(imports))
    return _known_modules[name]


def source_digest(*modules: str) -> str:
    """Digest of the sources behind the named modules and of all they import from glem or their own packages.

    Parameters
    ----------
    modules
        Full names of modules. What they import is followed where it lies in glem or in the top-level package
        of one of them; the rest of the world is taken to change with its version only.

    Returns
    -------
    str
        16 hexadecimal digits. Equal sources give equal digests in every process and on every machine.
    """
    with _lock:
        asked = frozenset(modules)
        if asked not in _known_digests:
            _known_digests[asked] = _digest_of_sources(asked)
        return _known_digests[asked]


def _digest_of_sources(modules: frozenset[str]) -> str:
    roots = {"glem", *(name.partition(".")[0] for name in modules)} - _WORLD
    seen: dict[str, str] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in seen or name.partition(".")[0] not in roots:
            continue
        entry = _read_module(name)
        if entry is not None:
            seen[name] = entry[0]
            pending.extend(entry[1])
    text = "".join(f"{name}={seen[name]};" for name in sorted(seen))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def named_globals(code: python_types.CodeType) -> set[str]:
    """All global and attribute names in a function's code and in the functions defined inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            names |= named_globals(constant)
    return names


def constant_text(value: Any) -> str | None:
    """Text that tells apart the constants that numba freezes into machine code; None for other values."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return repr(value)
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array({value.dtype.str}, {value.shape}, {content})"
    if isinstance(value, python_types.CodeType):
        return _code_text(value)
    if isinstance(value, tuple | frozenset):
        parts = [constant_text(part) or type(part).__name__ for part in value]
        return f"{type(value).__name__}({','.join(parts if isinstance(value, tuple) else sorted(parts))})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    return None


def _code_text(code: python_types.CodeType) -> str:
    constants = ",".join(constant_text(constant) or "" for constant in code.co_consts)
    return f"{code.co_name}:{code.co_code.hex()}:{code.co_names}:{code.co_varnames}:{constants}"


def _named_values(function: python_types.FunctionType) -> Iterator[tuple[str, Any]]:
    names = named_globals(function.__code__)
    for name in sorted(names):
        value = function.__globals__.get(name)
        yield name, value
        if isinstance(value, python_types.ModuleType) and not _of_the_world(value.__name__):
            contents = vars(value)
            for attribute in sorted(names):
                yield f"{name}.{attribute}", contents.get(attribute)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not assigned yet
            yield name, cell.cell_contents


def _of_the_world(module: str) -> bool:
    return module.partition(".")[0] in _WORLD


def code_digest(*functions: Callable[..., Any]) -> str:
    """Digest of everything that the compiled forms of some functions depend on.

    It covers the functions that they name, directly or through others, with their bytecode and the constants
    frozen into them, tables read from data files included, and the sources (see :func:`source_digest`) of all
    the modules that these functions come from. The bytecode is what this process has loaded: where a source
    has been edited since, the digest is one that no later process looks for.

    Parameters
    ----------
    functions
        Plain functions, kernels or compiled twins.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    total = hashlib.sha256()
    seen: set[int] = set()
    modules: set[str] = set()
    pending = [plain(function) for function in functions]
    while pending:
        function = pending.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        modules.add(function.__module__)
        total.update(f"{function.__qualname__}:{_code_text(function.__code__)}:".encode())
        total.update((constant_text(function.__defaults__) or "").encode())
        for name, named in _named_values(function):
            value = plain(named)
            if isinstance(value, python_types.FunctionType):
                if not _of_the_world(value.__module__):
                    pending.append(value)
            else:
                total.update(f"{name}={constant_text(value)};".encode())
    total.update(source_digest(*sorted(modules)).encode())
    return total.hexdigest()[:16]
