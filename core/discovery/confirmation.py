"""Which of the configurations that were found are real: a test of each on games that no stage has seen.

Among millions of candidates some fit the labels by chance, and whatever was chosen by some games looks good on these.
So each class of configurations is tested on other games, in each phase beside all others: of its matches, only what the
matches of the others do not foretell counts. Errors in the weights of the others then make no difference (Chernozhukov
and others 2018, "Double/debiased machine learning", have this for one variable). What the evaluation leaves without the
class goes with that, in the mean, only if the class says something that the others do not say. Sums over games are
independent; those of all phases are added up, by the weights that the class has there, so that an effect may change its
sign from phase to phase.
"""

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import symmetry_classes
from glem.core.configurations.matching.matcher import ConfigurationMatcher
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.positions.positions import Positions

_POSITIONS = 100_000
"""To learn from, and to test on, at most: others of the same games say little that is new."""
_LEAST_ROWS = 2
"""Positions for each class at least; a phase with fewer does not say what foretells what."""
_RIDGE = 1e-4
"""Of the number of positions: two classes that always match together are not told apart."""


def q_values(
    evaluation: LinearEvaluation, training_set: Positions, held_out: Positions, *, seed: int = 0, jobs: int = 1
) -> NDArray[np.float64]:
    """Test every symmetry class of an evaluation's configurations, one-sided.

    The classes whose q-values are at most a rate are confirmed: about that share of them at most is false (Benjamini &
    Hochberg 1995).

    Parameters
    ----------
    evaluation
        With configurations, all active ones of which count; those of a class share their weights.
    training_set, held_out
        Scored positions of the games that the evaluation was found by, and of others.
    seed
        Draws positions where there are many.
    jobs
        Threads.

    Returns
    -------
    q_values
        float64, one of each class (:func:`~glem.core.configurations.configurations.symmetry_classes`); 1 where nothing
        can be tested.
    """
    from scipy.sparse import csr_matrix
    from scipy.stats import false_discovery_control, norm

    learning, configurations = evaluation.learning, evaluation.configurations
    if configurations is None:
        return np.ones(0)
    classes = symmetry_classes(configurations, learning.features.symmetries)
    weights = evaluation.configuration_weights[:, np.unique(classes, return_index=True)[1]].astype(np.float64)
    matcher, count = ConfigurationMatcher(configurations), weights.shape[1]
    known, tested = (part.drawn(_POSITIONS, seed) for part in (training_set, held_out))
    game = np.unique(tested.game_key, return_inverse=True)[1]
    left = tested.label - evaluation.predict(tested.positions, jobs=jobs)
    known_phase, phase = (learning.phases.of(part.positions) for part in (known, tested))
    by_game = np.zeros((int(game.max(initial=-1)) + 1, count))

    def matches(positions: Positions, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Count how often each class matches, and a constant."""
        values = learning.features.values(positions.select(rows).positions)
        starts, members = matcher.active(values, jobs=jobs)
        ones = np.ones(len(members))
        found = csr_matrix((ones, classes[members], starts), shape=(len(rows), count)).toarray()
        return np.concatenate([found, np.ones((len(rows), 1))], axis=1)

    for number, own in enumerate(weights):
        rows, known_rows = np.flatnonzero(phase == number), np.flatnonzero(known_phase == number)
        if not own.any() or len(rows) == 0 or len(known_rows) < _LEAST_ROWS * count:
            continue
        others = matches(known, known_rows)
        inverse = np.linalg.inv(others.T @ others + _RIDGE * len(others) * np.eye(count + 1))
        found = matches(tested, rows)
        # Each less its regression on all others.
        alone = (found @ inverse / np.diag(inverse))[:, :count]
        products = own * alone * (left[rows, None] + own * found[:, :count]) * tested.weight[rows, None]
        np.add.at(by_game, game[rows], products)
    spread = np.sqrt((by_game**2).sum(axis=0))
    is_tested = spread > 0
    q = np.ones(count)
    q[is_tested] = false_discovery_control(norm.sf(by_game.sum(axis=0)[is_tested] / spread[is_tested]))
    return q
