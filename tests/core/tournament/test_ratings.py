"""Joint ratings of the players of a tournament."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from glem.core.errors import BadInputError
from glem.core.tournament.elo import PairCounts, elo_estimate
from glem.core.tournament.ratings import joint_ratings
from glem.core.tournament.standings import PairingResult


def _pairing(first: str, second: str, wins: int, draws: int, losses: int) -> PairingResult:
    return PairingResult((first, second), wins=wins, draws=draws, losses=losses)


def test_two_players_are_rated_as_their_difference_says() -> None:
    pairs = PairCounts((10, 20, 100, 40, 30))
    pairing = PairingResult(("a", "b"), pairs, wins=200, draws=100, losses=100)
    best, worst = joint_ratings(("a", "b"), [pairing])
    alone = elo_estimate((10, 20, 100, 40, 30))
    assert (best.name, worst.name) == ("a", "b")
    assert best.elo == -worst.elo
    # One drawn game in 401 draws the players a little together.
    score = (250 + 0.5) / 401
    assert best.elo - worst.elo == pytest.approx(400 * math.log10(score / (1 - score)))
    assert 2 * best.error == pytest.approx(alone.error, rel=0.05)
    assert (best.games, best.score) == (400, 0.625)


def test_ratings_are_the_most_likely_ones() -> None:
    """Against a general optimizer, on a tournament in which not all have met."""
    pairings = [
        _pairing("a", "b", 30, 10, 20),
        _pairing("b", "c", 25, 5, 10),
        _pairing("c", "d", 12, 30, 18),
        _pairing("a", "d", 40, 0, 0),
    ]
    names = ("a", "b", "c", "d")

    def loss(ratings: NDArray[np.float64]) -> float:
        total = float(ratings.sum()) ** 2
        for pairing in pairings:
            one, other = (names.index(name) for name in pairing.players)
            expected = 1 / (1 + math.exp(ratings[other] - ratings[one]))
            points = pairing.wins + pairing.draws / 2 + 0.5
            total -= points * math.log(expected) + (pairing.games + 1 - points) * math.log(1 - expected)
        return total

    wanted = minimize(loss, np.zeros(4), tol=1e-12).x * 400 / math.log(10)
    found = {rating.name: rating.elo for rating in joint_ratings(names, pairings)}
    assert [found[name] for name in names] == pytest.approx(list(wanted - wanted.mean()), abs=0.01)


def test_errors_cover_the_truth() -> None:
    """Games are drawn at random from known ratings; 95 % of the intervals should hold them."""
    random = np.random.default_rng(4)
    truth = {"a": 60.0, "b": 0.0, "c": -60.0}
    held = total = 0
    for _ in range(200):
        pairings = []
        for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
            expected = 1 / (1 + 10 ** ((truth[other] - truth[one]) / 400))
            wins = int(random.binomial(300, expected))
            pairings.append(_pairing(one, other, wins, 0, 300 - wins))
        for rating in joint_ratings(tuple(truth), pairings):
            held += abs(rating.elo - truth[rating.name]) <= rating.error
            total += 1
    assert 0.92 <= held / total <= 0.98


def test_players_that_never_met_have_no_common_scale() -> None:
    with pytest.raises(BadInputError, match="no games connect c, d with a"):
        joint_ratings(("a", "b", "c", "d"), [_pairing("a", "b", 1, 0, 1), _pairing("c", "d", 1, 0, 1)])
    with pytest.raises(BadInputError, match="no player 'x'"):
        joint_ratings(("a", "b"), [_pairing("a", "x", 1, 0, 1)])
