"""Joint ratings of all players of a tournament, on one scale.

Elo's formula gives the expected score of every pairing from the difference of two ratings; the ratings that make the
results most likely, draws as half a win, are found together (the model of R. A. Bradley and M. E. Terry, "Rank analysis
of incomplete block designs", Biometrika 39, 1952). Their mean is 0. Errors come from the spread of the game pairs, as
in :mod:`glem.core.tournament.elo`, so that draws and unbalanced openings count as they do there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.tournament.elo import CONFIDENCE_95
from glem.core.tournament.standings import PairingResult, Standings

__all__ = ["Rating", "joint_ratings", "ratings_of"]

_ELO_PER_LOGIT = 400 / math.log(10)
_PRIOR_DRAWS = 1.0
"""Drawn games added to each pairing that met: without any, whoever won or lost all games has no finite rating."""

_MOST_STEPS = 200
_TOLERANCE = 1e-10


@define(frozen=True)
class Rating:
    """A player's rating.

    Parameters
    ----------
    name
        The player.
    elo
        Above or below the mean of all players.
    error
        Half the width of its 95 % confidence interval.
    games
        Games that it rests on.
    score
        Share of the points, draws as half a win.
    """

    name: str
    elo: float
    error: float
    games: int
    score: float


def joint_ratings(names: Sequence[str], pairings: Iterable[PairingResult]) -> tuple[Rating, ...]:
    """Rate players by all games among them, the best first.

    Parameters
    ----------
    names
        The players.
    pairings
        Results of any two of them.

    Raises
    ------
    BadInputError
        A pairing names a player that is not there, or the players fall into groups that have not met: no scale is
        common to these.
    """
    place = {name: index for index, name in enumerate(names)}
    played = [pairing for pairing in pairings if pairing.games]
    for pairing in played:
        for name in pairing.players:
            if name not in place:
                raise BadInputError(f"there is no player {name!r} among {', '.join(names)}")
    first = np.array([place[pairing.players[0]] for pairing in played], np.int64)
    second = np.array([place[pairing.players[1]] for pairing in played], np.int64)
    _check_connected(names, first, second)
    games = np.array([pairing.games for pairing in played], np.float64)
    points = np.array([pairing.wins + pairing.draws / 2 for pairing in played], np.float64)
    logits = _most_likely(len(names), first, second, games + _PRIOR_DRAWS, points + _PRIOR_DRAWS / 2)
    information = _information(logits, first, second, games + _PRIOR_DRAWS)
    spread = np.zeros_like(information)
    for index, pairing in enumerate(played):
        _add_difference(spread, int(first[index]), int(second[index]), _score_variance(pairing))
    inverse = np.linalg.pinv(information)
    errors = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse), 0))
    found = []
    for name in names:
        index = place[name]
        gained = points[first == index].sum() + (games - points)[second == index].sum()
        total = games[(first == index) | (second == index)].sum()
        found.append(
            Rating(
                name,
                float(_ELO_PER_LOGIT * logits[index]),
                float(_ELO_PER_LOGIT * CONFIDENCE_95 * errors[index]),
                int(total),
                float(gained / total) if total else math.nan,
            )
        )
    return tuple(sorted(found, key=lambda rating: -rating.elo))


def ratings_of(standings: Standings) -> tuple[Rating, ...]:
    """Rate the players of a tournament; empty for a match, which its pairing tells, and while games connect too few."""
    if len(standings.names) < 3:
        return ()
    try:
        return joint_ratings(standings.names, standings.pairings.values())
    except BadInputError:
        return ()


def _check_connected(names: Sequence[str], first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
    group = np.arange(len(names))
    for one, other in zip(first, second, strict=True):
        group[group == group[other]] = group[one]
    if len(names) and (group != group[0]).any():
        apart = [name for name, number in zip(names, group, strict=True) if number != group[0]]
        raise BadInputError(f"no games connect {', '.join(apart)} with {names[0]}: there is no scale common to them")


def _add_difference(matrix: NDArray[np.float64], one: int, other: int, amount: float) -> None:
    """Add the second derivative, or the variance, of a function of the difference of two ratings."""
    matrix[one, one] += amount
    matrix[other, other] += amount
    matrix[one, other] -= amount
    matrix[other, one] -= amount


def _information(
    logits: NDArray[np.float64], first: NDArray[np.int64], second: NDArray[np.int64], games: NDArray[np.float64]
) -> NDArray[np.float64]:
    expected = 1 / (1 + np.exp(logits[second] - logits[first]))
    information = np.zeros((len(logits), len(logits)))
    for one, other, amount in zip(first, second, games * expected * (1 - expected), strict=True):
        _add_difference(information, int(one), int(other), float(amount))
    return information


def _most_likely(
    count: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    games: NDArray[np.float64],
    points: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Ratings in natural logits, of mean 0, by damped Newton steps."""
    logits = np.zeros(count)
    for _ in range(_MOST_STEPS):
        expected = games / (1 + np.exp(logits[second] - logits[first]))
        gradient = np.bincount(first, points - expected, count) - np.bincount(second, points - expected, count)
        step = np.linalg.pinv(_information(logits, first, second, games)) @ gradient
        logits = logits + step * min(1.0, 2.0 / max(float(np.abs(step).max(initial=0)), 1e-300))
        if float(np.abs(step).max(initial=0)) < _TOLERANCE:
            break
    return np.asarray(logits - logits.mean(), np.float64)


def _score_variance(pairing: PairingResult) -> float:
    """Variance of the points of all games: from the pairs where there are any, else from the games."""
    counts = pairing.pairs.counts if pairing.pairs.pairs else (pairing.losses, pairing.draws, pairing.wins)
    total = sum(counts)
    results = np.arange(len(counts)) / (len(counts) - 1)
    weights = np.array(counts, np.float64) / total
    mean = float(results @ weights)
    variance = float((results - mean) ** 2 @ weights)
    # The score of a pair is the mean of its two games: n games are n / 2 pairs of twice that weight.
    games_each = 2 if pairing.pairs.pairs else 1
    return pairing.games * games_each * variance
