"""Logistic regression, Fisher's and the quadratic discriminant on the positions of a game, phase by phase (Buro 1995).

Terms are linear features, and patterns by tables: what an instance holds counts as the share of other games that were
won with it (section 4). Each phase is fitted to its positions and those of adjacent phases, as its tables are.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError, check_arguments, writing
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.evaluation.quadratic import QuadraticEvaluation
from glem.core.evaluation.result_distribution import blocks_of
from glem.core.features.learning import Learning
from glem.core.fitting.discriminants.models import (
    LinearModel,
    QuadraticModel,
    Sample,
    fit_fisher,
    fit_logistic,
    fit_quadratic,
    fit_with_remedies,
)
from glem.core.fitting.fitters.fitter import Fit
from glem.core.fitting.phases import nearest_of
from glem.core.machine.descriptors import reserve
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress

Parts = Callable[[], Iterable[Positions]]
"""Positions, part by part; called for every pass over them."""

METHODS: Mapping[str, Callable[[Sample], LinearModel | QuadraticModel]] = {
    "logistic": fit_logistic,
    "fisher": fit_fisher,
    "quadratic": fit_quadratic,
}
"""What fits a phase, by the name of the fitter."""

TABLE_SHARE = 0.5
"""Share of the games that tables are estimated on; the discriminants are fitted to the others."""

_TABLE_SEED = 0x7AB1E5
_UNDECIDED = 20.0
"""Drawn positions that are added to those of each content of a pattern."""
_IN_MEMORY = 1 << 28


@kernel
def _count(indices: Any, offsets: Any, phases: Any, trials: Any, won: Any, sums: Any) -> None:
    for instance in range(indices.shape[0]):
        column = indices[instance]
        for row in range(indices.shape[1]):
            place = offsets[instance] + column[row]
            sums[0, phases[row], place] += trials[row]
            sums[1, phases[row], place] += trials[row] * won[row]


def shares_of_wins(positions: Positions) -> NDArray[np.float64]:
    """Shares of the trials won, 1, 0.5 or 0 by the signs of the labels: float64 [N]."""
    found: NDArray[np.float64] = (positions.result.astype(np.float64) + 1) / 2
    return found


def parts_of(positions: Positions | Parts) -> Parts:
    """Give positions as the only part, or the parts themselves."""
    return (lambda: [positions]) if isinstance(positions, Positions) else positions


def _select_parts(parts: Parts, chosen: Callable[[Positions], NDArray[np.bool_]]) -> Parts:
    """Take of each part the positions for which a function of it is true."""
    return lambda: (part.select(chosen(part)) for part in parts())


def estimate_tables(parts: Parts, learning: Learning, patterns: PatternSet) -> NDArray[np.float32]:
    """Estimate how likely a win is, above one half, with each content of patterns in each phase.

    Parameters
    ----------
    parts
        Positions of games that the discriminants are not fitted to: of their own games, contents that are rare would
        say more than they know.
    learning
        Features and phases, K.
    patterns
        The patterns.

    Returns
    -------
    weights
        float32 [K, weight_count]: wins less half the positions, of the phase and its neighbours, over their number
        and :data:`_UNDECIDED` more.
    """
    sums = np.zeros((2, len(learning.phases), patterns.weight_count))
    for part in parts():
        won = shares_of_wins(part)
        for rows in blocks_of(len(part)):
            block = rows_of(part.positions, rows)
            indices = patterns.indices(learning.features.values(block))
            _count(indices, patterns.column_offsets, learning.phases.of(block), part.weight[rows], won[rows], sums)
    pooled = sums.copy()
    pooled[:, 1:] += sums[:, :-1]
    pooled[:, :-1] += sums[:, 1:]
    if patterns.weight_count and not sums.any():
        raise BadInputError("there are no games to estimate the tables of patterns on")
    shares: NDArray[np.float32] = ((pooled[1] - pooled[0] / 2) / (pooled[0] + _UNDECIDED)).astype(np.float32)
    shares[:, patterns.null_weights] = 0
    return shares


def terms_to_combine(
    parts: Parts, learning: Learning, names: tuple[str, ...], patterns: PatternSet | None
) -> LinearEvaluation:
    """Make the terms that discriminants combine, as an evaluation that adds them up.

    They are linear features, by name, and patterns, if any, whose tables are estimated on the parts.
    """
    phases = len(learning.phases)
    return LinearEvaluation(
        learning,
        np.zeros(phases, np.float32),
        LOGISTIC,
        patterns=patterns,
        pattern_weights=np.zeros((phases, 0), np.float32)
        if patterns is None
        else estimate_tables(parts, learning, patterns),
        linear=tuple(learning.features.index(name) for name in names),
        linear_weights=np.ones((phases, len(names)), np.float32),
    )


@define(frozen=True, eq=False)
class TermRows:
    """Terms of positions in the order of their phases, so that a phase and its neighbours are one slice.

    Parameters
    ----------
    terms
        The T terms.
    values
        float32 [N, T], on disk where they are many.
    won, trials
        float32 [N].
    game
        uint64 [N]: keys.
    starts
        int64 [K + 1]: where each phase begins.
    """

    terms: LinearEvaluation
    values: NDArray[np.float32]
    won: NDArray[np.float32]
    trials: NDArray[np.float32]
    game: NDArray[np.uint64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, terms: LinearEvaluation, parts: Parts, progress: Progress = SILENT) -> "TermRows":
        """Compute the terms of positions, in two passes over them."""
        learning = terms.learning
        phases = len(learning.phases)
        counts = np.zeros(phases, np.int64)
        for part in parts():
            counts += np.bincount(learning.phases.of(part.positions), minlength=phases)
        starts = np.concatenate([[0], np.cumsum(counts)])
        shape = (int(starts[-1]), len(terms.terms))
        values: NDArray[np.float32]
        if math.prod(shape) * 4 <= _IN_MEMORY:
            values = np.empty(shape, np.float32)
        else:
            # The file has no name, and goes with the array. Its room is taken at once: a full disk is an error here,
            # and would kill the process later.
            with writing(tempfile.gettempdir()), tempfile.TemporaryFile() as file:
                reserve(file.fileno(), math.prod(shape) * 4)
                values = np.memmap(file, np.float32, shape=shape)
        won, trials = np.empty(shape[0], np.float32), np.empty(shape[0], np.float32)
        game = np.empty(shape[0], np.uint64)
        free = starts[:-1].copy()
        with progress("computing terms", shape[0]) as task:
            for part in parts():
                shares = shares_of_wins(part)
                for rows in blocks_of(len(part)):
                    block = rows_of(part.positions, rows)
                    phase = learning.phases.of(block)
                    order = np.argsort(phase, kind="stable")
                    first = np.searchsorted(phase[order], np.arange(phases))
                    places = np.empty(len(order), np.int64)
                    places[order] = np.arange(len(order)) + (free - first)[phase[order]]
                    free += np.bincount(phase, minlength=phases)
                    values[places] = terms.terms_of_values(learning.features.values(block), phase).T
                    won[places], trials[places] = shares[rows], part.weight[rows]
                    game[places] = part.game_key[rows]
                    task.advance(len(order))
        return cls(terms, values, won, trials, game, starts)

    def near(self, phase: int) -> slice:
        """Rows of a phase and of its neighbours."""
        return slice(int(self.starts[max(phase - 1, 0)]), int(self.starts[min(phase + 2, len(self.starts) - 1)]))


def fit_rows(
    rows: TermRows,
    method: str = "logistic",
    *,
    provenance: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
) -> Fit:
    """Fit a discriminant to each phase.

    Parameters
    ----------
    rows
        The positions.
    method
        One of :data:`METHODS`.
    provenance
        Kept in the evaluation, which is linear or quadratic, under the logistic link.
    progress
        Display.

    Returns
    -------
    Fit
        Its course has no figures of a phase that takes the coefficients of the nearest one, and is empty where a term
        has several weights. Its warnings say what was left out or corrected, with the phase.

    Raises
    ------
    BadInputError
        No phase could be fitted.
    """
    check_arguments({"method": method}, method=tuple(METHODS))
    terms, names = rows.terms, rows.terms.terms
    phases = terms.learning.phases
    count, width = len(phases), len(names)
    constants, slopes, squares = np.zeros(count), np.zeros((count, width)), np.zeros((count, width, width))
    errors = np.full((count, width + 1), np.nan)
    models: list[LinearModel | QuadraticModel | None] = [None] * count
    warnings: list[str] = []
    if (rows.trials > 1).any():
        warnings.append("merged positions have mean results, of which only the sign counts: make them without --merge")
    with progress(f"fitting phases, {method}", count) as task:
        for number, name in enumerate(phases.names):
            part = rows.near(number)
            columns: dict[str, Any] = {"trials": rows.trials[part], "game": rows.game[part]}
            try:
                fitted = fit_with_remedies(METHODS[method], rows.values[part], rows.won[part], names, **columns)
            except BadInputError as error:
                warnings.append(f"{name} takes the weights of the nearest phase: {error}")
            else:
                model, kept, notes = fitted
                models[number] = model
                warnings.extend(f"{name}: {note}" for note in notes)
                if isinstance(model, LinearModel):
                    slopes[number, kept], constants[number] = model.weights[:-1], model.weights[-1]
                    errors[number, [*kept, -1]] = model.errors()
                else:
                    own, slopes[number, kept], constants[number] = model.polynomial()
                    squares[number][np.ix_(kept, kept)] = own
            task.advance()
    fitted_phases = [number for number, model in enumerate(models) if model is not None]
    if not fitted_phases:
        raise BadInputError(f"no phase could be fitted; {warnings[0] if warnings else 'there are no positions'}")
    nearest = nearest_of(fitted_phases, count)
    common: dict[str, Any] = {
        "learning": terms.learning,
        "bias": constants[nearest].astype(np.float32),
        "link": LOGISTIC,
        "patterns": terms.patterns,
        "linear": terms.linear,
        "provenance": {**(provenance or {}), **({"warnings": "\n".join(warnings)} if warnings else {})},
    }
    slopes = slopes[nearest]
    if METHODS[method] is fit_quadratic:
        course: tuple[dict[str, Any] | None, ...] = ()
        evaluation: LinearEvaluation = QuadraticEvaluation(
            **common,
            pattern_weights=terms.pattern_weights,
            linear_weights=terms.linear_weights,
            slopes=slopes.astype(np.float32),
            squares=squares[nearest].astype(np.float32),
        )
    else:
        sizes: Any = () if terms.patterns is None else terms.patterns.weight_sizes
        by_pattern = np.repeat(slopes[:, : len(sizes)], sizes, axis=1)
        coefficients = np.stack([np.column_stack([slopes, constants[nearest]]), errors]).astype(np.float32)
        evaluation = LinearEvaluation(
            **common,
            pattern_weights=(terms.pattern_weights * by_pattern).astype(np.float32),
            linear_weights=slopes[:, len(sizes) :].astype(np.float32),
            coefficients=coefficients,
        )
        terms_and_constant = [*names, "constant"]
        course = tuple(
            {
                "positions": model.rows,
                "games": model.games,
                "log_loss": -model.log_likelihood / model.trials,
                "weights": dict(zip(terms_and_constant, coefficients[0, number].tolist(), strict=True)),
                "errors": dict(zip(terms_and_constant, coefficients[1, number].tolist(), strict=True)),
            }
            if isinstance(model, LinearModel)
            else None
            for number, model in enumerate(models)
        )
    return Fit(evaluation, course, tuple(warnings))


def rows_to_fit(
    parts: Parts,
    learning: Learning,
    names: tuple[str, ...],
    patterns: PatternSet | None,
    *,
    seed: int = 0,
    progress: Progress = SILENT,
) -> TermRows:
    """Make the rows that discriminants are fitted to.

    Parameters
    ----------
    parts
        Positions, which need not fit in memory; the sign of a label is the result, a draw is half a win.
    learning
        Features and phases of their game.
    names
        Linear features.
    patterns
        Patterns, if any; their tables are estimated on the positions of :data:`TABLE_SHARE` of the games, and the rows
        are those of the others.
    seed
        Chooses these games.
    progress
        Display.

    Raises
    ------
    BadInputError
        No terms or positions.
    """
    if not names and not patterns:
        raise BadInputError("discriminants combine linear features and patterns, and there are none")
    mine = parts
    if patterns is not None:
        # Not the seed by which games are held out before: of these, another share would be taken.
        own = seed ^ _TABLE_SEED
        mine = _select_parts(parts, lambda part: ~part.held_out_mask(TABLE_SHARE, own))
        parts = _select_parts(parts, lambda part: part.held_out_mask(TABLE_SHARE, own))
    return TermRows.of(terms_to_combine(parts, learning, names, patterns), mine, progress)
