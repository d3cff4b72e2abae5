"""Columns of a design: one for each pattern instance, or for two instances whose small tables are joined.

A pass costs one look-up and one addition per column and row. Two instances whose tables are small enough share a
column: its index stands for both entries, and its table holds the sums of their weights. Before a pass the weights
are *spread* over the tables, after it the gradient is *gathered* from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.patterns.patterns import MAX_TABLE_SIZE, PatternSet


@define(frozen=True)
class Joint:
    """Table of the sums of every weight of one pattern and every weight of another, or the same, pattern.

    Parameters
    ----------
    first, second
        The patterns' weights among all, as ranges (start, stop).
    start
        Where the table begins in a spread vector; the second pattern's weight runs faster.
    """

    first: tuple[int, int]
    second: tuple[int, int]
    start: int

    @property
    def shape(self) -> tuple[int, int]:
        """Weights of the first and of the second pattern."""
        return self.first[1] - self.first[0], self.second[1] - self.second[0]

    @property
    def stop(self) -> int:
        """End of the table in a spread vector."""
        return self.start + self.shape[0] * self.shape[1]


@define(frozen=True)
class Column:
    """One column of indices: an instance, or two that share the joint table of that number."""

    instances: tuple[int, ...]
    joint: int = -1


@define(frozen=True, eq=False, slots=False)
class Columns:
    """How pattern instances are laid out in columns, and weights in spread vectors.

    A spread vector holds the joint tables, then all weights as they are.

    Parameters
    ----------
    columns
        In the order of a design's index columns.
    joints
        The joint tables.
    offsets
        int64 [I]: first weight, among all, of the pattern of each instance.
    nulls
        int64: weights that count as 0 and have no gradient (:attr:`PatternSet.null_weights`).
    """

    columns: tuple[Column, ...] = ()
    joints: tuple[Joint, ...] = ()
    offsets: NDArray[np.int64] = field(factory=lambda: np.zeros(0, np.int64))
    nulls: NDArray[np.int64] = field(factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def plan(cls, patterns: PatternSet, *, joined: bool = True) -> Columns:
        """Join instances, smallest patterns first, each with the largest pattern that still fits; or join none."""
        if not joined:
            single = tuple(Column((one,)) for one in range(len(patterns.instances)))
            return cls(single, (), patterns.column_offsets, patterns.null_weights)
        sizes = [int(size) for size in patterns.weight_sizes]
        starts = [int(start) for start in patterns.weight_starts]
        waiting: list[list[int]] = [[] for _ in sizes]
        for number, instance in enumerate(patterns.instances):
            waiting[instance.pattern].append(number)
        joints: list[Joint] = []
        columns: list[Column] = []
        end = 0
        for first in sorted(range(len(sizes)), key=lambda pattern: sizes[pattern]):
            while waiting[first]:
                partner = _partner(first, sizes, waiting)
                if partner is None:
                    columns.extend(Column((instance,)) for instance in waiting[first])
                    waiting[first] = []
                    continue
                first_range = (starts[first], starts[first] + sizes[first])
                joint = Joint(first_range, (starts[partner], starts[partner] + sizes[partner]), end)
                end = joint.stop
                while waiting[first] and waiting[partner] and (first != partner or len(waiting[first]) > 1):
                    columns.append(Column((waiting[first].pop(0), waiting[partner].pop(0)), len(joints)))
                joints.append(joint)
        return cls(tuple(_dealt(columns)), tuple(joints), patterns.column_offsets, patterns.null_weights)

    @property
    def joint_size(self) -> int:
        """Entries of all joint tables: where the weights themselves begin in a spread vector."""
        return self.joints[-1].stop if self.joints else 0

    @cached_property
    def column_offsets(self) -> NDArray[np.int64]:
        """int64 [C]: where the table of each column begins in a spread vector."""
        offsets = [
            self.joint_size + self.offsets[column.instances[0]] if column.joint < 0 else self.joints[column.joint].start
            for column in self.columns
        ]
        return np.array(offsets, np.int64)

    def join(self, indices: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Make indices of the columns, uint16 [C, n], from those of the instances, uint16 [I, n]."""
        joined = np.empty((len(self.columns), indices.shape[1]), np.uint16)
        for place, column in enumerate(self.columns):
            joined[place] = indices[column.instances[0]]
            if column.joint >= 0:
                joined[place] *= np.uint16(self.joints[column.joint].shape[1])
                joined[place] += indices[column.instances[1]]
        return joined

    def split(self, joined: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Undo :meth:`join`."""
        indices = np.empty((len(self.offsets), joined.shape[1]), np.uint16)
        for place, column in enumerate(self.columns):
            if column.joint < 0:
                indices[column.instances[0]] = joined[place]
            else:
                size = np.uint16(self.joints[column.joint].shape[1])
                indices[column.instances[0]], indices[column.instances[1]] = np.divmod(joined[place], size)
        return indices

    def spread(self, weights: NDArray[np.floating]) -> NDArray[np.float32]:
        """Spread vector float32 [joint tables + items] of a weight vector [items]."""
        narrow = np.array(weights, np.float32)
        narrow[self.nulls] = 0
        tables: Iterator[Any] = (
            np.add.outer(narrow[slice(*joint.first)], narrow[slice(*joint.second)]).ravel() for joint in self.joints
        )
        return np.concatenate([*tables, narrow])

    def gather(self, spread: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gradient by weight [items] from a gradient by the entries of a spread vector."""
        gradient = spread[self.joint_size :].copy()
        for joint in self.joints:
            table = spread[joint.start : joint.stop].reshape(joint.shape)
            gradient[slice(*joint.first)] += table.sum(axis=1)
            gradient[slice(*joint.second)] += table.sum(axis=0)
        gradient[self.nulls] = 0
        return gradient


def _partner(first: int, sizes: list[int], waiting: list[list[int]]) -> int | None:
    """Largest pattern with instances left whose joint table with ``first`` is small enough."""
    fitting = [
        pattern
        for pattern, size in enumerate(sizes)
        if len(waiting[pattern]) > (pattern == first) and size * sizes[first] <= MAX_TABLE_SIZE
    ]
    return max(fitting, key=lambda pattern: sizes[pattern], default=None)


def _dealt(columns: list[Column]) -> list[Column]:
    """Columns dealt out in four piles, so that the four that a pass takes at a time use different tables.

    In one table the same entry is often active in several instances at once; additions to it would wait for each
    other.
    """
    quarter = len(columns) // 4
    dealt = [columns[pile * quarter + place] for place in range(quarter) for pile in range(4)]
    return dealt + columns[4 * quarter :]
