"""Gradient descent as GLEM section 5.1 describes it."""

from typing import Self

import numpy as np
from attrs import define

from glem.core.errors import BELOW_1, BadInputError, check_arguments
from glem.core.fitting.least_squares_problem import LeastSquares, Vector, inner
from glem.core.fitting.minimizing.minimizer import LIMIT, Checkpoint, Minimizer, Monitor
from glem.core.tasks.progress import SILENT, Progress

_POWER_STEPS = 8
# Momentum may overshoot at first, but never by as much.
_DIVERGED = 1e3


@define(eq=False, repr=False, slots=False)
class GradientDescent(Minimizer):
    """Steps against the gradient, normalized weight by weight, with momentum (GLEM, section 5.1).

    ``step(t) = eta * 2 / n_i * sum_k g' D_k h_ik + mu * step(t - 1)``, where n_i is the number of positions k with
    ``h_ik != 0``, their weights summed. A position in which symmetric instances share the weight, ``h_ik > 1``,
    counts once. The paper prints neither eta nor mu.

    Parameters
    ----------
    step_size
        eta; by default ``1 / L``, where L is the greatest eigenvalue of the normalized second derivative, found by
        power iteration at the link's steepest point. Descent diverges from ``2 (1 + mu) / L`` on.
    momentum
        mu, at least 0 and below 1.
    iterations
        How many, at most. Logistello's fit took 250.
    patience
        As of :class:`~glem.core.fitting.minimizing.conjugate.ConjugateGradient`.
    tolerance
        Converged when an iteration improves the training error by less than this share of it; 0: never.
    checkpoint_every
        Iterations between checkpoints.
    """

    step_size: float | None = None
    momentum: float = 0.9
    iterations: int = 250
    patience: int | None = None
    tolerance: float = 0.0
    checkpoint_every: int = 10

    def __attrs_post_init__(self) -> None:
        check_arguments(self, iterations=(0,), patience=(0,), tolerance=(0.0,), checkpoint_every=(1,))
        check_arguments(self, step_size=(0.0,), momentum=(0.0, BELOW_1))

    def fit(
        self,
        problem: LeastSquares,
        *,
        start: Vector | None = None,
        checkpoint: Checkpoint | None = None,
        progress: Progress = SILENT,
    ) -> Self:
        """Minimize the objective; see :meth:`Minimizer.fit`."""
        matches = problem.parameter_matches
        # A penalty adds l2 positions to each weight, also to one without a match, which stays 0.
        normalization = np.where(matches > 0, 2 / np.maximum(matches + problem.l2, 1e-30), 0.0)
        step_size = self.step_size
        if step_size is None:
            step_size = 1 / _greatest_eigenvalue(problem, normalization)
        scale = step_size * normalization
        parameters = self._start(problem, start)
        # From a start next to the minimum, rounding alone multiplies the error: the error at 0 is the measure then.
        most = 0.0 if start is None else problem.errors_and_gradient(np.zeros_like(parameters))[0].training
        step = np.zeros_like(parameters)
        monitor = Monitor(self.patience)
        state = checkpoint.load() if checkpoint is not None else None
        if state is not None:
            parameters, step = state["parameters"], state["step"]
            monitor.restore(state)
        with progress("gradient descent", self.iterations) as task:
            while True:
                errors, gradient = problem.errors_and_gradient(parameters)
                most = max(most, monitor.training_errors[0] if monitor.training_errors else errors.training)
                if not errors.training <= _DIVERGED * most:
                    raise BadInputError(f"descent diverges with step size {step_size:g}: make it smaller")
                task.note(f"error {errors.training**0.5:.3f}")
                if monitor.record(errors, parameters):
                    return self._finish(problem, monitor, parameters, "the held-out error no longer improves")
                if _flat(monitor.training_errors, self.tolerance):
                    return self._finish(problem, monitor, parameters, "the training error no longer improves")
                if monitor.iterations >= self.iterations:
                    return self._finish(problem, monitor, parameters, LIMIT)
                step = scale * gradient + self.momentum * step
                parameters = parameters + step
                task.advance()
                if checkpoint is not None and (monitor.iterations + 1) % self.checkpoint_every == 0:
                    checkpoint.save({"parameters": parameters, "step": step, **monitor.state()})


def _greatest_eigenvalue(problem: LeastSquares, normalization: Vector) -> float:
    """Greatest eigenvalue of the normalized Gauss-Newton matrix at the link's steepest point, by power iteration."""
    # All items are positive and so is the dominant eigenvector: ones are a good start.
    vector = (normalization > 0).astype(np.float64)
    eigenvalue = 1.0
    for _ in range(_POWER_STEPS):
        vector /= np.sqrt(inner(vector, vector))
        vector = normalization * problem.curvature(vector)
        eigenvalue = float(np.sqrt(inner(vector, vector)))
    return eigenvalue


def _flat(errors: list[float], tolerance: float) -> bool:
    return len(errors) > 1 and 0 <= errors[-2] - errors[-1] < tolerance * errors[-2]
