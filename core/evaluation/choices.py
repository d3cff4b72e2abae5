"""Choice error: what an evaluation loses that chooses among the moves of a position by itself.

In a *choice set* all positions after the moves of a position stand together with trusted labels. The measure is the
label of the best move less that of the move that the evaluation would choose, from the view of the side that chooses.
Root mean square and mean absolute errors count what all moves have in common as well, which no choice depends on.
"""

import numpy as np
from attrs import define
from numpy.typing import NDArray

CHOICES = "choices"
"""Label kind of choice sets; the record of a position is there the number of the choice that it belongs to."""

Floats = NDArray[np.float64]


@define(frozen=True)
class ChoiceErrors:
    """Measures of the choices of an evaluation in each of K groups, and over all of them.

    Parameters
    ----------
    counts
        int64 [K + 1], choices.
    error, standard_error
        float64 [K + 1], mean choice error in label units, and its standard error, choices taken as independent.
    best
        float64 [K + 1], share of choices of a best move.
    rank_correlation
        float64 [K + 1], mean of Spearman's coefficient over the choices whose moves do not all have one label.
    """

    counts: NDArray[np.int64]
    error: Floats
    standard_error: Floats
    best: Floats
    rank_correlation: Floats


def choice_errors(
    value: NDArray[np.floating], label: NDArray[np.floating], choice: NDArray[np.integer], group: NDArray[np.integer]
) -> ChoiceErrors:
    """Measure choices.

    Parameters
    ----------
    value, label
        Arrays [N] of positions after moves: the evaluation's value and the trusted label, both from the view of the
        side to move there, which is the opponent of the side that chooses. Among equal values chance would choose.
    choice
        int [N], number of the choice that the position belongs to.
    group
        int [N] in [0, K), group of the position; a choice belongs to the group of its first position.
    """
    _, first, place = np.unique(choice, return_index=True, return_inverse=True)
    count = len(first)
    lowest_value, lowest_label = np.full(count, np.inf), np.full(count, np.inf)
    np.minimum.at(lowest_value, place, value)
    np.minimum.at(lowest_label, place, label)
    chosen = value == lowest_value[place]
    ties = np.bincount(place[chosen], minlength=count)
    error = np.bincount(place[chosen], (label - lowest_label[place])[chosen], count) / ties
    best = np.bincount(place[chosen], (label == lowest_label[place])[chosen], count) / ties
    correlation = _rank_correlations(value, label, place, count)
    told = np.isfinite(correlation)

    def means(values: Floats, where: NDArray[np.bool_]) -> Floats:
        sums = np.bincount(group[first][where], values[where], int(group.max(initial=0)) + 1)
        numbers = np.bincount(group[first][where], minlength=len(sums))
        with np.errstate(invalid="ignore"):
            return np.asarray(np.append(sums, sums.sum()) / np.append(numbers, numbers.sum()), np.float64)

    every = np.ones(count, np.bool_)
    counts = np.bincount(group[first], minlength=int(group.max(initial=0)) + 1)
    counts = np.append(counts, counts.sum())
    mean = means(error, every)
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(np.maximum(means(error**2, every) - mean**2, 0) / np.where(counts > 1, counts - 1, np.nan))
    return ChoiceErrors(counts, mean, spread, means(best, every), means(correlation, told))


def _ranks(values: NDArray[np.floating], place: NDArray[np.integer]) -> Floats:
    """Rank each value within its choice, equal ones by their mean rank; ranks go on from choice to choice."""
    order = np.lexsort((values, place))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (values[order][1:] != values[order][:-1]) | (place[order][1:] != place[order][:-1])
    start = np.append(np.flatnonzero(is_new), len(order))
    ranks: Floats = np.empty(len(order))
    ranks[order] = ((start[:-1] + start[1:] - 1) / 2)[np.cumsum(is_new) - 1]
    return ranks


def _rank_correlations(
    value: NDArray[np.floating], label: NDArray[np.floating], place: NDArray[np.integer], count: int
) -> Floats:
    """Spearman's coefficient of each choice: 0 where all values are equal, nan where all labels are."""
    sizes = np.bincount(place, minlength=count)

    def centred(values: NDArray[np.floating]) -> Floats:
        ranks = _ranks(values, place)
        ranks -= (np.bincount(place, ranks, count) / sizes)[place]
        return ranks

    x, y = centred(value), centred(label)
    products, squares, labels = (np.bincount(place, terms, count) for terms in (x * y, x * x, y * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.where(squares > 0, products / np.sqrt(squares * labels), 0.0)
    return np.where(labels > 0, found, np.nan)
