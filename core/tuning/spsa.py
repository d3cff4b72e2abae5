"""Simultaneous perturbation stochastic approximation (SPSA): the best values of parameters by noisy comparisons.

Spall (1992), "Multivariate stochastic approximation using a simultaneous perturbation gradient approximation", IEEE
Transactions on Automatic Control 37, 332-341; gains as in Spall (1998), "Implementation of the simultaneous
perturbation algorithm for stochastic optimization", IEEE Transactions on Aerospace and Electronic Systems 34,
817-823. With values theta, N iterations and signs d of +1 or -1, each with equal chance, iteration k compares theta +
c_k d with theta - c_k d, and moves theta by a_k y d / c_k, where y tells how much better the first is:

    c_k = c / k^0.101,    a_k = a / (A + k)^0.602,    A = N / 10.

Every parameter has a and c of its own, given by how the last iteration is to be, in the custom of the frameworks that
test engines (fishtest, OpenBench):

    c = c_end N^0.101,    a = r_end c_end^2 (A + N)^0.602.

Their y is what a pair of games brought, wins less losses, without a half. An iteration may make several comparisons,
each with signs of its own. It adds up their moves, as those frameworks do: so r_end, the step that one comparison
makes, in units of c_end, keeps its meaning. What a comparison depends on by chance is a function of the seed and the
iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, check_arguments
from glem.core.tasks.progress import SILENT, Progress

ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
"""Exponents of the gains, and A / N (Spall 1998, section III)."""

_FEWEST = 20
"""Iterations without which there are no errors."""
_UNIT_ROOT = 3.43
"""Dickey and Fuller (1979), "Distribution of the estimators for autoregressive time series with a unit root"."""

Vector = NDArray[np.float64]

Objective = Callable[[Vector, Vector, np.random.Generator], Vector]
"""``(plus, minus, generator) -> outcomes``: how much better ``plus`` [n, P] was than ``minus`` [n, P] in n comparisons,
float64 [n], for instance wins less losses of a pair of games. All that is chance comes from the generator."""


@define(frozen=True, eq=False)
class Space:
    """Parameters, P of them.

    Parameters
    ----------
    start
        float64 [P]: values to begin with.
    low, high
        float64 [P]: bounds, both inclusive; whole where ``is_whole``.
    c_end
        float64 [P]: half the distance of the values that are compared, in the last iteration.
    r_end
        float64 [P]: step of the last iteration for each comparison, in units of c_end.
    is_whole
        bool [P]: compared at whole numbers, to which values between them are rounded by chance, up with a probability
        of the fraction: on average the objective is then linear between whole numbers. Both sides round alike.
    """

    start: Vector
    low: Vector
    high: Vector
    c_end: Vector
    r_end: Vector
    is_whole: NDArray[np.bool_]


@define(frozen=True)
class Schedule:
    """How long a search goes.

    Parameters
    ----------
    iterations
        N; the gains depend on it, so it is chosen before.
    batch
        Comparisons of an iteration.
    seed
        Of all that is chance, 0 or greater.
    """

    iterations: int
    batch: int
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        check_arguments(self, iterations=(1,), batch=(1,), seed=(0,))

    def widths(self, space: Space, iteration: int) -> Vector:
        """Give c_k of each parameter: float64 [P]."""
        found: Vector = space.c_end * (self.iterations / iteration) ** GAMMA
        return found

    def gains(self, space: Space, iteration: int) -> Vector:
        """Give a_k of each parameter: float64 [P]."""
        stability = STABILITY * self.iterations
        shrunk = ((stability + self.iterations) / (stability + iteration)) ** ALPHA
        found: Vector = space.r_end * space.c_end**2 * shrunk
        return found


class Comparisons(NamedTuple):
    """What an iteration compares.

    Parameters
    ----------
    signs
        int8 [K, P]: 1 or -1.
    plus, minus
        float64 [K, P]: values within their bounds, whole where they must be.
    generator
        Source of the chance that is left.
    """

    signs: NDArray[np.int8]
    plus: Vector
    minus: Vector
    generator: np.random.Generator


def comparisons(space: Space, schedule: Schedule, iteration: int, values: Vector) -> Comparisons:
    """Draw what iteration ``iteration``, from 1 on, compares around values [P]."""
    generator = np.random.default_rng((schedule.seed, iteration))
    shape = schedule.batch, len(values)
    signs = (2 * generator.integers(2, size=shape) - 1).astype(np.int8)
    threshold = generator.random(shape)
    width = schedule.widths(space, iteration)

    def side(sign: int) -> Vector:
        moved = np.clip(values + sign * width * signs, space.low, space.high)
        return np.where(space.is_whole, np.floor(moved + threshold), moved)

    return Comparisons(signs, side(1), side(-1), generator)


def step(
    space: Space, schedule: Schedule, iteration: int, values: Vector, signs: NDArray[np.int8], outcomes: Vector
) -> Vector:
    """Give the values [P] after an iteration, from those before it, its signs [K, P] and its outcomes [K]."""
    rate = schedule.gains(space, iteration) / schedule.widths(space, iteration)
    moved: Vector = np.clip(values + rate * (signs * outcomes[:, None]).sum(axis=0), space.low, space.high)
    return moved


def search(
    space: Space,
    schedule: Schedule,
    objective: Objective,
    *,
    names: Sequence[str] = (),
    known: Iterable[Mapping[str, Any]] = (),
    keep: Callable[[Mapping[str, Any]], object] | None = None,
    progress: Progress = SILENT,
) -> Vector:
    """Look for the best values.

    Parameters
    ----------
    objective
        Compares values. Comparisons of equal values are not made: nobody is better.
    names
        Of the parameters, for the display.
    known
        Records of the first iterations, as ``keep`` got them: they are not done again.
    keep
        Is given a record of JSON values after each further iteration.

    Returns
    -------
    NDArray
        float64 [N + 1, P]: the values to begin with, and those after each iteration.

    Raises
    ------
    BadInputError
        A known record is not of this search.
    """
    path = np.empty((schedule.iterations + 1, len(space.start)))
    path[0] = space.start
    before = iter(known)
    with progress("SPSA", schedule.iterations) as bar:
        for iteration in range(1, schedule.iterations + 1):
            compared = comparisons(space, schedule, iteration, path[iteration - 1])
            record = next(before, None)
            if record is None:
                outcomes = np.zeros(schedule.batch)
                rows = np.flatnonzero((compared.plus != compared.minus).any(axis=1))
                if len(rows):
                    outcomes[rows] = objective(compared.plus[rows], compared.minus[rows], compared.generator)
            else:
                outcomes = np.array(record["outcomes"])
                if record["iteration"] != iteration or outcomes.shape != (schedule.batch,):
                    raise BadInputError(f"the record of iteration {iteration} is damaged")
            path[iteration] = step(space, schedule, iteration, path[iteration - 1], compared.signs, outcomes)
            if record is not None and record["values"] != path[iteration].tolist():
                raise BadInputError(f"the record of iteration {iteration} is damaged: its values follow from no others")
            if record is None and keep is not None:
                signs = ["".join("-+"[sign > 0] for sign in row) for row in compared.signs.tolist()]
                found = {"values": path[iteration].tolist(), "signs": signs, "outcomes": outcomes.tolist()}
                keep({"iteration": iteration, **found})
            bar.advance()
            bar.note("  ".join(f"{name} {value:.4g}" for name, value in zip(names, path[iteration], strict=False)))
    return path


class Averages(NamedTuple):
    """Averages of the iterates of the last half of a search.

    Parameters
    ----------
    values
        float64 [P].
    errors
        float64 [P]: standard errors; nan where the search was too short to tell.
    """

    values: Vector
    errors: Vector


def averages(space: Space, schedule: Schedule, path: Vector) -> Averages:
    """Average the last half of the iterates, and tell the errors.

    Averaging the iterates of a stochastic approximation gives the best rate without the best gains (Polyak and
    Juditsky 1992, "Acceleration of stochastic approximation by averaging", SIAM Journal on Control and Optimization
    30, 838-855). Near the optimum theta* of a parameter its steps, divided by a_k, are

        u_k = h (theta* - theta_k) + e_k,

    so that the average of n iterates differs from theta* by (mean of e - mean of u) / h. Its error is taken as the
    root of (s^2 / n + (mean of u)^2) / h^2, where h and the variance s^2 of e are those of a least-squares line
    through the steps of the whole search: the plug-in estimator of Chen, Lee, Tong and Zhang (2020), "Statistical
    inference for model parameters in stochastic gradient descent", Annals of Statistics 48, 251-273, parameter by
    parameter, and what is missing of the way besides. Batch means of the iterates, their other estimator, are far too
    small while iterates depend on those long before them. Whether there is an h at all is a test for a unit root:
    there is no error unless h is 3.43 of its own errors from 0, the 1% point of Dickey and Fuller for a series with a
    mean.

    The errors tell nothing of what parameters do to each other, of an objective that is no parabola, or of what
    rounding and the width c_k do to the place of the optimum.

    Parameters
    ----------
    space, schedule
        Of the search.
    path
        float64 [N + 1, P]: what :func:`search` gives.
    """
    iterations = len(path) - 1
    half = path[iterations // 2 + 1 :]
    values, errors = half.mean(axis=0), np.full(path.shape[1], math.nan)
    if iterations < _FEWEST:
        return Averages(values, errors)
    gains = np.stack([schedule.gains(space, iteration) for iteration in range(1, iterations + 1)])
    steps, places = np.diff(path, axis=0) / gains, path[:-1] - path[:-1].mean(axis=0)
    squares = (places**2).sum(axis=0)
    moved = squares > 0
    squares = np.where(moved, squares, 1.0)
    slopes = -(places * steps).sum(axis=0) / squares
    variances = ((steps - steps.mean(axis=0) + slopes * places) ** 2).sum(axis=0) / (iterations - 2)
    known = moved & (slopes > _UNIT_ROOT * np.sqrt(variances / squares))
    missing = steps[-len(half) :].mean(axis=0)
    errors[known] = (np.sqrt(variances / len(half) + missing**2) / np.abs(slopes))[known]
    return Averages(values, errors)
