"""Long work on positions, in tasks whose results are kept, so that a killed run continues with what is missing."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import attrs
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import claim_folder, folder_lock, run_folder
from glem.core.tasks.tasks import Workers, run_tasks

T = TypeVar("T")

Arrays = Mapping[str, NDArray[Any]]
"""Result of a task: arrays by name."""

_RESULTS = ArchiveFormat("glem results", version=1, required=(), optional=None, largest=1 << 40, packed=False)


class PositionsTask(NamedTuple, Generic[T]):
    """Some of the positions that are worked on."""

    work: T
    """What is done with them."""
    positions: Any
    """Position of columns [n]."""
    first: int
    """Number of the first one among all."""


class ChunkedWork:
    """Results of numbered tasks, each in a file of its own, in a folder that knows which work they belong to.

    Parameters
    ----------
    folder
        Made if absent; its parent exists.
    settings
        All that the results depend on, as JSON values.

    Raises
    ------
    BadInputError
        The folder holds the results of other or of unknown work.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        with folder_lock(folder):
            claim_folder(folder, settings)

    def run(
        self,
        function: Callable[[PositionsTask[T]], Arrays],
        work: T,
        positions: Any,
        per_task: int,
        *,
        name: str,
        workers: Workers | None = None,
        progress: Progress = SILENT,
    ) -> Iterator[Arrays]:
        """Do the tasks whose results are missing, then yield the results of all, in order.

        Parameters
        ----------
        function
            A module-level function from a task to its result.
        work, positions, per_task
            What is done with a position of columns [N], and how many of them a task has.
        name
            Of this step of the work, for the display and files: the result of task ``i`` is kept as ``NAME-i.npz``.
        workers
            Where the tasks run; the results do not depend on it.
        """
        count = len(positions[0])
        rows = [slice(start, min(start + per_task, count)) for start in range(0, count, per_task)]
        missing = [number for number in range(len(rows)) if not self._path(name, number).exists()]
        if len(missing) == 1 and workers is not None:
            # Not worth starting processes for.
            workers = attrs.evolve(workers, workers=1)
        tasks = [PositionsTask(work, rows_of(positions, rows[number]), rows[number].start) for number in missing]
        with run_folder(self.folder, keep=True), progress(name, count) as display:
            display.advance(count - sum(len(task.positions[0]) for task in tasks))
            results = run_tasks(function, tasks, workers)
            with contextlib.closing(results):
                for place, arrays in results:
                    _RESULTS.write(self._path(name, missing[place]), {}, arrays)
                    display.advance(len(tasks[place].positions[0]))
        return (self._load(name, number) for number in range(len(rows)))

    def _path(self, name: str, number: int) -> Path:
        return self.folder / f"{name}-{number:06d}.npz"

    def _load(self, name: str, number: int) -> Arrays:
        try:
            return _RESULTS.read(self._path(name, number))[1]
        except BadInputError as error:
            raise BadInputError(f"{error}; remove it, and the same command makes it anew") from error
