"""Rows of a likelihood fit: the active terms of many positions, in blocks, in memory or in mapped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.design import ActiveConfigurations
from glem.core.fitting.packed.likelihood_passes import Items, pack_items
from glem.core.fitting.packed.threads import ordered_map
from glem.core.patterns.patterns import PatternSet
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["LikelihoodChunk", "LikelihoodRows", "LikelihoodTerms", "RowBlock"]


@define(frozen=True, eq=False)
class LikelihoodTerms:
    """What is linear in a value or in the log odds of a drawishness.

    Weights stand in the order pattern entries, configurations, linear features, bias.

    Parameters
    ----------
    patterns
        Pattern set.
    configurations, configuration_count
        What finds the active configurations of positions, and how many there are.
    linear
        Indices of features that enter with their value.
    """

    patterns: PatternSet | None = None
    configurations: ActiveConfigurations | None = None
    configuration_count: int = 0
    linear: tuple[int, ...] = ()

    @property
    def pattern_count(self) -> int:
        """Number of pattern entries."""
        return self.patterns.weight_count if self.patterns is not None else 0

    @property
    def linear_start(self) -> int:
        """Number of the first linear feature."""
        return self.pattern_count + self.configuration_count

    @property
    def weight_count(self) -> int:
        """Weights of a phase, the bias included, which is the last."""
        return self.linear_start + len(self.linear) + 1

    def items_of(self, values: NDArray[np.int16], phase: NDArray[Any]) -> Items:
        """Active terms of positions.

        Parameters
        ----------
        values
            int16 [N, F], feature values.
        phase
            Phases [N].
        """
        count = len(values)
        table = np.ascontiguousarray(values[:, list(self.linear)], np.int16)
        found, offsets = np.zeros((0, count), np.uint16), np.zeros(0, np.int64)
        if self.patterns is not None:
            found, offsets = np.ascontiguousarray(self.patterns.indices(values)), self.patterns.column_offsets
        row_starts, ids = np.zeros(1, np.int64), np.zeros(0, np.int32)
        if self.configurations is not None:
            active_starts, active = self.configurations(values)
            row_starts, ids = active_starts.astype(np.int64), active.astype(np.int32)
        room = int(np.count_nonzero(table)) + found.size + len(ids)
        items = Items(
            np.empty(count + 1, np.int64),
            np.empty(room, np.int32),
            np.empty(room, np.int16),
            np.ascontiguousarray(phase, np.uint8),
        )
        pack_items(
            table,
            np.int64(self.linear_start),
            found,
            offsets.astype(np.int64),
            row_starts,
            ids,
            np.int64(self.pattern_count),
            items,
        )
        return items


@define(frozen=True, eq=False)
class LikelihoodChunk:
    """N positions of games whose results are known.

    Parameters
    ----------
    values
        int16 [N, F], feature values.
    phase
        Phases [N].
    result
        int8 [N]: 1, 0 or -1 for a game that the side to move won, drew or lost.
    game
        int64 [N]: number of each position's game, below the number of all games.
    held_out
        bool [N]: positions for validation.
    """

    values: NDArray[np.int16]
    phase: NDArray[Any]
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    held_out: NDArray[np.bool_]


@define(frozen=True, eq=False)
class RowBlock:
    """Some rows.

    Parameters
    ----------
    value, draw
        Active terms of the value and of the drawishness.
    result, game, held_out
        As in :class:`LikelihoodChunk`.
    """

    value: Items
    draw: Items
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.result)

    def arrays(self) -> Iterator[NDArray[Any]]:
        """Everything that the rows are made of."""
        yield from (*self.value, *self.draw, self.result, self.game, self.held_out)


@define(frozen=True, eq=False, slots=False)
class LikelihoodRows:
    """Rows of a likelihood fit.

    Parameters
    ----------
    blocks
        In the order in which they were built.
    phase_count
        Number of phases K.
    value, draw
        Terms of the value and of the drawishness.
    """

    blocks: tuple[RowBlock, ...]
    phase_count: int
    value: LikelihoodTerms
    draw: LikelihoodTerms

    @classmethod
    def build(
        cls,
        chunks: Iterable[LikelihoodChunk],
        *,
        phase_count: int,
        value: LikelihoodTerms,
        draw: LikelihoodTerms,
        folder: Path | None = None,
        jobs: int = 1,
        progress: Progress = SILENT,
    ) -> LikelihoodRows:
        """Build rows chunk by chunk; a chunk becomes a block.

        Parameters
        ----------
        chunks
            Some ten thousand positions at a time keep the memory small and the passes long. Positions themselves are
            not kept: a row takes 6 bytes for each active term and 22 more.
        phase_count
            Number of phases K.
        value, draw
            Terms of the value and of the drawishness.
        folder
            Where to keep the terms as memory-mapped files, for more rows than memory holds; the files stay.
        jobs
            Threads.
        progress
            Counts positions.

        Raises
        ------
        BadInputError
            A phase out of range, a result that is none of the three, or no positions.
        """

        def block_of(numbered: tuple[int, LikelihoodChunk]) -> RowBlock:
            number, chunk = numbered
            _check(chunk, phase_count)
            block = RowBlock(
                value.items_of(chunk.values, chunk.phase),
                draw.items_of(chunk.values, chunk.phase),
                np.ascontiguousarray(chunk.result, np.int8),
                np.ascontiguousarray(chunk.game, np.int64),
                np.ascontiguousarray(chunk.held_out, np.bool_),
            )
            return block if folder is None else _mapped(block, folder, number)

        blocks = []
        with progress("indexing positions") as task:
            for block in ordered_map(jobs, block_of, enumerate(chunks)):
                blocks.append(block)
                task.advance(len(block))
        if not any(len(block) for block in blocks):
            raise BadInputError("there are no positions to fit")
        return cls(tuple(block for block in blocks if len(block)), phase_count, value, draw)

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def byte_count(self) -> int:
        """Memory, or disk, that the rows take."""
        return sum(array.nbytes for block in self.blocks for array in block.arrays())

    @cached_property
    def game_count(self) -> int:
        """One more than the greatest number of a game."""
        return 1 + max(int(block.game.max()) for block in self.blocks)

    @cached_property
    def positions_per_game(self) -> NDArray[np.int64]:
        """Number of positions of each game: int64 [games]."""
        counts = np.zeros(self.game_count, np.int64)
        for block in self.blocks:
            counts += np.bincount(block.game, minlength=self.game_count)
        return counts

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the rows, so that a checkpoint knows what it belongs to."""
        arrays = (array for block in self.blocks for array in block.arrays())
        return arrays_digest(arrays, f"{self.phase_count} {self.value.weight_count} {self.draw.weight_count}")


def _check(chunk: LikelihoodChunk, phase_count: int) -> None:
    count = len(chunk.values)
    for name in ("phase", "result", "game", "held_out"):
        if len(getattr(chunk, name)) != count:
            raise BadInputError(f"{count} positions have {len(getattr(chunk, name))} values of {name!r}")
    if count and not 0 <= int(chunk.phase.min()) <= int(chunk.phase.max()) < phase_count:
        raise BadInputError(f"phases {chunk.phase.min()}..{chunk.phase.max()} are not all in 0..{phase_count - 1}")
    wrong = ~np.isin(chunk.result, (-1, 0, 1))
    if wrong.any():
        raise BadInputError(f"a result is 1, 0 or -1, got {chunk.result[wrong][0]}")
    if count and int(chunk.game.min()) < 0:
        raise BadInputError("every position of a likelihood fit belongs to a game")


def _mapped(block: RowBlock, folder: Path, number: int) -> RowBlock:
    """Block whose terms live in files."""
    folder.mkdir(parents=True, exist_ok=True)

    def kept(items: Items, part: str) -> Items:
        arrays = {}
        for name in ("items", "values"):
            array = getattr(items, name)
            if array.size:
                path = folder / f"rows-{number:05d}-{part}-{name}.npy"
                np.save(path, array, allow_pickle=False)
                # A plain view of the map: the kernels know one array type.
                array = np.load(path, mmap_mode="r+", allow_pickle=False).view(np.ndarray)
            arrays[name] = array
        return items._replace(**arrays)

    return evolve(block, value=kept(block.value, "value"), draw=kept(block.draw, "draw"))
