"""Joint ratings of all players of a tournament, on one scale.

Elo's formula gives the expected score of every pairing from the difference of two ratings; the ratings that make the
results most likely, draws as half a win, are found together (the model of R. A. Bradley and M. E. Terry, "Rank analysis
of incomplete block designs", Biometrika 39, 1952). Their mean is 0. Errors come from the spread of the game pairs, as
in :mod:`glem.core.tournament.elo`, so that draws and unbalanced openings count as they do there.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import define
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from glem.core.errors import BadInputError
from glem.core.tournament.elo import CONFIDENCE_95, moments
from glem.core.tournament.standings import PairingResult, Standings

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
    # One row a pairing: 1 for its first player, -1 for the second, so that a product with ratings gives differences.
    meets = np.zeros((len(played), len(names)))
    for row, pairing in enumerate(played):
        meets[row, [place[name] for name in pairing.players]] = 1, -1
    _, group = connected_components(meets.T @ meets, directed=False)
    apart = [name for name, number in zip(names, group, strict=True) if number != group[0]]
    if apart:
        raise BadInputError(f"no games connect {', '.join(apart)} with {names[0]}: there is no scale common to them")
    games = np.array([pairing.games for pairing in played], np.float64)
    points = np.array([pairing.wins + pairing.draws / 2 for pairing in played], np.float64)
    logits = _most_likely(meets, games + _PRIOR_DRAWS, points + _PRIOR_DRAWS / 2)
    inverse = np.linalg.pinv(_information(logits, meets, games + _PRIOR_DRAWS))
    spread = meets.T * [_points_variance(pairing) for pairing in played] @ meets
    errors = np.sqrt(np.maximum(np.diag(inverse @ spread @ inverse), 0))
    gained = points @ (meets > 0) + (games - points) @ (meets < 0)
    totals = games @ np.abs(meets)
    found = [
        Rating(
            name,
            float(_ELO_PER_LOGIT * logits[index]),
            float(_ELO_PER_LOGIT * CONFIDENCE_95 * errors[index]),
            int(totals[index]),
            float(gained[index] / totals[index]) if totals[index] else math.nan,
        )
        for name, index in place.items()
    ]
    return tuple(sorted(found, key=lambda rating: -rating.elo))


def ratings_of(standings: Standings) -> tuple[Rating, ...]:
    """Rate the players of a tournament; empty for a match, which its pairing tells, and while games connect too few."""
    if len(standings.names) < 3:
        return ()
    try:
        return joint_ratings(standings.names, standings.pairings.values())
    except BadInputError:
        return ()


def _information(
    logits: NDArray[np.float64], meets: NDArray[np.float64], games: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Second derivatives of the likelihood's negated logarithm."""
    expected = 1 / (1 + np.exp(-meets @ logits))
    return np.asarray(meets.T * (games * expected * (1 - expected)) @ meets)


def _most_likely(
    meets: NDArray[np.float64], games: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Ratings in natural logits, of mean 0, by damped Newton steps."""
    logits = np.zeros(meets.shape[1])
    for _ in range(_MOST_STEPS):
        gradient = (points - games / (1 + np.exp(-meets @ logits))) @ meets
        step = np.linalg.pinv(_information(logits, meets, games)) @ gradient
        greatest = float(np.abs(step).max(initial=0))
        logits = logits + step * min(1.0, 2.0 / max(greatest, 1e-300))
        if greatest < _TOLERANCE:
            break
    return np.asarray(logits - logits.mean(), np.float64)


def _points_variance(pairing: PairingResult) -> float:
    """Variance of the points of all games: from the pairs where there are any, else from the games."""
    if not pairing.pairs.pairs:
        return pairing.games * moments((pairing.losses, pairing.draws, pairing.wins))[1]
    # The score of a pair is the mean of its two games: n games are n / 2 pairs of twice that weight.
    return 2 * pairing.games * moments(pairing.pairs.counts)[1]
