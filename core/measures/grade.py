"""The grade: the geometric mean of the probability that an evaluation gave to results (Ban 2012, equation 15)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define, evolve, field

from glem.core.errors import ABOVE_0, BELOW_1, BadInputError, check_arguments
from glem.core.evaluation.integers.recomputing import search_unit
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.result_distribution import log_correctness
from glem.core.evaluation.result_models import BAN, MOVE, ResultModels, log_odds_of
from glem.core.evaluation.with_drawishness import ResultEvaluation, value_part
from glem.core.measures.measure import Floats, Judged, Measure


@define(frozen=True)
class GradeMeasure(Measure):
    """Geometric mean of the probability that the evaluation gave to the result, the sign of the label.

    It is the grade as given of ``glem grade`` for the same positions with the same calibration. Each position counts
    once, whatever it weighs.

    Parameters
    ----------
    scale
        Scale b of the values, above 0. By default the evaluation's own: winning chances have 1, other values need one.
    drawishness
        One for all positions, between 0 and 1; by default the evaluation's own.
    calibration
        File of ``glem grade calibrate``, in place of both.
    floor
        A probability below it counts as this.
    """

    heading: ClassVar[str] = "grade"
    form: ClassVar[str] = ".4f"
    is_weighted: ClassVar[bool] = False
    scale: float | None = None
    drawishness: float | None = None
    calibration: str | None = None
    floor: float = 1e-12
    _models: ResultModels | None = field(default=None, init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        check_arguments(self, scale=(ABOVE_0,), drawishness=(0.0, 1.0), floor=(ABOVE_0, BELOW_1))

    def begin(self, judged: Judged) -> Self:
        """Find a scale and a drawishness, or the calibration that stands for both."""
        value, is_result = value_part(judged.evaluation), isinstance(judged.evaluation, ResultEvaluation)
        if self.calibration is None:
            missing = ["scale b"] if self.scale is None and value.link != LOGISTIC else []
            missing += ["drawishness"] if self.drawishness is None and not is_result else []
            if missing:
                raise BadInputError(
                    f"grade: the evaluation has no {' and no '.join(missing)}: write grade,scale=B,drawishness=ALPHA, "
                    "as `glem grade` finds them, or grade,calibration=FILE with a file of `glem grade calibrate`"
                )
            return self
        models, unit = ResultModels.load(self.calibration), search_unit(value)
        learning = value.learning
        if models.game != learning.game.name or models.unit != unit:
            raise BadInputError(
                f"{self.calibration}: calibrates {models.game} values in {models.unit or 'no unit'}, these are "
                f"{learning.game.name} values in {unit}"
            )
        if models.chosen == BAN and models.ban.slope and not is_result:
            raise BadInputError(f"{self.calibration}: needs a drawishness, and the evaluation has none")
        model = models.wdl.get(models.chosen)
        if model is not None and model.least < model.most and models.chosen not in {MOVE, *learning.covariates}:
            raise BadInputError(
                f"{self.calibration}: goes by {models.chosen}, which {learning.game.title} does not know"
            )
        begun = evolve(self)
        object.__setattr__(begun, "_models", models)
        return begun

    def terms(self, judged: Judged) -> Floats:
        """Logarithms of the probabilities, bounded by the floor."""
        evaluation, positions, models = judged.evaluation, judged.positions, self._models
        # The sum before the logistic link: a winning chance of almost 1 has few digits left.
        value = judged.sums if value_part(evaluation).link == LOGISTIC else judged.value
        own: Any = 0.5
        if isinstance(evaluation, ResultEvaluation):
            own = evaluation.drawishness.predict(positions.positions)
        if models is None:
            scale = self.scale or (evaluation.scale if isinstance(evaluation, ResultEvaluation) else 1.0)
            logs = log_correctness(
                value, positions.result, scale, own if self.drawishness is None else self.drawishness
            )
        elif models.chosen == BAN:
            logs = log_correctness(value, positions.result, models.ban.scale, models.ban.alpha(log_odds_of(own)))
        else:
            logs = models.wdl[models.chosen].log_correctness(value, positions.result, self._covariate(judged))
        return np.maximum(logs, math.log(self.floor))

    def _covariate(self, judged: Judged) -> Floats:
        """Covariate of the chosen model: [N]; nan where it is unknown."""
        assert self._models is not None
        positions, known = judged.positions, value_part(judged.evaluation).learning.covariates.get(self._models.chosen)
        if known is not None:
            return np.asarray(known.of(positions.positions), np.float64)
        if self._models.chosen == MOVE:
            return np.where(positions.ply < 0, math.nan, positions.ply // 2 + 1)
        return np.zeros(len(judged))

    def number(self, means: Floats) -> tuple[float, Floats]:
        """Take the exponential."""
        grade = math.exp(means[0])
        return grade, np.array([grade])
