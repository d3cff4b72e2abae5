"""Choosing configurations by what each explains beside those chosen before (GLEM, section 4.4).

Match counts alone find endless variations of a few strong themes. GLEM names correlation with the label as a first
criterion, and calls the relevance of a variable among many the hard part. Ranked by correlation, what overlaps with
much that matters comes before what matters. So configurations are chosen one after the other, by what each would
explain of what the earlier ones leave, and all their weights are fitted again after each: orthogonal matching pursuit
(Pati, Rezaiifar and Krishnaprasad 1993).
"""

from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.configurations.configurations import (
    ConfigurationSet,
    close_under_symmetry,
    configuration_keys,
    symmetry_classes,
)
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.configurations.mining import label_statistics
from glem.core.configurations.mining.gain import generalization_gain
from glem.core.configurations.mining.union import union
from glem.core.features.learning import Learning
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.threads import ordered_map

_PROPOSALS = 4
"""How often all mined configurations are looked at; each time a part is chosen of those that look best."""
_DROPPED = 0.25
"""Share of the chosen classes that go before each new proposal: those that explain least beside the others."""
_PROPOSED = 5_000
"""Symmetry classes of a proposal."""
_ROWS = 200_000
"""Of the sample, on which classes are compared with each other; all of it proposes them."""
_SHORTLIST = 64
"""Classes whose matches are written out together, to choose as many of them as come before all others."""
_SHRINKAGE = 0.01
"""Share of the sample whose matches halve what a configuration is thought to explain: few matches may be chance."""
_RIDGE = 0.001
"""Penalty on weights, as a share of the sample: of nearly equal configurations none gets a great one."""
_STEPS = 16
"""Of what is left, in a standard deviation: sums are the faster the fewer there are."""
_FINE_STEPS = 512
"""The same, for those on the list: whole numbers, whose sums are exact and need no order."""
_LARGEST = 32767
_LEAST_CHANGE = 0.001
"""Of a weight, in standard deviations: smaller ones wait until they have added up to so much."""
_BLOCK = 1 << 11


@kernel
def _count_by_class(starts: Any, members: Any, classes: Any, columns: Any) -> None:
    for row in range(starts.shape[0] - 1):
        for place in range(starts[row], starts[row + 1]):
            columns[classes[members[place]], row] += 1


@kernel
def _write_products(columns: Any, other: Any, products: Any) -> None:
    rows = columns.shape[1]
    for column in range(columns.shape[0]):
        total = np.int64(0)
        for start in range(0, rows, _BLOCK):
            own, others = columns[column, start : start + _BLOCK], other[start : start + _BLOCK]
            # Small whole numbers, added up in a few bits: the compiler takes many at a time, unless numba widens them.
            part = np.int32(0)
            for row in range(own.shape[0]):
                part = np.int32(part + np.int32(np.int32(own[row]) * np.int32(others[row])))
            total += part
        products[column] = total


@kernel
def _take_off(columns: Any, chosen: Any, weights: Any, left: Any) -> None:
    for start in range(0, columns.shape[1], _BLOCK):
        own = left[start : start + _BLOCK]
        for place in range(chosen.shape[0]):
            weight, column = weights[chosen[place]], columns[chosen[place], start : start + _BLOCK]
            for row in range(own.shape[0]):
                own[row] -= weight * column[row]


def _products(columns: NDArray[np.uint8], other: NDArray[np.int16], jobs: int) -> NDArray[np.float64]:
    found = np.zeros(len(columns))

    def work(part: slice) -> None:
        _write_products(columns[part], other, found[part])

    size = -(-len(columns) // jobs)
    for _ in ordered_map(jobs, work, (slice(start, start + size) for start in range(0, len(columns), size or 1))):
        pass
    return found


def _in_steps(left: NDArray[np.float64], steps: int) -> NDArray[np.int16]:
    return np.clip(np.rint(left * steps), -_LARGEST, _LARGEST).astype(np.int16)


class _Pursuit:
    """The columns that were chosen, how often each class matches each of N rows, fitted to a target together."""

    def __init__(self, target: NDArray[np.float64], count: int, jobs: int = 1) -> None:
        self._target, self._jobs = target, jobs
        self._columns = np.zeros((count, len(target)), np.uint8)
        self._products, self._inverse = np.zeros((2, count, count))
        self._sums, self._weights = np.zeros((2, count))
        self.chosen = 0
        self.left = target.copy()

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the chosen columns, in the order of choice."""
        return self._weights[: self.chosen]

    def scores(self, columns: NDArray[np.uint8], matches: NDArray[np.int64]) -> NDArray[np.float64]:
        """Tell what each of some columns, with so many matches, would explain of what is left."""
        sums = _products(columns, _in_steps(self.left, _FINE_STEPS), self._jobs) / _FINE_STEPS
        return _explained(sums, matches, len(self.left))

    def add(self, column: NDArray[np.uint8]) -> None:
        """Choose one more, and fit the weights of all."""
        before = slice(0, self.chosen)
        products = _products(self._columns[before], column.astype(np.int16), self._jobs)
        own = float(column.astype(np.int64) @ column) + _RIDGE * len(column)
        # The inverse of a matrix with one more row and column (Schur's complement).
        inverse = self._inverse[before, before]
        changed = np.einsum("ij,j->i", inverse, products)
        complement = own - float(np.einsum("i,i->", changed, products))
        inverse += np.einsum("i,j->ij", changed, changed) / complement
        self._inverse[self.chosen, before] = self._inverse[before, self.chosen] = -changed / complement
        self._inverse[self.chosen, self.chosen] = 1 / complement
        self._products[self.chosen, before] = self._products[before, self.chosen] = products
        self._products[self.chosen, self.chosen] = own
        self._columns[self.chosen] = column
        self._sums[self.chosen] = np.einsum("n,n->", column, self._target)
        self.chosen += 1
        self._fit()

    def drop(self, share: float) -> NDArray[np.intp]:
        """Drop the share of columns without which least would be lost; return the places of those that are kept."""
        now = slice(0, self.chosen)
        lost = self._weights[now] ** 2 / np.diag(self._inverse)[now]
        kept = np.sort(np.argsort(-lost, kind="stable")[: self.chosen - int(share * self.chosen)])
        _take_off(self._columns, np.setdiff1d(np.arange(self.chosen), kept), -self._weights, self.left)
        self.chosen = len(kept)
        now = slice(0, self.chosen)
        self._columns[now], self._sums[now], self._weights[now] = (
            each[kept] for each in (self._columns, self._sums, self._weights)
        )
        self._products[now, now] = self._products[np.ix_(kept, kept)]
        self._weights[self.chosen :] = 0
        self._inverse[now, now] = np.linalg.inv(self._products[now, now])
        self._fit()
        return kept

    def _fit(self) -> None:
        now = slice(0, self.chosen)
        change = np.einsum("ij,j->i", self._inverse[now, now], self._sums[now]) - self._weights[now]
        moved = np.flatnonzero(np.abs(change) > _LEAST_CHANGE)
        _take_off(self._columns, moved, change, self.left)
        self._weights[moved] += change[moved]


@define(frozen=True, eq=False)
class _Proposals:
    """Configurations with all their images, the symmetry class of each, and the values of some positions."""

    configurations: ConfigurationSet
    classes: NDArray[np.int32]
    values: NDArray[np.int16]
    jobs: int

    def scores(self, left: NDArray[np.float64]) -> NDArray[np.float64]:
        """Tell what each class would explain of what is left: the gradient's square, by matches, shrunk."""
        found = label_statistics(self.configurations, self.values, left, jobs=self.jobs)
        count = int(self.classes.max(initial=-1)) + 1
        matches = np.bincount(self.classes, found.match_counts, count)
        return _explained(np.bincount(self.classes, found.label_sums, count), matches, len(left))

    def of(self, number: int) -> ConfigurationSet:
        """Return the configurations of a class."""
        return self.configurations.select(np.flatnonzero(self.classes == number))

    def columns(self, chosen: NDArray[np.intp]) -> NDArray[np.uint8]:
        """Count how often classes match: uint8 [classes, N]."""
        place = np.full(int(self.classes.max()) + 1, -1)
        place[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero(place[self.classes] >= 0)
        matcher = ConfigurationMatcher(self.configurations.select(rows))
        starts, members = matcher.active(self.values, jobs=self.jobs)
        columns = np.zeros((len(chosen), len(self.values)), np.uint8)
        _count_by_class(starts, members, place[self.classes[rows]], columns)
        return columns


def _explained(sums: NDArray[Any], matches: NDArray[Any], rows: int) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = sums**2 / (matches + _SHRINKAGE * rows)
    return scores


def _sums(
    found: list[ConfigurationSet], weights: NDArray[np.float64], values: NDArray[np.int16], jobs: int
) -> NDArray[np.float32]:
    """Add up the weights of classes, as often as they match."""
    if not found:
        return np.zeros(len(values), np.float32)
    by_row = np.repeat(weights, [len(each) for each in found]).astype(np.float32)
    return ConfigurationMatcher(union(found)).sums(values, by_row, jobs=jobs)


def _proposed(
    mined: ConfigurationSet,
    values: NDArray[np.int16],
    few: NDArray[np.int16],
    learning: Learning,
    left: NDArray[np.float64],
    jobs: int,
    progress: Progress,
) -> _Proposals:
    """Find the mined configurations that gain most over their generalizations in what is left."""
    symmetries = learning.features.symmetries
    statistics = label_statistics(mined, values, left, jobs=jobs, progress=progress)
    gains = np.abs(generalization_gain(mined, statistics.means, float(left.mean()), 1.0))
    # A class has as many members as there are symmetries, and each is among the mined ones.
    many = min(_PROPOSED * (1 if symmetries is None else len(symmetries)), len(gains))
    best = np.sort(np.argpartition(-gains, many - 1)[:many])
    ranked = mined.select(best[np.argsort(-gains[best], kind="stable")])
    _, first = np.unique(symmetry_classes(ranked, symmetries), return_index=True)
    kept = np.sort(first)[:_PROPOSED]
    closed, origin = close_under_symmetry(ranked.select(kept), symmetries)
    # Under random symmetries all images match equally often, up to chance: an image has its original's count.
    configurations = evolve(closed, match_counts=ranked.match_counts[kept][origin], incomplete=mined.incomplete)
    return _Proposals(configurations, symmetry_classes(configurations, symmetries), few, jobs)


def choose_configurations(
    mined: ConfigurationSet,
    sample: Positions,
    learning: Learning,
    left: NDArray[np.float64],
    count: int,
    *,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> ConfigurationSet | None:
    """Choose the symmetry classes of configurations that explain most of what an evaluation leaves, together.

    Parameters
    ----------
    mined
        Configurations with their generalizations (:func:`~glem.core.discovery.candidates.mine_sample`).
    sample
        The N positions that were mined.
    learning
        Features of their game.
    left
        float64 [N]: what the evaluation leaves of their labels (:func:`~glem.core.discovery.candidates.standardized`).
    count
        Most classes.
    jobs
        Threads; they change no result.
    progress
        Display.

    Returns
    -------
    configurations
        The chosen ones with all their images, and match counts in the sample; None where nothing explains anything.
    """
    values = learning.features.values(sample.positions)
    some = slice(None, None, -(-len(values) // _ROWS))
    few, pursuit = np.asfortranarray(values[some]), _Pursuit(left[some], count, jobs)
    found: list[ConfigurationSet] = []
    with progress("Choosing configurations", count) as task:
        for number in range(1, _PROPOSALS + 1):
            # What stands for several that were not seen beside them is dropped, so that they are.
            found = [found[place] for place in pursuit.drop(_DROPPED)] if found else found
            remaining = left - _sums(found, pursuit.weights, values, jobs)
            proposals = _proposed(mined, values, few, learning, _in_steps(remaining, _STEPS) / _STEPS, jobs, progress)
            keys = configuration_keys(proposals.configurations)
            known = [configuration_keys(each) for each in found]
            is_taken = np.zeros(int(proposals.classes.max(initial=-1)) + 1, bool)
            is_taken[proposals.classes[np.isin(keys, np.concatenate([keys[:0], *known]))]] = True
            wanted = count * number // _PROPOSALS
            while pursuit.chosen < wanted:
                scores = np.where(is_taken, 0, proposals.scores(_in_steps(pursuit.left, _STEPS) / _STEPS))
                shortlist = np.argsort(-scores, kind="stable")[:_SHORTLIST]
                shortlist = shortlist[scores[shortlist] > 0]
                if len(shortlist) == 0:
                    break
                columns = proposals.columns(shortlist)
                matches = columns.sum(axis=1, dtype=np.int64)
                scores, before = pursuit.scores(columns, matches), pursuit.chosen
                # As long as one explains as much as the last of the list did, none behind the list explains more.
                least = scores[-1]
                while pursuit.chosen < wanted:
                    best = int(np.argmax(scores))
                    if scores[best] <= 0 or scores[best] < least:
                        break
                    pursuit.add(columns[best])
                    is_taken[shortlist[best]] = True
                    found.append(proposals.of(shortlist[best]))
                    scores = np.where(is_taken[shortlist], 0, pursuit.scores(columns, matches))
                if pursuit.chosen == before:
                    break
            task.advance(wanted - count * (number - 1) // _PROPOSALS)
    return union(found) if found else None
