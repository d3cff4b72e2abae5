"""Parts on workers that lose what they keep, against the same parts in a list."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from glem.core.errors import BadInputError, GlemError
from glem.core.tasks import parts as module
from glem.core.tasks.parts import Parts, PartsElsewhere, PartsHere, added, parts_of
from glem.core.tasks.tasks import Member, Workers

ITEMS = [(3,), (5,), (8,)]


class Counter:
    """A number that changes."""

    def __init__(self, value: int) -> None:
        self.value = value

    @classmethod
    def of(cls, value: int, *, jobs: int) -> "Counter":
        assert jobs >= 1
        return cls(value)

    def doubled(self, own: int, more: int, *, jobs: int) -> "Counter":
        return Counter(2 * self.value + own + more)

    def grow(self, by: int, *, jobs: int) -> int:
        self.value = 3 * self.value + by
        return self.value

    def begin(self, value: int, *, jobs: int) -> int:
        self.value = value
        return 1

    def seen(self, *, jobs: int) -> int:
        return self.value

    def vector(self, own: int, *, jobs: int) -> tuple[float, np.ndarray]:
        return float(self.value), np.array([self.value, own])

    def refuse(self, *, jobs: int) -> None:
        raise BadInputError("never")


def scheduler(executor: Executor, names: list[str]) -> Workers:
    return Workers(executor=executor, members=lambda: {name: Member(executor, 2) for name in names})


class PartsOnWorkers(RuleBasedStateMachine):
    """Whatever is forgotten between calls, nothing is seen of it."""

    @initialize(jobs=st.integers(1, 3))
    def begin(self, jobs: int) -> None:
        self.executor = ThreadPoolExecutor(2)
        self.names = ["a", "b"]
        workers = scheduler(self.executor, self.names)
        self.pairs: list[tuple[Parts, Parts]] = [
            (parts_of(ITEMS, Counter.of, workers, 1), parts_of(ITEMS, Counter.of, None, jobs))
        ]
        assert isinstance(self.pairs[0][0], PartsElsewhere)
        assert isinstance(self.pairs[0][1], PartsHere)
        # Derived parts are made when they are first asked for: the first may not change any more.
        self.are_fixed = {0}

    @rule(data=st.data(), own=st.lists(st.integers(0, 9), min_size=3, max_size=3), more=st.integers(0, 9))
    def derive(self, data: st.DataObject, own: list[int], more: int) -> None:
        if len(self.pairs) < 5:
            place = data.draw(st.sampled_from(sorted(self.are_fixed)))
            there, here = (each.derived(Counter.doubled, more, own=own) for each in self.pairs[place])
            self.pairs.append((there, here))
            if data.draw(st.booleans()):
                self.are_fixed.add(len(self.pairs) - 1)

    @rule(data=st.data(), number=st.integers(0, 9), anew=st.booleans())
    def change(self, data: st.DataObject, number: int, anew: bool) -> None:
        changing = [place for place in range(len(self.pairs)) if place not in self.are_fixed]
        if changing:
            there, here = self.pairs[data.draw(st.sampled_from(changing))]
            if anew:
                for parts in (there, here):
                    assert parts.change(Counter.begin, number, anew=True) == 3
            else:
                assert there.change(Counter.grow, number) == here.change(Counter.grow, number)

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        for key in sorted(module._kept):
            if data.draw(st.booleans()):
                del module._kept[key]

    @rule(name=st.sampled_from("abcd"))
    def come_or_go(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)
        elif len(self.names) > 1:
            self.names.remove(name)

    @rule()
    def fail(self) -> None:
        for parts in self.pairs[-1]:
            with pytest.raises(BadInputError, match="never"):
                list(parts.results(Counter.refuse))

    @invariant()
    def they_are_equal(self) -> None:
        for there, here in getattr(self, "pairs", []):
            assert list(there.results(Counter.seen)) == list(here.results(Counter.seen))

    def teardown(self) -> None:
        for there, _ in getattr(self, "pairs", []):
            there.close()
        assert not module._kept
        if hasattr(self, "executor"):
            self.executor.shutdown()


TestPartsOnWorkers = PartsOnWorkers.TestCase
TestPartsOnWorkers.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)


@pytest.fixture
def workers() -> Iterator[Workers]:
    with ThreadPoolExecutor(2) as executor:
        yield scheduler(executor, ["a", "b"])


def test_a_change_that_fails_leaves_nothing_half_done(workers: Workers) -> None:
    parts = parts_of(ITEMS, Counter.of, workers, 1)
    parts.change(Counter.grow, 1)
    with pytest.raises(BadInputError):
        parts.change(Counter.refuse)
    assert list(parts.results(Counter.seen)) == [10, 16, 25]
    parts.close()


def test_sums_are_taken_in_order_and_in_place() -> None:
    parts = parts_of(ITEMS, Counter.of, None, 1)
    start = 0.5, np.zeros(2)
    found = parts.total(Counter.vector, own=[1, 2, 3], start=start)
    assert found[0] == 16.5
    assert found[1] is start[1]
    np.testing.assert_array_equal(start[1], [16, 6])
    assert parts.total(Counter.seen) == 16
    assert added((1, 2.0), (3, 4.0)) == (4, 6.0)


def test_what_nobody_asks_for_is_forgotten(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(ITEMS, Counter.of, workers, 1)
    assert parts.total(Counter.seen) == 16
    assert len(module._kept) == 3
    monkeypatch.setattr(module, "_FORGOTTEN_AFTER", -1.0)
    others = parts_of(ITEMS[:1], Counter.of, workers, 1)
    assert others.total(Counter.seen) == 3
    assert len(module._kept) == 1
    monkeypatch.undo()
    assert parts.total(Counter.seen) == 16
    parts.close()
    others.close()


def test_workers_that_come_get_their_share() -> None:
    names = ["a", "b"]
    members = module._Members(lambda: {name: Member(Deaf(), 1) for name in names})
    assert members.place(5, look=True) == ["a", "b", "a", "b", "a"]
    names.remove("a")
    assert members.place(5, look=False) == ["a", "b", "a", "b", "a"]
    assert members.place(5, look=True) == ["b"] * 5
    names.append("c")
    assert sorted(members.place(5, look=True)) == ["b", "b", "b", "c", "c"]
    names.append("d")
    there = members.place(5, look=True)
    assert sorted(map(there.count, names)) == [1, 2, 2]


def test_a_scheduler_without_workers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    nobody: Mapping[str, Member] = {}
    parts = parts_of(ITEMS, Counter.of, Workers(executor=Deaf(), members=lambda: nobody), 1)
    with pytest.raises(GlemError, match="no workers; start some"):
        list(parts.results(Counter.seen))
    with pytest.raises(GlemError, match="keep nothing"):
        PartsElsewhere(Workers(), Counter.of, own=ITEMS)


class Deaf(Executor):
    def submit(self, *_arguments: Any, **_named: Any) -> Future[Any]:
        raise AssertionError


def test_workers_that_keep_nothing_at_all_are_an_error(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = parts_of(ITEMS, Counter.of, workers, 1)

    def missing(*_arguments: Any) -> None:
        raise module._MissingError

    monkeypatch.setattr(module, "_found", missing)
    with pytest.raises(GlemError, match="did not keep what it was sent"):
        list(parts.results(Counter.seen))
