"""Evaluations as the search uses them: integers, updated from move to move.

An :class:`Evaluator` carries plain functions (:class:`~glem.core.compiling.operations.Operations`) over read-only
arrays and an *accumulator*: a row of 16-bit words per ply that the functions keep up to date (pattern indices, for
example). The search calls ``start`` at the root, ``update`` with every move and ``static_score`` where it evaluates.
"""

from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.operations import Operations, generic_operation
from glem.core.compiling.vectors import aligned_words

NULL_MOVE = -1
"""Stands for passing where no rule allows that."""


@generic_operation
def start(evaluator: Operations, position: Any, data: Any, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of a ply from the position alone."""
    evaluator["start"](position, data, accumulators, ply)


@generic_operation
def update(evaluator: Operations, before: Any, move: int, after: Any, data: Any, accumulators: Any, ply: int) -> None:
    """Fill the accumulator of ``ply + 1`` from that of ``ply``, at which ``move`` led from ``before`` to ``after``.

    It leaves that of ``ply`` as it is, since other moves start from it, and gives what ``start`` gives for ``after``.
    In a game with the operation ``null_move`` a move may be :data:`NULL_MOVE`.
    """
    evaluator["update"](before, move, after, data, accumulators, ply)


@generic_operation
def static_score(evaluator: Operations, position: Any, data: Any, accumulators: Any, ply: int) -> int:
    """Score of a position, in steps from the side to move, given the accumulator of its ply."""
    return int(evaluator["static_score"](position, data, accumulators, ply))


@generic_operation
def search_phase(evaluator: Operations, position: Any) -> int:
    """Phase of a position, for parameters of the search that depend on it."""
    return int(evaluator["search_phase"](position))


def start_nothing(position: Any, data: Any, accumulators: Any, ply: int) -> None:
    """``start`` of an evaluator that keeps nothing from move to move."""


def update_nothing(before: Any, move: int, after: Any, data: Any, accumulators: Any, ply: int) -> None:
    """``update`` of such an evaluator."""


def only_phase(position: Any) -> int:
    """Phase of every position where there is one alone."""
    return 0


@define(frozen=True, eq=False)
class Evaluator:
    """An evaluation as the search uses it.

    Parameters
    ----------
    name
        For people and records.
    operations
        The functions ``start``, ``update``, ``static_score`` and ``search_phase``; their arguments are those of the
        generic operations of this module. They are dual: they run as plain Python and compiled.
    data
        What the functions read: a NamedTuple of one-dimensional arrays, numpy scalars and such NamedTuples
        (:class:`~glem.core.compiling.borrowed.Borrowed`).
    width
        Words (uint16) of the accumulator per ply; row ``p`` begins at word ``p * width``. May be 0.
    phase_count
        Number of phases.
    steps_per_unit
        Steps of an integer score per label unit.
    limit
        Greatest absolute static score, in steps; ``static_score`` never exceeds it.
    unit
        Label unit, e.g. ``discs``.
    swing
        Steps by which a quiet move changes a score as a rule: selective search prunes by it; 0
        where it is not known, and nothing is pruned by static scores.
    result_only
        The evaluation estimates who wins, not by how much: the search then counts only the sign of final scores.
    keeps_scores
        Whether a static score takes so long that the search keeps it, by the position's key.
    """

    name: str
    operations: Operations
    data: Any
    width: int
    phase_count: int
    steps_per_unit: float
    limit: int
    unit: str
    result_only: bool = False
    swing: int = 0
    keeps_scores: bool = False

    def empty_accumulators(self, plies: int) -> NDArray[np.uint16]:
        """Room for the accumulators of so many plies, aligned: uint16 [plies * width], at least one word."""
        words = max(1, plies * self.width)
        return aligned_words(-(-words // 4)).view(np.uint16)[:words]
