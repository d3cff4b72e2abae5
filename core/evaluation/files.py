"""Evaluation files: archives (:mod:`glem.core.files.archives`) of weights.

The header names the game, the features, phases and patterns that the weights belong to, the link and the provenance.
Patterns are rebuilt from feature names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError, reading
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import Link
from glem.core.features.learning import Learning, load_learning
from glem.core.files.archives import ArchiveFormat
from glem.core.game.families import check_named_by_file
from glem.core.patterns.patterns import PatternSet

__all__ = [
    "EVALUATION_ARRAYS",
    "OPTIONAL_EVALUATION_ARRAYS",
    "Comparison",
    "compare_evaluations",
    "evaluation_parts",
    "load_evaluation",
    "restored_evaluation",
    "save_evaluation",
]

_CONFIGURATION_ARRAYS = {
    "relation_features": np.int32,
    "relation_values": np.int16,
    "configuration_relations": np.uint16,
    "configuration_offsets": np.int64,
    "configuration_match_counts": np.int64,
}
EVALUATION_ARRAYS = ("bias", "pattern_weights", "configuration_weights", "linear_weights")
"""Arrays that every evaluation file holds."""

OPTIONAL_EVALUATION_ARRAYS = tuple(_CONFIGURATION_ARRAYS)
"""Arrays of an evaluation with configurations."""

_FORMAT = ArchiveFormat(
    "glem evaluation",
    version=1,
    required=EVALUATION_ARRAYS,
    optional=OPTIONAL_EVALUATION_ARRAYS,
    largest=4 << 30,
    foreign={
        "match_counts": "holds configurations without weights, no evaluation",
        "value_bias": "is an evaluation with a drawishness",
    },
)


def save_evaluation(evaluation: LinearEvaluation, path: str | os.PathLike[str]) -> None:
    """Write an evaluation atomically.

    Parameters
    ----------
    evaluation
        What to write.
    path
        Should end in ``.npz``.
    """
    _FORMAT.write(path, *evaluation_parts(evaluation))


def evaluation_parts(evaluation: LinearEvaluation) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of which :func:`restored_evaluation` makes the evaluation again."""
    learning = evaluation.learning
    features = learning.features
    arrays: dict[str, NDArray[Any]] = {name: getattr(evaluation, name) for name in EVALUATION_ARRAYS}
    configurations = evaluation.configurations
    if configurations is not None:
        arrays["relation_features"] = configurations.table.features
        arrays["relation_values"] = configurations.table.values
        arrays["configuration_relations"] = configurations.relations
        arrays["configuration_offsets"] = configurations.offsets
        arrays["configuration_match_counts"] = configurations.match_counts
    header = {
        "game": learning.game.name,
        "phases": list(learning.phases.names),
        "features": [[feature.name, feature.low, feature.high] for feature in features.features],
        "link": {"name": evaluation.link.name, "span": evaluation.link.span, "low": evaluation.link.low},
        "patterns": None
        if evaluation.patterns is None
        else {
            pattern.name: [features[feature].name for feature in pattern.features]
            for pattern in evaluation.patterns.patterns
        },
        "linear": [features[feature].name for feature in evaluation.linear],
        "most_specific": evaluation.most_specific,
        "position_count": None if configurations is None else configurations.position_count,
        "provenance": dict(evaluation.provenance),
    }
    return header, arrays


def _check_learning(path: Path, header: dict[str, Any], learning: Learning) -> None:
    if tuple(header["phases"]) != learning.phases.names:
        raise BadInputError(f"{path}: made for other phases than {learning.game.name} has now: {header['phases']}")
    now = [[feature.name, feature.low, feature.high] for feature in learning.features.features]
    if header["features"] != now:
        changed = [str(there[0]) for there, here in zip(header["features"], now, strict=False) if there != here]
        first = changed[0] if changed else f"{len(header['features'])} of them, now {len(now)}"
        raise BadInputError(f"{path}: made with other features than {learning.game.name} has now ({first})")


def load_evaluation(path: str | os.PathLike[str]) -> LinearEvaluation:
    """Read an evaluation file, one without a drawishness.

    Raises
    ------
    BadInputError
        The file is missing, damaged, no evaluation, or made for other features or phases.
    """
    source = Path(path)
    return restored_evaluation(source, *_FORMAT.read(source))


def restored_evaluation(source: Path, header: Any, arrays: Mapping[str, NDArray[Any]]) -> LinearEvaluation:
    """Make an evaluation of the header and arrays of :func:`evaluation_parts`.

    Parameters
    ----------
    source
        The file they come from, for errors.
    header, arrays
        As they were read.

    Raises
    ------
    BadInputError
        They fit no evaluation, or one of other features or phases.
    """
    with reading(source, "glem evaluation file"):
        learning = load_learning(check_named_by_file(header["game"], source))
        _check_learning(source, header, learning)
        patterns = None
        if header["patterns"] is not None:
            patterns = PatternSet.from_names(learning.features, header["patterns"])
        configurations = None
        if header["position_count"] is not None:
            parts = {name: np.asarray(arrays[name], kind) for name, kind in _CONFIGURATION_ARRAYS.items()}
            configurations = ConfigurationSet(
                table=RelationTable(parts["relation_features"], parts["relation_values"]),
                relations=parts["configuration_relations"],
                offsets=parts["configuration_offsets"],
                match_counts=parts["configuration_match_counts"],
                position_count=int(header["position_count"]),
            )
        return LinearEvaluation(
            learning=learning,
            bias=arrays["bias"],
            link=Link(str(header["link"]["name"]), float(header["link"]["span"]), float(header["link"]["low"])),
            patterns=patterns,
            pattern_weights=arrays["pattern_weights"],
            configurations=configurations,
            configuration_weights=arrays["configuration_weights"],
            most_specific=bool(header["most_specific"]),
            linear=tuple(learning.features.index(name) for name in header["linear"]),
            linear_weights=arrays["linear_weights"],
            provenance={str(name): str(text) for name, text in header["provenance"].items()},
        )


@define(frozen=True)
class Comparison:
    """How two evaluations of one game differ.

    Parameters
    ----------
    differences
        Names of the parts that are not of one kind in both: header entries such as ``link`` or ``patterns``.
    weights
        Weight array to (root mean square difference, largest difference, correlation); only arrays of one shape
        over the same items.
    """

    differences: tuple[str, ...]
    weights: dict[str, tuple[float, float, float]]

    @property
    def equal(self) -> bool:
        """Whether both give every position the same value."""
        return not self.differences and all(largest == 0 for _, largest, _ in self.weights.values())


def _same_patterns(one: PatternSet | None, other: PatternSet | None) -> bool:
    return (() if one is None else one.patterns) == (() if other is None else other.patterns)


def _same_configurations(one: ConfigurationSet | None, other: ConfigurationSet | None) -> bool:
    if one is None or other is None:
        return one is other
    return (
        np.array_equal(one.table.features, other.table.features)
        and np.array_equal(one.table.values, other.table.values)
        and np.array_equal(one.offsets, other.offsets)
        and np.array_equal(one.relations, other.relations)
    )


def compare_evaluations(one: LinearEvaluation, other: LinearEvaluation) -> Comparison:
    """Compare two evaluations of one game, weight by weight where their items agree.

    Raises
    ------
    BadInputError
        They evaluate different games.
    """
    if one.learning.game.name != other.learning.game.name:
        raise BadInputError(f"one evaluates {one.learning.game.name}, the other {other.learning.game.name}")
    items = {
        "bias": True,
        "pattern_weights": _same_patterns(one.patterns, other.patterns),
        "configuration_weights": _same_configurations(one.configurations, other.configurations),
        "linear_weights": one.linear == other.linear,
    }
    differences = [name for name, same in items.items() if not same]
    if one.link != other.link:
        differences.append("link")
    if one.configurations is not None and one.most_specific != other.most_specific:
        differences.append("most_specific")
    weights = {}
    for name, same in items.items():
        a, b = (np.asarray(getattr(each, name), np.float64).ravel() for each in (one, other))
        if not same or a.size == 0:
            continue
        delta = a - b
        spread = a.std() * b.std()
        correlation = float(((a - a.mean()) * (b - b.mean())).mean() / spread) if spread > 0 else float("nan")
        weights[name] = (float(np.sqrt((delta**2).mean())), float(np.abs(delta).max()), correlation)
    return Comparison(tuple(differences), weights)
