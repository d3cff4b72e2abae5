"""Evaluations that are quadratic in their terms: the discriminant of normally distributed features (Buro 1995, 2.1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.evaluation.linear import (
    EVALUATION_ARRAYS,
    Contribution,
    Explanation,
    LinearEvaluation,
    PlayWeights,
    Weights,
    no_weights,
)
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.files.archives import ArchiveFormat
from glem.core.tasks.counts import counted

QUADRATIC_ARRAYS = ("slopes", "squares")
"""What a file of this kind has beside the arrays of a linear evaluation."""


@define(frozen=True, eq=False, repr=False)
class QuadraticEvaluation(LinearEvaluation):
    """link(bias + slopes x + x squares x'), where x are the terms of a linear evaluation.

    A term is what all instances of a pattern add up to, or a linear feature times its weight; in this order they are
    the T terms. Arrays are those of :class:`~glem.core.evaluation.linear.LinearEvaluation`, and:

    Parameters
    ----------
    slopes
        float32 [K, T].
    squares
        float32 [K, T, T], symmetric.

    Raises
    ------
    BadInputError
        There are no terms, shapes do not fit, squares are not symmetric, a number is not finite, the link is another
        sigmoid than the logistic one, or there are sparse patterns or configurations.
    """

    slopes: Weights = field(factory=no_weights)
    squares: Weights = field(factory=no_weights)

    archive: ClassVar[ArchiveFormat] = ArchiveFormat(
        "glem quadratic evaluation", version=1, required=(*EVALUATION_ARRAYS, *QUADRATIC_ARRAYS), largest=4 << 30
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.configurations is not None or (self.patterns is not None and self.patterns.hash_tables):
            raise BadInputError("a quadratic evaluation has no configurations and no sparse patterns")
        if self.link not in (IDENTITY, LOGISTIC):
            raise BadInputError(f"a quadratic evaluation has no {self.link.name} link")
        count = len(self.terms)
        if not count:
            raise BadInputError("a quadratic evaluation has no terms")
        for name, shape in (("slopes", (len(self.bias), count)), ("squares", (len(self.bias), count, count))):
            array = np.ascontiguousarray(getattr(self, name), np.float32)
            if array.shape != shape or not np.isfinite(array).all():
                raise BadInputError(f"{name} have shape {array.shape}, expected finite numbers {shape}")
            object.__setattr__(self, name, array)
        if not np.array_equal(self.squares, self.squares.transpose(0, 2, 1)):
            raise BadInputError("squares are not symmetric")

    def __repr__(self) -> str:
        return f"QuadraticEvaluation({self.learning.game.name}: {counted(len(self.terms), 'term')}, {self.unit})"

    def sums_of_values(self, values: NDArray[np.int16], phase: NDArray[Any], *, jobs: int = 1) -> NDArray[np.float32]:
        """Discriminant, before the link, for feature values; see :meth:`.LinearEvaluation.sums_of_values`."""
        terms = self.terms_of_values(values, phase).T.astype(np.float64)
        found = np.empty(len(terms))
        for number in range(len(self.bias)):
            rows = np.flatnonzero(phase == number)
            found[rows] = self.sums_of_terms(terms[rows], number)
        return found.astype(np.float32)

    def sums_of_terms(self, terms: NDArray[np.float64], phase: int) -> NDArray[np.float64]:
        """Discriminant of rows of terms [n, T] in one phase: float64 [n]."""
        pulls = terms @ self.squares[phase] + self.slopes[phase]
        found: NDArray[np.float64] = np.einsum("nt,nt->n", pulls, terms) + self.bias[phase]
        return found

    def explain(self, position: Any) -> Explanation:
        """List what each term and each product of two adds."""
        phase = int(self.learning.phases.phase_of(position))
        values = self.learning.features.values_of(position)[None, :]
        terms = self.terms_of_values(values, np.array([phase]))[:, 0].astype(np.float64)
        name = f"phase {self.learning.phases.names[phase]}"
        found = [Contribution("bias", name, (), float(self.bias[phase]))]
        for one, text in enumerate(self.terms):
            found.append(Contribution("term", text, (), float(self.slopes[phase, one] * terms[one])))
            for other in range(one + 1):
                amount = float(self.squares[phase, one, other] * terms[one] * terms[other]) * (2 - (one == other))
                found.append(Contribution("product", f"{text} x {self.terms[other]}", (), amount))
        total = sum(item.amount for item in found)
        found.sort(key=lambda item: -abs(item.amount))
        return Explanation(phase, tuple(found), total, float(self.link(np.array(total))))

    def in_play(self) -> PlayWeights:
        """Refuse: the search's form of a quadratic evaluation has a scale for each term.

        Raises
        ------
        BadInputError
            Always.
        """
        raise BadInputError("a quadratic evaluation has no integer weights of its own")

    def with_weights(self, weights: NDArray[np.floating]) -> LinearEvaluation:
        """Refuse: no linear fit has the weights of a quadratic evaluation; see :meth:`in_play`."""
        raise BadInputError("a quadratic evaluation cannot be fitted further; fit it anew with `glem fit quadratic`")

    def as_played(self) -> LinearEvaluation:
        """Return the evaluation itself."""
        return self

    def parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header and arrays; see :meth:`.LinearEvaluation.parts`."""
        header, arrays = super().parts()
        return header, arrays | {name: getattr(self, name) for name in QUADRATIC_ARRAYS}

    @classmethod
    def from_parts(cls, source: Path, header: Any, arrays: Mapping[str, NDArray[Any]], **more: Any) -> Self:
        """Make the evaluation of :meth:`parts`; see :meth:`.LinearEvaluation.from_parts`."""
        return super().from_parts(source, header, arrays, **more, **{name: arrays[name] for name in QUADRATIC_ARRAYS})
