"""Tasks over workers: equal results whatever their number, and when they die."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from glem.core.errors import BadInputError, GlemError
from glem.core.tasks.tasks import LocalWorkers, Workers, run_tasks
from tests.core.tasks.task_examples import fail_on_three, sleep_long, square, square_after_kills
from tests.killed_programs import KILL, end_program_when, is_alive
from tests.system import not_on_windows

PATIENCE = 300.0


def wait_for(condition: object, what: str) -> None:
    assert callable(condition)
    for _ in range(int(PATIENCE / 0.05)):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail(f"waited {PATIENCE} s for {what}")


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_run_once(workers: int) -> None:
    assert sorted(run_tasks(square, range(20), Workers(workers))) == [(n, n * n) for n in range(20)]


def noted(taken: list[int]) -> Iterator[int]:
    """All numbers; those that were asked for are noted."""
    for number in itertools.count():
        taken.append(number)
        yield number


def test_one_worker_keeps_the_order_and_takes_tasks_as_they_are_needed() -> None:
    taken: list[int] = []
    results = run_tasks(square, noted(taken))
    assert list(itertools.islice(results, 3)) == [(0, 0), (1, 1), (2, 4)]
    assert taken == [0, 1, 2]


def test_tasks_are_taken_from_an_endless_supply_as_workers_need_them() -> None:
    taken: list[int] = []
    with ThreadPoolExecutor(2) as executor:
        results = run_tasks(square, noted(taken), Workers(executor=executor, in_flight=4))
        first = [next(results) for _ in range(10)]
        results.close()
        assert executor.submit(square, 3).result() == 9, "who gives an executor closes it"
    assert {value for _, value in first} <= {n * n for n in range(14)}
    assert len(taken) <= 14


def test_no_tasks_need_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("glem.core.tasks.tasks.LocalWorkers")
    assert list(run_tasks(square, [], Workers(2))) == []


def test_a_killed_worker_is_replaced_and_its_task_run_again(tmp_path: Path) -> None:
    jobs = [(n, str(tmp_path / "killed") if n == 4 else "", 1) for n in range(10)]
    assert sorted(run_tasks(square_after_kills, jobs, Workers(2))) == [(n, n * n) for n in range(10)]
    assert (tmp_path / "killed").exists()


def test_a_task_that_always_kills_its_worker_is_given_up(tmp_path: Path) -> None:
    jobs = [(n, str(tmp_path / "killed") if n == 0 else "", 99) for n in range(2)]
    with pytest.raises(GlemError, match="died again and again"):
        list(run_tasks(square_after_kills, jobs, Workers(2, in_flight=2), retries=1))
    assert len((tmp_path / "killed").read_text()) == 2


def test_a_broken_executor_that_nobody_can_make_anew_is_an_error(tmp_path: Path) -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor,
        pytest.raises(GlemError, match="broke down"),
    ):
        list(run_tasks(square_after_kills, [(1, str(tmp_path / "killed"), 1)], Workers(executor=executor)))


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_task_comes_through(workers: int) -> None:
    with pytest.raises(ValueError, match="three"):
        list(run_tasks(fail_on_three, range(10), Workers(workers)))


@pytest.mark.parametrize("argument", [{"workers": 0}, {"in_flight": 0}])
def test_bad_arguments_are_refused_at_once(argument: dict[str, Any]) -> None:
    with pytest.raises(BadInputError, match=next(iter(argument))):
        Workers(**argument)


def test_closing_the_iterator_ends_busy_workers_at_once(tmp_path: Path) -> None:
    workers = LocalWorkers(2)
    for _ in range(3):
        workers.submit(sleep_long, str(tmp_path))
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2, "two busy workers")
    workers.shutdown(cancel_futures=True)
    assert not any(is_alive(int(path.name)) for path in tmp_path.iterdir())


PARENT = """
from glem.core.tasks.tasks import Workers, run_tasks
from tests.core.tasks.task_examples import sleep_long
import sys
if __name__ == "__main__":
    list(run_tasks(sleep_long, [sys.argv[1]] * 4, Workers(2)))
"""


@pytest.mark.parametrize("death", [KILL, pytest.param(signal.SIGINT, marks=not_on_windows), signal.SIGTERM])
def test_workers_end_with_their_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, death: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    busy = tmp_path / "busy"
    busy.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
    command = [sys.executable, str(script), str(busy)]
    _, errors = end_program_when(command, lambda: len(list(busy.iterdir())) == 2, death, workers_too=False)
    wait_for(lambda: not any(is_alive(int(path.name)) for path in busy.iterdir()), "the end of the workers")
    assert errors.count("Traceback") == (death == signal.SIGINT)
    assert "leaked" not in errors


INTERRUPTED = """
import random
import signal
from concurrent.futures import ThreadPoolExecutor
from glem.core.tasks.tasks import Workers, run_tasks
from tests.core.tasks.task_examples import square

# Only signals that are due by a clock come in the middle of the standard library's locks.
signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
generator = random.Random(1)
for _ in range(500):
    executor = ThreadPoolExecutor(2)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001 + 0.02 * generator.random())
        list(run_tasks(square, range(1_000_000), Workers(executor=executor, in_flight=4)))
    except KeyboardInterrupt:
        executor.shutdown(cancel_futures=True)
        print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers that send signals")
def test_ctrl_c_at_any_moment_leaves_nothing_locked() -> None:
    found = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (found.returncode, found.stdout.count("interrupted"), found.stderr) == (0, 500, "")


SHADOWED = sorted(sys.stdlib_module_names | {"attr", "attrs", "click", "glem", "llvmlite", "numba", "numpy", "pyarrow"})

CALLER = """
from glem.core.tasks.tasks import Workers, run_tasks
from tests.core.tasks.task_examples import imported_by_program
import sys
if __name__ == "__main__":
    print(sorted(run_tasks(imported_by_program, [sys.argv[1]], Workers(2))))
"""


def test_workers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    for folder in (here, elsewhere):
        folder.mkdir()
    for name in SHADOWED:
        (here / f"{name}.py").write_text(f"open({str(tmp_path)!r} + '/{name}.imported', 'w').close()\n")
    (elsewhere / "caller.py").write_text(CALLER)
    (elsewhere / "program.py").write_text("import neighbour\n")
    (elsewhere / "neighbour.py").write_text("print('found')\n")
    found = subprocess.run(
        [sys.executable, elsewhere / "caller.py", elsewhere / "program.py"],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert [path.name for path in tmp_path.glob("*.imported")] == []
    assert (found.returncode, found.stdout) == (0, "[(0, 'found')]\n"), "a program of the worker has its own neighbours"


class StumblingExecutor(ThreadPoolExecutor):
    """Loses the first results as dask's executor does when a worker dies with a result that was ready."""

    def __init__(self, losses: int) -> None:
        super().__init__(1)
        self._losses = losses

    def submit(self, *arguments: Any, **named: Any) -> Future[Any]:
        if self._losses == 0:
            return super().submit(*arguments, **named)
        self._losses -= 1
        namespace: dict[str, Any] = {"__name__": "distributed.cfexecutor"}
        exec("def cascade():\n    raise ValueError('not enough values to unpack')", namespace)
        return super().submit(namespace["cascade"])


class StrangeScheduler(ThreadPoolExecutor):
    """Fails as dask's executor does where the scheduler cannot import what it is sent."""

    def submit(self, *_arguments: Any, **_named: Any) -> Future[Any]:  # type: ignore[override]
        namespace: dict[str, Any] = {"__name__": "distributed.cfexecutor"}
        exec("def cascade():\n    raise RuntimeError from ModuleNotFoundError('No module named glem')", namespace)
        return super().submit(namespace["cascade"])


def test_a_scheduler_with_another_glem_is_named() -> None:
    with StrangeScheduler(1) as executor, pytest.raises(GlemError, match=r"another glem .*No module named glem"):
        list(run_tasks(square, range(5), Workers(executor=executor)))


def test_results_that_dask_loses_are_asked_for_again() -> None:
    with StumblingExecutor(3) as executor:
        assert sorted(run_tasks(square, range(5), Workers(executor=executor))) == [(n, n * n) for n in range(5)]
    with StumblingExecutor(100) as executor, pytest.raises(GlemError, match="workers died again and again"):
        list(run_tasks(square, range(5), Workers(executor=executor)))
