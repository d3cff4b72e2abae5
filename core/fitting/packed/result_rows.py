"""Rows of a likelihood fit: many positions of games, packed for value and drawishness, in memory or in mapped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, NotEnoughMemoryError
from glem.core.files.digests import arrays_digest
from glem.core.fitting.packed.blocks import Block, Packing, kept
from glem.core.machine.large_arrays import are_many_items
from glem.core.machine.memory import shortage
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.threads import ordered_map


class LikelihoodChunk(NamedTuple):
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
        Items of the value and of the drawishness.
    result, game, held_out
        As in :class:`LikelihoodChunk`.
    """

    value: Block
    draw: Block
    result: NDArray[np.int8]
    game: NDArray[np.int64]
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.result)

    def arrays(self) -> Iterator[NDArray[Any]]:
        """Everything that the rows are made of."""
        yield from (*self.value.arrays(), *self.draw.arrays(), self.result, self.game, self.held_out)


@define(frozen=True, eq=False, slots=False)
class LikelihoodRows:
    """Rows of a likelihood fit.

    Parameters
    ----------
    blocks
        In the order in which they were built.
    value, draw
        What their items are.
    """

    blocks: tuple[RowBlock, ...]
    value: Packing
    draw: Packing

    @classmethod
    def build(
        cls,
        chunks: Iterable[LikelihoodChunk],
        *,
        value: Packing,
        draw: Packing,
        folder: Path | None = None,
        jobs: int = 1,
        progress: Progress = SILENT,
    ) -> LikelihoodRows:
        """Build rows chunk by chunk; a chunk becomes a block.

        Parameters
        ----------
        chunks
            Some ten thousand positions at a time keep the memory small and the passes long. Positions themselves are
            not kept: a row takes 2 bytes for each pattern instance, 6 for each other active term and 27 more.
        value, draw
            Not by phase.
        folder
            Where terms lie as memory-mapped files once there are many of them; the files stay.
        jobs
            Threads.
        progress
            Counts positions.

        Raises
        ------
        BadInputError
            A position without a game, or no positions.
        NotEnoughMemoryError
            The terms do not fit into memory.
        """

        def block_of(numbered: tuple[int, LikelihoodChunk]) -> RowBlock:
            number, chunk = numbered
            if (chunk.game < 0).any():
                raise BadInputError("every position of a likelihood fit belongs to a game")
            parts = (packing.pack(chunk.values, chunk.phase) for packing in (value, draw))
            own, drawn = (
                kept([part], folder / f"rows-{number:05d}-{name}.bin")[0] if folder and are_many else part
                for part, name in zip(parts, ("value", "draw"), strict=True)
            )
            return RowBlock(own, drawn, chunk.result, chunk.game, chunk.held_out)

        blocks = []
        size, are_many = 0, False
        with progress("indexing positions") as task:
            for block in ordered_map(jobs, block_of, enumerate(chunks)):
                blocks.append(block)
                size += block.value.size + block.draw.size
                are_many = are_many or are_many_items(size)
                # How many more there are is not known, but the next one is of about the same size.
                if missing := shortage(block.value.size + block.draw.size):
                    raise NotEnoughMemoryError(
                        f"the terms of so many positions do not fit into memory ({missing}); fit fewer of either"
                    )
                task.advance(len(block))
        if not any(len(block) for block in blocks):
            raise BadInputError("there are no positions to fit")
        return cls(tuple(block for block in blocks if len(block)), value, draw)

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

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
        return arrays_digest(arrays, f"{self.value.phase_count} {self.value.layout} {self.draw.layout}")
