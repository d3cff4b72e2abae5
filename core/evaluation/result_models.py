"""Models that make probabilities of results of an evaluation's values, fitted to games, and the file that keeps them.

*Ban's* (:class:`Calibration`; Ban 2012, section 3.1) divides values by one scale b and takes the drawishness from the
evaluation, or one for all positions. *WDL_model's* (:class:`WdlModel`; github.com/official-stockfish/WDL_model) lets a
covariate m of the position, such as the material left or the number of the move, say what a value means:

    P(win) = 1 / (1 + exp((a(m) - v) / b(m))),    P(loss) = 1 / (1 + exp((a(m) + v) / b(m))),    P(draw) = the rest,

with polynomials a and b. With a and b that do not depend on m it is the logistic model of ordered results (McCullagh
1980) with thresholds -a and a. It is not Ban's: see ``docs/explanation/grading.md``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.evaluation.result_distribution import Floats, ResultDistribution, result_distribution
from glem.core.files.atomic import write_text
from glem.core.files.json_values import instance_of, read_json, real_of, reals_of
from glem.core.files.made import made

BAN = "Ban"
"""Names Ban's model among those of a file; the others are named by their covariates."""

MOVE = "move"
"""The covariate that every game has: the number of the move, counted from 1 from the beginning of the record."""

MOST_LOG_ODDS = 25.0
"""Of a drawishness, either way: where it is fitted, it is never exactly 0 or 1."""

_VERSION = 1
_LARGEST = 1e100
"""Sums and products of a few such numbers are finite."""
_LONGEST_FILE = 1 << 20


@define(frozen=True)
class Calibration:
    """What makes predictions of values and of log odds of drawishness.

    Parameters
    ----------
    scale
        b.
    level, slope
        log odds(alpha') = level + slope * log odds(alpha).

    Raises
    ------
    BadInputError
        The scale is not positive, a number is not finite, or one is beyond 1e100.
    """

    scale: float
    level: float
    slope: float

    def __attrs_post_init__(self) -> None:
        bounded = abs(self.level) <= _LARGEST and abs(self.slope) <= _LARGEST
        if not (1 / _LARGEST <= self.scale <= _LARGEST and bounded):
            raise BadInputError(f"a calibration has a positive scale, and finite level and slope, got {self}")

    def alpha(self, log_odds: Any) -> Any:
        """Drawishness of positions whose own has these log odds: one or [N]."""
        odds = np.clip(self.level + self.slope * np.asarray(log_odds), -MOST_LOG_ODDS, MOST_LOG_ODDS)
        return 1.0 / (1.0 + np.exp(-odds))


def log_odds_of(drawishness: Any) -> Floats:
    """Log odds of drawishnesses, within :data:`MOST_LOG_ODDS` either way: one or [N]."""
    own = np.asarray(drawishness, np.float64)
    with np.errstate(divide="ignore"):
        found: Floats = np.clip(np.log(own) - np.log1p(-own), -MOST_LOG_ODDS, MOST_LOG_ODDS)
    return found


def _plain(value: Any) -> Any:
    return reals_of(value) if isinstance(value, list) else real_of(value)


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


@define(frozen=True)
class WdlModel:
    """WDL_model's: thresholds a and spreads b, which depend on a covariate of the position.

    Parameters
    ----------
    least, most
        Smaller and greater covariates count as these.
    unit
        The covariate is divided by it: the polynomials are of x = min(max(m, least), most) / unit.
    win
        Coefficients of a, the value at which half of the games are won: that of the highest power first.
    spread
        Those of b.

    Raises
    ------
    BadInputError
        A number is not finite, the bounds are none, or b is not positive, or a negative, somewhere between them.
    """

    least: float = field(converter=float)
    most: float = field(converter=float)
    unit: float = field(converter=float)
    win: tuple[float, ...] = field(converter=_numbers)
    spread: tuple[float, ...] = field(converter=_numbers)

    def __attrs_post_init__(self) -> None:
        numbers = (self.least, self.most, self.unit, *self.win, *self.spread)
        if not all(map(math.isfinite, numbers)) or not (self.least <= self.most and self.unit > 0):
            raise BadInputError(f"a model of results has finite coefficients, and bounds in order, got {self}")
        a, b = self.parameters(np.linspace(self.least, self.most, 200))
        if not (self.win and self.spread and (b > 0).all() and (a >= 0).all()):
            raise BadInputError(f"b(m) must be positive and a(m) not negative from {self.least:g} to {self.most:g}")

    @property
    def pawn(self) -> float:
        """Threshold a where the covariate is its unit: Stockfish's NormalizeToPawnValue."""
        return sum(self.win)

    def parameters(self, covariate: Any) -> tuple[Floats, Floats]:
        """Thresholds a and spreads b at covariates: one or float64 [N] each."""
        x = np.clip(np.asarray(covariate, np.float64), self.least, self.most) / self.unit
        a: Floats = np.asarray(np.polyval(np.asarray(self.win), x), np.float64)
        b: Floats = np.asarray(np.polyval(np.asarray(self.spread), x), np.float64)
        return a, b

    def distribution(self, value: Any, covariate: Any) -> ResultDistribution:
        """Probabilities of win, draw and loss of values from the side to move: three float64 [N]."""
        win, draw, loss = (np.exp(self.log_correctness(value, result, covariate)) for result in (1, 0, -1))
        return ResultDistribution(win, draw, loss)

    def log_correctness(self, value: Any, result: Any, covariate: Any) -> Floats:
        """Logarithm of the probability of what happened: float64 [N].

        Parameters
        ----------
        value
            Values [N] from the side to move; infinite ones are certain.
        result
            1, 0 or -1 from the side to move: one or [N].
        covariate
            Of the positions: one or [N].
        """
        a, b = self.parameters(covariate)
        return log_probability(np.asarray(value, np.float64), np.asarray(result), a, b)

    def code(self, covariate: str) -> str:
        """Write the coefficients as C++, in the form of Stockfish's ``uci.cpp``."""
        rows = [
            f"constexpr double {name}[] = {{{', '.join(f'{each:.8f}' for each in values)}}};"
            for name, values in (("as", self.win), ("bs", self.spread))
        ]
        head = f"// double m = std::clamp({covariate}, {self.least:g}, {self.most:g}) / {self.unit:.1f};"
        return "\n".join([head, *rows, f"constexpr double NormalizeToPawnValue = {self.pawn:.8f};  // sum of as", ""])


def log_probability(value: Floats, result: NDArray[Any], a: Any, b: Any) -> Floats:
    """Logarithm of the probability of results: float64 [N].

    With p = (v + a) / b and q = (v - a) / b, sigma the logistic function: P(win) = sigma(q), P(loss) = sigma(-p), and
    P(draw) = sigma(p) sigma(-q) (1 - exp(-2 a / b)), which loses no digits where a difference would.

    Parameters
    ----------
    value
        v [N].
    result
        1, 0 or -1: one or [N].
    a, b
        One or [N]; b is positive, a not negative.
    """
    not_lost, won = -np.logaddexp(0.0, -(value + a) / b), -np.logaddexp(0.0, -(value - a) / b)
    lost, not_won = -np.logaddexp(0.0, (value + a) / b), -np.logaddexp(0.0, (value - a) / b)
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = not_lost + not_won + np.log(-np.expm1(-2.0 * np.asarray(a) / b))
    found: Floats = np.where(result > 0, won, np.where(result < 0, lost, drawn))
    return found


@define(frozen=True)
class ResultModels:
    """Models of one evaluation's results, fitted to the same games.

    Parameters
    ----------
    game
        Name of the game.
    evaluation
        Text of the evaluation.
    unit
        Of its values.
    ban
        Ban's model.
    wdl
        Name of a covariate to WDL_model's model by it.
    chosen
        The model that others use: :data:`BAN` or a name in ``wdl``.
    grades
        Name of a model to its grade on held-out games, for people.

    Raises
    ------
    BadInputError
        There is no model of the chosen name.
    """

    game: str
    evaluation: str
    unit: str
    ban: Calibration
    wdl: Mapping[str, WdlModel]
    chosen: str
    grades: Mapping[str, float]

    def __attrs_post_init__(self) -> None:
        if self.chosen != BAN and self.chosen not in self.wdl:
            known = ", ".join((BAN, *self.wdl))
            raise BadInputError(f"there is no model of results {self.chosen!r}; there are: {known}")

    def distribution(self, value: float, drawishness: float | None, covariate: float) -> ResultDistribution:
        """Probabilities that the chosen model gives to the results of one value.

        Parameters
        ----------
        value
            From the side to move.
        drawishness
            The evaluation's own; None if it has none.
        covariate
            Of the position, by which the chosen model goes; Ban's does without.
        """
        values = np.array([value], np.float64)
        if self.chosen != BAN:
            return self.wdl[self.chosen].distribution(values, covariate)
        odds = 0.0 if drawishness is None else log_odds_of(drawishness)
        return result_distribution(values, self.ban.scale, self.ban.alpha(odds))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, atomically."""
        known = attrs.asdict(self) | {"grades": {name: one for name, one in self.grades.items() if math.isfinite(one)}}
        text = json.dumps({"glem": "calibration", "version": _VERSION, **known, **made(path)}, indent=2)
        write_text(path, text + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ResultModels:
        """Read a file that :meth:`save` wrote.

        Raises
        ------
        BadInputError
            The file is missing, or is none of calibrations.
        """
        what = "calibration of glem grade calibrate"
        found = read_json(path, what, largest=_LONGEST_FILE)
        with reading(path, what):
            if (found.pop("glem"), found.pop("version")) != ("calibration", _VERSION):
                raise ValueError(f"no calibration of version {_VERSION}")
            found.pop("made", None)
            ban = instance_of(Calibration, found.pop("ban"))
            wdl = {
                str(name): instance_of(WdlModel, {part: _plain(value) for part, value in model.items()})
                for name, model in found.pop("wdl").items()
            }
            grades = {name: real_of(grade) for name, grade in found["grades"].items()}
            return instance_of(cls, {**found, "ban": ban, "wdl": wdl, "grades": grades})
