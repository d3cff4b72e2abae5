"""A small evaluation of Othello for tests of the search: mobility and corners, in hundredths of a disc."""

from typing import Any, NamedTuple

import numpy as np

from glem.core.compiling.kernels import popcount
from glem.core.compiling.operations import Operations
from glem.core.features.evaluators import Evaluator
from glem.games.othello.rules import Position, mobility

_CORNERS = np.uint64(0x8100000000000081)


class Weights(NamedTuple):
    mobility: Any
    corners: Any


def start(position: Position, data: Weights, accumulators: Any, ply: int) -> None:
    """Nothing to keep."""


def update(before: Position, move: int, after: Position, data: Weights, accumulators: Any, ply: int) -> None:
    """Nothing to keep."""


def static_score(position: Position, data: Weights, accumulators: Any, ply: int) -> int:
    own, opponent = position.own, position.opponent
    places = np.int64(popcount(mobility(own, opponent))) - np.int64(popcount(mobility(opponent, own)))
    corners = np.int64(popcount(own & _CORNERS)) - np.int64(popcount(opponent & _CORNERS))
    return data.mobility[0] * places + data.corners[0] * corners


def search_phase(position: Position) -> Any:
    return np.int64(popcount(position.own | position.opponent)) // np.int64(33)


def mobility_evaluator(*, result_only: bool = False) -> Evaluator:
    return Evaluator(
        name="mobility and corners",
        operations=Operations(
            "othello-mobility",
            {"start": start, "update": update, "static_score": static_score, "search_phase": search_phase},
        ),
        data=Weights(np.array([40], np.int64), np.array([600], np.int64)),
        width=0,
        phase_count=2,
        steps_per_unit=100.0,
        limit=6400,
        unit="discs",
        result_only=result_only,
    )
