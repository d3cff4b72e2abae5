"""Which parameters of selective search a player gets."""

from __future__ import annotations

from glem.core.errors import BadInputError, PluginError
from glem.core.evaluation.named import DEFAULT_EVALUATION
from glem.core.features.learning import load_learning
from glem.core.game.game import Game
from glem.core.search.probcut import ProbCut

__all__ = ["DEFAULT_PROBCUT", "chosen_probcut"]

DEFAULT_PROBCUT = "default"


def chosen_probcut(game: Game, *, probcut: str, evaluation: str, selective: bool = True) -> ProbCut | None:
    """Find the parameters of selective search by what a player names.

    Parameters
    ----------
    game
        The game.
    probcut
        File of parameters; ``default`` for those that the game's plugin ships; "" for those of the plugin where the
        evaluation is the plugin's too, else for none.
    evaluation
        File of the evaluation, or ``default``.
    selective
        Whether the search may be selective at all.

    Returns
    -------
    ProbCut or None
        None for full-width search.

    Raises
    ------
    BadInputError
        The file is none of parameters or another game's, or the plugin ships none.
    """
    if not selective or (probcut == "" and evaluation != DEFAULT_EVALUATION):
        return None
    if probcut not in ("", DEFAULT_PROBCUT):
        loaded = ProbCut.load(probcut)
        if loaded.game != game.name:
            raise BadInputError(f"{probcut}: made for {loaded.game}, the game is {game.name}")
        return loaded
    shipped = _shipped(game)
    if shipped is None and probcut == DEFAULT_PROBCUT:
        raise BadInputError(f"{game.name} comes without parameters of selective search; make a file with glem probcut")
    return shipped


def _shipped(game: Game) -> ProbCut | None:
    try:
        make = load_learning(game.name).default_probcut
    except PluginError:
        return None
    shipped: ProbCut | None = None if make is None else make()
    return shipped
