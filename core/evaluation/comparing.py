"""How two evaluations of one game differ, weight by weight."""

import numpy as np
from attrs import define

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.quadratic import QUADRATIC_ARRAYS, QuadraticEvaluation
from glem.core.patterns.patterns import PatternSet


@define(frozen=True)
class EvaluationComparison:
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
    arrays = [(own.table.features, own.table.values, own.offsets, own.relations) for own in (one, other)]
    return all(map(np.array_equal, *arrays))


def compare_evaluations(one: LinearEvaluation, other: LinearEvaluation) -> EvaluationComparison:
    """Compare two evaluations of one game, weight by weight where their items agree.

    Raises
    ------
    BadInputError
        They evaluate different games.
    """
    if one.learning.game.name != other.learning.game.name:
        raise BadInputError(f"one evaluates {one.learning.game.name}, the other {other.learning.game.name}")
    same_phases = one.learning.phases.names == other.learning.phases.names
    items = {
        "bias": same_phases,
        "pattern_weights": same_phases and _same_patterns(one.patterns, other.patterns),
        "configuration_weights": same_phases and _same_configurations(one.configurations, other.configurations),
        "linear_weights": same_phases and one.linear == other.linear,
    }
    if type(one) is type(other) is QuadraticEvaluation:
        same = items["pattern_weights"] and items["linear_weights"]
        items |= dict.fromkeys(QUADRATIC_ARRAYS, same)
    differences = [name for name, same in items.items() if not same] if same_phases else ["phases"]
    layers = [() if each.network is None else each.network.arrays for each in (one, other)]
    if len(layers[0]) != len(layers[1]) or not all(map(np.array_equal, *layers)):
        differences.append("network")
    if type(one) is not type(other):
        differences.append("kind")
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
    return EvaluationComparison(tuple(differences), weights)
