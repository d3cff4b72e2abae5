"""The evaluation's terms as rows of tables: each feature beside the weights that it has in the hand-set evaluation."""

from typing import NamedTuple

from glem.core.features.features import AtomicFeature

Weights = tuple[float, float]
"""Hundredths of a pawn in the middlegame and in the endgame."""


class Term(NamedTuple):
    """A term of the evaluation."""

    feature: AtomicFeature
    weights: Weights


def terms(group: str, *rows: tuple[str, int, Weights, str], least: int | None = None) -> tuple[Term, ...]:
    """Make a group of terms of their names, greatest values, weights, descriptions; by default differences of sides."""
    return tuple(
        Term(AtomicFeature(name, -most if least is None else least, most, description, group=group), weights)
        for name, most, weights, description in rows
    )
