"""Checks of what a plugin gives to learning: atomic features and phases."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at
from glem.core.compiling.kernels import compiled
from glem.core.conformance.playouts import Sample, same, sample_of
from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, NotApplicable, Suite
from glem.core.errors import GlemError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import value_part
from glem.core.features.features import AtomicFeatures, write_values
from glem.core.features.learning import Learning, Phases
from glem.core.game.game import Game
from glem.core.patterns.pattern import images_of
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress

_GUARD_VALUES = 8
_SENTINELS = (np.int16(-32768), np.int16(32767))

_FEATURES = Suite()
_PHASES = Suite()
_LEARNING = Suite()


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
    """
    report, sample = _begin("features", features.game, games, seed)
    return report.examine(_FEATURES.of(features, sample), progress)


def check_phases(phases: Phases, *, games: int = 20, seed: int = 0, progress: Progress = SILENT) -> ConformanceReport:
    """Examine phases on the positions of random games: range, plain against compiled, symmetries.

    Parameters
    ----------
    phases
        The phases of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games, fewer of long ones (:data:`~glem.core.conformance.playouts.MOST_POSITIONS`), and the
        seed of their moves.
    """
    report, sample = _begin("phases", phases.game, games, seed)
    return report.examine(_PHASES.of(phases, sample), progress)


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
    """
    report, sample = _begin(
        f"feature set {learning.feature_set}" if learning.feature_set else "learning", learning.game, games, seed
    )
    steps = [
        *_FEATURES.of(learning.features, sample),
        *_PHASES.of(learning.phases, sample),
        *_LEARNING.of(learning, sample, report),
    ]
    return report.examine(steps, progress)


def _begin(what: str, game: Game, games: int, seed: int) -> tuple[ConformanceReport, Sample]:
    """Play the random games on whose positions something is examined."""
    report = ConformanceReport(f"{what} of {game.title}")
    return report, sample_of(game, games, seed, report)


@_LEARNING.promise("names", "pattern sets, lists of features and baselines name features of the game")
def _check_names(check: CheckResult, learning: Learning, sample: Sample, report: ConformanceReport) -> None:
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


@_LEARNING.promise(
    "pattern sets",
    "every pattern set can be built, and a position and its images have the same pattern entries",
)
def _check_pattern_sets(check: CheckResult, learning: Learning, sample: Sample, report: ConformanceReport) -> None:
    if not learning.pattern_sets:
        raise NotApplicable("there are none")
    game = learning.game
    transform = game.transform
    values = _plain_values(learning.features, sample)
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
            report.note(
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


@_LEARNING.promise("shipped", "the evaluation and the sample that come with the game are for this game")
def _check_shipped(check: CheckResult, learning: Learning, sample: Sample, report: ConformanceReport) -> None:
    if learning.default_evaluation is None and learning.sample is None:
        raise NotApplicable("nothing comes with the game")
    if learning.default_evaluation is not None:
        evaluation = value_part(learning.default_evaluation())
        kind = isinstance(evaluation, LinearEvaluation)
        check.expect(kind, f"default_evaluation gives a {type(evaluation).__name__}, expected a LinearEvaluation")
        if kind:
            # What ships reads no features that a user has added.
            features = learning.features.plugin or learning.features
            check.expect(evaluation.learning.features is features, "default_evaluation is for another learning or game")
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


@_FEATURES.promise("features", "every feature is written, within its range, and nothing else is")
def _check_written(check: CheckResult, features: AtomicFeatures, sample: Sample) -> None:
    count = len(features)
    guards = np.repeat(_SENTINELS, count + _GUARD_VALUES).reshape(len(_SENTINELS), -1)
    for _, position in sample.rows(check):
        written = guards.copy()
        for buffer in written:
            features.write(position, buffer)
        untouched = np.array_equal(written[:, count:], guards[:, count:])
        check.expect(untouched, f"more than {count} values are written")
        for place in np.flatnonzero(written[0, :count] != written[1, :count]):
            check.fail(f"feature {features[int(place)].name!r} is not written or not repeatable")
        for feature, value in zip(features.features, written[0, :count], strict=True):
            if not feature.low <= value <= feature.high:
                check.fail(f"{feature.name!r} is {value}, expected {feature.low} to {feature.high}")


@_FEATURES.promise(
    "features compiled",
    "the compiled features agree with the plain ones",
    lambda features, sample: features.operations.plain_reason,
)
def _check_compiled_features(check: CheckResult, features: AtomicFeatures, sample: Sample) -> None:
    count = len(features)
    found = np.full((len(sample.positions), count + _GUARD_VALUES), _SENTINELS[0], np.int16)
    compiled(_write_all)(features.operations, sample.columns(), found)
    check.expect(np.all(found[:, count:] == _SENTINELS[0]), f"compiled code writes more than {count} values")
    check.cases += len(found)
    plain = _plain_values(features, sample)
    differ = found[:, :count] != plain
    for row, _ in sample.rows(check, np.flatnonzero(differ.any(axis=1)).tolist()):
        for place in np.flatnonzero(differ[row]):
            name, wanted = features[int(place)].name, plain[row, place]
            check.fail(f"{name!r}: plain code gives {wanted}, compiled {found[row, place]}")


@_FEATURES.promise("features and symmetries", "a feature has the value of its image on the transformed position")
def _check_features_of_images(check: CheckResult, features: AtomicFeatures, sample: Sample) -> None:
    game, count = features.game, len(features)
    if features.symmetries is None or game.transform is None:
        raise NotApplicable("no symmetries are given")
    shape = (game.symmetry_count, count)
    if features.symmetries.shape != shape:
        raise BrokenPromise(f"symmetries has the shape {features.symmetries.shape}, expected {shape}")
    plain = _plain_values(features, sample)
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


def _plain_values(features: AtomicFeatures, sample: Sample) -> NDArray[np.int16]:
    """Values from plain code: [N, features]."""
    return np.array([features.values_of(position) for position in sample.positions], np.int16)


@_PHASES.promise("phases", "every position has one phase, the same for its images")
def _check_phases(check: CheckResult, phases: Phases, sample: Sample) -> None:
    game = phases.game
    for _, position in sample.rows(check):
        phase = phases.phase_of(position)
        known = isinstance(phase, int | np.integer) and 0 <= phase < len(phases)
        check.expect(known, f"phase_of gives {phase!r}, expected 0 to {len(phases) - 1}")
        if game.transform is None:
            continue
        for symmetry in range(game.symmetry_count):
            image = phases.phase_of(game.transform(position, symmetry))
            check.expect(image == phase, f"phase {phase} is {image} under symmetry {symmetry}")


@_PHASES.promise(
    "phases compiled",
    "the compiled phase agrees with the plain one",
    lambda phases, sample: phases.operations.plain_reason,
)
def _check_compiled_phases(check: CheckResult, phases: Phases, sample: Sample) -> None:
    found = phases.of(sample.columns())
    for row, position in sample.rows(check):
        phase = phases.phase_of(position)
        check.expect(found[row] == phase, f"plain code gives {phase}, compiled {found[row]}")
