"""Evaluation files: ``.npz`` archives of plain arrays with a JSON header.

The header names the game, the features, phases and patterns that the weights belong to, the link, the
provenance, and a checksum of the arrays. A file is data: it is read with ``allow_pickle=False``, every size is
checked before memory is taken, and patterns are rebuilt from feature names.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError, GlemError
from glem.core.evaluation import LinearEvaluation
from glem.core.files import atomic_path
from glem.core.fitting.links import Link
from glem.core.learning import Learning, load_learning
from glem.core.patterns import PatternSet

__all__ = ["Comparison", "compare_evaluations", "load_evaluation", "save_evaluation"]

FORMAT = "glem evaluation"
FORMAT_VERSION = 1
_LARGEST_FILE = 4 << 30
_LARGEST_HEADER = 16 << 20
_CONFIGURATION_ARRAYS = {
    "relation_features": np.int32,
    "relation_values": np.int16,
    "configuration_relations": np.uint16,
    "configuration_offsets": np.int64,
    "configuration_match_counts": np.int64,
}
_WEIGHT_ARRAYS = ("bias", "pattern_weights", "configuration_weights", "linear_weights")


def _checksum(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def save_evaluation(evaluation: LinearEvaluation, path: str | os.PathLike[str]) -> None:
    """Write an evaluation atomically.

    Parameters
    ----------
    evaluation
        What to write.
    path
        Should end in ``.npz``.
    """
    learning = evaluation.learning
    features = learning.features
    arrays: dict[str, NDArray[Any]] = {name: getattr(evaluation, name) for name in _WEIGHT_ARRAYS}
    configurations = evaluation.configurations
    if configurations is not None:
        arrays["relation_features"] = configurations.table.features
        arrays["relation_values"] = configurations.table.values
        arrays["configuration_relations"] = configurations.relations
        arrays["configuration_offsets"] = configurations.offsets
        arrays["configuration_match_counts"] = configurations.match_counts
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
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
        "sha256": _checksum(arrays),
    }
    text = json.dumps(header).encode()
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, header=np.frombuffer(text, np.uint8), **arrays)


def _read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    allowed = {"header", *_WEIGHT_ARRAYS, *_CONFIGURATION_ARRAYS}
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            if "match_counts.npy" in members:
                raise BadInputError(f"{path}: holds configurations without weights, no evaluation")
            unknown = sorted(set(members) - {f"{name}.npy" for name in allowed})
            if unknown or "header.npy" not in members:
                raise BadInputError(f"{path}: no glem evaluation ({unknown[0] if unknown else 'no header'})")
            if members["header.npy"].file_size > _LARGEST_HEADER:
                raise BadInputError(f"{path}: the header is larger than {_LARGEST_HEADER} bytes")
            if sum(info.file_size for info in members.values()) > _LARGEST_FILE:
                raise BadInputError(f"{path}: more than {_LARGEST_FILE} bytes when unpacked")
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop("header").tobytes())
    except GlemError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, MemoryError) as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise BadInputError(f"{path}: {error.strerror}") from None
        raise BadInputError(f"{path}: no glem evaluation ({type(error).__name__}: {error})") from error
    except Exception as error:
        # zlib.error derives from Exception alone.
        raise BadInputError(f"{path}: damaged ({type(error).__name__}: {error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise BadInputError(f"{path}: its header is not one of a glem evaluation")
    if header.get("version") != FORMAT_VERSION:
        raise BadInputError(f"{path}: format version {header.get('version')}, this glem reads {FORMAT_VERSION}")
    if header.get("sha256") != _checksum(arrays):
        raise BadInputError(f"{path}: damaged, its checksum does not agree")
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
    """Read an evaluation file.

    Raises
    ------
    BadInputError
        The file is missing, damaged, no evaluation, or made for other features or phases.
    """
    source = Path(path)
    header, arrays = _read_arrays(source)
    try:
        learning = load_learning(header["game"])
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
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise BadInputError(f"{source}: its header is not one of a glem evaluation ({error})") from error
    except GlemError as error:
        raise BadInputError(f"{source}: {error}" if str(source) not in str(error) else str(error)) from error


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
