"""Objects in parts that stay where they were made: in this process, or on the workers of a scheduler.

Work on large data goes through it again and again, and only sums travel. A part is made by a function from its
arguments, or from the same part of other parts, and may be changed by functions. So a worker that is asked for what it
does not have, since it came in the place of one that was lost, is sent how the part was made and changed, and makes it
anew. What is added up is added up in the order of the parts: the result does not depend on the workers.
"""

from __future__ import annotations

import abc
import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, wait
from typing import Any, NamedTuple, Self
from uuid import uuid4

from attrs import define, field

from glem.core.errors import GlemError
from glem.core.tasks.tasks import Member, Workers, run_tasks
from glem.core.tasks.threads import ordered_map

_FORGOTTEN_AFTER = 900.0
"""Seconds after which a worker lets go of what nobody asked for; it is made anew if somebody does."""
_PATIENCE, _LOOK_AGAIN = 60.0, 0.2
"""Seconds to wait for a first worker, and between looks."""
_GOODBYE = 10.0
"""Seconds to wait for workers that are to let go."""


class _Call(NamedTuple):
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Parts(abc.ABC):
    """What is in parts. Functions that are applied to them are module-level functions or methods of their class.

    They get the part, the part's own argument where there are some, other arguments, and ``jobs``, a number of threads
    that changes no result.
    """

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the parts."""

    @abc.abstractmethod
    def _results(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object]) -> Iterator[Any]:
        """See :meth:`results`."""

    @abc.abstractmethod
    def _derived(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object] | None) -> Parts:
        """See :meth:`derived`."""

    @abc.abstractmethod
    def change(self, function: Callable[..., Any], *arguments: Any, anew: bool = False, start: Any = None) -> Any:
        """Apply a function that changes every part; add up what it returns, as :meth:`total` does.

        With ``anew`` it does not matter how the part was before.
        """

    def results(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[Any] | None = None,
        done: Callable[[], object] = lambda: None,
    ) -> Iterator[Any]:
        """Apply a function to every part; yield the results in order. ``done`` is called once for each part."""
        return self._results(_Call(function, arguments), own, done)

    def derived(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[Any] | None = None,
        done: Callable[[], object] | None = None,
    ) -> Parts:
        """Make of every part another object; both are there then. With ``done`` they are made now."""
        return self._derived(_Call(function, arguments), own, done)

    def total(self, function: Callable[..., Any], *arguments: Any, start: Any = None, **how: Any) -> Any:
        """Add up the results of a function in order, of tuples each entry by itself, to a start if there is one.

        Arrays are added to in place: the function makes new ones. Other arguments are those of :meth:`results`.
        """
        return _total(self.results(function, *arguments, **how), start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:  # noqa: B027 # here nothing is to be closed
        """Let the parts go, and those that were derived from them."""


def _total(results: Iterator[Any], start: Any) -> Any:
    for found in results:
        start = found if start is None else added(start, found)
    return start


def added(one: Any, other: Any) -> Any:
    """Add to a result, in place if it is an array; of tuples to each entry."""
    if isinstance(one, tuple):
        entries = [added(*pair) for pair in zip(one, other, strict=True)]
        return type(one)(*entries) if hasattr(one, "_fields") else tuple(entries)
    one += other
    return one


@define(frozen=True, eq=False)
class PartsHere(Parts):
    """Parts in this process.

    Parameters
    ----------
    items
        The parts.
    jobs
        Threads.
    """

    items: Sequence[Any]
    jobs: int = 1

    def __len__(self) -> int:
        return len(self.items)

    def _results(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object]) -> Iterator[Any]:
        jobs = -(-self.jobs // len(self.items))

        def apply(number: int) -> Any:
            first = () if own is None else (own[number],)
            return call.function(self.items[number], *first, *call.arguments, jobs=jobs)

        for found in ordered_map(self.jobs, apply, range(len(self.items))):
            done()
            yield found

    def _derived(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object] | None) -> Parts:
        return PartsHere(list(self._results(call, own, done or (lambda: None))), self.jobs)

    def change(self, function: Callable[..., Any], *arguments: Any, anew: bool = False, start: Any = None) -> Any:
        """See :meth:`Parts.change`."""
        return self.total(function, *arguments, start=start)


class _Wanted(NamedTuple):
    """A part that a worker is asked for.

    Parameters
    ----------
    key, version
        Name of the part, and which of its states is wanted; None for any.
    make, changes
        How to make it of the part that it was derived from, and what was done with it since; None and nothing where
        the worker is thought to have it.
    """

    key: tuple[str, int]
    version: int | None
    make: _Call | None = None
    changes: tuple[_Call, ...] = ()


@define(eq=False)
class _Task:
    """What a worker does with some parts; each is given with those that it was derived from."""

    member: str
    """Name of the worker that has it."""
    threads: int
    parts: tuple[tuple[_Wanted, ...], ...]
    own: tuple[tuple[Any, ...], ...]
    call: _Call
    version: int | None
    """Of the parts afterwards, if they are changed."""


@define(eq=False)
class _Entry:
    """What a worker keeps."""

    lock: threading.RLock = field(factory=threading.RLock)
    item: Any = None
    version: int = -1
    used: float = 0.0


_kept: dict[tuple[str, int], _Entry] = {}
_keeping = threading.Lock()


class _MissingError(Exception):
    """The worker has not got a part and was not sent how it is made."""


def _entry(key: tuple[str, int]) -> _Entry:
    now = time.monotonic()
    with _keeping:
        for old in [old for old, entry in _kept.items() if entry.used < now - _FORGOTTEN_AFTER]:
            del _kept[old]
        entry = _kept.setdefault(key, _Entry())
        entry.used = now
    return entry


def _found(chain: Sequence[_Wanted], jobs: int) -> _Entry:
    """Find a part, or make it; what it was derived from comes behind it."""
    wanted, *above = chain
    entry = _entry(wanted.key)
    with entry.lock:
        if entry.version >= 0 and wanted.version in {None, entry.version}:
            # Else they would be forgotten, while this one is used.
            for each in above:
                _entry(each.key)
            return entry
        if wanted.make is None:
            raise _MissingError
        origin = (_found(above, jobs).item,) if above else ()
        entry.version, entry.item = -1, None
        item = wanted.make.function(*origin, *wanted.make.arguments, jobs=jobs)
        for change in wanted.changes:
            change.function(item, *change.arguments, jobs=jobs)
        entry.item, entry.version = item, wanted.version or 0
    return entry


def _act(task: _Task) -> list[tuple[bool, Any]]:
    """Do a task: for each part whether it was there, and the result."""
    jobs = -(-task.threads // len(task.parts))

    def apply(place: int) -> tuple[bool, Any]:
        try:
            entry = _found(task.parts[place], jobs)
        except _MissingError:
            return False, None
        with entry.lock:
            if task.version is not None:
                # Whatever ends it: its state is unknown until it has ended.
                entry.version = -1
            result = task.call.function(entry.item, *task.own[place], *task.call.arguments, jobs=jobs)
            if task.version is not None:
                entry.version = task.version
            entry.used = time.monotonic()
        return True, result

    return list(ordered_map(task.threads, apply, range(len(task.parts))))


def _look(_part: Any, *, jobs: int) -> None:
    """Do nothing with a part, which is made then."""


def _forget(names: frozenset[str]) -> None:
    with _keeping:
        for key in [key for key in _kept if key[0] in names]:
            del _kept[key]


class _Members(Executor):
    """Hands a task to the worker that it names, or to another if that one is lost."""

    def __init__(self, find: Callable[[], Mapping[str, Member]]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._places: dict[int, str] = {}
        self.known: Mapping[str, Member] = {}

    def submit(self, call: Any, /, *arguments: Any, **named: Any) -> Any:
        """Hand out a call of :func:`~glem.core.tasks.tasks.run_tasks`, whose second argument is the task."""
        task: _Task = arguments[1]
        member = self.known.get(task.member)
        if member is None:
            with self._lock:
                self._look()
                task.member, member = next(iter(self.known.items()))
        return member.executor.submit(call, *arguments, **named)

    def is_lost(self, task: _Task) -> bool:
        """Whether the worker of a task is gone: dask waits for it to come back."""
        known = self._find()
        if task.member in known:
            return False
        with self._lock:
            self.known = known
        return True

    def threads(self, name: str) -> int:
        """Give the number of threads of a worker; 1 of one that is lost."""
        member = self.known.get(name)
        return 1 if member is None else member.threads

    def _look(self) -> None:
        """Find workers; if there are none, those that were killed may be started anew."""
        until = time.monotonic() + _PATIENCE
        while not (known := self._find()):
            if time.monotonic() > until:
                raise GlemError("the scheduler has no workers; start some, and the same command continues")
            time.sleep(_LOOK_AGAIN)
        self.known = known

    def place(self, count: int, *, look: bool) -> list[str]:
        """Give the worker of each part: the one that it had, if that one is there, and all about equally many.

        Parameters
        ----------
        look
            Whether workers may have come or gone since the last time.
        """
        with self._lock:
            if look or not self.known:
                self._look()
            held = {name: [part for part in range(count) if self._places.get(part) == name] for name in self.known}
            homeless = [part for part in range(count) if self._places.get(part) not in held]
            while True:
                fewest, most = (choose(held, key=lambda name: (len(held[name]), name)) for choose in (min, max))
                if homeless:
                    part = homeless.pop(0)
                elif len(held[most]) > len(held[fewest]) + 1:
                    # One has come, in the place of another, perhaps.
                    part = held[most].pop()
                else:
                    break
                held[fewest].append(part)
                self._places[part] = fewest
            return [self._places[part] for part in range(count)]


class PartsElsewhere(Parts):
    """Parts on the workers of a scheduler.

    Parameters
    ----------
    workers
        Where; those that are there when the parts are made share them, others come in where one is lost.
    function, arguments, own
        Make a part of its own argument and others.
    """

    def __init__(
        self,
        workers: Workers,
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[Any],
        above: PartsElsewhere | None = None,
    ) -> None:
        if workers.members is None:
            raise GlemError("these workers keep nothing")
        self.members: _Members = above.members if above is not None else _Members(workers.members)
        self._make, self._own, self._above = _Call(function, arguments), own, above
        self._workers = workers
        self._name = uuid4().hex
        self._names = [self._name]
        if above is not None:
            above.note(self._name)
        self._version = 0
        self._changes: tuple[_Call, ...] = ()
        self._is_made = False

    def __len__(self) -> int:
        return len(self._own)

    def _chain(self, number: int, depth: int, *, anew: bool) -> tuple[_Wanted, ...]:
        """Say how a part is made, and as many less one of those that it was derived from."""
        key = self._name, number
        above = () if self._above is None else self._above._chain(number, depth - 1, anew=False)
        if depth <= 0:
            return _Wanted(key, None if anew else self._version), *above
        make = _Call(self._make.function, (*self._own[number], *self._make.arguments))
        version = None if anew and self._is_made else self._version
        return _Wanted(key, version, make, () if anew else self._changes), *above

    def note(self, name: str) -> None:
        """Take note of parts that were derived from these, and go with them."""
        self._names.append(name)
        if self._above is not None:
            self._above.note(name)

    @property
    def _height(self) -> int:
        return 1 if self._above is None else 1 + self._above._height

    def _found(
        self,
        call: _Call,
        own: Sequence[Any] | None,
        version: int | None = None,
        *,
        anew: bool = False,
        done: Callable[[], object] = lambda: None,
    ) -> Iterator[Any]:
        depths = dict.fromkeys(range(len(self)), 0 if self._is_made else 1)
        found: dict[int, Any] = {}
        look = not self._is_made
        while depths:
            places = self.members.place(len(self), look=look)
            by_member: defaultdict[str, list[int]] = defaultdict(list)
            for number in depths:
                by_member[places[number]].append(number)
            tasks = [
                _Task(
                    member,
                    self.members.threads(member),
                    tuple(self._chain(number, depths[number], anew=anew) for number in numbers),
                    tuple(() if own is None else (own[number],) for number in numbers),
                    call,
                    version,
                )
                for member, numbers in by_member.items()
            ]
            groups = list(by_member.values())
            for place, results in run_tasks(_act, tasks, Workers(executor=self.members, is_lost=self.members.is_lost)):
                for number, (was_there, result) in zip(groups[place], results, strict=True):
                    if was_there:
                        found[number] = result
                        del depths[number]
                        done()
                    elif depths[number] >= self._height:
                        raise GlemError("a worker did not keep what it was sent")
                    else:
                        depths[number] += 1
                        look = True
        self._is_made = True
        return (found[number] for number in range(len(self)))

    def _results(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object]) -> Iterator[Any]:
        return self._found(call, own, done=done)

    def _derived(self, call: _Call, own: Sequence[Any] | None, done: Callable[[], object] | None) -> Parts:
        each = [() for _ in range(len(self))] if own is None else [(argument,) for argument in own]
        made = PartsElsewhere(self._workers, call.function, *call.arguments, own=each, above=self)
        if done is not None:
            made.results(_look, done=done)
        return made

    def change(self, function: Callable[..., Any], *arguments: Any, anew: bool = False, start: Any = None) -> Any:
        """See :meth:`Parts.change`."""
        call = _Call(function, arguments)
        found = _total(self._found(call, None, self._version + 1, anew=anew), start)
        self._version += 1
        self._changes = (call,) if anew else (*self._changes, call)
        return found

    def close(self) -> None:
        """Let the workers let go of them and of what was derived from them, as far as they can be reached."""
        with contextlib.suppress(RuntimeError, OSError, CancelledError):
            asked = [each.executor.submit(_forget, frozenset(self._names)) for each in self.members.known.values()]
            wait(asked, timeout=_GOODBYE)


def parts_of(
    items: Sequence[tuple[Any, ...]], function: Callable[..., Any], workers: Workers | None, jobs: int
) -> Parts:
    """Make parts of some arguments each: on workers that keep something, if there are such, or here."""
    if workers is not None and workers.members is not None:
        return PartsElsewhere(workers, function, own=items)
    return PartsHere([function(*item, jobs=1) for item in items], jobs)
