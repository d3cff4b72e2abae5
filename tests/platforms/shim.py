"""glem as on another system: its modules see a standard library that lacks what that system lacks.

A folder beside this file that stands in ``PYTHONPATH`` does that for a process and all that it starts::

    PYTHONPATH=tests/platforms/windows pytest -n 2

Only what glem's own modules import and call is changed; other libraries know both systems by themselves. What is
emulated is what the documentation of Python and Windows says. It finds what glem needs and another system has not. It
is no proof that what is there behaves as it does here.
"""

import builtins
import contextlib
import ctypes
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Set
from pathlib import Path
from types import ModuleType
from typing import Any

_PLUMBING = {"contextlib", "functools", "os", "pathlib", "shutil", "_pyio", "shim", "tempfile"}
"""Modules that do what their callers ask for."""

_POSIX_MODULES = {"_posixsubprocess", "fcntl", "grp", "pty", "pwd", "resource", "termios", "tty", "posix"}
OF_OS = set(
    "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_SYNC chown chroot confstr fchdir fchmod fchown fork forkpty getegid "
    "geteuid getgid getgroups getloadavg getpgid getpgrp getsid getuid killpg lchown lockf mkfifo mknod nice openpty "
    "pathconf pipe2 posix_fadvise posix_fallocate posix_spawn pread preadv pwrite register_at_fork sched_getaffinity "
    "sched_setaffinity sched_yield sendfile set_blocking setgid setpgid setsid setuid statvfs sync sysconf ttyname "
    "uname wait wait3 wait4 waitid".split()
)
OF_SIGNAL = set("SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 alarm pause".split())
OF_SIGNAL |= {"pthread_kill", "pthread_sigmask", "setitimer", "sigwait"}
_OF_TIME = {"clock_gettime", "clock_gettime_ns", "CLOCK_MONOTONIC", "CLOCK_REALTIME", "tzset", "pthread_getcpuclockid"}
_BAD_CHARACTERS = set('<>:"|?*')
_TICK = 15_625_000
"""Nanoseconds between two readings of Windows' monotonic clock."""


class _Seen(ModuleType):
    """A module of the standard library as glem sees it.

    Parameters
    ----------
    real
        The module.
    missing
        What it lacks.
    other
        What is another thing there.
    """

    def __init__(self, real: ModuleType, missing: Set[str] = frozenset(), **other: Any) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(_real=real, _missing=missing, _before={}, **other)

    def __getattr__(self, name: str) -> Any:
        if name in self._missing:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._before.setdefault(name, getattr(self._real, name))
        setattr(self._real, name, value)

    def __delattr__(self, name: str) -> None:
        """Undo what was set: pytest finds nothing of that name in ``__dict__``, and takes away what it has set."""
        if name in self._before:
            setattr(self._real, name, self._before.pop(name))


def _is_glem(module: str) -> bool:
    """Whether a module is glem's, or a test of it: those are for all systems too."""
    return module.partition(".")[0] in {"glem", "tests"}


def _for_glem() -> bool:
    """Whether a module of glem asks, by what only does what it is asked to."""
    frame = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.partition(".")[0] not in _PLUMBING:
            return _is_glem(name)
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _seen_by_glem(modules: dict[str, ModuleType | None]) -> None:
    """Let glem's modules import others in place of some; None where there is none."""
    real = builtins.__import__

    def importing(name: str, scope: Any = None, *more: Any, **named: Any) -> Any:
        scope = named.get("globals", scope)
        if name in modules and _is_glem(str((scope or {}).get("__name__"))):
            found = modules[name]
            if found is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return found
        return real(name, scope, *more, **{key: value for key, value in named.items() if key != "globals"})

    builtins.__import__ = importing


def _open_files() -> list[str]:
    """Paths of what this process has open or mapped, and of what others have open.

    Whoever clears a lock counts on it that its owner, who opened it first, keeps it from being removed.
    """
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            for entry in os.listdir(f"/proc/{process}/fd"):
                with contextlib.suppress(OSError):
                    found.append(os.readlink(f"/proc/{process}/fd/{entry}"))
    with open("/proc/self/maps") as file:
        found += [line.split(maxsplit=5)[5].rstrip("\n") for line in file if line.count("/")]
    return found


def _check_closed(path: Any) -> None:
    """Raise what Windows does where a file is open that is to be moved or removed, or one in a folder."""
    own = os.path.abspath(os.fspath(path))
    inside = os.path.join(own, "")
    for other in _open_files():
        if other == own or other.startswith(inside):
            error = PermissionError(
                13, "The process cannot access the file because it is being used by another process"
            )
            error.filename = os.fspath(path)
            raise error


def _check_name(path: Any) -> None:
    if isinstance(path, int):
        return
    name = os.path.basename(os.fsdecode(path))
    if set(name) & _BAD_CHARACTERS or any(ord(character) < 32 for character in name):
        raise OSError(22, "Invalid argument", os.fspath(path))


def _patched(owner: Any, name: str, check: Callable[..., None]) -> None:
    real = getattr(owner, name)

    def checking(*arguments: Any, **more: Any) -> Any:
        if more.get("dir_fd") is None and _for_glem():
            check(*arguments)
        return real(*arguments, **more)

    setattr(owner, name, checking)


def _patched_open(real: Callable[..., Any], *, has_proc: bool, is_windows: bool) -> Callable[..., Any]:
    def opening(file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None,
                newline: Any = None, *more: Any, **named: Any) -> Any:  # fmt: skip
        if _for_glem():
            if not has_proc and not isinstance(file, int) and os.fsdecode(file).startswith("/proc"):
                raise FileNotFoundError(2, "No such file or directory", file)
            if is_windows:
                _check_name(file)
                if "b" not in mode:
                    encoding = "cp1252" if encoding in {None, "locale"} else encoding
                    newline = "\r\n" if newline is None and set(mode) & set("wax+") else newline
        return real(file, mode, buffering, encoding, errors, newline, *more, **named)

    return opening


class _Msvcrt(ModuleType):
    """What glem uses of ``msvcrt``: locks of bytes, by open file as there, not by process."""

    LK_NBLCK = 2

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        import fcntl
        import struct

        assert mode == self.LK_NBLCK
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        wanted = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, place, count, 0)
        try:
            fcntl.fcntl(descriptor, 37, wanted)  # F_OFD_SETLK
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    def get_osfhandle(self, descriptor: int) -> int:
        return descriptor


class _Kernel32:
    """What glem uses of Windows itself."""

    def __init__(self) -> None:
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int64))
        self.QueryPerformanceCounter = kind(self._counter)
        self.QueryPerformanceFrequency = kind(self._frequency)

    @staticmethod
    def _counter(place: Any) -> int:
        place[0] = time.perf_counter_ns() // 100
        return 1

    @staticmethod
    def _frequency(place: Any) -> int:
        place[0] = 10_000_000
        return 1

    @staticmethod
    def PeekNamedPipe(  # noqa: N802
        handle: Any, _buffer: Any, _size: int, _read: Any, waiting: Any, _left: Any
    ) -> int:
        import fcntl
        import struct

        descriptor = handle.value or 0
        if os.isatty(descriptor):
            return 0
        known = struct.unpack("i", fcntl.ioctl(descriptor, 0x541B, bytes(4)))[0]  # FIONREAD
        waiting._obj.value = known
        return int(known > 0 or not select.select([descriptor], [], [], 0)[0])


class _Popen(subprocess.Popen):  # type: ignore[type-arg]
    """A program with flags of Windows: one with a group of its own is not reached by Ctrl-C here either."""

    def __init__(self, *arguments: Any, creationflags: int = 0, **more: Any) -> None:
        assert not {"start_new_session", "preexec_fn", "process_group"} & more.keys(), "Windows has no such thing"
        super().__init__(*arguments, start_new_session=bool(creationflags & 0x200), **more)


def _run(command: list[str], **more: Any) -> Any:
    """Stand in for ``subprocess.run``; ``taskkill`` kills a process and what it started."""
    if command[:1] != ["taskkill"]:
        return subprocess.run(command, **more)
    import psutil

    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(int(command[-1]))
        for process in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                process.kill()
    return subprocess.CompletedProcess(command, 0, b"", b"")


def _select(*_: Any) -> Any:
    raise OSError(10038, "An operation was attempted on something that is not a socket")


def _opened(path: Any, *arguments: Any, **more: Any) -> int:
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", path)
    _check_name(path)
    return os.open(path, *arguments, **more)


def emulate_windows() -> None:
    """Windows: other modules, other names of files, and no file that is open can be moved or removed."""
    _seen_by_glem(
        dict.fromkeys(_POSIX_MODULES)
        | {
            "os": _Seen(os, OF_OS, open=_opened, name="nt"),
            "sys": _Seen(sys, {"abiflags"}, platform="win32"),
            "signal": _Seen(signal, OF_SIGNAL),
            "select": _Seen(select, {"poll", "epoll"}, select=_select),
            "selectors": None,
            "time": _Seen(time, _OF_TIME, monotonic=lambda: time.monotonic_ns() // _TICK * _TICK / 1e9),
            "msvcrt": _Msvcrt("msvcrt"),
            "ctypes": _Seen(ctypes, windll=_Seen(ModuleType("windll"), kernel32=_Kernel32())),
            "subprocess": _Seen(
                subprocess, Popen=_Popen, run=_run, CREATE_NEW_PROCESS_GROUP=0x200, CREATE_NO_WINDOW=0x8000000
            ),
        }
    )
    for name in ("unlink", "remove", "rmdir"):
        _patched(os, name, _check_closed)
    for name in ("rename", "replace"):
        _patched(os, name, lambda source, target: (_check_closed(source), _check_closed(target), _check_name(target)))  # type: ignore[arg-type,misc]
    _patched(os, "mkdir", lambda path, *_: _check_name(path))
    builtins.open = io.open = _patched_open(io.open, has_proc=True, is_windows=True)  # type: ignore[misc,assignment]


def emulate_macos() -> None:
    """MacOS: no ``/proc``, other numbers of clocks, less in ``os``."""
    lacking = set(
        "posix_fadvise posix_fallocate pipe2 sched_getaffinity sched_setaffinity O_TMPFILE sched_yield".split()
    )
    _seen_by_glem(
        {
            "os": _Seen(os, lacking),
            "sys": _Seen(sys, platform="darwin"),
            # Here 1 is the monotonic clock, 6 a coarse one.
            "time": _Seen(time, CLOCK_MONOTONIC=6, CLOCK_UPTIME_RAW=1),
        }
    )
    builtins.open = io.open = _patched_open(io.open, has_proc=False, is_windows=False)  # type: ignore[misc,assignment]


def emulate(folder: str) -> None:
    """Emulate the system that a folder is called after."""
    # What is started in another folder finds it too.
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))
    # Machine code of another system is not for this one.
    os.environ.setdefault("GLEM_CACHE_DIR", os.path.join(tempfile.gettempdir(), f"glem-{Path(folder).name}"))
    {"windows": emulate_windows, "macos": emulate_macos}[Path(folder).name]()
