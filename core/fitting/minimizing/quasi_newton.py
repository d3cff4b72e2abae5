"""L-BFGS for functions that are continuous and smooth almost everywhere.

The line search is the one of A. Lewis and M. Overton, Nonsmooth optimization via quasi-Newton methods (2013): bisection
until a step meets the weak Wolfe conditions. It needs no slope to vanish along the line, so that it comes to an end
where the slope jumps, at which the line searches of smooth optimizers give up.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from glem.core.fitting.least_squares_problem import Errors, Vector, inner
from glem.core.fitting.minimizing.minimizer import Checkpoint, Monitor
from glem.core.tasks.progress import SILENT, Progress

_SUFFICIENT = 1e-4
_FLATTER = 0.9
_LINE_STEPS = 40
_MEMORY = 10
"""Pairs of steps and changes of the gradient that stand for the curvature."""
_SMALL_STEPS = 3
"""So many small improvements in a row are the end: a single one may be a bad line search."""


@define(frozen=True, eq=False)
class Point:
    """The function at some parameters.

    Parameters
    ----------
    value
        What is minimized.
    gradient
        float64 [P].
    errors
        What is recorded of the training and the held-out part.
    """

    value: float
    gradient: Vector
    errors: Errors


@define(frozen=True, eq=False)
class Minimum:
    """Where a minimization ended.

    Parameters
    ----------
    parameters
        The best ones: on the held-out part if there is one, else the last.
    monitor
        Errors of every iteration.
    converged
        Whether the criterion stopped it, rather than a limit.
    reason
        Why it stopped.
    """

    parameters: Vector
    monitor: Monitor
    converged: bool
    reason: str


def minimize(
    function: Callable[[Vector], Point],
    start: Vector,
    *,
    first_step: float = 1.0,
    iterations: int = 200,
    patience: int | None = None,
    tolerance: float = 1e-8,
    checkpoint: Checkpoint | None = None,
    save_every: int = 10,
    progress: Progress = SILENT,
) -> Minimum:
    """Minimize a function.

    Parameters
    ----------
    function
        Gives its value and gradient at parameters [P].
    start
        float64 [P]. A checkpoint's state goes before it.
    first_step
        Length of the first step, as a multiple of the gradient.
    iterations
        How many, at most.
    patience
        Stop after this many iterations without a better held-out error; None: never.
    tolerance
        Converged after three improvements in a row below this share of the value.
    checkpoint, save_every
        Where the state is kept every so many iterations; a state found there is continued, with the same result.
    progress
        Counts iterations.
    """
    search = _Search(function, first_step)
    monitor = Monitor(patience)
    parameters, small = np.array(start, np.float64), 0
    state = checkpoint.load() if checkpoint is not None else None
    if state is not None:
        parameters, small = state["parameters"], int(state["small"])
        search.restore(state)
        monitor.restore(state)
    here = function(parameters)
    if state is None:
        monitor.record(here.errors, parameters)
    converged, reason = False, "the limit on iterations"
    with progress("likelihood", iterations) as task:
        while monitor.iterations < iterations:
            found = search.step(parameters, here)
            if found is None:
                converged, reason = True, "no step along the line improves"
                break
            small = small + 1 if here.value - found[1].value <= tolerance * abs(here.value) else 0
            parameters, here = found
            task.advance()
            task.note(f"{here.errors.training:.5f}")
            if monitor.record(here.errors, parameters):
                converged, reason = True, "the held-out likelihood no longer improves"
                break
            if small >= _SMALL_STEPS:
                converged, reason = True, "the likelihood no longer improves"
                break
            if checkpoint is not None and monitor.iterations % save_every == 0:
                checkpoint.save(
                    {"parameters": parameters, "small": np.array(small), **search.state(), **monitor.state()}
                )
    return Minimum(monitor.chosen(parameters), monitor, converged, reason)


class _Search:
    """Directions from the last steps, and the line search along them."""

    def __init__(self, function: Callable[[Vector], Point], first_step: float) -> None:
        self._function, self._first_step = function, first_step
        self._pairs: deque[tuple[Vector, Vector]] = deque(maxlen=_MEMORY)

    def step(self, parameters: Vector, here: Point) -> tuple[Vector, Point] | None:
        """Parameters and function after a step; None where no step improves, along the gradient either."""
        found = self._along(parameters, here, self._direction(here.gradient))
        if found is None and self._pairs:
            # Curvature from the other side of a jump may mislead: forget it once.
            self._pairs.clear()
            found = self._along(parameters, here, self._direction(here.gradient))
        return found

    def _direction(self, gradient: Vector) -> Vector:
        # Nocedal and Wright, Numerical Optimization, algorithm 7.4.
        direction = -gradient
        shares = []
        for step, change in reversed(self._pairs):
            share = inner(step, direction) / inner(step, change)
            direction = direction - share * change
            shares.append(share)
        if self._pairs:
            step, change = self._pairs[-1]
            direction = direction * (inner(step, change) / inner(change, change))
        else:
            direction = direction * self._first_step
        for (step, change), share in zip(self._pairs, reversed(shares), strict=True):
            direction = direction + (share - inner(change, direction) / inner(step, change)) * step
        return direction

    def _along(self, parameters: Vector, here: Point, direction: Vector) -> tuple[Vector, Point] | None:
        slope = inner(direction, here.gradient)
        if not slope < 0:
            return None
        low, high, length = 0.0, np.inf, 1.0
        better: tuple[Vector, Point] | None = None
        for _ in range(_LINE_STEPS):
            there_parameters = parameters + length * direction
            there = self._function(there_parameters)
            if not there.value <= here.value + _SUFFICIENT * length * slope:
                high = length
            else:
                better = there_parameters, there
                if inner(direction, there.gradient) >= _FLATTER * slope:
                    break
                low = length
            length = 2 * low if np.isinf(high) else (low + high) / 2
        if better is None or not better[1].value < here.value:
            return None
        step, change = better[0] - parameters, better[1].gradient - here.gradient
        if inner(step, change) > 1e-12 * inner(change, change) ** 0.5 * inner(step, step) ** 0.5:
            self._pairs.append((step, change))
        return better

    def state(self) -> dict[str, Any]:
        """Arrays for a checkpoint."""
        return {
            "steps": np.array([step for step, _ in self._pairs]),
            "changes": np.array([change for _, change in self._pairs]),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the arrays of a checkpoint."""
        self._pairs.extend(zip(state["steps"], state["changes"], strict=True))
