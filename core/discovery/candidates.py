"""From positions to the configurations worth a weight: mining, significance, gain, symmetry (GLEM, section 4)."""

from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.configurations.configurations import ConfigurationSet, close_under_symmetry, symmetry_classes
from glem.core.configurations.mining import label_significance, label_statistics, mine
from glem.core.configurations.mining.gain import generalization_gain
from glem.core.configurations.mining.union import union
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.errors import BadInputError
from glem.core.features.learning import Learning
from glem.core.game.game import transform
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

_LEVEL = 0.01
"""Significance level of the correlation with the label, after Benjamini and Hochberg's correction."""
_LIMIT = 40_000_000
"""Most configurations to mine; more are an error, since what is missing then is no random part."""


@define(frozen=True, eq=False)
class Candidates:
    """Configurations to fit.

    Parameters
    ----------
    configurations
        C configurations with all their images; match counts in the sample. C is 0 where nothing is worth
        a weight.
    mined, significant
        How many configurations were mined, and how many of them were significant with enough gain.
    incomplete
        Why the mining stopped early; empty when it did not.
    lacking
        Why there are no configurations, and what helps; empty when there are some.
    """

    configurations: ConfigurationSet
    mined: int
    significant: int
    incomplete: str = ""
    lacking: str = ""


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
    rows = np.sort(generator.permutation(len(positions))[:count])
    drawn = positions.select(rows)
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


def _lacking(plan: DiscoveryPlan, mined: int, significant: int, gaining: int, greatest: float) -> str:
    """Say which of the two conditions keeps all configurations out, and what helps against it."""
    found = (
        f"none of {counted(mined, 'configuration')} is significant at {_LEVEL:g} and gains "
        f"{plan.gain:g} standard "
        f"errors over its generalizations: {significant:,} of them are significant, {gaining:,} gain enough, and the "
        f"greatest gain is {greatest:.2f}."
    )
    # The correction multiplies by the number of tests: fewer candidates leave more of them significant.
    fewer = (
        "fewer candidates, as the significance is corrected for their number (a smaller --maximum-size, or a larger "
        "--minimum-matches)"
    )
    helps = ["a smaller --gain", fewer] if significant or not gaining else [fewer]
    return f"{found} What helps: {', '.join(helps)}, more games"


def find_candidates(
    sample: Positions,
    learning: Learning,
    plan: DiscoveryPlan,
    *,
    seed: int = 0,
    work: Path | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Candidates:
    """Mine a sample and keep what is significant and says more than its generalizations.

    Where nothing is, there are no configurations among the candidates, and these tell why.

    Parameters
    ----------
    sample
        Scored positions, see :func:`draw_sample`.
    learning
        Features of their game.
    plan
        What to mine and keep.
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
        All labels are equal, no configuration matches often enough or too many do, or what mining raises.
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
    # What the phase alone tells is no configuration's merit.
    phase = learning.phases.of(sample.positions)
    means = np.bincount(phase, sample.label, len(learning.phases)) / np.maximum(
        np.bincount(phase, minlength=len(learning.phases)), 1
    )
    label = sample.label - means[phase]
    statistics = label_statistics(mined, values, label, jobs=jobs, progress=progress)
    # The positions of a game share their result.
    per_label = max(1.0, len(sample) / sample.game_count) if sample.game_count else 1.0
    significant = label_significance(statistics, positions_per_label=per_label) <= _LEVEL
    overall = float(statistics.label_total / len(sample))
    deviation = float(np.sqrt(max(statistics.label_squares / len(sample) - overall**2, 0)))
    if not deviation > 0:
        raise BadInputError("all labels are equal: no configuration can be significant")
    gains = np.abs(generalization_gain(mined, statistics.means, overall, deviation * np.sqrt(per_label)))
    gaining = gains >= plan.gain
    chosen = np.flatnonzero(significant & gaining)
    if len(chosen) == 0:
        greatest = float(np.nan_to_num(gains).max())
        lacking = _lacking(plan, len(mined), int(significant.sum()), int(gaining.sum()), greatest)
        return Candidates(mined.select(chosen), len(mined), 0, mined.incomplete, lacking)
    best_first = chosen[np.argsort(-gains[chosen], kind="stable")]
    ranked = mined.select(best_first)
    _, first = np.unique(symmetry_classes(ranked, learning.features.symmetries), return_index=True)
    kept = np.sort(first)[: plan.keep]
    closed, origin = close_under_symmetry(ranked.select(kept), learning.features.symmetries)
    # Under random symmetries all images match equally often, up to chance: an image has its original's count.
    configurations = evolve(closed, match_counts=ranked.match_counts[kept][origin], incomplete=mined.incomplete)
    return Candidates(configurations, len(mined), len(chosen), mined.incomplete)
