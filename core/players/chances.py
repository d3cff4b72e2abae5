"""Probabilities of the results that the values of a searching player mean, for those who show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from glem.core.compiling.columns import column_of_one
from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import search_unit
from glem.core.evaluation.named import FUNCTION_PREFIX, load_evaluation, load_searched
from glem.core.evaluation.result_distribution import result_distribution
from glem.core.evaluation.result_models import BAN, MOVE, ResultModels
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import has_learning, load_learning
from glem.core.game.game import Game

_THOUSAND = 1000


class ResultChances:
    """Win, draw and loss of values, by a calibration or by the evaluation's own scale and drawishness.

    Parameters
    ----------
    evaluation
        Name of the evaluation that the player searches with.
    models
        Calibration of ``glem grade calibrate``; None for the evaluation's own.

    Raises
    ------
    BadInputError
        There is no such evaluation, or the calibration is of another game, of values in another unit, or it needs a
        drawishness that the evaluation lacks.
    """

    def __init__(self, game: Game, evaluation: str, models: ResultModels | None = None) -> None:
        searched = load_searched(evaluation, game)
        found = None if evaluation.startswith(FUNCTION_PREFIX) else load_evaluation(evaluation, game)
        self._results = found if isinstance(found, ResultEvaluation) else None
        self._models = models
        self._covariate = None
        if models is None:
            return
        unit = search_unit(searched)
        if models.game != game.name:
            raise BadInputError(f"the calibration is of {models.game}, the game is {game.name}")
        if models.unit != unit:
            raise BadInputError(
                f"the calibration of {models.evaluation} is of values in {models.unit or 'no unit'}, those of "
                f"{evaluation} are {unit}: calibrate that evaluation"
            )
        if models.chosen == BAN and models.ban.slope and self._results is None:
            raise BadInputError(
                f"the calibration of {models.evaluation} needs a drawishness, and {evaluation} has none"
            )
        covariates = load_learning(game.name).covariates if has_learning(game.name) else {}
        self._covariate = covariates.get(models.chosen)
        model = models.wdl.get(models.chosen)
        if model is not None and self._covariate is None and models.chosen != MOVE and model.least < model.most:
            raise BadInputError(f"the calibration goes by {models.chosen}, which {game.title} does not know")

    @property
    def is_known(self) -> bool:
        """Whether anything says what values mean."""
        return self._results is not None or self._models is not None

    def thousandths(self, position: Any, number: int, value: float) -> tuple[int, int, int]:
        """Win, draw and loss in thousandths, of the side to move; they add up to 1,000.

        Parameters
        ----------
        position
            The position that was searched, whose drawishness and covariates count.
        number
            Of the move, from 1 on.
        value
            Of the position by the search.
        """
        column = column_of_one(position)
        alpha = None if self._results is None else float(self._results.predict(column)[1][0])
        if self._models is not None:
            covariate = float(number) if self._covariate is None else float(self._covariate.of(column)[0])
            chances = self._models.distribution(value, alpha, covariate)
        else:
            assert self._results is not None
            chances = result_distribution(np.array([value]), self._results.scale, alpha)
        win, loss = (round(_THOUSAND * float(chance[0])) for chance in (chances.win, chances.loss))
        return win, _THOUSAND - win - loss, loss
