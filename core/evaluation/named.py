"""Evaluations by name: files of either kind, the ones that a game's plugin ships, and one that every game has."""

import functools
import os
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

from glem.core.compiling.code_digest import code_digest
from glem.core.errors import BadInputError, PluginError, check_regular, described
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.quadratic import QUADRATIC_ARRAYS, QuadraticEvaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation, has_drawishness, value_part
from glem.core.features.evaluators import only_phase
from glem.core.features.features import AtomicFeatures
from glem.core.features.functions import function_evaluator, load_function
from glem.core.features.learning import Learning, Phases, has_learning, load_learning, with_sources
from glem.core.features.own import used_of
from glem.core.files.archives import holds_array
from glem.core.game.game import Game, load_game

DEFAULT_EVALUATION = "default"
"""Names the evaluation that a game's plugin ships."""

FUNCTION_PREFIX = "python:"
"""Begins the name of an evaluation that is a function of the user's own."""

STRONGEST_EVALUATION = "strongest"
"""Names the one of a plugin's evaluations that plays best."""

NO_EVALUATION = "none"
"""Names an evaluation that calls all positions even: only the end of the game counts."""

_KEPT = 16

_NO_DEFAULT = "without any, `none,depth=4` plays (a search that sees only how games end), and so does `random`"


def load_evaluation(
    name: str | os.PathLike[str] = DEFAULT_EVALUATION, game: Game | str | None = None
) -> LinearEvaluation | ResultEvaluation:
    """Load an evaluation of either kind, with a drawishness or without; each is kept for the next call.

    Parameters
    ----------
    name
        A file. With a game also ``default`` for the one that its plugin ships, the name of another that the plugin
        has, ``strongest`` for the one of these that plays best, or ``none`` for one that calls all positions even.
    game
        The game or its name; None for the game that the file names.

    Raises
    ------
    BadInputError
        There is no such evaluation, the file holds none, or it belongs to another game or to other features.
    """
    if not isinstance(name, str | os.PathLike):
        raise BadInputError(f"the name of an evaluation is needed, got {described(name)}")
    name, game = os.fspath(name), None if game is None else load_game(game)
    shipped = None if game is None else _shipped_evaluation(game, name)
    if shipped is not None:
        return shipped
    file = Path(name)
    check_regular(file)
    if not file.is_file():
        hint = "" if game is None else ", nor does an evaluation of that name come with the game"
        raise BadInputError(f"evaluation {name!r}: no such file{hint}")
    found = file.stat()
    evaluation = _load_file(str(file.resolve()), found.st_mtime_ns, found.st_size)
    made_for = evaluation.learning.game.name
    if game is not None and made_for != game.name:
        raise BadInputError(f"{name}: evaluates {made_for}, the game is {game.name}")
    return evaluation


def evaluation_of(
    given: str | os.PathLike[str] | LinearEvaluation | ResultEvaluation, game: Game | None = None
) -> LinearEvaluation | ResultEvaluation:
    """Load an evaluation of a game, if it is not given itself."""
    if isinstance(given, str | os.PathLike):
        return load_evaluation(given, game)
    if not isinstance(given, LinearEvaluation | ResultEvaluation):
        raise BadInputError(f"an evaluation is needed, or the name of one, got {described(given)}")
    if game is not None and given.learning.game.name != game.name:
        raise BadInputError(f"an evaluation of {given.learning.game.name} is given, the game is {game.name}")
    return given


def load_value(name: str | os.PathLike[str], game: Game | None = None) -> LinearEvaluation:
    """Load what search and players use of the evaluation that :func:`load_evaluation` loads."""
    return value_part(load_evaluation(name, game))


def load_prior(name: str | os.PathLike[str], game: Game) -> LinearEvaluation | ResultEvaluation | None:
    """Load what a fit begins with: as :func:`load_evaluation`, with the features that this process adds to the game's.

    Those of them that are linear have weights of 0, beside a hidden layer none. Of :data:`NO_EVALUATION` there is None.

    Raises
    ------
    BadInputError
        As of :func:`load_evaluation`; or the process adds its features in another order than the evaluation.
    """
    if name == NO_EVALUATION:
        return None
    evaluation = load_evaluation(name, game)
    before, now = evaluation.learning, used_of(game.name)
    count = len(before.features.sources)
    if len(now) <= count or before.feature_set:
        return evaluation
    if now[:count] != before.features.sources:
        raise BadInputError(f"{os.fspath(name)}: name the files of its own features first")
    learning = with_sources(before, now)
    added = [own for source in now[count:] for own in source.of(game.name)]
    value = value_part(evaluation)
    linear = [own.feature.name for own in added if own.linear and value.network is None]
    value = value.extended(learning, linear)
    if not isinstance(evaluation, ResultEvaluation):
        return value
    return evolve(evaluation, value=value, drawishness=evaluation.drawishness.extended(learning))


def load_searched(name: str | os.PathLike[str], game: Game) -> LinearEvaluation:
    """Load what a search evaluates with: as :func:`load_value`, or a function ``python:FILE.py:FUNCTION``.

    That of a function (:func:`~glem.core.features.functions.function_evaluator`) has no weights of its own: all that it
    gives is its evaluator; its provenance has a digest of the code.
    """
    text = os.fspath(name)
    if not text.startswith(FUNCTION_PREFIX):
        return load_value(name, game)
    function = load_function(text.removeprefix(FUNCTION_PREFIX))
    blank = blank_evaluation(game)
    evaluator = function_evaluator(game, function)
    learning = evolve(blank.learning, make_evaluator=lambda _: evaluator)
    return evolve(blank, learning=learning, provenance={"code": code_digest(function)})


@functools.lru_cache(_KEPT)
def _load_file(path: str, _modified: int, _size: int) -> LinearEvaluation | ResultEvaluation:
    if has_drawishness(path):
        return ResultEvaluation.load(path)
    return (QuadraticEvaluation if holds_array(path, QUADRATIC_ARRAYS[0]) else LinearEvaluation).load(path)


def shipped_name(name: str, game: Game) -> str:
    """Name that ``strongest`` stands for; every other name stands for itself."""
    if name != STRONGEST_EVALUATION:
        return name
    return load_learning(game.name).strongest if has_learning(game.name) else DEFAULT_EVALUATION


@functools.lru_cache(_KEPT)
def _shipped_evaluation(game: Game, name: str) -> LinearEvaluation | ResultEvaluation | None:
    """Make an evaluation that needs no file; files of its name give way to it."""
    if name == NO_EVALUATION:
        return blank_evaluation(game)
    name = shipped_name(name, game)
    if name != DEFAULT_EVALUATION:
        make = load_learning(game.name).evaluations.get(name) if has_learning(game.name) else None
    else:
        try:
            make = load_learning(game.name).default_evaluation
        except PluginError as error:
            raise BadInputError(
                f"{game.title} has nothing to evaluate positions with ({error}); {_NO_DEFAULT}"
            ) from error
        if make is None:
            raise BadInputError(
                f"{game.title} comes without an evaluation; make one with `glem fit` (or `glem discover --demo`) and "
                f"name it; {_NO_DEFAULT}"
            )
    evaluation: LinearEvaluation | ResultEvaluation | None = None if make is None else make()
    return evaluation


def _write_nothing(position: Any, values: Any) -> None:
    """There are no features."""


def blank_evaluation(game: Game) -> LinearEvaluation:
    """Make an evaluation that is 0 in every position; a game needs no features for it.

    With it a search finds the wins and losses within its depth and nothing else: what a new game begins with, for its
    first games and for exact labels near the end.
    """
    learning = Learning(
        game=game,
        features=AtomicFeatures(game=game, features=(), write=_write_nothing),
        phases=Phases(game=game, names=("all",), phase_of=only_phase),
        pattern_sets={},
    )
    return LinearEvaluation(learning, np.zeros(1, np.float32))
