"""Names in data are shown, never obeyed: control characters in what commands print become escapes."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["printable", "printable_output", "raw"]

# All of C0, C1 and half a surrogate but tab and newline; letters that change the direction of writing hide what
# follows. The three styles of boards are glem's own.
_CONTROL = re.compile(
    r"(?!\x1b\[(?:0|2|32)m)[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Text whose control characters stand as escapes, ``\\x1b`` for instance."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class _Printable:
    """A text stream that writes :func:`printable` text."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def raw(stream: Any) -> Any:
    """Give the terminal behind a stream, for those who move its cursor and print only :func:`printable` text."""
    return stream.stream if isinstance(stream, _Printable) else stream


@contextlib.contextmanager
def printable_output() -> Iterator[None]:
    """Let all that is printed meanwhile, on standard output and standard error, be :func:`printable`."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Printable(sys.stdout), _Printable(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
