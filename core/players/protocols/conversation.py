"""Commands that come while the engine thinks.

A protocol obeys its commands one after the other. Some of them must end the thinking that an earlier one began: a
:class:`Conversation` reads ahead in a thread of its own and sets :attr:`~Conversation.stop` when such a command comes.
"""

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from glem.core.machine.descriptors import has_input
from glem.core.tasks.stop import Stop

LONGEST_LINE = 1 << 16
"""Characters of a line; a longer one is replaced by a text that is no command."""

_TOO_LONG = f"<a line of more than {LONGEST_LINE} characters>"
_CHUNK = 1 << 16
_MOST_WAITING = 10_000
_SETTLING_SECONDS = 1.0


class Interruption(Enum):
    """Whether a command ends the thinking that goes on when it comes."""

    NO = "no"
    THINKING = "thinking"
    """If it comes while the engine thinks. One that was there before, in a script, waits for its turn."""
    ALL = "all"
    """Also what earlier commands ask for and has not begun, unless they are a script: input that has ended already."""


class Conversation:
    """The commands of a session, in order, read ahead in a thread.

    Parameters
    ----------
    lines
        The lines; they may block.
    interrupts
        What a command ends when it comes.
    """

    def __init__(self, lines: Iterable[str], interrupts: Callable[[str], Interruption]) -> None:
        self.stop = Stop()
        """Set while thinking should end."""
        self.ended = threading.Event()
        """Set when no further line will come."""
        self._interrupts = interrupts
        # What is there already must have been read before it can be told from what comes while the engine thinks.
        self._descriptor_lines = lines if isinstance(lines, DescriptorLines) else None
        self._waiting: queue.Queue[tuple[str, bool] | None] = queue.Queue(_MOST_WAITING)
        self._lock = threading.Lock()
        self._interruptions = 0
        self._thinking = False
        # A daemon: after a command to quit, nobody waits for the other side's next line.
        threading.Thread(target=self._read, args=(lines,), name="protocol reader", daemon=True).start()

    def _read(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                kind = self._interrupts(line)
                with self._lock:
                    ends = kind is Interruption.ALL or (kind is Interruption.THINKING and self._thinking)
                    if ends:
                        self._interruptions += 1
                        self.stop.set()
                self._waiting.put((line, ends))
        finally:
            with self._lock:
                self.ended.set()
                if self._thinking:
                    self.stop.set()
            self._waiting.put(None)

    def __iter__(self) -> Iterator[str]:
        """Give the commands in order; one that ended earlier thinking no longer ends what comes after it."""
        while (item := self._waiting.get()) is not None:
            line, ends = item
            if ends:
                with self._lock:
                    self._interruptions -= 1
                    if not self._interruptions:
                        self.stop.clear()
            yield line

    def think(self, task: Callable[[Stop], None]) -> bool:
        """Run a task that ends soon after :attr:`stop` is set.

        The end of the session stops it too if it comes now: the other side has gone. In a script, whose end was there
        before, the task is finished, whatever commands wait.

        Parameters
        ----------
        task
            Called with :attr:`stop`; in a script with one that no command sets.

        Returns
        -------
        finished
            False when it was stopped.
        """
        if self._is_script():
            stop = Stop()
            task(stop)
            return not stop.is_set()
        with self._lock:
            self._thinking = True
        try:
            task(self.stop)
        finally:
            with self._lock:
                self._thinking = False
                stopped = self.stop.is_set()
                if not self._interruptions:
                    self.stop.clear()
        return not stopped

    def _is_script(self) -> bool:
        """Whether all lines have come, with the end of the input behind them."""
        if self._descriptor_lines is not None:
            self._descriptor_lines.settled.wait(_SETTLING_SECONDS)
            if self._descriptor_lines.ended.is_set():
                return True
        return self.ended.is_set()


class DescriptorLines:
    """Lines of a file descriptor, without their ends, as they come.

    Bytes that are no UTF-8 become replacement characters. Memory stays bounded whatever comes. Not through
    :data:`sys.stdin`: a thread that waits inside its buffer would hang the end of the process.
    """

    def __init__(self, descriptor: int) -> None:
        self.settled = threading.Event()
        """Set while all that has come was given out."""
        self.ended = threading.Event()
        """Set when nothing more will come."""
        self._descriptor = descriptor
        self._lines = self._read()
        self._peeked: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Give the lines out; those that :meth:`first` looked at too."""
        while self._peeked:
            yield self._peeked.pop(0)
        yield from self._lines

    def first(self) -> str:
        """Wait for the first line that is not blank and return it; "" if there is none. It is still given out."""
        for line in self._lines:
            self._peeked.append(line)
            if line.strip():
                return line
        return ""

    def _read(self) -> Iterator[str]:
        rest = b""
        too_long = False
        while chunk := self._chunk():
            *complete, rest = (rest + chunk).split(b"\n")
            for line in complete:
                yield _TOO_LONG if too_long or len(line) > LONGEST_LINE else _text(line)
                too_long = False
            if len(rest) > LONGEST_LINE:
                too_long, rest = True, b""
        if rest or too_long:
            yield _TOO_LONG if too_long else _text(rest)
        self.ended.set()
        self.settled.set()

    def _chunk(self) -> bytes:
        try:
            if not has_input(self._descriptor):
                self.settled.set()
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            # A closed input or a terminal that has gone: nothing more will come.
            return b""
        finally:
            self.settled.clear()


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", errors="replace")
