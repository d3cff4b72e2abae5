"""Divisions of selected positions into groups that are graded apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.game.game import Game
from glem.core.grading.grading import Grouping

__all__ = ["game_groupings", "margin_grouping", "numbers_grouping", "rating_groupings", "result_grouping"]

_RESULTS = ("won", "drawn", "lost")
_MARGIN_SHARES = (16, 8, 4, 2, 1)
_PLY_BORDERS = (*range(10, 101, 10), 120, 140, 160, 200, 240, 320)
_END_BORDERS = (6, 11, 16, 21, 31, 41, 61, 81, 121, 161, 241)
_DECILES = 10
_SIGNED_RATINGS = (-400, -200, -100, -50, 0, 50, 100, 200, 400)
_RATINGS = (26, 51, 101, 201, 401)


def numbers_grouping(numbers: NDArray[Any], borders: Sequence[int]) -> Grouping:
    """Group whole numbers [N] by the borders at which a group begins; negative numbers belong to none."""
    group = np.searchsorted(np.asarray(borders), numbers, side="right")
    lows = (0, *borders)
    names = [str(low) if low == high - 1 else f"{low}-{high - 1}" for low, high in zip(lows, borders, strict=False)]
    return Grouping((*names, f"{borders[-1]} and more"), np.where(numbers < 0, -1, group).astype(np.int8), True)


def result_grouping(result: NDArray[np.int8]) -> Grouping:
    """Group by what the game was for the side to move."""
    return Grouping(_RESULTS, (1 - result).astype(np.int8))


def margin_grouping(game: Game, label: NDArray[np.float32]) -> Grouping | None:
    """Group positions by how much their game was won by; None where scores only tell who won."""
    greatest = max(abs(bound) for bound in game.score_bounds)
    if greatest < _MARGIN_SHARES[0]:
        return None
    borders = [math.ceil(greatest / share) for share in _MARGIN_SHARES]
    lows = [1, *(border + 1 for border in borders[:-1])]
    names = ("drawn", *(f"won by {low}-{high}" for low, high in zip(lows, borders, strict=True)))
    margin = np.abs(label)
    group = np.where(margin == 0, 0, 1 + np.searchsorted(borders[:-1], margin))
    return Grouping(names, group.astype(np.int8))


def game_groupings(ply: NDArray[Any], length: NDArray[Any]) -> dict[str, Grouping]:
    """Group by the place in the game.

    Parameters
    ----------
    ply
        Plies before each position [N], -1 where unknown.
    length
        Plies of its game [N], -1 where unknown.

    Returns
    -------
    dict
        By ply, by tenth of the game, and by plies before the end; each only where it is known of some positions.
    """
    groupings = {}
    if (ply >= 0).any():
        groupings["ply"] = numbers_grouping(ply, _PLY_BORDERS)
    known = (ply >= 0) & (length > 0)
    if known.any():
        tenth = np.where(known, ply * np.int64(_DECILES) // np.maximum(length, 1), -1)
        names = tuple(f"{10 * place}-{10 * place + 10} %" for place in range(_DECILES))
        groupings["tenth of the game"] = Grouping(names, tenth.astype(np.int8), True)
        groupings["plies before the end"] = numbers_grouping(np.where(known, length - ply, -1), _END_BORDERS)
    return groupings


def rating_groupings(difference: NDArray[np.float32]) -> dict[str, Grouping]:
    """Group by the rating of the side to move less the opponent's [N] (nan where unknown), and by its size."""
    known = np.isfinite(difference)
    if not known.any():
        return {}
    borders = _SIGNED_RATINGS
    names = (
        f"below {borders[0]:+d}",
        *(f"{low:+d} to {high - 1:+d}" for low, high in pairwise(borders)),
        f"{borders[-1]:+d} and more",
    )
    group = np.searchsorted(borders, np.nan_to_num(difference), side="right")
    size = np.where(known, np.abs(np.nan_to_num(difference)), -1).astype(np.int64)
    return {
        "rating difference": Grouping(names, np.where(known, group, -1).astype(np.int8), True),
        "size of the rating difference": numbers_grouping(size, _RATINGS),
    }
