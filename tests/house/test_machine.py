"""What differs between operating systems lies in one room, ``core/machine``: nothing else has it in its source."""

import ast
from pathlib import Path

from tests.house.tree import Module, imports, modules

ROOM = Path("core/machine")

MODULES = set(
    "_posixsubprocess _winapi crypt fcntl grp msvcrt nt nturl2path posix pty pwd resource select selectors spwd syslog "
    "termios tty winreg winsound".split()
)
"""Of the standard library, that are not on every system or do different things there."""

OF_OS = set(
    "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC chown chroot confstr fchdir fchmod fchown fork forkpty getegid "
    "geteuid getgid getgroups getloadavg getpgid getpgrp getresuid getsid getuid initgroups kill killpg lchown lockf "
    "major mkfifo mknod name nice openpty pathconf pipe2 posix_fadvise posix_fallocate posix_spawn pread preadv pwrite "
    "register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile set_blocking setgid setpgid setsid "
    "setuid statvfs symlink sync sysconf ttyname umask uname wait wait3 wait4 waitid waitpid".split()
)
"""Attributes of ``os`` of which the same holds."""

OF_OTHERS = {
    "sys": {"abiflags", "getwindowsversion", "platform"},
    "time": {"clock_gettime", "CLOCK_MONOTONIC", "monotonic_ns", "tzset"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "alarm", "pause", "pthread_sigmask", "setitimer"},
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
