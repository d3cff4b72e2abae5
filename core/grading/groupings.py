"""Divisions of selected positions into groups that are graded apart."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.game.game import Game

_RESULTS = ("won", "drawn", "lost")
_MARGIN_SHARES = (16, 8, 4, 2, 1)
_PLY_BORDERS = (*range(10, 101, 10), 120, 140, 160, 200, 240, 320)
_END_BORDERS = (6, 11, 16, 21, 31, 41, 61, 81, 121, 161, 241)
_DECILES = 10
_SIGNED_RATINGS = (-400, -200, -100, -50, 0, 50, 100, 200, 400)
_RATINGS = (26, 51, 101, 201, 401)


@define(frozen=True, eq=False)
class Grouping:
    """A division of positions into groups that are graded apart, such as game phases.

    Parameters
    ----------
    group
        Group of each position [N], -1 for none.
    is_ordered
        Whether the groups follow each other, so that grades can be drawn as a curve over them.
    """

    names: tuple[str, ...]
    group: NDArray[Any]
    is_ordered: bool = False


def groupings_of(
    game: Game, label: NDArray[np.float32], ply: NDArray[Any], length: NDArray[Any], rating: NDArray[np.float32]
) -> dict[str, Grouping]:
    """Group by place in the game, ratings, result and margin, each where it is known of some positions.

    Parameters
    ----------
    label
        Score of each position's game from the side to move [N].
    ply
        Plies before each position [N], -1 where unknown.
    length
        Plies of its game [N], -1 where unknown.
    rating
        Rating of the side to move less the opponent's [N]; nan where unknown.
    """
    result = Grouping(_RESULTS, (1 - np.sign(label)).astype(np.int8))
    return {**_by_place(ply, length), **_by_rating(rating), "result": result, **_by_margin(game, label)}


def _by_number(numbers: NDArray[Any], borders: Sequence[int]) -> Grouping:
    """Group whole numbers [N] by the borders at which a group begins; negative numbers belong to none."""
    group = np.searchsorted(np.asarray(borders), numbers, side="right")
    lows = (0, *borders)
    names = [str(low) if low == high - 1 else f"{low}-{high - 1}" for low, high in zip(lows, borders, strict=False)]
    return Grouping((*names, f"{borders[-1]} and more"), np.where(numbers < 0, -1, group).astype(np.int8), True)


def _by_margin(game: Game, label: NDArray[np.float32]) -> dict[str, Grouping]:
    """Group by how much the game was won by; by nothing where scores only tell who won."""
    greatest = game.greatest_score
    if greatest < _MARGIN_SHARES[0]:
        return {}
    borders = [math.ceil(greatest / share) for share in _MARGIN_SHARES]
    lows = [1, *(border + 1 for border in borders[:-1])]
    names = ("drawn", *(f"won by {low}-{high}" for low, high in zip(lows, borders, strict=True)))
    margin = np.abs(label)
    group = np.where(margin == 0, 0, 1 + np.searchsorted(borders[:-1], margin))
    return {"margin": Grouping(names, group.astype(np.int8))}


def _by_place(ply: NDArray[Any], length: NDArray[Any]) -> dict[str, Grouping]:
    """Group by ply, by tenth of the game, and by plies before the end."""
    groupings = {}
    if (ply >= 0).any():
        groupings["ply"] = _by_number(ply, _PLY_BORDERS)
    known = (ply >= 0) & (length > 0)
    if known.any():
        tenth = np.where(known, ply * np.int64(_DECILES) // np.maximum(length, 1), -1)
        names = tuple(f"{10 * place}-{10 * place + 10} %" for place in range(_DECILES))
        groupings["tenth of the game"] = Grouping(names, tenth.astype(np.int8), True)
        groupings["plies before the end"] = _by_number(np.where(known, length - ply, -1), _END_BORDERS)
    return groupings


def _by_rating(difference: NDArray[np.float32]) -> dict[str, Grouping]:
    """Group by the difference of the ratings, and by its size."""
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
        "size of the rating difference": _by_number(size, _RATINGS),
    }
