"""Sparse patterns: which contents of a large pattern occur, and the hash table that finds them (GLEM, section 4.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.features.features import AtomicFeatures
from glem.core.patterns.pattern import Pattern, check_pattern, exchanged_entries, images_of, self_images
from glem.core.patterns.sparse_table import SparseTable

MAX_CONTENTS = (1 << 16) - 1
"""Contents that a sparse pattern may have, so that their numbers and that of none fit into 16 bits."""

_MAX_HALF = (1 << 16) - 1


def half_sizes(features: AtomicFeatures, pattern: Pattern) -> tuple[int, int]:
    """Numbers of joint values of the two halves of a pattern, i1 and i2, the first of which may be shorter.

    Raises
    ------
    BadInputError
        A half has more than 65,535, so that its index does not fit into 16 bits beside one that locks nothing.
    """
    cardinalities = check_pattern(features, pattern)
    half = len(cardinalities) // 2
    first, second = math.prod(cardinalities[:half]), math.prod(cardinalities[half:])
    if max(first, second) > _MAX_HALF:
        raise BadInputError(
            f"pattern {pattern.name!r} is too large: one half of its features has {max(first, second):,} joint values, "
            f"at most {_MAX_HALF:,}"
        )
    return first, second


def valid_contents(
    features: AtomicFeatures, pattern: Pattern, chunks: Iterable[NDArray[np.int16]], minimum_matches: int
) -> tuple[int, ...]:
    """Find the contents of a pattern that enough positions have (the simplified GenConf of GLEM, section 4.4).

    Parameters
    ----------
    features
        The game's atomic features.
    pattern
        The pattern; what contents it has is not looked at.
    chunks
        Feature values int16 [n, F] of some positions at a time.
    minimum_matches
        Positions at least that have a content on any instance. Of more than :data:`MAX_CONTENTS` such contents those
        of most positions are kept.

    Returns
    -------
    tuple
        As :attr:`Pattern.contents`.
    """
    half_sizes(features, pattern)
    found, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for values in chunks:
        # Every row counts once for each different index among its instances.
        indices = np.sort(_canonical_indices(features, pattern, values), axis=0)
        fresh = np.diff(indices, axis=0, prepend=-1) != 0
        own, own_counts = np.unique(indices[fresh], return_counts=True)
        found, places = np.unique(np.concatenate([found, own]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts, own_counts]), len(found)).astype(np.int64)
    enough = np.flatnonzero(counts >= minimum_matches)
    enough = enough[np.argsort(-counts[enough], kind="stable")[:MAX_CONTENTS]]
    return tuple(np.sort(found[enough]).tolist())


def table_of(features: AtomicFeatures, pattern: Pattern) -> SparseTable:
    """Make the hash table of a sparse pattern, whose slots are the numbers of its contents.

    Several indices stand for one content where symmetries of the pattern exchange them: so a lookup needs no canonical
    form.

    Raises
    ------
    BadInputError
        The contents are not canonical, not ascending, out of range or too many.
    """
    first, second = half_sizes(features, pattern)
    contents = np.array(pattern.contents or (), np.int64)
    inside = len(contents) <= MAX_CONTENTS and contents.min(initial=0) >= 0
    if not inside or contents.max(initial=0) >= first * second or (np.diff(contents) <= 0).any():
        raise BadInputError(f"pattern {pattern.name!r}: its contents are too many, out of range or not ascending")
    keys = exchanged_entries(features, pattern.features, contents)
    if (keys < contents).any():
        raise BadInputError(f"pattern {pattern.name!r}: its contents are not the smallest of their images")
    known, places = np.unique(keys, return_index=True)
    return SparseTable.from_pairs(known // second, known % second, places % max(len(contents), 1), first, second)


def _indices(features: AtomicFeatures, members: Sequence[int], values: NDArray[np.int16]) -> NDArray[np.int64]:
    """Mixed-radix index of some features' values in every row: int64 [N]."""
    index = np.zeros(len(values), np.int64)
    for place in members:
        feature, column = features[place], values[:, place]
        if len(values) and not feature.low <= column.min() <= column.max() <= feature.high:
            raise BadInputError(f"feature {feature.name!r} has values outside {feature.low}..{feature.high}")
        index = index * feature.cardinality + (column.astype(np.int64) - feature.low)
    return index


def _canonical_indices(features: AtomicFeatures, pattern: Pattern, values: NDArray[np.int16]) -> NDArray[np.int64]:
    """Canonical index of every instance in every row: int64 [I, N]."""
    orders = [
        [pattern.features.index(feature) for feature in image] for image in self_images(features, pattern.features)
    ]
    columns = [
        np.minimum.reduce([_indices(features, [image[place] for place in order], values) for order in orders])
        for image in images_of(features, pattern.features)
    ]
    return np.array(columns, np.int64).reshape(len(columns), len(values))
