"""Choice error: what an evaluation loses that chooses among the moves of a position by itself.

In a *choice set* all positions after the moves of a position stand together with trusted labels. The choice error is
the label of the best move less that of the move that the evaluation would choose, from the view of the side that
chooses. Root mean square and mean absolute errors count what all moves have in common as well, which no choice depends
on. A choice counts once, whatever its positions weigh, and in the group of its first position.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.errors import BadInputError
from glem.core.evaluation.with_drawishness import value_part
from glem.core.game.game import Game, is_over
from glem.core.measures.measure import Evaluation, Floats, Judged, Measure
from glem.core.positions.positions import CHOICES


def _write_over(rules: Any, columns: Any, count: Any, over: Any) -> None:
    for row in range(count):
        over[row] = is_over(rules, position_at(columns, row))


def over_of(game: Game, positions: Any) -> NDArray[np.bool_]:
    """Whether the game is over in each of N positions of columns: bool [N]."""
    over = np.zeros(len(positions[0]), np.bool_)
    compiled(_write_over)(game.rules, positions, np.int64(len(over)), over)
    return over


class ChoiceSet(NamedTuple):
    """N positions after the moves of C choices, from the view of the side to move there, which is not who chooses.

    Parameters
    ----------
    value, label
        float64 [N], the evaluation's values, those of finished games by their scores, and the trusted labels.
    place
        int64 [N], number of the choice.
    first
        int64 [C], first position of each choice.
    """

    value: Floats
    label: Floats
    place: NDArray[np.int64]
    first: NDArray[np.int64]

    def lowest(self, values: Floats) -> Floats:
        """Least of some values [N] in the choice of each position: [N]."""
        found = np.full(len(self.first), np.inf)
        np.minimum.at(found, self.place, values)
        return found[self.place]

    def mean(self, values: Floats, where: NDArray[np.bool_] | None = None) -> Floats:
        """Mean of some values [N] in each choice: [C]; with ``where`` of some positions."""
        rows = slice(None) if where is None else where
        place = self.place[rows]
        return np.bincount(place, values[rows], len(self.first)) / np.bincount(place, minlength=len(self.first))


class ChoiceMeasure(Measure):
    """Base of the measures of choices: :meth:`of_choices` gives a term for each."""

    counts: ClassVar[str] = "choice"
    is_weighted: ClassVar[bool] = False

    def begin(self, judged: Judged) -> Self:
        """Ask for a choice set."""
        if judged.positions.label_kind != CHOICES:
            raise BadInputError(
                f"{self.heading}: the positions are no choice set, as `glem label --choices` makes them; their labels "
                f"are {judged.positions.label_kind!r}"
            )
        return self

    def terms(self, judged: Judged) -> Floats:
        """Give the first position of each choice its term."""
        positions = judged.positions
        _, first, place = np.unique(judged.game, return_index=True, return_inverse=True)
        # What is over needs no evaluation.
        final = value_part(judged.evaluation).final_values(positions.label)
        value = np.where(over_of(positions.game, positions.positions), final, judged.value)
        choices = ChoiceSet(value.astype(np.float64), positions.label.astype(np.float64), place, first)
        found = np.full(len(judged), np.nan)
        found[first] = self.of_choices(choices)
        return found

    @abstractmethod
    def of_choices(self, choices: ChoiceSet) -> Floats:
        """Terms of C choices: float64 [C]; nan for one that does not count."""


class ChoiceError(ChoiceMeasure):
    """Mean of what the chosen move loses against the best one; among equal values chance would choose."""

    heading: ClassVar[str] = "choice error"

    def unit_of(self, evaluation: Evaluation) -> str:
        """Give the unit of the labels."""
        return evaluation.learning.label_unit

    def of_choices(self, choices: ChoiceSet) -> Floats:
        """Compare the labels of chosen moves with the least."""
        chosen = choices.value == choices.lowest(choices.value)
        return choices.mean(choices.label - choices.lowest(choices.label), chosen)


class BestMove(ChoiceMeasure):
    """Share of choices of a best move."""

    heading: ClassVar[str] = "best move"
    form: ClassVar[str] = ".1%"

    def of_choices(self, choices: ChoiceSet) -> Floats:
        """See which chosen moves have the least label."""
        chosen = choices.value == choices.lowest(choices.value)
        return choices.mean((choices.label == choices.lowest(choices.label)).astype(np.float64), chosen)


class RankCorrelation(ChoiceMeasure):
    """Mean of Spearman's coefficient over the choices whose moves do not all have one label."""

    heading: ClassVar[str] = "rank correlation"

    def of_choices(self, choices: ChoiceSet) -> Floats:
        """Correlate ranks: 0 where all values are equal, nan where all labels are."""
        x, y = (_centred_ranks(choices, each) for each in (choices.value, choices.label))
        products, squares, labels = (choices.mean(each) for each in (x * y, x * x, y * y))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(squares > 0, products / np.sqrt(squares * labels), 0.0)
        return np.where(labels > 0, found, np.nan)


def _centred_ranks(choices: ChoiceSet, values: Floats) -> Floats:
    """Rank each value within its choice, equal ones by their mean rank, less the mean of the choice."""
    order = np.lexsort((values, choices.place))
    place, ordered = choices.place[order], values[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]) | (place[1:] != place[:-1]))[: len(order)]
    start = np.append(np.flatnonzero(is_new), len(order))
    ranks: Floats = np.empty(len(order))
    ranks[order] = ((start[:-1] + start[1:] - 1) / 2)[np.cumsum(is_new) - 1]
    return ranks - choices.mean(ranks)[choices.place]
