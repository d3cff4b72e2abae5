"""What all fitters share: their manners, their result, when they stop, and their checkpoints."""

import abc
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.archives import ArchiveFormat
from glem.core.fitting.least_squares_problem import Errors, LeastSquares, Vector
from glem.core.tasks.progress import SILENT, Progress

LIMIT = "the limit on iterations"
"""Why a fit stopped that has not converged."""


@define(frozen=True, eq=False)
class FitResult:
    """How a fit went.

    Parameters
    ----------
    fitter
        The fitter and its parameters.
    converged
        Whether the fitter's own criterion stopped it, rather than the limit on iterations. Never where the start does
        best on the held-out positions.
    reason
        Why it stopped.
    training_errors, held_out_errors
        float64 [iterations + 1]: mean squared error at the start and after each iteration; nan without validation.
    best_iteration
        The iteration whose weights were kept: the last one, or the best on the held-out positions; 0 for the start.
    parameter_count
        Length of the parameter vector.
    training_weight
        Weight of the training rows.
    l2
        Penalty of the fit, in positions.
    """

    fitter: str
    converged: bool
    reason: str
    training_errors: NDArray[np.float64]
    held_out_errors: NDArray[np.float64]
    best_iteration: int
    parameter_count: int
    training_weight: float
    l2: float = 0.0

    @property
    def iterations(self) -> int:
        """Number of iterations done."""
        return len(self.training_errors) - 1

    @property
    def improved(self) -> bool:
        """Whether some iteration was kept: False where the start does best on the held-out positions."""
        return self.best_iteration > 0 or self.iterations == 0 or bool(np.isnan(self.held_out_errors[0]))

    def course(self) -> dict[str, Any]:
        """Figures of a :class:`~glem.core.fitting.fitters.fitter.Fit`."""
        return {
            "training": np.sqrt(self.training_errors),
            "validation": np.sqrt(self.held_out_errors),
            "penalty": self.l2,
            "best": self.best_iteration,
            "reason": self.reason,
            "improved": self.improved,
        }


class Checkpoint(Protocol):
    """Keeps the state of an unfinished fit."""

    def save(self, state: Mapping[str, Any]) -> None:
        """Keep a state: arrays and numbers by name."""

    def load(self) -> dict[str, Any] | None:
        """State last saved, or None."""


_STATE = ArchiveFormat("glem checkpoint", version=1, required=(), optional=None, largest=1 << 40, packed=False)


@define(frozen=True)
class FileCheckpoint:
    """A checkpoint in an ``.npz`` file that is replaced as a whole.

    Parameters
    ----------
    path
        The file.
    fingerprint
        What tells the problem and the fitter from others; a file with another one is refused.
    """

    path: Path
    fingerprint: str

    def save(self, state: Mapping[str, Any]) -> None:
        """Write the state, into a folder made if absent; a reader sees the old file or the new one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _STATE.write(self.path, {"fingerprint": self.fingerprint}, {name: np.asarray(state[name]) for name in state})

    def load(self) -> dict[str, Any] | None:
        """Read the state.

        Raises
        ------
        BadInputError
            The file is damaged or belongs to another fit.
        """
        if not self.path.exists():
            return None
        try:
            header, state = _STATE.read(self.path)
        except BadInputError as error:
            raise BadInputError(f"{error}; remove it to start anew") from error
        if header.get("fingerprint") != self.fingerprint:
            raise BadInputError(f"{self.path} belongs to a fit of other positions or settings; remove it to start anew")
        return state


@define
class Monitor:
    """Records errors, keeps the best parameters on held-out positions and says when to stop.

    Parameters
    ----------
    patience
        Stop when the held-out error has not improved for this many iterations; None never stops for that. The best
        iteration is kept. With 0 the held-out positions stop nothing and judge the whole fit: the last iteration is
        kept, or the start where that does better.
    training_errors, held_out_errors
        So far.
    best
        Parameters with the least held-out error; with patience 0 those of the start.
    best_iteration
        Their iteration.
    """

    patience: int | None
    training_errors: list[float] = field(factory=list)
    held_out_errors: list[float] = field(factory=list)
    best: Vector | None = None
    best_iteration: int = 0

    def record(self, errors: Errors, parameters: Vector) -> bool:
        """Take note of an iteration; True when it is time to stop."""
        iteration = len(self.training_errors)
        self.training_errors.append(errors.training)
        self.held_out_errors.append(errors.held_out)
        if np.isnan(errors.held_out):
            self.best_iteration = iteration
            return False
        if self.patience == 0 and self.best is not None:
            self.best_iteration = iteration if errors.held_out < self.held_out_errors[0] else 0
            return False
        if self.best is None or errors.held_out < self.held_out_errors[self.best_iteration]:
            self.best, self.best_iteration = parameters.copy(), iteration
        return self.patience is not None and 0 < self.patience <= iteration - self.best_iteration

    @property
    def iterations(self) -> int:
        """Iterations recorded, the start not counted."""
        return len(self.training_errors) - 1

    def chosen(self, last: Vector) -> Vector:
        """Parameters to keep."""
        return last if self.best is None or (self.patience == 0 and self.best_iteration > 0) else self.best

    def state(self) -> dict[str, Any]:
        """Arrays for a checkpoint."""
        return {
            "training_errors": np.array(self.training_errors),
            "held_out_errors": np.array(self.held_out_errors),
            "best": np.zeros(0) if self.best is None else self.best,
            "best_iteration": np.array(self.best_iteration),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the arrays of a checkpoint."""
        self.training_errors = [float(error) for error in state["training_errors"]]
        self.held_out_errors = [float(error) for error in state["held_out_errors"]]
        self.best = state["best"] if len(state["best"]) else None
        self.best_iteration = int(state["best_iteration"])


class Minimizer(abc.ABC):
    """Base of the minimizers.

    Constructors store their arguments unchanged; :meth:`fit` returns the minimizer.

    Attributes
    ----------
    parameters_
        float64 [parameters], after :meth:`fit`.
    result_
        :class:`FitResult`, after :meth:`fit`.
    """

    parameters_: Vector
    result_: FitResult

    @abc.abstractmethod
    def fit(
        self,
        problem: LeastSquares,
        *,
        start: Vector | None = None,
        checkpoint: Checkpoint | None = None,
        progress: Progress = SILENT,
    ) -> Self:
        """Minimize the objective of a problem.

        Parameters
        ----------
        problem
            What to fit.
        start
            float64 [parameters], 0 by default. A checkpoint's state goes before it.
        checkpoint
            Where to keep the state now and then; a state found there is continued, with the same result as
            without the interruption.
        progress
            Counts iterations.
        """

    def get_params(self) -> dict[str, Any]:
        """Give the constructor arguments by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({arguments})"

    def _start(self, problem: LeastSquares, start: Vector | None) -> Vector:
        if start is None:
            return np.zeros(problem.parameter_count)
        if np.shape(start) != (problem.parameter_count,):
            raise BadInputError(f"start is {np.shape(start)}, the problem has {problem.parameter_count} parameters")
        if not np.isfinite(start).all():
            raise BadInputError("start holds values that are not finite")
        return np.array(start, np.float64)

    def _finish(self, problem: LeastSquares, monitor: Monitor, last: Vector, reason: str) -> Self:
        self.parameters_ = monitor.chosen(last)
        kept_start = monitor.iterations > 0 and monitor.best is not None and monitor.best_iteration == 0
        self.result_ = FitResult(
            repr(self),
            reason != LIMIT and not kept_start,
            "the held-out error never improved: all weights stay as at the start" if kept_start else reason,
            np.array(monitor.training_errors),
            np.array(monitor.held_out_errors),
            monitor.best_iteration,
            problem.parameter_count,
            problem.total_weight,
            problem.l2,
        )
        return self
