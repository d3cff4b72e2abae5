"""One pattern: a tuple of atomic features, its images under the symmetries, the indices of its joint values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeatures, Relation


@define(frozen=True)
class Pattern:
    """A named tuple of atomic features.

    Parameters
    ----------
    name
        Short unique name.
    features
        Feature indices of the base instance, the most significant digit of the table index first.
    contents
        Of a sparse pattern the table indices that have weights, canonical (the smallest of those that symmetries of the
        pattern exchange) and ascending; all others add nothing. None where every index has one.
    """

    name: str
    features: tuple[int, ...]
    contents: tuple[int, ...] | None = None


@define(frozen=True)
class Instance:
    """One image of a pattern: the features that take the places of the base instance's features."""

    pattern: int
    features: tuple[int, ...]


def _all_images(features: AtomicFeatures, base: Sequence[int]) -> list[tuple[int, ...]]:
    """Images of a feature tuple, one per symmetry; the tuple alone where there are none."""
    if features.symmetries is None:
        return [tuple(base)]
    return [tuple(int(symmetry[feature]) for feature in base) for symmetry in features.symmetries]


def images_of(features: AtomicFeatures, base: Sequence[int]) -> list[tuple[int, ...]]:
    """Distinct images of a feature tuple under the symmetries, one per set of features, the tuple itself first."""
    images: dict[frozenset[int], tuple[int, ...]] = {}
    for image in _all_images(features, base):
        images.setdefault(frozenset(image), image)
    return list(images.values())


def self_images(features: AtomicFeatures, base: Sequence[int]) -> list[tuple[int, ...]]:
    """Images of a feature tuple that hold the same features, in whatever order; the tuple itself first."""
    within = (image for image in _all_images(features, base) if set(image) == set(base))
    return list(dict.fromkeys((tuple(base), *within)))


def exchanged_entries(features: AtomicFeatures, base: Sequence[int], entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the table entries that symmetries of a pattern exchange with some: int64 [images, n].

    They stand for the same feature values when the pattern is read in the order of each of its :func:`self_images`.

    Parameters
    ----------
    features
        The game's atomic features.
    base
        The pattern's features; those that change places have one range.
    entries
        int64 [n]: mixed-radix indices, the values of the features ``base`` from the most significant digit on.
    """
    digits: dict[int, NDArray[np.int64]] = {}
    rest = entries
    for feature in reversed(base):
        rest, digits[feature] = np.divmod(rest, features[feature].cardinality)
    images = self_images(features, base)
    exchanged = np.zeros((len(images), len(entries)), np.int64)
    for row, image in zip(exchanged, images, strict=True):
        for feature in image:
            row[:] = row * features[feature].cardinality + digits[feature]
    return exchanged


def relations_of(features: AtomicFeatures, pattern: Pattern, entry: int) -> tuple[Relation, ...]:
    """Relations, on the base instance, of an entry of a pattern's table."""
    relations = []
    for feature in reversed(pattern.features):
        entry, digit = divmod(entry, features[feature].cardinality)
        relations.append(Relation(feature, features[feature].low + digit))
    return tuple(reversed(relations))


def check_pattern(features: AtomicFeatures, pattern: Pattern) -> list[int]:
    """Cardinalities of a pattern's features; :class:`BadInputError` where features or symmetries do not fit."""
    if not pattern.features or len(set(pattern.features)) != len(pattern.features):
        raise BadInputError(f"pattern {pattern.name!r} is empty or names a feature twice")
    for feature in pattern.features:
        if not 0 <= feature < len(features):
            raise BadInputError(f"pattern {pattern.name!r}: there is no feature {feature}")
    for image in images_of(features, pattern.features):
        for feature, other in zip(pattern.features, image, strict=True):
            one, two = features[feature], features[other]
            if (one.low, one.high) != (two.low, two.high):
                raise BadInputError(
                    f"pattern {pattern.name!r}: a symmetry maps {one.name!r} ({one.low}..{one.high}) "
                    f"to {two.name!r} ({two.low}..{two.high})"
                )
    return [features[feature].cardinality for feature in pattern.features]
