"""Print how many planted configurations a discovery finds and confirms, and how many are false.

The labels of POSITIONS are replaced by a truth with noise. A hundred symmetry classes of mined configurations have a
weight each; each class has half the matches of any generalization, or fewer. What they add up to has a standard
deviation of --deviation discs. The noise is one of 9 discs for each game and one of 10 for each position. A class
counts as planted if it is one of the hundred, no matter how near another one comes. One that is not may still stand
for one that was not chosen, and say something true. Therefore the last column counts those that the same test, of the
same held-out games but without the noise, does not confirm at 1 %: these are the false discoveries.
"""

import tempfile
from pathlib import Path

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from glem.core.configurations.configurations import (
    ConfigurationSet,
    close_under_symmetry,
    configuration_keys,
    symmetry_classes,
)
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.configurations.mining import label_statistics
from glem.core.discovery.candidates import draw_sample, mine_sample, standardized
from glem.core.discovery.confirmation import q_values
from glem.core.discovery.discovery import CONFIGURATIONS, discover
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.features.learning import load_learning
from glem.core.positions.files import read_positions
from glem.core.positions.positions import Positions
from tests.benchmarks.measuring import command_line, table_header, table_row

_PLANTED = 100
_GAME_NOISE, _POSITION_NOISE = 9.0, 10.0
_TRUE = 0.01


def planted(
    mined: ConfigurationSet, symmetries: NDArray[np.intp] | None, random: np.random.Generator
) -> ConfigurationSet:
    """Draw classes of configurations that are no near copies of what they specialize, with all images."""
    counts = dict(zip(map(tuple, map(mined.relations_of, range(len(mined)))), mined.match_counts, strict=True))
    found, seen = list[int](), set[int]()
    classes = symmetry_classes(mined, symmetries)
    for row in random.permutation(np.flatnonzero(mined.sizes >= 2)):
        own = tuple(mined.relations_of(row))
        parents = (counts.get(own[:place] + own[place + 1 :], 0) for place in range(len(own)))
        if classes[row] not in seen and all(2 * mined.match_counts[row] <= parent for parent in parents):
            seen.add(int(classes[row]))
            found.append(int(row))
            if len(found) == _PLANTED:
                break
    return close_under_symmetry(mined.select(np.sort(found)), symmetries)[0]


def labelled(positions: Positions, truth: NDArray[np.float64], random: np.random.Generator) -> Positions:
    """Replace the labels by a truth with noise."""
    game = np.unique(positions.game_key, return_inverse=True)[1]
    noise = random.normal(0, _GAME_NOISE, game.max() + 1)[game] + random.normal(0, _POSITION_NOISE, len(positions))
    return evolve(positions, label=(truth + noise).astype(np.float32))


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__, positions=Path, keep=200, sample=200_000, deviation=6.0, seed=1)
    given = parser.parse_args()
    positions, random = read_positions(given.positions), np.random.default_rng(given.seed)
    learning = load_learning(positions.game.name)
    symmetries = learning.features.symmetries
    plan = DiscoveryPlan(patterns="none", sample=given.sample, minimum_matches=given.sample // 100, keep=given.keep)
    sample = draw_sample(positions, plan.sample, given.seed)
    mined = mine_sample(sample, learning, plan)
    true = planted(mined, symmetries, random)
    weights = random.normal(0, 1, _PLANTED)
    weights = (weights + 0.5 * np.sign(weights))[symmetry_classes(true, symmetries)]
    starts, active = ConfigurationMatcher(true).active(learning.features.values(positions.positions))
    truth = np.add.reduceat(np.append(weights[active], 0), starts[:-1]) * (np.diff(starts) > 0)
    truth *= given.deviation / truth.std()
    exact = evolve(positions, label=truth.astype(np.float32))
    positions = labelled(positions, truth, random)
    true_keys = configuration_keys(true)

    def count(configurations: ConfigurationSet, rows: NDArray[np.intp]) -> int:
        is_true = np.isin(configuration_keys(configurations)[rows], true_keys)
        return len(np.unique(symmetry_classes(configurations, symmetries)[rows][is_true]))

    print(f"{len(mined):,} configurations of {len(positions):,} positions\n")
    table_header("", "classes", "planted", "others", "false")
    sample = draw_sample(positions, plan.sample, given.seed)
    left = standardized(sample.label, learning.phases.of(sample.positions))
    correlations = np.abs(label_statistics(mined, learning.features.values(sample.positions), left).correlations())
    classes = symmetry_classes(mined, symmetries)
    best = np.argsort(-np.nan_to_num(correlations), kind="stable")
    ranked = np.unique(classes[best], return_index=True)
    first = ranked[0][np.argsort(ranked[1])][: given.keep]
    found_there = count(mined, np.flatnonzero(np.isin(classes, first)))
    table_row("first by correlation", given.keep, found_there, given.keep - found_there, "")
    with (
        tempfile.TemporaryDirectory() as folder,
        discover(positions, learning, Path(folder), plan, seed=given.seed) as found,
    ):
        evaluation = found.trainings[CONFIGURATIONS].evaluation
        chosen = evaluation.configurations
        q = found.assessment.q_values[CONFIGURATIONS]
    assert chosen is not None
    classes = symmetry_classes(chosen, symmetries)
    training_set, held_out = (
        part.split_by_game(plan.held_out, given.seed)[half] for half, part in enumerate((positions, exact))
    )
    exact_q = q_values(evaluation, training_set, held_out, seed=given.seed)
    is_false = (exact_q[classes] > _TRUE) & ~np.isin(configuration_keys(chosen), true_keys)
    for rate in (1.0, 0.2, 0.1, 0.05, 0.01):
        rows = np.flatnonzero(q[classes] <= rate)
        number, right = len(np.unique(classes[rows])), count(chosen, rows)
        wrong = len(np.unique(classes[rows][is_false[rows]]))
        table_row(f"confirmed at {rate:.0%}" if rate < 1 else "chosen", number, right, number - right, wrong)


if __name__ == "__main__":
    main()
