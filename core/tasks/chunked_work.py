"""Long work in many tasks whose results are kept in a folder, so that a killed run continues with what is missing."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import claim_folder, folder_lock, run_folder
from glem.core.tasks.tasks import Workers, run_tasks

T = TypeVar("T")

Arrays = Mapping[str, NDArray[Any]]
"""Result of a task: arrays by name."""

_RESULTS = ArchiveFormat("glem results", version=1, required=(), optional=None, largest=1 << 40, packed=False)


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
        function: Callable[[T], Arrays],
        tasks: Sequence[T],
        *,
        name: str,
        amounts: Sequence[int] | None = None,
        workers: Workers | None = None,
        progress: Progress = SILENT,
    ) -> Iterator[Arrays]:
        """Do the tasks whose results are missing, then yield the results of all, in order.

        Parameters
        ----------
        function
            A module-level function from a task to its result.
        tasks
            Tasks; number ``i`` is kept as ``NAME-i.npz``.
        name
            Of this step of the work, for files and display.
        amounts
            Units of each task, for the display; 1 each if not given.
        workers
            Where the tasks run; the results do not depend on it.
        progress
            Display.
        """
        units = [1] * len(tasks) if amounts is None else list(amounts)
        missing = [number for number in range(len(tasks)) if not self._path(name, number).exists()]
        if len(missing) == 1 and workers is not None:
            # Not worth starting processes for.
            workers = attrs.evolve(workers, workers=1)
        with run_folder(self.folder, keep=True), progress(name, sum(units)) as display:
            display.advance(sum(units) - sum(units[number] for number in missing))
            results = run_tasks(function, (tasks[number] for number in missing), workers)
            with contextlib.closing(results):
                for place, arrays in results:
                    _RESULTS.write(self._path(name, missing[place]), {}, arrays)
                    display.advance(units[missing[place]])
        return (self._load(name, number) for number in range(len(tasks)))

    def _path(self, name: str, number: int) -> Path:
        return self.folder / f"{name}-{number:06d}.npz"

    def _load(self, name: str, number: int) -> Arrays:
        try:
            return _RESULTS.read(self._path(name, number))[1]
        except BadInputError as error:
            raise BadInputError(f"{error}; remove it, and the same command makes it anew") from error
