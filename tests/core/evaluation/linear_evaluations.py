"""Evaluations of a few weights, or of random ones, for tests of what is done with them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link
from glem.core.evaluation.network import Network
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Learning
from glem.core.patterns.pattern import Pattern
from glem.core.patterns.patterns import MAX_TABLE_SIZE, PatternSet
from tests.core.evaluation.evaluator_scores import random_line


def linear_evaluation(learning: Learning, *, link: Link = IDENTITY, **weights: float) -> LinearEvaluation:
    """Add up features, with the same weights in every phase."""
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        link=link,
        linear=tuple(map(learning.features.index, weights)),
        linear_weights=np.tile(np.array([*weights.values()], np.float32), (phases, 1)),
    )


def mobility_evaluation(learning: Learning, *, logistic: bool = False) -> LinearEvaluation:
    """Own moves less the opponent's: in label units, or as the winning chance at a tenth of a log odd each."""
    size = 0.1 if logistic else 1.0
    link = LOGISTIC if logistic else IDENTITY
    return linear_evaluation(learning, link=link, mobility=size, opponent_mobility=-size)


def random_weights(
    learning: Learning,
    generator: np.random.Generator,
    *,
    patterns: PatternSet | None = None,
    configurations: ConfigurationSet | None = None,
    linear: tuple[int, ...] = (),
    **options: Any,
) -> LinearEvaluation:
    """Random weights for these items."""
    widths = (patterns.weight_count if patterns else 0, len(configurations) if configurations else 0, len(linear))
    tables = [generator.normal(size=(len(learning.phases), width)).astype(np.float32) for width in widths]
    if patterns is not None:
        tables[0][:, patterns.null_weights] = 0
    return LinearEvaluation(
        learning,
        generator.normal(size=len(learning.phases)).astype(np.float32),
        patterns=patterns,
        pattern_weights=tables[0],
        configurations=configurations,
        configuration_weights=tables[1],
        linear=linear,
        linear_weights=tables[2],
        **options,
    )


def random_evaluation(learning: Learning, generator: np.random.Generator, **options: Any) -> LinearEvaluation:
    """Random patterns, configurations and linear features of any kind, with random weights."""
    features = learning.features

    def some(count: int) -> list[int]:
        return [int(feature) for feature in generator.permutation(len(features))[:count]]

    patterns = []
    for number in range(int(generator.integers(1, 9))):
        members: list[int] = []
        for feature in some(6):
            size = np.prod([features[member].cardinality for member in (*members, feature)], dtype=object)
            if size <= MAX_TABLE_SIZE and can_be_pattern(features, (*members, feature)):
                members.append(feature)
        if members:
            patterns.append(Pattern(f"pattern {number}", tuple(members)))
    # Relations that hold in some position, so that configurations are active.
    positions, _ = random_line(learning.game, generator)
    holding = [features.values_of(position) for position in positions]
    relations = sorted({(feature, int(values[feature])) for values in holding for feature in some(5)})
    known = {relation: place for place, relation in enumerate(relations)}
    chosen = set()
    for values in holding:
        active = [known[relation] for relation in enumerate(values.tolist()) if relation in known]
        # Specializations of each other by one relation and by more, not closed under taking subsets.
        order = generator.permutation(active).tolist()
        chosen |= {tuple(sorted(order[:size])) for size in (1, 2, 4)}
    return random_weights(
        learning,
        generator,
        patterns=PatternSet(features, tuple(patterns)),
        configurations=ConfigurationSet.from_relations(RelationTable(*np.array(relations).T), sorted(chosen - {()})),
        linear=tuple(some(3)),
        **options,
    )


def can_be_pattern(features: AtomicFeatures, members: tuple[int, ...]) -> bool:
    """Whether the symmetries leave the features' ranges as they are."""
    try:
        PatternSet(features, (Pattern("tried", members),))
    except BadInputError:
        return False
    return True


def change_header(path: Path, change: dict[str, Any]) -> None:
    """Put other values into the header of an archive."""
    with np.load(path) as stored:
        arrays = dict(stored)
    header = json.loads(arrays["header"].tobytes()) | change
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


def random_network(learning: Learning, hidden: int, seed: int = 1) -> LinearEvaluation:
    """Random weights of a hidden layer, as large as fitted ones, under the logistic link."""
    assert learning.views is not None
    generator, phases = np.random.default_rng(seed), len(learning.phases)
    network = Network(
        generator.normal(0, 0.15, (len(learning.views.exchanged) - 1, hidden)),
        generator.normal(0.4, 0.1, hidden),
        generator.normal(0, 2, (phases, 2 * hidden)),
    )
    bias = generator.normal(0, 0.1, phases).astype(np.float32)
    return LinearEvaluation(learning, bias, link=LOGISTIC, network=network)


def random_layer(evaluation: LinearEvaluation, hidden: int, seed: int = 1) -> LinearEvaluation:
    """Give an evaluation a hidden layer of random weights over its patterns."""
    assert evaluation.patterns is not None
    generator, phases = np.random.default_rng(seed), len(evaluation.learning.phases)
    layer = Network(
        generator.normal(
            0, 0.5 / len(evaluation.patterns.instances) ** 0.5, (evaluation.patterns.weight_count, hidden)
        ),
        generator.normal(0.4, 0.1, hidden),
        generator.normal(0, 2, (phases, hidden)),
    )
    return evolve(evaluation, network=layer)
