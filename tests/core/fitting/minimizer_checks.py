"""Checks of a minimizer: its manners, and whether it solves problems whose solution is known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.conformance.evaluation import random_evaluation
from glem.core.conformance.playouts import sample_of
from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, Suite
from glem.core.errors import BadInputError
from glem.core.evaluation.links import IDENTITY, LOGISTIC, Link
from glem.core.features.learning import Learning
from glem.core.fitting.least_squares_problem import LeastSquares
from glem.core.fitting.minimizing.minimizer import FitResult, Minimizer
from glem.core.fitting.packed.blocks import LinearTerms, Packing
from glem.core.fitting.packed.design import Design
from glem.core.tasks.progress import SILENT, Progress
from tests.oracles.fitting import fit_design, problem_of

_ROWS = 600
_ITEMS = 12
_ABSENT = (3, 8)
"""Items that are active in no position."""
_SHARE = 0.35
"""Share of the positions in which any other item is active."""
_STEEP = 0.4
"""Size of the weights under a sigmoid link."""

_GREATEST_REPETITION = 4

_REMAINING = 0.01
"""Share of the squared error at the start that may be left where none need be."""
_WEIGHT_ROOM = 0.1
"""Share of the largest weight by which a weight may be off."""
_REPETITION_ROOM = 1e-3
_ERROR_ROOM = 1e-5


_MINIMIZER = Suite()
"""Checks of a fitter; each gets the result under way, the fitter, a problem whose solution is known, and the seed."""


@define(frozen=True, eq=False)
class _KnownProblem:
    """Positions whose labels are made of known weights.

    Parameters
    ----------
    active
        bool [N, items]: active items of every position.
    weights
        float64 [items + 1]: the bias comes last.
    link
        Link function.
    """

    active: NDArray[np.bool_]
    weights: NDArray[np.float64]
    link: Link = IDENTITY

    @classmethod
    def random(cls, seed: int, link: Link = IDENTITY) -> _KnownProblem:
        """Draw a well-posed problem: many more positions than items, which hardly depend on each other."""
        generator = np.random.default_rng(seed)
        active = generator.random((_ROWS, _ITEMS)) < _SHARE
        active[:, list(_ABSENT)] = False
        weights = generator.standard_normal(_ITEMS + 1)
        weights[list(_ABSENT)] = 0.0
        if link.span:
            # Sums where the link is steep: at its flat ends the labels tell little of them.
            weights *= _STEEP
        return cls(active, weights, link)

    @property
    def labels(self) -> NDArray[np.float32]:
        """Labels without noise."""
        sums = self.active @ self.weights[:-1] + self.weights[-1]
        return self.link(sums).astype(np.float32)

    def design(self, rows: NDArray[np.int64] | None = None, phases: NDArray[np.int64] | None = None) -> Design:
        """Design of some rows, all by default, in one phase unless phases are given."""
        chosen = self.active if rows is None else self.active[rows]

        def configurations(values: NDArray[np.int16]) -> tuple[Any, Any]:
            # The values are the numbers of the rows.
            found = chosen[values[:, 0]]
            return np.concatenate([[0], np.cumsum(found.sum(axis=1))]), np.nonzero(found)[1].astype(np.int64)

        values = np.arange(len(chosen), dtype=np.int16)[:, None]
        own = np.zeros(len(chosen), np.int64) if phases is None else phases
        packing = Packing(int(own.max(initial=0)) + 1, configurations=configurations, configuration_count=_ITEMS)
        return Design.build([(values, own)], packing)

    def least_squares(self, **changes: Any) -> LeastSquares:
        """Give all rows to a fit."""
        return problem_of(self.design(), self.labels, link=self.link, **changes)


class _MemoryCheckpoint:
    """Keeps the first state that a fitter saves, or gives one back."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.state = None if state is None else dict(state)
        self.saved: dict[str, Any] | None = None

    def save(self, state: Mapping[str, Any]) -> None:
        if self.saved is None:
            self.saved = {name: np.array(value, copy=True) for name, value in state.items()}

    def load(self) -> dict[str, Any] | None:
        return self.state


def check_minimizer(
    fitter: Minimizer,
    *,
    learning: Learning | None = None,
    games: int = 5,
    seed: int = 0,
    progress: Progress = SILENT,
) -> ConformanceReport:
    """Examine a fitter on small problems whose solution is known.

    Parameters
    ----------
    fitter
        With the parameters with which it is to be used; it is copied and left as it is.
    learning
        Of a game; where it is given, the fitter also fits the game's first pattern set and linear features to known
        weights on positions of random games.
    games, seed
        Number of those games, and the seed of everything that is random.

    Raises
    ------
    BadInputError
        There are no games to play.
    """
    report = ConformanceReport(f"minimizer {type(fitter).__name__}")
    steps = _MINIMIZER.of(fitter, _KnownProblem.random(seed), seed)
    if learning is not None:
        steps.append(partial(_check_game, fitter=fitter, learning=learning, games=games, seed=seed))
    return report.examine(steps, progress)


def _copy(fitter: Minimizer, **changes: Any) -> Minimizer:
    """Make a fitter of the same arguments that has not fitted anything."""
    return type(fitter)(**{**fitter.get_params(), **changes})


def _fitted(fitter: Minimizer, problem: LeastSquares, **arguments: Any) -> Minimizer:
    """Fit a copy; see that there are finite parameters and a result."""
    one = _copy(fitter)
    one.fit(problem, **arguments)
    parameters, result = getattr(one, "parameters_", None), getattr(one, "result_", None)
    if not isinstance(parameters, np.ndarray) or parameters.shape != (problem.parameter_count,):
        raise BrokenPromise(f"parameters_ is {_shape(parameters)}, expected float64 [{problem.parameter_count}]")
    if parameters.dtype != np.float64 or not np.isfinite(parameters).all():
        raise BrokenPromise(f"parameters_ are {parameters.dtype} or not finite, expected finite float64")
    if not isinstance(result, FitResult):
        raise BrokenPromise(f"result_ is a {type(result).__name__}, expected a FitResult")
    return one


def _shape(value: Any) -> str:
    return f"an array {value.dtype} {list(value.shape)}" if isinstance(value, np.ndarray) else f"{value!r}"


@_MINIMIZER.promise(
    "manners",
    "constructors store their arguments unchanged, get_params gives them, fit returns the fitter, changes no argument, "
    "and what it finds ends in an underscore",
)
def _check_manners(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    check.expect(isinstance(fitter, Minimizer), f"{type(fitter).__name__} does not derive from Minimizer")
    kinds = {parameter.kind for parameter in inspect.signature(type(fitter)).parameters.values()}
    loose = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} & kinds
    check.expect(not loose, "the constructor takes *args or **kwargs, expected named parameters alone")
    given = fitter.get_params()
    one = _copy(fitter)
    for name, value in given.items():
        stored = getattr(one, name, None)
        check.expect(stored is value, f"{name}={value!r} is stored as {stored!r}, expected the object itself")
    check.expect(repr(one) == repr(fitter), f"a copy prints itself as {one!r}, the original as {fitter!r}")
    check.expect(type(fitter).__name__ in repr(fitter), f"repr is {fitter!r}, expected the class and its arguments")
    for name, value in given.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            # A share stays one.
            other = 2 * value + 1 if isinstance(value, int) else value / 2 or 0.5
            stored = getattr(_copy(fitter, **{name: other}), name, None)
            check.expect(stored == other, f"{name}={other!r} is stored as {stored!r}")
    early = [name for name in ("parameters_", "result_") if hasattr(one, name)]
    check.expect(not early, f"an unfitted fitter has {early}")
    before = dict(vars(one))
    returned = one.fit(problem.least_squares())
    check.expect(returned is one, f"fit returned a {type(returned).__name__}, expected the fitter itself")
    for name, value in before.items():
        now = getattr(one, name)
        check.expect(now is value or np.array_equal(now, value), f"fit changes {name} to {now!r}")
    new = [name for name in vars(one) if name not in before]
    strange = [name for name in new if not name.endswith("_") and not name.startswith("_")]
    check.expect(not strange, f"fit leaves {strange}, expected names that end in an underscore")


@_MINIMIZER.promise(
    "result",
    "the result tells the errors of the start and of every iteration, and those of the weights that are kept",
)
def _check_result(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    squares = problem.least_squares()
    one = _fitted(fitter, squares)
    result = one.result_
    check.expect(
        len(result.training_errors) == len(result.held_out_errors) == result.iterations + 1 >= 1,
        f"{len(result.training_errors)} training errors, {len(result.held_out_errors)} held-out ones, expected one "
        "for the start and one for each iteration",
    )
    check.expect(
        0 <= result.best_iteration <= result.iterations,
        f"best_iteration is {result.best_iteration} of {result.iterations}",
    )
    start = squares.errors_and_gradient(np.zeros(squares.parameter_count))[0].training
    kept = squares.errors_and_gradient(one.parameters_)[0].training
    told_start, told_kept = result.training_errors[0], result.training_errors[result.best_iteration]
    room = _ERROR_ROOM * start
    check.expect(abs(told_start - start) <= room, f"the error at the start is {told_start}, found {start}")
    check.expect(abs(told_kept - kept) <= room, f"the error of the weights kept is {told_kept}, found {kept}")
    check.expect(result.reason, "no reason is given why the fit stopped")
    check.expect(isinstance(result.converged, bool | np.bool_), f"converged is {result.converged!r}")
    check.expect(
        (result.parameter_count, result.training_weight) == (squares.parameter_count, squares.total_weight),
        f"{result.parameter_count} parameters and {result.training_weight} positions are told, there are "
        f"{squares.parameter_count} and {squares.total_weight}",
    )


@_MINIMIZER.promise(
    "repeatable",
    "the same problem gives the same weights, bit for bit, also from a fitter that has fitted before",
)
def _check_repeatable(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    one = _fitted(fitter, problem.least_squares())
    first = one.parameters_.copy()
    other = _fitted(fitter, problem.least_squares())
    check.expect(np.array_equal(first, other.parameters_), _differ(first, other.parameters_, "a second fitter"))
    one.fit(_KnownProblem.random(1_000_003).least_squares())
    check.expect(np.array_equal(first, other.parameters_), "parameters_ are shared between fitters")
    again = one.fit(problem.least_squares()).parameters_
    check.expect(np.array_equal(first, again), _differ(first, again, "the same fitter again, after another fit"))


def _differ(one: NDArray[np.float64], other: NDArray[np.float64], who: str) -> str:
    if one.shape != other.shape:
        return f"{who} gives {other.shape} parameters, not {one.shape}"
    return f"{who} gives weights that differ by up to {np.abs(one - other).max():.3g}"


@_MINIMIZER.promise("known weights", "known weights are found on a small problem without noise, under every link")
def _check_recovery(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    for link in (IDENTITY, LOGISTIC):
        problem = _KnownProblem.random(seed, link)
        squares = problem.least_squares()
        one = _fitted(fitter, squares)
        result = one.result_
        told = f"after {result.iterations} iterations ({result.reason}), with the {link.name} link"
        start, left = (
            squares.errors_and_gradient(parameters)[0].training
            for parameters in (np.zeros(squares.parameter_count), one.parameters_)
        )
        check.expect(
            left <= _REMAINING * start, f"{left / start:.2%} of the squared error are left {told}, expected none"
        )
        off = np.abs(one.parameters_ - problem.weights)
        worst = int(np.argmax(off))
        check.expect(
            off[worst] <= _WEIGHT_ROOM * np.abs(problem.weights).max(),
            f"weight {worst} is {one.parameters_[worst]:.4f}, expected {problem.weights[worst]:.4f}, {told}",
        )


@_MINIMIZER.promise("descent", "a fit never ends with a greater objective than it began with, wherever it begins")
def _check_descent(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    generator = np.random.default_rng(0)
    for penalty in (0.0, 10.0):
        squares = problem.least_squares(l2=penalty)
        starts = [
            ("zero", np.zeros(squares.parameter_count)),
            ("the solution", problem.weights.copy()),
            ("random weights", generator.standard_normal(squares.parameter_count)),
        ]
        for name, start in starts:
            given = start.copy()
            one = _fitted(fitter, squares, start=start)
            check.expect(np.array_equal(start, given), "fit writes into the start that it is given")
            before, after = (
                squares.penalized(squares.errors_and_gradient(parameters)[0], parameters)
                for parameters in (start, one.parameters_)
            )
            room = _ERROR_ROOM * (before + float(np.square(problem.labels).sum()))
            check.expect(
                after <= before + room,
                f"from {name}, with l2 = {penalty}: the objective rises from {before:.6g} to {after:.6g}",
            )


@_MINIMIZER.promise("absent items", "weights of what is active in no position stay 0")
def _check_absent(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    for penalty in (0.0, 10.0):
        one = _fitted(fitter, problem.least_squares(l2=penalty))
        for item in _ABSENT:
            weight = one.parameters_[item]
            check.expect(weight == 0.0, f"item {item} is never active and gets the weight {weight} (l2 = {penalty})")


@_MINIMIZER.promise(
    "sample weights", "a position of weight k counts as k positions, one of weight 0 or without a label as none"
)
def _check_weights(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    generator = np.random.default_rng(seed)
    times = generator.integers(0, _GREATEST_REPETITION, len(problem.labels))
    noisy = problem.labels + generator.standard_normal(len(times)).astype(np.float32)
    rows = np.repeat(np.arange(len(times)), times)
    repeated = _fitted(fitter, problem_of(problem.design(rows), noisy[rows])).parameters_
    weighted = problem_of(problem.design(), noisy, weights=times.astype(np.float32))
    unlabelled = problem_of(
        problem.design(), np.where(times > 0, noisy, np.float32(np.nan)), weights=times.astype(np.float32)
    )
    room = _REPETITION_ROOM * (1 + np.abs(repeated).max())
    for name, squares in (("weights", weighted), ("weights, and nan for the labels of weight 0", unlabelled)):
        off = np.abs(_fitted(fitter, squares).parameters_ - repeated).max()
        check.expect(off <= room, f"with {name}, a weight differs by {off:.3g} from a fit of repeated positions")


@_MINIMIZER.promise(
    "held-out positions",
    "held-out positions take no part, and the weights of the iteration that does best on them are kept; without "
    "patience the last ones, or those of the start where they are better",
)
def _check_held_out(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    generator = np.random.default_rng(seed)
    held_out = generator.random(len(problem.labels)) < 0.3
    noisy = problem.labels + 2 * generator.standard_normal(len(held_out)).astype(np.float32)
    squares = problem_of(problem.design(), noisy, held_out=held_out)
    one = _fitted(fitter, squares)
    errors = one.result_.held_out_errors
    check.expect(np.isfinite(errors).all(), "held_out_errors are not finite, though positions are held out")
    last = len(errors) - 1
    best = int(np.argmin(errors[[0, last]])) * last if one.get_params().get("patience") == 0 else int(np.argmin(errors))
    check.expect(
        errors[one.result_.best_iteration] == errors[best],
        f"iteration {one.result_.best_iteration} is kept, {best} did best on the held-out positions",
    )
    kept = squares.errors_and_gradient(one.parameters_)[0].held_out
    check.expect(
        abs(kept - errors[best]) <= _ERROR_ROOM * errors[0],
        f"the weights kept have the held-out error {kept}, the best iteration had {errors[best]}",
    )


@_MINIMIZER.promise(
    "convergence",
    "a fit that is called converged is near the minimum, and one that was cut short is not called so",
)
def _check_convergence(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    candidates: Sequence[tuple[str, Minimizer]] = [("as it is", _copy(fitter))]
    if "iterations" in fitter.get_params():
        candidates = [*candidates, ("with iterations=1", _copy(fitter, iterations=1))]
    squares = problem.least_squares()
    for name, one in candidates:
        one.fit(squares)
        result = one.result_
        start, left = result.training_errors[0], result.training_errors[result.best_iteration]
        check.expect(
            not result.converged or left <= _REMAINING * start,
            f"{name}, the fit is called converged ({result.reason}) with {left / start:.1%} of the squared error "
            "left, expected none",
        )
        limit = one.get_params().get("iterations")
        check.expect(limit is None or result.iterations <= limit, f"{name}, it takes {result.iterations} iterations")


@_MINIMIZER.promise(
    "checkpoint",
    "a fit that continues from a checkpoint gives the same weights as one that was not interrupted",
)
def _check_continuation(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    noted = _MemoryCheckpoint()
    squares = problem.least_squares()
    whole = _fitted(fitter, squares).parameters_
    watched = _fitted(fitter, squares, checkpoint=noted).parameters_
    check.expect(np.array_equal(whole, watched), _differ(whole, watched, "a fit with a checkpoint"))
    if noted.saved is not None:
        continued = _fitted(fitter, squares, checkpoint=_MemoryCheckpoint(noted.saved)).parameters_
        check.expect(np.array_equal(whole, continued), _differ(whole, continued, "the continued fit"))


def _expect_refusal(check: CheckResult, what: str, action: Callable[[], Any]) -> None:
    try:
        action()
    except BadInputError as error:
        check.expect(str(error), f"{what} raises a BadInputError without a text")
    except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
        check.fail(f"{what} raises {type(error).__name__} ({error}), expected BadInputError with a clear text")
    else:
        check.fail(f"{what} is accepted, expected BadInputError")


@_MINIMIZER.promise(
    "refusals",
    "what cannot be fitted is refused with BadInputError and a text: infinite labels, negative weights",
)
def _check_refusals(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    design, labels = problem.design(), problem.labels
    infinite = labels.copy()
    infinite[5] = np.inf
    negative = np.ones(len(labels), np.float32)
    negative[5] = -1
    count = problem.least_squares().parameter_count
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("an infinite label", lambda: fit_design(design, infinite, fitter=_copy(fitter))),
        ("no label but nan", lambda: fit_design(design, np.full_like(labels, np.nan), fitter=_copy(fitter))),
        ("a negative weight", lambda: fit_design(design, labels, weights=negative, fitter=_copy(fitter))),
        ("a start that is too long", lambda: _copy(fitter).fit(problem.least_squares(), start=np.zeros(count + 1))),
        ("a start of nan", lambda: _copy(fitter).fit(problem.least_squares(), start=np.full(count, np.nan))),
    ]
    for what, action in cases:
        _expect_refusal(check, what, action)


@_MINIMIZER.promise("phases", "phases are fitted each by itself, and the fitter given is copied and left as it is")
def _check_phases(check: CheckResult, fitter: Minimizer, problem: _KnownProblem, seed: int) -> None:
    phases = np.random.default_rng(seed).integers(0, 2, len(problem.labels))
    labels = np.where(phases == 0, problem.labels, -problem.labels)
    one = _copy(fitter)
    before = dict(vars(one))
    fitted = fit_design(problem.design(phases=phases), labels, fitter=one)
    check.expect(dict(vars(one)).keys() == before.keys(), "fit_phases leaves something in the fitter given")
    check.expect(len(fitted.results) == 2, f"{len(fitted.results)} results for two phases")
    for phase, sign in enumerate((1, -1)):
        off = np.abs(fitted.configurations[phase] - sign * problem.weights[:-1]).max()
        room = _WEIGHT_ROOM * np.abs(problem.weights).max()
        check.expect(off <= room, f"in phase {phase} a weight is off by {off:.3g}")


def _check_game(report: ConformanceReport, fitter: Minimizer, learning: Learning, games: int, seed: int) -> None:
    """Fit the terms of a random evaluation to its values, on the positions of random games."""
    game = learning.game
    sample = sample_of(game, games, seed, report)

    def look(check: CheckResult) -> None:
        wanted = random_evaluation(learning, seed)
        columns = sample.columns()
        linear = LinearTerms.from_names(learning.features, learning.linear)
        packing = Packing(len(learning.phases), wanted.patterns, linear=linear)
        design = Design.build([(learning.features.values(columns), learning.phases.of(columns))], packing)
        squares = problem_of(design, wanted.predict(columns), l2=1.0)
        one = _fitted(fitter, squares)
        errors = one.result_.training_errors
        left = errors[one.result_.best_iteration]
        check.expect(left < errors[0] or errors[0] == 0, f"the squared error goes from {errors[0]:.6g} to {left:.6g}")
        unmatched = squares.parameter_matches == 0
        moved = np.flatnonzero(one.parameters_[unmatched])
        check.expect(not len(moved), f"{len(moved)} of {int(unmatched.sum())} weights without a match are not 0")

    report.run("game", f"on positions of {game.title}, the error falls, and weights without a match stay 0", look)
