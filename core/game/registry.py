"""The registry: plugins are found by entry points, and one that cannot be loaded is explained.

A distribution names its games in the entry-point group ``glem.games`` and what they give to learning in
``glem.learning``. A plugin is imported only when its name is asked for, and whatever goes wrong then becomes one
:class:`~glem.core.errors.PluginError` that names the distribution and says what to do.
"""

import contextlib
import pkgutil
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, distributions, entry_points
from pathlib import Path
from typing import Any

from glem.core.errors import GlemError, PluginError, likely, versions

GAMES_GROUP = "glem.games"
LEARNING_GROUP = "glem.learning"

_ENTRY_VALUE = re.compile(r"[\w.]+\s*:\s*[\w.]+\s*(\[.*\])?\s*")

_WORDS = {
    GAMES_GROUP: "game",
    LEARNING_GROUP: "learning",
    "glem.game_families": "family of games",
    "glem.learning_families": "learning of the family",
    "glem.fitters": "fitter",
    "glem.measures": "measure",
}


_known: dict[str, tuple[tuple[Any, ...], dict[str, list[EntryPoint]]]] = {}
"""Entries of a group, and the stamp of what they were read from: reading them takes long where much is installed."""

_added: dict[tuple[str, str], Any] = {}
"""Plugins of this process alone, by group and name."""


def _word(group: str) -> str:
    return _WORDS.get(group, group)


def _entries(group: str) -> dict[str, list[EntryPoint]]:
    stamp = _stamp()
    if group not in _known or _known[group][0] != stamp:
        _known[group] = (stamp, _read_entries(group))
    return _known[group][1]


def _stamp() -> tuple[Any, ...]:
    """Tell apart what may be installed: the folders that Python looks into, and when each was last changed."""
    changed = []
    for folder in sys.path:
        try:
            changed.append((folder, Path(folder).stat().st_mtime_ns))
        except OSError:
            changed.append((folder, -1))
    return (entry_points, *changed)


def _read_entries(group: str) -> dict[str, list[EntryPoint]]:
    try:
        entries = list(entry_points(group=group))
    except Exception:  # noqa: BLE001 - the standard library stumbles over one distribution's damaged metadata
        entries = [entry for entry in _readable_entries() if entry.group == group]
    found: dict[str, list[EntryPoint]] = {}
    for entry in entries:
        known = found.setdefault(entry.name, [])
        # The same distribution can be seen twice on sys.path (a checkout and its installation).
        if all(other.value != entry.value or _distribution(other) != _distribution(entry) for other in known):
            known.append(entry)
    return found


def _readable_entries() -> Iterator[EntryPoint]:
    """Entry points of all distributions that can be read; of two with one name, the first on the path."""
    seen = set()
    for distribution in distributions():
        name = distribution.metadata["Name"]
        if name not in seen:
            seen.add(name)
            with contextlib.suppress(Exception):
                yield from list(distribution.entry_points)


def unreadable_distributions() -> dict[str, str]:
    """Distributions whose entry points cannot be read, and what to do; whether they are plugins of glem is unknown."""
    found = {}
    for distribution in distributions():
        try:
            _ = distribution.entry_points
        except Exception as error:  # noqa: BLE001 - whatever the standard library stumbles over
            found[str(distribution.metadata["Name"])] = (
                f"its entry points cannot be read, reinstall or uninstall it ({type(error).__name__}: {error})"
            )
    return found


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else "an unknown distribution"


def add_plugin(group: str, name: str, value: Any) -> None:
    """Let this process find a value as if a distribution had installed it; a later one takes its place.

    Raises
    ------
    PluginError
        A distribution has one of that name.
    """
    if name in _entries(group):
        raise PluginError(f"{plugin_owner(group, name)} is installed: choose another name")
    _added[group, name] = value


def load_plugin(group: str, name: str, kind: type[Any]) -> Any:
    """Load one entry point; only the named one is imported.

    Parameters
    ----------
    group, name
        The entry point.
    kind
        Class that its value must have.

    Raises
    ------
    PluginError
        No such name, two distributions claim it, its import fails, or it is not a ``kind``. The text names
        the distribution and, where a file is to blame, file and line.
    """
    if (group, name) in _added:
        return _added[group, name]
    known = _entries(group)
    if name not in known:
        raise PluginError(_unknown(group, name, known))
    claims = known[name]
    if len(claims) > 1:
        owners = ", ".join(sorted(f"{_distribution(entry)} ({entry.value})" for entry in claims))
        raise PluginError(
            f"{_word(group)} {name!r} is in {len(claims)} installed distributions: {owners}; uninstall all but one"
        )
    entry = claims[0]
    owner = f"{_word(group)} {name!r} of {_distribution(entry)}"
    with _interruptions() as pressed:
        try:
            value = entry.load()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and pressed:
                raise
            raise PluginError(f"{owner} cannot be loaded: {_reason(entry, error, kind)}") from error
    if not isinstance(value, kind):
        raise PluginError(
            f"{owner} cannot be loaded: its entry point {entry.value} is a {type(value).__name__}, not a "
            f"{kind.__name__}; let it name the {kind.__name__} itself"
        )
    return value


@contextlib.contextmanager
def _interruptions() -> Iterator[list[int]]:
    """Tell Ctrl-C from a plugin that raises KeyboardInterrupt itself: the list holds the signals that came."""
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield pressed
        return

    def handle(number: int, frame: Any) -> None:
        pressed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, handle)
    try:
        yield pressed
    finally:
        # A plugin may have set its own meanwhile.
        if signal.getsignal(signal.SIGINT) is handle:
            signal.signal(signal.SIGINT, before)


def plugin_names(group: str) -> list[str]:
    """Names in an entry-point group, sorted; nothing is imported."""
    return sorted({*_entries(group), *(name for owner, name in _added if owner == group)})


def plugin_owner(group: str, name: str) -> str:
    """Describe an installed plugin for errors: its kind, name and distribution."""
    claims = _entries(group).get(name)
    return f"{_word(group)} {name!r}" + (f" of {_distribution(claims[0])}" if claims else "")


def _unknown(group: str, name: str, known: Mapping[str, Any]) -> str:
    if not known:
        return (
            f"no {_word(group)} {name!r}: no distribution has the entry points {group!r}; install glem anew, or a "
            "package that brings one"
        )
    hint = likely(name, known)
    available = ", ".join(sorted(known)) + (f"; {hint}" if hint else "")
    return f"no {_word(group)} {name!r} in the entry points {group!r}; available: {available}"


def _reason(entry: EntryPoint, error: BaseException, kind: type[Any]) -> str:
    """Say in one sentence why an entry point could not be loaded, and where."""
    module_name = entry.value.partition(":")[0].strip()
    place = _place(module_name, error)
    if not _ENTRY_VALUE.fullmatch(entry.value):
        return (
            f"its entry point is {entry.value!r}, expected module:attribute; correct it in pyproject.toml, and install "
            "it anew"
        )
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} (file {error.filename}, line {error.lineno})"
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _missing_module(entry, error.name, place)
    if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "glem":
        return f"{error}{place}; this is {versions()}, the plugin may have been written for another one"
    if isinstance(error, AttributeError) and module_name in sys.modules:
        # The module was imported; what failed is the look-up of its attribute.
        return _missing_attribute(entry, sys.modules[module_name], kind)
    if not isinstance(error, Exception):
        return f"its import ends the program ({type(error).__name__}: {error}){place}"
    if isinstance(error, GlemError):
        return f"{error}{place}"
    return f"{type(error).__name__}: {error}{place}"


def _place(module_name: str, error: BaseException) -> str:
    """Deepest line of the plugin's own package that the error passed through."""
    package = module_name.rpartition(".")[0] or module_name
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__", ""))
        if name == package or name.startswith(f"{package}."):
            found = f" (file {frame.f_code.co_filename}, line {line})"
    return found


def _missing_module(entry: EntryPoint, missing: str, place: str) -> str:
    module_name = entry.value.partition(":")[0].strip()
    if module_name == missing or module_name.startswith(f"{missing}."):
        hint = likely(missing, _modules_beside(entry, missing))
        return (
            f"its entry point names the module {module_name}, and there is no {missing}; correct the entry point in "
            f"pyproject.toml{f' ({hint})' if hint else ''}, and install it anew"
        )
    package = missing.partition(".")[0]
    if package == "glem":
        return f"there is no {missing}{place}; this is {versions()}, the plugin may have been written for another one"
    if package == module_name.partition(".")[0]:
        return f"it imports {missing}, which its package does not have{place}"
    return f"it needs the module {missing}, which is not installed{place}; install the package that has it"


def _modules_beside(entry: EntryPoint, missing: str) -> list[str]:
    """Modules that a distribution has in the place of one that is missing; nothing more is imported."""
    parent = missing.rpartition(".")[0]
    if parent:
        path = getattr(sys.modules.get(parent), "__path__", [])
        return [f"{parent}.{module.name}" for module in pkgutil.iter_modules(path)]
    if entry.dist is None:
        return []
    names = set((entry.dist.read_text("top_level.txt") or "").split())
    # A distribution that is installed in place lists none of its files.
    names |= {other.value.partition(":")[0].partition(".")[0].strip() for other in entry.dist.entry_points}
    names |= {file.parts[0].removesuffix(".py") for file in entry.dist.files or [] if file.suffix == ".py"}
    found = {module.name for module in pkgutil.iter_modules()}
    return sorted(names & found)


def _missing_attribute(entry: EntryPoint, module: Any, kind: type[Any]) -> str:
    attribute = entry.value.partition(":")[2].partition("[")[0].strip()
    fitting = [name for name, value in vars(module).items() if isinstance(value, kind)]
    hint = f"; it has the {kind.__name__} {', '.join(fitting)}" if fitting else ""
    return (
        f"its entry point names {attribute or 'no attribute'} in {module.__name__}, which is not there{hint}; correct "
        "the entry point in pyproject.toml, and install it anew"
    )
