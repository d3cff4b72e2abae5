"""Evaluations of a few weights, or of random ones, for tests of what is done with them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link
from glem.core.features.learning import Learning
from glem.core.patterns.patterns import PatternSet


def linear_evaluation(learning: Learning, *, link: Link = IDENTITY, **weights: float) -> LinearEvaluation:
    """Add up features, with the same weights in every phase."""
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        link=link,
        linear=tuple(map(learning.features.index, weights)),
        linear_weights=np.tile(np.array([*weights.values()], np.float32), (phases, 1)),
    )


def mobility_evaluation(learning: Learning, *, logistic: bool = False) -> LinearEvaluation:
    """Own moves less the opponent's: in label units, or as the winning chance at a tenth of a log odd each."""
    size = 0.1 if logistic else 1.0
    link = LOGISTIC if logistic else IDENTITY
    return linear_evaluation(learning, link=link, mobility=size, opponent_mobility=-size)


def random_weights(
    learning: Learning,
    generator: np.random.Generator,
    *,
    patterns: PatternSet | None = None,
    configurations: ConfigurationSet | None = None,
    linear: tuple[int, ...] = (),
    **options: Any,
) -> LinearEvaluation:
    """Random weights for these items."""
    widths = (patterns.weight_count if patterns else 0, len(configurations) if configurations else 0, len(linear))
    tables = [generator.normal(size=(len(learning.phases), width)).astype(np.float32) for width in widths]
    return LinearEvaluation(
        learning,
        generator.normal(size=len(learning.phases)).astype(np.float32),
        patterns=patterns,
        pattern_weights=tables[0],
        configurations=configurations,
        configuration_weights=tables[1],
        linear=linear,
        linear_weights=tables[2],
        **options,
    )


def change_header(path: Path, change: dict[str, Any]) -> None:
    """Put other values into the header of an archive."""
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(arrays["header"].tobytes()) | change
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)
