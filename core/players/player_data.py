"""Evaluations that players are made of: loaded once in a process, and told apart by digests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.evaluation.named import load_value
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.players.external import external_players_of
from glem.core.players.spec import (
    EXTERNAL,
    GREEDY,
    MOBILITY,
    RANDOM,
    SEARCH,
    PlayerSpec,
)
from glem.core.search.probcut import ProbCut
from glem.core.search.probcut_choice import chosen_probcut

__all__ = ["data_digest", "load_player_probcut"]


def data_digest(spec: PlayerSpec, game: Game) -> str:
    """Digest of all that a player reads from files or plugins; "" where it reads nothing."""
    if spec.kind == EXTERNAL:
        return external_players_of(game, spec).digest(game, spec)
    if spec.kind == RANDOM or (spec.kind == GREEDY and spec.evaluation == MOBILITY):
        return ""
    evaluation = load_value(spec.evaluation, game)
    text = f"{evaluation.link} {evaluation.most_specific};"
    arrays: list[NDArray[Any]] = [
        evaluation.bias,
        evaluation.pattern_weights,
        evaluation.configuration_weights,
        evaluation.linear_weights,
        np.array(evaluation.linear, np.int64),
    ]
    if evaluation.configurations is not None:
        arrays += [evaluation.configurations.relations, evaluation.configurations.offsets]
    probcut = load_player_probcut(game, spec) if spec.kind == SEARCH else None
    if probcut is not None:
        text += f"{probcut.threshold};"
        arrays += [probcut.check_depths, probcut.slopes, probcut.offsets, probcut.deviations]
    return arrays_digest(arrays, text)


def load_player_probcut(game: Game, spec: PlayerSpec) -> ProbCut | None:
    """Parameters of a player's selective search; None where it is full-width."""
    return chosen_probcut(game, probcut=spec.probcut, evaluation=spec.evaluation, selective=spec.selective)
