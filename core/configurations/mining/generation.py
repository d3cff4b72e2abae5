"""GenConf: all configurations that match at least so many positions (GLEM, section 4.2, Fig. 1 and 2)."""

import contextlib
import os
import queue
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Literal

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from glem.core.compiling.vectors import VECTOR_WORDS, vectors_for
from glem.core.configurations.mining.mined import MinedConfigurations, Part
from glem.core.configurations.mining.relations import RelationRows, checked_features, checked_values
from glem.core.configurations.mining.search import EMITTED, SequentialTest, Workspace, begin_part, grow
from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat
from glem.core.files.digests import arrays_digest
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import run_folder

Method = Literal["exact", "sequential"]

_CHUNK_UNIT = VECTOR_WORDS * 64
_BUFFER = 1 << 18
_BUDGET = 1 << 26
"""Vectors to count before a worker looks whether it should stop: some 50 ms."""
_NO_LIMIT = 1 << 62
_COLUMNS = ("relation", "depth", "matches")
_PART = ArchiveFormat("glem part of a search", version=1, required=_COLUMNS, largest=1 << 40, packed=False)


def mine(
    values: Any,
    *,
    minimum_matches: int,
    maximum_size: int | None = None,
    features: Any = None,
    method: Method = "exact",
    chunk_size: int = 2048,
    confidence: float = 4.0,
    seed: int = 0,
    limit: int | None = None,
    jobs: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress = SILENT,
) -> MinedConfigurations:
    """Find every configuration that matches enough positions: GenConf. The result holds seven bytes for each.

    Parameters
    ----------
    values
        Integer array [N, F] of feature values that fit int16; fastest as
        :meth:`~glem.core.features.features.AtomicFeatures.values` returns it.
    minimum_matches
        Minimal match count ``n``, at least 1.
    maximum_size
        Most relations in a configuration; None for no limit.
    features
        Indices of the features to combine; None for all.
    method
        ``exact``, or ``sequential``: candidates of three and more relations face the sequential test of GLEM, Fig. 2,
        over the positions of their first relation, which may wrongly reject them. What it accepts is counted to the
        end, so that match counts are always exact and nothing below the minimum is kept.
    chunk_size
        Positions ``s`` in a chunk of the sequential test, a multiple of 512.
    confidence
        ``t`` of the sequential test, above 0: large is slow and reliable.
    seed
        Of the order in which the sequential test sees the positions.
    limit
        Most configurations to keep. The search goes by first relations, rarest first: the common ones are missing then.
    jobs
        Threads. The result does not depend on them.
    checkpoint
        Folder for finished parts. A run that was killed or stopped goes on from there; the result is the same. Removed
        by the caller once the result is safe (:func:`~glem.core.tasks.run_folder.remove_work`).
    progress
        Shows the share of first relations that are done.

    Returns
    -------
    MinedConfigurations
        ``incomplete`` says when the limit was reached.

    Raises
    ------
    BadInputError
        An argument is out of range, or the checkpoint belongs to another run.
    """
    values = checked_values(values)
    chosen = checked_features(features, values.shape[1])
    for refused, text in (
        (minimum_matches < 1, f"the minimal match count must be at least 1, got {minimum_matches}"),
        (maximum_size is not None and maximum_size < 1, f"the maximum size must be at least 1, got {maximum_size}"),
        (method not in ("exact", "sequential"), f"the method must be 'exact' or 'sequential', not {method!r}"),
        (
            chunk_size < _CHUNK_UNIT or chunk_size % _CHUNK_UNIT != 0,
            f"the chunk size must be a multiple of {_CHUNK_UNIT}, got {chunk_size}",
        ),
        (not confidence > 0, f"the confidence t must be above 0, got {confidence}"),
        (limit is not None and limit < 1, f"the limit must be at least 1 configuration, got {limit}"),
        (jobs < 1, f"jobs must be at least 1, got {jobs}"),
    ):
        if refused:
            raise BadInputError(text)
    permutation = np.random.default_rng(seed).permutation(len(values)) if method == "sequential" else None
    rows = RelationRows.pack(values, minimum_matches, chosen, permutation, jobs)
    most = min(len(np.unique(rows.table.features)), 255)
    search = _Search(
        rows=rows,
        # Rarest relation first: the first relations shorten the rows most, and have the most relations after them.
        order=np.argsort(rows.counts, kind="stable").astype(np.uint16),
        minimum=minimum_matches,
        maximum_size=most if maximum_size is None else min(maximum_size, most),
        chunk_size=chunk_size if method == "sequential" else 0,
        confidence=confidence,
        limit=_NO_LIMIT if limit is None else limit,
    )
    with contextlib.ExitStack() as stack:
        folder = None
        if checkpoint is not None:
            data = (rows.table.features, rows.table.values, rows.words)
            settings: dict[str, Any] = {
                "minimum_matches": minimum_matches,
                "maximum_size": search.maximum_size,
                "method": method,
                "data": arrays_digest(data),
            }
            if method == "sequential":
                settings.update(chunk_size=chunk_size, confidence=confidence, seed=seed)
            content = "parts of a search"
            folder = stack.enter_context(run_folder(Path(checkpoint), settings, keep=True, content=content))
        parts = _run(search, jobs, folder, progress)
    return _assembled(search, parts)


@frozen(eq=False)
class _Search:
    """A search ready to run: what all workers share."""

    rows: RelationRows
    order: NDArray[np.uint16]
    minimum: int
    maximum_size: int
    chunk_size: int
    confidence: float
    limit: int

    def workspace(self) -> Workspace:
        widest = vectors_for(int(self.rows.counts.max(initial=0))) * VECTOR_WORDS
        return Workspace.allocate(len(self.order), max(2, self.maximum_size), widest, _BUFFER)

    def part(self, first: int, workspace: Workspace, stop: threading.Event) -> Part | None:
        """All configurations below one first relation; None when the search was stopped before the end."""
        positions = int(self.rows.counts[self.order[first]])
        test = _sequential_test(self.minimum, positions, self.chunk_size, self.confidence)
        features = self.rows.table.features
        minimum, size = np.int64(self.minimum), np.int64(self.maximum_size)
        state = workspace.state
        rows, row_words = self.rows.words, np.int64(self.rows.row_words)
        begin_part(rows, row_words, self.order, np.int64(first), features, minimum, size, workspace)
        pieces: list[list[NDArray[Any]]] = []
        found = 0
        done = False
        # Past the limit, not up to it: a part that is longer is known to be cut.
        while not done and found <= self.limit:
            if stop.is_set():
                return None
            done = grow(workspace, features, minimum, size, test, np.int64(_BUDGET))
            emitted = int(state[EMITTED])
            pieces.append([column[:emitted].copy() for column in workspace.output])
            found += emitted
            state[EMITTED] = 0
        return Part(*map(np.concatenate, zip(*pieces, strict=True)))


def _sequential_test(minimum: int, positions: int, chunk_size: int, confidence: float) -> SequentialTest:
    """Bounds of the test over the positions of a first relation; without chunks when ``chunk_size`` is 0."""
    chunks = np.arange(1, -(-positions // chunk_size)) if chunk_size else np.zeros(0)
    # GLEM, Fig. 2, with #E the positions of the first relation: q = n / #E, d positions seen.
    fraction = minimum / positions
    seen = chunks * float(chunk_size)
    spread = confidence * np.sqrt(seen * fraction * (1 - fraction))
    return SequentialTest(
        chunk_vectors=np.int64(chunk_size // _CHUNK_UNIT),
        reject_below=np.ceil(seen * fraction - spread).astype(np.int64),
        accept_from=np.ceil(seen * fraction + spread).astype(np.int64),
    )


def _run(search: _Search, jobs: int, folder: Path | None, progress: Progress) -> list[Part]:
    """Parts in the search's order, without a gap from the first one on: all, or as many as the limit asks for."""
    leading: list[Part] = []
    leading_count = total = 0
    finished: dict[int, Part] = {}
    waiting = list(range(len(search.order)))
    workspaces: queue.SimpleQueue[Workspace] = queue.SimpleQueue()
    stop = threading.Event()

    def work(first: int) -> Part | None:
        if stop.is_set():
            return None
        path = None if folder is None else folder / f"part-{first:05d}.npz"
        # A missing or damaged part is searched again.
        with contextlib.suppress(BadInputError):
            if path is not None:
                return Part(**_PART.read(path)[1])
        workspace = workspaces.get()
        try:
            part = search.part(first, workspace, stop)
        finally:
            workspaces.put(workspace)
        if path is not None and part is not None and len(part) <= search.limit:
            _PART.write(path, {}, {name: getattr(part, name) for name in _COLUMNS})
        return part

    for _ in range(jobs):
        workspaces.put(search.workspace())
    with progress("configurations", len(waiting)) as task, ThreadPoolExecutor(jobs) as pool:
        pending: dict[Future[Part | None], int] = {}
        try:
            while (waiting or pending) and leading_count < search.limit:
                # Parts are handed out in order and few at a time: those past the limit are never begun.
                while waiting and len(pending) < 2 * jobs:
                    first = waiting.pop(0)
                    pending[pool.submit(work, first)] = first
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    first = pending.pop(future)
                    part = future.result()
                    assert part is not None
                    finished[first] = part
                    total += len(part)
                    task.advance()
                    task.note(counted(total, "configuration"))
                while len(leading) in finished:
                    leading.append(finished.pop(len(leading)))
                    leading_count += len(leading[-1])
        finally:
            # On Ctrl-C too: the workers leave their parts, what is finished is in the folder.
            stop.set()
    return leading


def _assembled(search: _Search, leading: list[Part]) -> MinedConfigurations:
    parts = []
    room = search.limit
    for found in leading:
        part = found.first(room)
        room -= len(part)
        if len(part):
            parts.append(part)
    reason = ""
    if sum(map(len, leading)) > search.limit or len(leading) < len(search.order):
        reason = (
            f"the limit of {search.limit:,} configurations was reached in {len(parts)} of {len(search.order)} first "
            "relations"
        )
    return MinedConfigurations(search.rows.table, parts, search.rows.position_count, reason)
