"""From positions to mined configurations, of which an evaluation gets some (GLEM, section 4.2)."""

from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.configurations.configurations import ConfigurationSet
from glem.core.configurations.mining import mine
from glem.core.configurations.mining.union import union
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import transform
from glem.core.positions.positions import Positions, drawn_rows
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

_LIMIT = 40_000_000
"""Most configurations to mine; more are an error, since what is missing then is no random part."""


def standardized(left: NDArray[np.floating], phase: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Give what is left of labels in standard deviations of its phase; what the phase alone explains is taken off."""
    found = left.astype(np.float64)
    for number in np.unique(phase):
        rows = phase == number
        found[rows] = (found[rows] - found[rows].mean()) / (found[rows].std() or 1.0)
    return found


def _transform_rows(rules: Any, columns: Any, symmetry: Any, images: Any) -> None:
    for row in range(symmetry.shape[0]):
        store_position(images, row, transform(rules, position_at(columns, row), symmetry[row]))


def draw_sample(positions: Positions, count: int, seed: int) -> Positions:
    """Draw positions without repetition, each under a random symmetry of the board, and balanced over the records.

    Parameters
    ----------
    positions
        Where to draw from; all are taken where there are no more than ``count``.
    count
        How many.
    seed
        Decides which, and under which symmetry.
    """
    generator = np.random.default_rng(seed)
    drawn = positions.select(drawn_rows(generator, len(positions), count))
    game = positions.game
    if game.transform is None or game.symmetry_count == 1:
        return drawn
    images = game.empty_columns(len(drawn))
    symmetry = generator.integers(0, game.symmetry_count, len(drawn))
    compiled(_transform_rows)(game.rules, drawn.positions, symmetry, images)
    # A position without a game keeps the key that it was drawn by.
    return evolve(drawn, positions=images, game_key=drawn.game_key)


def cell_features(learning: Learning) -> NDArray[np.intp]:
    """Select the features that lie on a board cell, all where none does."""
    cells = [place for place, feature in enumerate(learning.features.features) if feature.cell is not None]
    return np.array(cells if cells else range(len(learning.features)), np.intp)


def _subsets(learning: Learning, plan: DiscoveryPlan) -> dict[str, NDArray[np.intp]]:
    if plan.within == "all":
        groups = plan.groups.split(",") if isinstance(plan.groups, str) else plan.groups
        return {"all": learning.features.select(groups=groups) if groups else cell_features(learning)}
    if not learning.pattern_sets:
        raise BadInputError(f"{learning.game.name} has no patterns to mine within")
    patterns = next(iter(learning.pattern_sets.values()))
    return {name: learning.features.select(names=members) for name, members in patterns.items()}


def mine_sample(
    sample: Positions,
    learning: Learning,
    plan: DiscoveryPlan,
    *,
    seed: int = 0,
    work: Path | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> ConfigurationSet:
    """Mine all configurations that occur often enough in a sample (GLEM, section 4.2).

    Parameters
    ----------
    sample
        Positions, see :func:`draw_sample`.
    learning
        Features of their game.
    plan
        What to mine.
    seed
        Of the sequential test.
    work
        Folder for finished parts of the mining; a killed run goes on from there.
    jobs
        Threads; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        No configuration matches often enough or too many do, or what mining raises.
    """
    values = learning.features.values(sample.positions)
    minimum = plan.matches_for(len(sample))
    found = [
        mine(
            values,
            minimum_matches=minimum,
            maximum_size=plan.size_limit,
            features=features,
            method="sequential" if plan.sequential else "exact",
            seed=seed,
            limit=_LIMIT,
            jobs=jobs,
            checkpoint=None if work is None else work / f"mining-{name}",
            progress=progress,
        ).flatten()
        for name, features in _subsets(learning, plan).items()
    ]
    if sum(len(part) for part in found) >= _LIMIT:
        raise BadInputError(
            f"{_LIMIT:,} configurations or more match at least {minimum:,} of {counted(len(sample), 'position')}: "
            "raise the minimal match count or bound the size"
        )
    mined = union(found)
    if len(mined) == 0:
        raise BadInputError(
            f"no configuration matches {minimum:,} of the {counted(len(sample), 'position')} of the sample"
        )
    return mined
