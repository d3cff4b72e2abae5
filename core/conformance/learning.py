"""Checks of what a plugin gives to learning: atomic features and phases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.conformance.playouts import Sample, columns_of, same, sample_of
from glem.core.conformance.report import ConformanceReport, Examination, OpenCheck, examine
from glem.core.errors import GlemError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.features import AtomicFeatures, write_values
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game
from glem.core.patterns.patterns import PatternSet, images_of
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress

__all__ = ["check_features", "check_learning", "check_phases"]

_GUARD_VALUES = 8
_SENTINELS = (np.int16(-32768), np.int16(32767))


def check_features(
    features: AtomicFeatures, *, games: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ConformanceReport:
    """Examine atomic features on the positions of random games: ranges, plain against compiled, symmetries.

    Parameters
    ----------
    features
        The features of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games, fewer of long ones (:data:`~glem.core.conformance.playouts.MOST_POSITIONS`), and the
        seed of their moves.
    progress
        Display of the work.
    """
    return _examined("features", features.game, games, seed, progress, [partial(_examine_features, features)])


def check_phases(phases: Phases, *, games: int = 20, seed: int = 0, progress: Progress = SILENT) -> ConformanceReport:
    """Examine phases on the positions of random games: range, plain against compiled, symmetries.

    Parameters
    ----------
    phases
        The phases of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games, fewer of long ones (:data:`~glem.core.conformance.playouts.MOST_POSITIONS`), and the
        seed of their moves.
    progress
        Display of the work.
    """
    return _examined("phases", phases.game, games, seed, progress, [partial(_examine_phases, phases)])


def check_learning(
    learning: Learning, *, games: int = 20, seed: int = 0, progress: Progress = SILENT
) -> ConformanceReport:
    """Examine all that a game gives to learning: features, phases, names, pattern sets, and what it ships.

    Parameters
    ----------
    learning
        Of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games, fewer of long ones (:data:`~glem.core.conformance.playouts.MOST_POSITIONS`), and the
        seed of their moves.
    progress
        Display of the work.
    """
    steps = [
        partial(_examine_features, learning.features),
        partial(_examine_phases, learning.phases),
        partial(_examine_names, learning),
        partial(_examine_pattern_sets, learning),
        partial(_examine_shipped, learning),
    ]
    return _examined("learning", learning.game, games, seed, progress, steps)


def _examined(
    what: str,
    game: Game,
    games: int,
    seed: int,
    progress: Progress,
    steps: Sequence[Callable[[Sample, Examination], None]],
) -> ConformanceReport:
    """Take some steps on the positions of random games."""
    examination = Examination(f"{what} of {game.title}")
    sample = sample_of(game, games, seed, examination)
    examine(examination, [partial(step, sample, examination) for step in steps], progress)
    return examination.report()


def _examine_names(learning: Learning, sample: Sample, examination: Examination) -> None:
    with examination.check("names", "pattern sets, lists of features and baselines name features of the game") as check:
        check.expect(learning.features.game is learning.game, "the features belong to another game")
        check.expect(learning.phases.game is learning.game, "the phases belong to another game")
        sets = learning.pattern_sets.values()
        groups = [(f"pattern {name!r}", names) for patterns in sets for name, names in patterns.items()]
        groups += [(f"baseline {name!r}", names) for name, names in learning.baselines.items()]
        known = {feature.name for feature in learning.features.features}
        for place, names in [*groups, ("linear", learning.linear), ("drawishness", learning.drawishness)]:
            unknown = [name for name in names if name not in known]
            check.expect(not unknown, f"{place} names unknown features: {unknown}")
            check.expect(len(set(names)) == len(names), f"{place} names a feature twice: {names}")


def _examine_pattern_sets(learning: Learning, sample: Sample, examination: Examination) -> None:
    """Build every pattern set and look its entries up, in positions and in their images."""
    promise = "every pattern set can be built, and a position and its images have the same pattern entries"
    if not learning.pattern_sets:
        examination.skip("pattern sets", promise, "there are none")
        return
    game = learning.game
    transform = game.transform
    with examination.check("pattern sets", promise) as check:
        values = np.array([learning.features.values_of(position) for position in sample.positions], np.int16)
        images = [
            np.array([learning.features.values_of(transform(position, symmetry)) for position in sample.positions])
            for symmetry in range(1, game.symmetry_count)
            if transform is not None
        ]
        for name, members in learning.pattern_sets.items():
            try:
                patterns = PatternSet.from_names(learning.features, members)
            except GlemError as error:
                check.fail(f"pattern set {name!r}: {error}")
                continue
            for twins in _duplicates(patterns):
                examination.note(
                    f"pattern set {name!r}: {' and '.join(map(repr, twins))} are images of each other; keep one of "
                    "them, whose images share its weights"
                )
            own = _entries(patterns, values)
            check.cases += len(own)
            if learning.features.symmetries is None:
                continue
            for symmetry, image in enumerate(images, start=1):
                other = np.flatnonzero((_entries(patterns, image) != own).any(axis=1))
                for _ in sample.rows(check, other.tolist()):
                    check.fail(f"pattern set {name!r} has other entries under symmetry {symmetry}")


def _duplicates(patterns: PatternSet) -> list[list[str]]:
    """Names of patterns that are images of each other, or of the same features, in groups of two and more."""
    groups: dict[frozenset[frozenset[int]], list[str]] = {}
    for pattern in patterns.patterns:
        images = frozenset(frozenset(image) for image in images_of(patterns.features, pattern.features))
        groups.setdefault(images, []).append(pattern.name)
    return [names for names in groups.values() if len(names) > 1]


def _entries(patterns: PatternSet, values: Any) -> Any:
    """Weights that are active in each position, sorted: int64 [N, I]."""
    return np.sort(patterns.indices(values).T + patterns.column_offsets[None, :], axis=1)


def _examine_shipped(learning: Learning, sample: Sample, examination: Examination) -> None:
    promise = "the evaluation and the sample that come with the game are for this game"
    if learning.default_evaluation is None and learning.sample is None:
        examination.skip("shipped", promise, "nothing comes with the game")
        return
    with examination.check("shipped", promise) as check:
        if learning.default_evaluation is not None:
            evaluation = value_part(learning.default_evaluation())
            kind = isinstance(evaluation, LinearEvaluation)
            check.expect(kind, f"default_evaluation gives a {type(evaluation).__name__}, expected a LinearEvaluation")
            if kind:
                check.expect(evaluation.learning is learning, "default_evaluation is for another learning or game")
        if learning.sample is not None:
            positions = learning.sample()
            kind = isinstance(positions, Positions)
            check.expect(kind, f"sample gives a {type(positions).__name__}, expected a Positions")
            if kind:
                check.expect(positions.game is learning.game, "sample has positions of another game")
                check.expect(len(positions) > 0, "sample has no positions")


def _write_all(operations: Any, columns: Any, values: Any) -> None:
    for row in range(values.shape[0]):
        write_values(operations, position_at(columns, row), values[row])


def _examine_features(features: AtomicFeatures, sample: Sample, examination: Examination) -> None:
    game, count = features.game, len(features)
    positions = sample.positions
    plain = np.zeros((len(positions), count), np.int16)
    with examination.check("features", "every feature is written, within its range, and nothing else is") as check:
        guards = np.repeat(_SENTINELS, count + _GUARD_VALUES).reshape(len(_SENTINELS), -1)
        for row, position in sample.rows(check):
            written = guards.copy()
            for buffer in written:
                features.write(position, buffer)
            plain[row] = written[0, :count]
            untouched = np.array_equal(written[:, count:], guards[:, count:])
            check.expect(untouched, f"more than {count} values are written")
            for place in np.flatnonzero(written[0, :count] != written[1, :count]):
                check.fail(f"feature {features[int(place)].name!r} is not written or not repeatable")
            for feature, value in zip(features.features, plain[row], strict=True):
                if not feature.low <= value <= feature.high:
                    check.fail(f"{feature.name!r} is {value}, expected {feature.low} to {feature.high}")

    def body(check: OpenCheck) -> None:
        found = np.full((len(positions), count + _GUARD_VALUES), _SENTINELS[0], np.int16)
        compiled(_write_all)(features.operations, columns_of(game, positions), found)
        check.expect(np.all(found[:, count:] == _SENTINELS[0]), f"compiled code writes more than {count} values")
        check.cases += len(positions)
        differ = found[:, :count] != plain
        for row, _ in sample.rows(check, np.flatnonzero(differ.any(axis=1)).tolist()):
            for place in np.flatnonzero(differ[row]):
                name, wanted = features[int(place)].name, plain[row, place]
                check.fail(f"{name!r}: plain code gives {wanted}, compiled {found[row, place]}")

    examination.compare_compiled(
        "features compiled",
        "the compiled features agree with the plain ones",
        body,
        lambda: features.operations.plain_reason,
    )
    promise = "a feature has the value of its image on the transformed position"
    if features.symmetries is None or game.transform is None:
        examination.skip("features and symmetries", promise, "no symmetries are given")
        return
    with examination.check("features and symmetries", promise) as check:
        shape = (game.symmetry_count, count)
        if features.symmetries.shape != shape:
            check.fail(f"symmetries has the shape {features.symmetries.shape}, expected {shape}")
            return
        identity = np.arange(count)
        check.expect(np.array_equal(features.symmetries[0], identity), "row 0 of symmetries is not the identity")
        for symmetry, images in enumerate(features.symmetries):
            if not np.array_equal(np.sort(images), identity):
                check.fail(f"row {symmetry} of symmetries is no permutation of the features")
                continue
            for row, position in sample.rows(check):
                image = game.transform(position, symmetry)
                values = plain[row] if same(image, position) else features.values_of(image)
                check.cases += 1
                for place in np.flatnonzero(values[images] != plain[row]):
                    name, image = features[int(place)].name, features[int(images[place])].name
                    check.fail(
                        f"{name!r} is {plain[row, place]}, under symmetry {symmetry} its image {image!r} is "
                        f"{values[images[place]]}"
                    )


def _examine_phases(phases: Phases, sample: Sample, examination: Examination) -> None:
    game = phases.game
    with examination.check("phases", "every position has one phase, the same for its images") as check:
        for _, position in sample.rows(check):
            phase = phases.phase_of(position)
            known = isinstance(phase, int | np.integer) and 0 <= phase < len(phases)
            check.expect(known, f"phase_of gives {phase!r}, expected 0 to {len(phases) - 1}")
            if game.transform is None:
                continue
            for symmetry in range(game.symmetry_count):
                image = phases.phase_of(game.transform(position, symmetry))
                check.expect(image == phase, f"phase {phase} is {image} under symmetry {symmetry}")

    def body(check: OpenCheck) -> None:
        found = phases.of(sample.columns())
        for row, position in sample.rows(check):
            phase = phases.phase_of(position)
            check.expect(found[row] == phase, f"plain code gives {phase}, compiled {found[row]}")

    examination.compare_compiled(
        "phases compiled",
        "the compiled phase agrees with the plain one",
        body,
        lambda: phases.operations.plain_reason,
    )
