"""Evaluations of a few weights, or of random ones, for tests of what is done with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC
from glem.core.features.learning import Learning
from glem.core.patterns.patterns import PatternSet

__all__ = ["change_header", "mobility_evaluation", "random_weights"]


def mobility_evaluation(learning: Learning, *, logistic: bool = False) -> LinearEvaluation:
    """Own moves less the opponent's: in label units, or as the winning chance at a tenth of a log odd each."""
    weights = np.array([1.0, -1.0], np.float32) * np.float32(0.1 if logistic else 1.0)
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        link=LOGISTIC if logistic else IDENTITY,
        linear=tuple(learning.features.index(name) for name in ("mobility", "opponent_mobility")),
        linear_weights=np.tile(weights, (phases, 1)),
    )


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
