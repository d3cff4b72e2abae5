"""Errors by game: the sandwich formula (White 1982, Liang and Zeger 1986).

Positions of one game share its result, so that games, not positions, are independent. With the inverse A of the
information about k weights, and the sum B over G games of u u', where u is what the slopes of a game's rows add up to,
the covariance of weights that are fitted to N rows is

    A B A  times  G / (G - 1)  (N - 1) / (N - k),

with the correction for few games and rows that statistics packages have. Under a penalty k is what the rows decide, the
trace of A times their own information.

Of the mean m of N rows, where k is 1, A is 1 / N, and a game whose n rows add up to S gives u = S - m n. That leaves
the error of a mean over clusters, of :func:`mean_of_games`:

    error(m)^2 = G / (G - 1) * sum (S - m n)^2 / N^2.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def sandwich(inverse: Vector, filling: Vector, *, games: int, rows: int, parameters: float) -> Vector:
    """Compute the covariance of k weights, float64 [k, k]; nan with fewer than two games, or no more rows than weights.

    Parameters
    ----------
    inverse
        float64 [k, k]: inverse information, that of a penalty included.
    filling
        float64 [k, k]: sum over games of the squares of what the slopes of their rows add up to.
    games, rows
        How many there are.
    parameters
        How many weights the rows decide.
    """
    if games < 2 or rows <= parameters:
        return np.full(inverse.shape, math.nan)
    return np.asarray(inverse @ filling @ inverse * (games / (games - 1) * (rows - 1) / (rows - parameters)))


class Mean(NamedTuple):
    """A mean and its standard error by game."""

    value: float
    error: float

    def limits(self, confidence: float) -> tuple[float, float]:
        """Bounds of an interval."""
        from scipy.stats import norm

        reach = float(norm.ppf((1 + confidence) / 2)) * self.error
        return self.value - reach, self.value + reach


def mean_of_games(sums: NDArray[Any], counts: NDArray[Any]) -> Mean:
    """Mean of what adds up to ``sums`` [G] in games of so many rows [G]; its error is nan with fewer than two games."""
    games, total = len(counts), float(counts.sum())
    mean = float(sums.sum() / total) if total else math.nan
    if games < 2 or not total:
        return Mean(mean, math.nan)
    rest = sums - mean * counts
    return Mean(mean, math.sqrt(games / (games - 1) * float(rest @ rest)) / total)


class GameSums:
    """Sums over games of the squares of what their rows add up to: the filling of the sandwich formula.

    Parameters
    ----------
    games
        Number of games; those of the rows are below it.
    in_order
        Whether the rows of a game follow one another: then no table of all games is needed.
    """

    def __init__(self, games: int, *, in_order: bool) -> None:
        self._games, self._in_order = games, in_order
        self._table: Vector | None = None
        self._seen = np.zeros(0 if in_order else games, bool)
        self._open_game, self._open_sum = -1, np.zeros(0)
        self._filling: Any = 0.0
        self.by_row: Any = 0.0
        self.rows = self.games = 0

    def add(self, changes: Vector, game: NDArray[np.int64]) -> None:
        """Add rows: float64 [n, k], and their games [n]."""
        if not len(game):
            return
        self.rows += len(game)
        self.by_row = self.by_row + changes.T @ changes
        if not self._in_order:
            if self._table is None:
                self._table = np.zeros((self._games, changes.shape[1]))
            np.add.at(self._table, game, changes)
            self._seen[game] = True
            return
        starts = np.concatenate([[0], np.flatnonzero(game[1:] != game[:-1]) + 1])
        sums = np.add.reduceat(changes, starts, axis=0)
        if game[0] == self._open_game:
            sums[0] += self._open_sum
        elif self._open_game >= 0:
            self._close()
        self._filling = self._filling + sums[:-1].T @ sums[:-1]
        self.games += len(sums) - 1
        self._open_game, self._open_sum = int(game[-1]), sums[-1]

    def _close(self) -> None:
        self._filling = self._filling + np.outer(self._open_sum, self._open_sum)
        self.games += 1

    def covariance(self, inverse: Vector, parameters: float) -> Vector:
        """Compute the :func:`sandwich`, when all rows are added."""
        if self._in_order:
            if self._open_game >= 0:
                self._close()
                self._open_game = -1
        elif self._table is not None:
            self._filling, self.games = self._table.T @ self._table, int(self._seen.sum())
        return sandwich(inverse, self._filling, games=self.games, rows=self.rows, parameters=parameters)
