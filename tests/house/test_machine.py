"""What differs between operating systems lies in one room, ``core/machine``: nothing else has it in its source."""

import ast
from pathlib import Path

from tests.house.tree import Module, imports, modules
from tests.platforms.shim import OF_OS as WINDOWS_LACKS
from tests.platforms.shim import OF_SIGNAL

ROOM = Path("core/machine")

MODULES = set(
    "_posixsubprocess _winapi crypt fcntl grp msvcrt nt nturl2path posix pty pwd resource select selectors spwd syslog "
    "termios tty winreg winsound".split()
)
"""Of the standard library, that are not on every system or do different things there."""

OF_OS = WINDOWS_LACKS | {"getresuid", "initgroups", "kill", "major", "name", "symlink", "umask", "waitpid"}
"""Attributes of ``os`` of which the same holds."""

OF_OTHERS = {
    "sys": {"abiflags", "getwindowsversion", "platform"},
    "time": {"clock_gettime", "CLOCK_MONOTONIC", "monotonic_ns", "tzset"},
    "signal": OF_SIGNAL,
    "socket": {"AF_UNIX", "fromfd"},
    "multiprocessing": {"get_context", "set_start_method"},
}


def found_in(module: Module) -> set[str]:
    """Names of a source that belong into the room."""
    found = {name for name in imports(module.tree, module.name, is_package=module.is_package) if name in MODULES}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner, name = node.value.id, node.attr
        elif isinstance(node, ast.keyword) and node.arg in {"start_new_session", "preexec_fn", "creationflags"}:
            found.add(node.arg)
            continue
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc"):
            found.add("/proc")
            continue
        else:
            continue
        if name in (OF_OS if owner == "os" else OF_OTHERS.get(owner, ())):
            found.add(name)
    return found


def test_only_the_room_knows_the_system() -> None:
    found = {module.name: found_in(module) for module in modules() if module.path.parent != ROOM}
    assert not {name: names for name, names in found.items() if names}


def test_what_the_room_has_is_found() -> None:
    found = set[str]().union(*(found_in(module) for module in modules() if module.path.parent == ROOM))
    assert {"fcntl", "msvcrt", "pwd", "select", "killpg", "getuid", "platform", "CLOCK_MONOTONIC", "/proc"} <= found
