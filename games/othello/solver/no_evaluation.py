"""What stands in for an evaluation where there is none: it is never asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.operations import Operations
from glem.core.features.evaluators import Evaluator

__all__ = ["NO_EVALUATION"]


class _NoData(NamedTuple):
    nothing: np.int64


def _start(position: Any, data: Any, accumulators: Any, ply: int) -> None:
    pass


def _update(before: Any, move: int, after: Any, data: Any, accumulators: Any, ply: int) -> None:
    pass


def _static_score(position: Any, data: Any, accumulators: Any, ply: int) -> np.int64:
    return np.int64(0)


def _search_phase(position: Any) -> np.int64:
    return np.int64(0)


NO_EVALUATION = Evaluator(
    name="none",
    operations=Operations(
        "othello-no-evaluation",
        {"start": _start, "update": _update, "static_score": _static_score, "search_phase": _search_phase},
    ),
    data=_NoData(np.int64(0)),
    width=0,
    phase_count=1,
    steps_per_unit=1.0,
    limit=64,
    unit="discs",
)
"""Every position is even."""
