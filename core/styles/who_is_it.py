"""Whose moves are these? Many players, each with a model of its own, and games that no model has seen.

Beyond the paper (Levene and Fenner 2009 tell two players apart): games of one player are put together, and openings
can be matched: from every opening that all have played, each gets as many games as any other, so that a player's
favourite openings give nothing away.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.tasks.tables import Table

RESAMPLES = 200
_DRAWS = 300


@define(frozen=True, eq=False)
class UnseenGames:
    """Scores of unseen games.

    Parameters
    ----------
    player
        int64 [G]: whose game it is.
    opening
        int64 [G]: a number for side and opening.
    scores
        Name of a method to float64 [G, P]: what the models of the P players give to the player's moves of a game; the
        greatest is the guess.
    """

    player: NDArray[np.int64]
    opening: NDArray[np.int64]
    scores: Mapping[str, NDArray[np.float64]] = field(repr=False)

    def matched(self, players: int) -> NDArray[np.float64]:
        """Weights of games, float64 [G], that give all players the same openings; 0 in those that some never played."""
        weights = np.zeros(len(self.player))
        for opening in np.unique(self.opening):
            own = np.flatnonzero(self.opening == opening)
            counts = np.bincount(self.player[own], minlength=players)
            if counts.min() > 0:
                weights[own] = counts.min() / counts[self.player[own]]
        return weights


@define(frozen=True)
class Accuracy:
    """How often the guess is right.

    Parameters
    ----------
    method
        What guesses.
    games
        Games of one player that are put together.
    matched
        Whether all players' games have the same openings.
    share, low, high
        Share of right guesses, all players alike, with an interval by resampled games; nan where there are too few.
    used
        Games with a weight.
    """

    method: str
    games: int
    matched: bool
    share: float
    low: float
    high: float
    used: int


def accuracies(
    test: UnseenGames, players: int, sizes: Sequence[int] = (1, 5, 20), *, confidence: float = 0.95, seed: int = 0
) -> list[Accuracy]:
    """Guess who played, from so many games of one player together.

    Groups are drawn with replacement from a player's games, by their weights; intervals are percentiles over resamples
    of the games, which leave out what the choice of training games adds.
    """
    found = []
    everything = 1 / np.maximum(np.bincount(test.player, minlength=players), 1)[test.player]
    for matched, weights in ((False, everything), (True, test.matched(players))):
        used = int((weights > 0).sum())
        for method, scores in test.scores.items():
            for size in sizes:
                generator = np.random.default_rng([seed, size, int(matched)])
                if not all((weights[test.player == player] > 0).sum() >= 2 for player in range(players)):
                    found.append(Accuracy(method, size, matched, np.nan, np.nan, np.nan, used))
                    continue
                shares = [
                    _share(test.player, weights, scores, players, size, generator, resampled=bool(number))
                    for number in range(RESAMPLES + 1)
                ]
                tail = 50 * (1 - confidence)
                low, high = np.percentile(shares[1:], [tail, 100 - tail]).tolist()
                found.append(Accuracy(method, size, matched, shares[0], low, high, used))
    return found


def _share(
    player: NDArray[np.int64],
    weights: NDArray[np.float64],
    scores: NDArray[np.float64],
    players: int,
    size: int,
    generator: np.random.Generator,
    *,
    resampled: bool,
) -> float:
    shares = []
    for own in range(players):
        games = np.flatnonzero((player == own) & (weights > 0))
        if resampled:
            games = generator.choice(games, len(games))
        chances = weights[games] / weights[games].sum()
        if size == 1:
            shares.append(float(chances @ _right(scores[games], own)))
            continue
        drawn = generator.choice(games, (_DRAWS, size), p=chances)
        shares.append(float(_right(scores[drawn].sum(axis=1), own).mean()))
    return float(np.mean(shares))


def _right(scores: NDArray[np.float64], own: int) -> NDArray[np.float64]:
    """Chance that the guess is right: 1 where the own score is the greatest, shared where several are."""
    greatest = scores.max(axis=1, keepdims=True)
    ties = (scores == greatest).sum(axis=1)
    return np.where(scores[:, own] == greatest[:, 0], 1 / ties, 0.0)


def confusion(test: UnseenGames, players: int, method: str) -> NDArray[np.float64]:
    """Share of each player's games, [P, P], that a method gives to each player."""
    guess = test.scores[method].argmax(axis=1)
    found = np.zeros((players, players))
    np.add.at(found, (test.player, guess), 1)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1))


def accuracy_table(found: Sequence[Accuracy], players: int) -> Table:
    """Put accuracies in rows."""
    rows: list[tuple[Any, ...]] = [
        (
            each.method,
            each.games,
            "matched" if each.matched else "as played",
            f"{each.share:.1%}",
            f"{each.low:.1%} to {each.high:.1%}",
            each.used,
        )
        for each in found
    ]
    return Table(
        f"Which of {players} is it? By chance {1 / players:.1%}",
        ("by", "games together", "openings", "right", "interval", "test games"),
        rows,
    )
