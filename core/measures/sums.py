"""Numbers of measures by group, with errors by game, from sums that are added up part by part.

With the sums S of a game's weighted terms, the sum W of its weights, and the means m of all terms, what the game adds
to the number f(m) is, to first order, f'(m) (S - m W) / sum W. The squares of these, summed over games, are what the
sandwich formula is filled with (:mod:`glem.core.fitting.sandwich`): for a plain mean the error of a mean over clusters.
All evaluations are summed together, so that their differences, on the same positions, have errors too.

Where the positions of a game do not follow one another, the sums are kept in a table. So that its size does not depend
on the number of games, it has :data:`CLUSTERS` rows, each for some of the games: what several games add is independent
of what others add, too.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.fitting.sandwich import sandwich
from glem.core.measures.measure import Floats, Judged, Measure, number_of, terms_of

CLUSTERS = 4096
"""Sets of games that positions in no order are summed by; with fewer games each is a set of its own."""


class Division(NamedTuple):
    """N positions of G games divided into K groups, and the P pairs of a game and a group that occur.

    Parameters
    ----------
    group
        int64 [N].
    groups
        K.
    pair
        int64 [N], the pair of each position; pairs are in the order of their groups.
    game
        int64 [P], the game of each pair.
    starts
        int64 [K + 1], where the pairs of each group begin.
    """

    group: NDArray[np.int64]
    groups: int
    pair: NDArray[np.int64]
    game: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, group: NDArray[np.integer], game: NDArray[np.int64], groups: int = 0) -> "Division":
        """Divide positions by their groups [N], of at least ``groups``, and their games [N], all from 0 on."""
        own = group.astype(np.int64)
        games, groups = int(game.max(initial=-1)) + 1, max(groups, int(own.max(initial=-1)) + 1)
        pairs, pair = np.unique(own * games + game, return_inverse=True)
        starts = np.searchsorted(pairs, np.arange(groups + 1) * games)
        return cls(own, groups, pair, pairs % max(games, 1), starts)


@define(frozen=True, eq=False)
class Numbers:
    """The number of a measure for E evaluations in each of K groups, and over all of them; nan in an empty group.

    Parameters
    ----------
    counts
        int64 [K + 1], positions that have terms.
    value, error
        float64 [E, K + 1], the numbers and their standard errors by game; nan with fewer than two games.
    difference, difference_error
        float64 [E, K + 1], the numbers less those of the first evaluation, and the standard errors by game.
    """

    counts: NDArray[np.int64]
    value: Floats
    error: Floats
    difference: Floats
    difference_error: Floats


class Sums:
    """Sums of the terms of a measure for E evaluations, by group.

    Parameters
    ----------
    name
        Of the measure, for errors.
    measures
        The measure, as it begins with each evaluation.
    together
        Whether all positions of a game are added at once; else their games are numbers below :data:`CLUSTERS`.
    """

    def __init__(self, name: str, measures: Sequence[Measure], *, together: bool = True) -> None:
        self._name, self._measures = name, measures
        self._table: Floats | None = None if together else np.zeros((0, CLUSTERS, 0))
        self._origin: Floats | None = None
        self._counts = np.zeros(0, np.int64)
        self._totals: Floats = np.zeros((0, 0))

    def add(self, judged: Sequence[Judged], division: Division) -> None:
        """Add what each evaluation says of the same N positions."""
        if not len(judged[0]):
            return
        pairs = zip(self._measures, judged, strict=True)
        found = [terms_of(self._name, measure, one) for measure, one in pairs]
        widths = {len(each) for each in found} | (set() if self._origin is None else {self._origin.shape[1]})
        if len(widths) > 1:
            raise BadInputError(f"measure {self._name}: gives positions now {min(widths)}, now {max(widths)} terms")
        terms = np.stack(found)
        known = np.asarray(~np.isnan(terms).any(axis=1))
        weights: Floats = known * (judged[0].weight if self._measures[0].is_weighted else np.ones(len(judged[0])))
        terms = np.where(known[:, None], terms, 0.0)
        if self._origin is None:
            # Counted from here, equal terms have exactly no error, and great ones lose no digits.
            self._origin = terms[np.arange(len(terms)), :, known.argmax(axis=1)][:, :, None]
            width = terms.shape[0] * (terms.shape[1] + 1)
            self._totals = np.zeros((width, 0))
            self._shifted = np.zeros((0, width))
            self._squares = np.zeros((0, width, width))
            self._games = np.zeros(0, np.int64)
            self._all_squares, self._all_games = np.zeros((width, width)), 0
            if self._table is not None:
                self._table = np.zeros((0, CLUSTERS, width))
        self._grow(division.groups)
        self._counts += np.bincount(division.group[known[0]], minlength=len(self._counts))
        totals, shifted = (_columns(weights, each) for each in (terms, terms - self._origin))
        self._totals += np.stack([np.bincount(division.group, each, self._totals.shape[1]) for each in totals])
        sums = [np.bincount(division.pair, each, len(division.game)) for each in shifted]
        of_pairs = np.stack(sums, axis=1).astype(np.float64, copy=False)
        if self._table is None:
            self._close(of_pairs, division.starts, division.game)
        else:
            self._table[np.repeat(np.arange(division.groups), np.diff(division.starts)), division.game] += of_pairs

    def _close(self, of_pairs: Floats, starts: NDArray[np.int64], game: NDArray[np.int64]) -> None:
        """Add the squares of what pairs [P, E (M + 1)] of a game and a group add up to, and their numbers."""
        is_there = np.asarray((of_pairs[:, :: of_pairs.shape[1] // len(self._measures)] > 0).any(axis=1))
        for group, (start, stop) in enumerate(pairwise(starts.tolist())):
            block = of_pairs[start:stop]
            self._shifted[group] += block.sum(axis=0)
            self._squares[group] += block.T @ block
            self._games[group] += is_there[start:stop].sum()
        of_games = np.stack([np.bincount(game, each) for each in of_pairs.T], axis=1)
        self._all_squares += of_games.T @ of_games
        self._all_games += int((np.bincount(game, is_there) > 0).sum())

    def _grow(self, groups: int) -> None:
        more = groups - len(self._counts)
        if more > 0:
            self._counts, self._games = (np.pad(each, (0, more)) for each in (self._counts, self._games))
            self._totals = np.pad(self._totals, ((0, 0), (0, more)))
            self._shifted = np.pad(self._shifted, ((0, more), (0, 0)))
            self._squares = np.pad(self._squares, ((0, more), (0, 0), (0, 0)))
            if self._table is not None:
                self._table = np.pad(self._table, ((0, more), (0, 0), (0, 0)))

    def numbers(self, groups: int = 0) -> Numbers:
        """Make the numbers of what was added, of at least so many groups; after the last position."""
        evaluations = len(self._measures)
        count = max(groups, len(self._counts))
        found: Floats = np.full((4, evaluations, count + 1), np.nan)
        counts = np.pad(self._counts, (0, count - len(self._counts)))
        if self._origin is not None:
            self._grow(count)
            if self._table is not None:
                games = np.tile(np.arange(CLUSTERS), count)
                self._close(self._table.reshape(len(games), -1), np.arange(count + 1) * CLUSTERS, games)
                self._table = None
            for group in range(count):
                found[:, :, group] = self._of_group(
                    self._totals[:, group], self._shifted[group], self._squares[group], int(self._games[group])
                )
            shifted = self._shifted.sum(axis=0)
            found[:, :, -1] = self._of_group(self._totals.sum(axis=1), shifted, self._all_squares, self._all_games)
        return Numbers(np.append(counts, counts.sum()), *found)

    # A measure may give nan or inf in a group of a few positions; the table shows it.
    @np.errstate(all="ignore")
    def _of_group(self, totals: Floats, shifted: Floats, squares: Floats, games: int) -> Floats:
        """Give numbers, errors, differences and errors of these: [4, E]."""
        evaluations = len(self._measures)
        values: Floats = np.full(evaluations, np.nan)
        slopes = np.zeros((evaluations, evaluations, len(totals) // evaluations))
        parts = zip(self._measures, totals.reshape(evaluations, -1), shifted.reshape(evaluations, -1), strict=True)
        for place, (measure, (weight, *total), (_, *apart)) in enumerate(parts):
            if weight > 0:
                values[place], slope = number_of(self._name, measure, np.array(total) / weight)
                slopes[place, place] = [-np.dot(slope, apart) / weight, *slope]
                slopes[place, place] /= weight
        by_number = slopes.reshape(evaluations, -1)
        # Differences as further rows.
        rows = np.concatenate([by_number, by_number - by_number[0]])
        filling = rows @ squares @ rows.T
        covariance = sandwich(np.eye(len(rows)), filling, games=games, rows=max(games, 2), parameters=1)
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)).reshape(2, -1)
        found = np.stack([values, errors[0], values - values[0], errors[1]])
        found[1:2, np.isnan(found[0])] = found[3:, np.isnan(found[2])] = np.nan
        return found


def _columns(weights: Floats, terms: Any) -> Floats:
    """Weights [E, N] before weighted terms [E, M, N], as columns: [E (M + 1), N]."""
    count = weights.shape[1]
    return np.concatenate([weights[:, None], weights[:, None] * terms], axis=1).reshape(-1, count)


def measured(
    measure: Measure, *judged: Judged, group: NDArray[np.integer] | None = None, groups: int = 1, name: str = "measure"
) -> Numbers:
    """Measure evaluations on the same positions, which are all there, in groups [N] if they are given."""
    own = np.zeros(len(judged[0]), np.int64) if group is None else group
    sums = Sums(name, [measure.begin(each) for each in judged])
    sums.add(judged, Division.of(own, judged[0].game, groups))
    return sums.numbers(groups)
