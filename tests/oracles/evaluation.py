"""The sum of an evaluation, item by item."""

from typing import Any

from glem.core.evaluation.linear import LinearEvaluation


def active_weights(evaluation: LinearEvaluation, values: Any) -> list[int]:
    """Give the weight of each instance of the patterns."""
    patterns, found = evaluation.patterns, list[int]()
    if patterns is None:
        return found
    for instance in patterns.instances:
        entry = 0
        for feature in instance.features:
            kind = patterns.features[feature]
            entry = entry * kind.cardinality + int(values[feature]) - kind.low
        found.append(int(patterns.weight_starts[instance.pattern]) + patterns.weight_of(instance.pattern, entry))
    return found


def layer_value(evaluation: LinearEvaluation, values: Any, phase: int) -> float:
    """Value of a hidden layer over patterns, unit by unit."""
    network, total = evaluation.network, 0.0
    assert network is not None
    rows = active_weights(evaluation, values)
    for unit in range(len(network.bias)):
        amount = float(network.bias[unit]) + sum(float(network.weights[row, unit]) for row in rows)
        total += float(network.output[phase, unit]) * min(max(amount, 0.0), 1.0) ** 2
    return total


def evaluation_sum(evaluation: LinearEvaluation, values: Any, phase: int) -> float:
    """Sum of all active weights for the feature values of one position."""
    total = float(evaluation.bias[phase])
    for weight in active_weights(evaluation, values):
        total += float(evaluation.pattern_weights[phase, weight])
    for place, feature in enumerate(evaluation.linear):
        total += float(evaluation.linear_weights[phase, place]) * int(values[feature])
    if evaluation.configurations is not None:
        table = evaluation.configurations.table
        active = {}
        for configuration in range(len(evaluation.configurations)):
            relations = evaluation.configurations.relations_of(configuration)
            if all(values[table.features[relation]] == table.values[relation] for relation in relations):
                active[configuration] = {int(relation) for relation in relations}
        for configuration, relations in active.items():
            if evaluation.most_specific and any(relations < other for other in active.values()):
                continue
            total += float(evaluation.configuration_weights[phase, configuration])
    return total
