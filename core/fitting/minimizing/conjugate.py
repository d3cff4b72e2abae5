"""Conjugate gradient with a diagonal preconditioner."""

from typing import Self

import numpy as np
from attrs import define

from glem.core.errors import check_arguments
from glem.core.evaluation.links import IDENTITY
from glem.core.fitting.least_squares_problem import LeastSquares, Vector, inner
from glem.core.fitting.minimizing.minimizer import LIMIT, Checkpoint, Minimizer, Monitor
from glem.core.tasks.progress import SILENT, Progress

_LINE_STEPS = 20


@define(eq=False, repr=False, slots=False)
class ConjugateGradient(Minimizer):
    """Nonlinear conjugate gradient (Polak-Ribière, never negative), preconditioned by the diagonal.

    The sums of all rows are kept, so that a line search costs no pass over the items. With the identity link the
    objective along a line is a parabola, the step is exact, and this is the linear conjugate gradient method on
    the normal equations; otherwise the step is found by Gauss-Newton steps along the line. The preconditioner is
    the diagonal of the Gauss-Newton matrix at 0: for the identity link, the number of matches plus the L2 penalty.

    Parameters
    ----------
    iterations
        How many, at most.
    patience
        Stop after this many iterations without a better held-out error; None: never. With 0 the held-out positions
        judge the whole fit, not an iteration of it: the last one is kept, or the start where that does better.
    tolerance
        Converged when the gradient's norm in the preconditioner's metric falls below this share of its first value.
    refresh_every
        Iterations after which the rows' sums are computed anew from the parameters, against rounding; checkpoints
        are written then.
    """

    iterations: int = 100
    patience: int | None = None
    tolerance: float = 1e-3
    refresh_every: int = 10

    def __attrs_post_init__(self) -> None:
        check_arguments(self, iterations=(0,), patience=(0,), tolerance=(0.0,), refresh_every=(1,))

    def fit(
        self,
        problem: LeastSquares,
        *,
        start: Vector | None = None,
        checkpoint: Checkpoint | None = None,
        progress: Progress = SILENT,
    ) -> Self:
        """Minimize the objective; see :meth:`Minimizer.fit`."""
        diagonal = problem.diagonal
        scale = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
        parameters = self._start(problem, start)
        direction = np.zeros_like(parameters)
        previous = np.zeros_like(parameters)
        previous_norm = first_norm = 0.0
        monitor = Monitor(self.patience)
        state = checkpoint.load() if checkpoint is not None else None
        if state is not None:
            parameters, direction, previous = state["parameters"], state["direction"], state["previous"]
            previous_norm, first_norm = float(state["previous_norm"]), float(state["first_norm"])
            monitor.restore(state)
        problem.begin(parameters)
        length = 0.0
        with progress("conjugate gradient", self.iterations) as task:
            while True:
                errors, gradient = problem.move(length, parameters)
                task.note(f"error {errors.training**0.5:.3f}")
                if monitor.record(errors, parameters):
                    return self._finish(problem, monitor, parameters, "the held-out error no longer improves")
                preconditioned = scale * gradient
                norm = inner(gradient, preconditioned)
                first_norm = max(first_norm, norm)
                if norm <= self.tolerance**2 * first_norm:
                    return self._finish(problem, monitor, parameters, "the gradient vanishes")
                if monitor.iterations >= self.iterations:
                    return self._finish(problem, monitor, parameters, LIMIT)
                # Polak-Ribière; previous is the gradient of the iteration before.
                momentum = max(0.0, (norm - inner(previous, preconditioned)) / previous_norm) if previous_norm else 0.0
                direction = preconditioned + momentum * direction
                if inner(direction, gradient) <= 0:
                    direction = preconditioned
                previous, previous_norm = gradient, norm
                curvature = problem.look(direction)
                value, slope = problem.penalized(errors, parameters), -inner(direction, gradient)
                if problem.link == IDENTITY:
                    length = -slope / curvature if curvature > 0 else 0.0
                else:
                    length = _line_minimum(problem, parameters, direction, value, slope)
                if length == 0.0:
                    return self._finish(problem, monitor, parameters, "no step along the line improves")
                parameters = parameters + length * direction
                task.advance()
                if (monitor.iterations + 1) % self.refresh_every == 0:
                    problem.begin(parameters)
                    length = 0.0
                    if checkpoint is not None:
                        checkpoint.save(
                            {
                                "parameters": parameters,
                                "direction": direction,
                                "previous": previous,
                                "previous_norm": np.array(previous_norm),
                                "first_norm": np.array(first_norm),
                                **monitor.state(),
                            }
                        )


def _line_minimum(problem: LeastSquares, parameters: Vector, direction: Vector, value: float, slope: float) -> float:
    """Length of the step in the direction that was taken, where half the objective starts at a value and slope.

    0 for none.
    """
    curvature = problem.along(0.0, parameters, direction).curvature
    if curvature <= 0:
        return 0.0
    length = -slope / curvature
    there = problem.along(length, parameters, direction)
    for _ in range(_LINE_STEPS):
        # Armijo's condition and a slope that has come down to a tenth: good enough for a conjugate direction.
        if there.value > value + 1e-4 * length * slope:
            length /= 2
        elif abs(there.slope) > 0.1 * abs(slope) and there.slope < there.curvature * length:
            length -= there.slope / there.curvature
        else:
            break
        there = problem.along(length, parameters, direction)
    return length if there.value < value else 0.0
