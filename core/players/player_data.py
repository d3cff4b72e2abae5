"""Evaluations that players are made of: loaded once in a process, and told apart by digests."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import BadInputError, PluginError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, load_any_evaluation, value_part
from glem.core.features.learning import has_learning, load_learning
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.players.external import external_players_of
from glem.core.players.spec import (
    DEFAULT_EVALUATION,
    EXTERNAL,
    GREEDY,
    MOBILITY,
    NO_EVALUATION,
    RANDOM,
    SEARCH,
    PlayerSpec,
)
from glem.core.search.probcut import ProbCut
from glem.core.search.probcut_choice import chosen_probcut

__all__ = ["data_digest", "load_any_player_evaluation", "load_player_evaluation", "load_player_probcut"]

_KEPT_EVALUATIONS = 16

_NO_DEFAULT = "without any, `none,depth=4` plays (a search that sees only how games end), and so does `random`"


def data_digest(spec: PlayerSpec, game: Game) -> str:
    """Digest of all that a player reads from files or plugins; "" where it reads nothing."""
    if spec.kind == EXTERNAL:
        return external_players_of(game, spec).digest(game, spec)
    if spec.kind == RANDOM or (spec.kind == GREEDY and spec.evaluation == MOBILITY):
        return ""
    evaluation = load_player_evaluation(game, spec.evaluation)
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


def load_player_evaluation(game: Game, name: str) -> LinearEvaluation:
    """Load an evaluation file, one that comes with the game, or for ``none`` one that calls all positions even.

    ``default`` is the one that the game plays with; the plugin may have others by name.

    Raises
    ------
    BadInputError
        There is no such file, it is no evaluation or another game's, or the game ships none.
    """
    return value_part(load_any_player_evaluation(game, name))


def load_any_player_evaluation(game: Game, name: str) -> LinearEvaluation | ResultEvaluation:
    """Load what :func:`load_player_evaluation` does, with its drawishness where it has one of its own."""
    if name == DEFAULT_EVALUATION:
        return _default_evaluation(game)
    if name == NO_EVALUATION:
        return _blank_evaluation(game)
    own = _own_evaluation(game, name)
    if own is not None:
        return own
    file = _file_of(name, "evaluation")
    found = file.stat()
    evaluation = _load(str(file.resolve()), found.st_mtime_ns, found.st_size)
    made_for = evaluation.learning.game.name
    if made_for != game.name:
        raise BadInputError(f"{name}: evaluates {made_for}, the game is {game.name}")
    return evaluation


def _file_of(name: str, option: str) -> Path:
    file = Path(name)
    if not file.is_file():
        raise BadInputError(
            f"{option} {name!r}: no such file"
            + (", nor does an evaluation of that name come with the game" if option == "evaluation" else "")
        )
    return file


@functools.lru_cache(_KEPT_EVALUATIONS)
def _load(path: str, _modified: int, _size: int) -> LinearEvaluation | ResultEvaluation:
    return load_any_evaluation(path)


@functools.lru_cache(_KEPT_EVALUATIONS)
def _default_evaluation(game: Game) -> LinearEvaluation | ResultEvaluation:
    try:
        learning = load_learning(game.name)
    except PluginError as error:
        raise BadInputError(f"{game.title} has nothing to evaluate positions with ({error}); {_NO_DEFAULT}") from error
    if learning.default_evaluation is None:
        raise BadInputError(
            f"{game.title} comes without an evaluation; name a file that `glem fit` made, as in model.npz,depth=4; "
            f"{_NO_DEFAULT}"
        )
    evaluation: LinearEvaluation | ResultEvaluation = learning.default_evaluation()
    return evaluation


@functools.lru_cache(_KEPT_EVALUATIONS)
def _own_evaluation(game: Game, name: str) -> LinearEvaluation | ResultEvaluation | None:
    """Make the evaluation that the game's plugin has under a name, if any; files of that name give way to it."""
    if not has_learning(game.name):
        return None
    make = load_learning(game.name).evaluations.get(name)
    evaluation: LinearEvaluation | ResultEvaluation | None = None if make is None else make()
    return evaluation


@functools.lru_cache(_KEPT_EVALUATIONS)
def _blank_evaluation(game: Game) -> LinearEvaluation:
    # Imported late: few players need it.
    from glem.core.evaluation.blank import blank_evaluation

    return blank_evaluation(game)
