"""Checks of what a plugin gives to learning: atomic features and phases."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.conformance.playouts import Sample, play_sample, show
from glem.core.conformance.report import ConformanceReport, Examination
from glem.core.features import AtomicFeatures, write_values
from glem.core.game import Game
from glem.core.kernels import compiled
from glem.core.learning import Learning, Phases
from glem.core.operations import position_at, store_position

__all__ = ["check_features", "check_learning", "check_phases"]

_GUARD_VALUES = 8
_SENTINELS = (np.int16(-32768), np.int16(32767))


def check_features(features: AtomicFeatures, *, games: int = 20, seed: int = 0) -> ConformanceReport:
    """Examine atomic features on the positions of random games: ranges, plain against compiled, symmetries.

    Parameters
    ----------
    features
        The features of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games and the seed of their moves.
    """
    examination = Examination(f"features of {features.game.title}")
    _examine_features(features, _sample(features.game, games, seed, examination), examination)
    return examination.report()


def check_phases(phases: Phases, *, games: int = 20, seed: int = 0) -> ConformanceReport:
    """Examine phases on the positions of random games: range, plain against compiled, symmetries.

    Parameters
    ----------
    phases
        The phases of a game that passes :func:`~glem.core.conformance.check_game`.
    games, seed
        Number of random games and the seed of their moves.
    """
    examination = Examination(f"phases of {phases.game.title}")
    _examine_phases(phases, _sample(phases.game, games, seed, examination), examination)
    return examination.report()


def check_learning(learning: Learning, *, games: int = 20, seed: int = 0) -> ConformanceReport:
    """Examine all that a game gives to learning: features, phases, and the feature names in sets and baselines."""
    examination = Examination(f"learning of {learning.game.title}")
    sample = _sample(learning.game, games, seed, examination)
    _examine_features(learning.features, sample, examination)
    _examine_phases(learning.phases, sample, examination)
    with examination.check("names", "pattern sets, linear features and baselines name features of the game") as check:
        check.expect(learning.features.game is learning.game, "the features belong to another game")
        check.expect(learning.phases.game is learning.game, "the phases belong to another game")
        sets = learning.pattern_sets.values()
        groups = [(f"pattern {name!r}", names) for patterns in sets for name, names in patterns.items()]
        groups += [(f"baseline {name!r}", names) for name, names in learning.baselines.items()]
        known = {feature.name for feature in learning.features.features}
        for place, names in [*groups, ("linear", learning.linear)]:
            unknown = [name for name in names if name not in known]
            check.expect(not unknown, f"{place} names unknown features: {unknown}")
            check.expect(len(set(names)) == len(names), f"{place} names a feature twice: {names}")
    return examination.report()


def _sample(game: Game, games: int, seed: int, examination: Examination) -> Sample:
    sample = Sample()
    with examination.check("play", "random games can be played") as check:
        play_sample(game, games, seed, sample, check)
    return sample


def _columns(game: Game, positions: list[Any]) -> Any:
    columns = game.empty_columns(len(positions))
    for row, position in enumerate(positions):
        store_position(columns, row, position)
    return columns


def _write_all(operations: Any, columns: Any, values: Any) -> None:
    for row in range(values.shape[0]):
        write_values(operations, position_at(columns, row), values[row])


def _examine_features(features: AtomicFeatures, sample: Sample, examination: Examination) -> None:
    game, count = features.game, len(features)
    positions = sample.positions
    plain = np.zeros((len(positions), count), np.int16)
    with examination.check("features", "every feature is written, within its range, and nothing else is") as check:
        for row, position in enumerate(positions):
            where = "in\n" + show(game, position, sample.history[row])
            written = []
            for sentinel in _SENTINELS:
                buffer = np.full(count + _GUARD_VALUES, sentinel, np.int16)
                features.write(position, buffer)
                written.append(buffer)
            plain[row] = written[0][:count]
            check.expect(
                all(np.all(buffer[count:] == sentinel) for buffer, sentinel in zip(written, _SENTINELS, strict=True)),
                f"more than {count} values are written, {where}",
            )
            for place in np.flatnonzero(written[0][:count] != written[1][:count]):
                check.fail(f"feature {features[int(place)].name!r} is not written or not repeatable, {where}")
            for feature, value in zip(features.features, plain[row], strict=True):
                if not feature.low <= value <= feature.high:
                    check.fail(f"{feature.name!r} is {value}, expected {feature.low} to {feature.high}, {where}")
    with examination.check("features compiled", "the compiled features agree with the plain ones") as check:
        found = np.full((len(positions), count + _GUARD_VALUES), _SENTINELS[0], np.int16)
        compiled(_write_all)(features.operations, _columns(game, positions), found)
        check.expect(np.all(found[:, count:] == _SENTINELS[0]), f"compiled code writes more than {count} values")
        check.cases += len(positions)
        for row, place in np.argwhere(found[:, :count] != plain):
            check.fail(
                f"{features[int(place)].name!r}: plain code gives {plain[row, place]}, compiled {found[row, place]}, "
                f"in\n{show(game, positions[row], sample.history[row])}"
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
            for row, position in enumerate(positions):
                values = features.values_of(game.transform(position, symmetry))
                check.cases += 1
                for place in np.flatnonzero(values[images] != plain[row]):
                    name, image = features[int(place)].name, features[int(images[place])].name
                    check.fail(
                        f"{name!r} is {plain[row, place]}, under symmetry {symmetry} its image {image!r} is "
                        f"{values[images[place]]}, in\n{show(game, position, sample.history[row])}"
                    )


def _examine_phases(phases: Phases, sample: Sample, examination: Examination) -> None:
    game = phases.game
    with examination.check("phases", "every position has one phase, the same for its images") as check:
        for row, position in enumerate(sample.positions):
            where = "in\n" + show(game, position, sample.history[row])
            phase = phases.phase_of(position)
            check.expect(
                isinstance(phase, int | np.integer) and 0 <= phase < len(phases),
                f"phase_of gives {phase!r}, expected 0 to {len(phases) - 1}, {where}",
            )
            for symmetry in range(game.symmetry_count if game.transform is not None else 0):
                image = phases.phase_of(game.transform(position, symmetry))  # type: ignore[misc]  # loop is empty then
                check.expect(image == phase, f"phase {phase} is {image} under symmetry {symmetry}, {where}")
    with examination.check("phases compiled", "the compiled phase agrees with the plain one") as check:
        found = phases.of(_columns(game, sample.positions))
        for row, position in enumerate(sample.positions):
            phase = phases.phase_of(position)
            check.expect(
                found[row] == phase,
                f"plain code gives {phase}, compiled {found[row]}, in\n{show(game, position, sample.history[row])}",
            )
