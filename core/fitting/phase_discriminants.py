"""Logistic regression and Fisher's discriminant on the positions of a game, phase by phase (Buro 1995, section 4)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.links import LOGISTIC
from glem.core.features.learning import Learning
from glem.core.fitting.discriminants import LinearModel, Sample, fit_fisher, fit_logistic, fit_with_remedies
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress

METHODS: Mapping[str, Callable[[Sample], LinearModel]] = {"logistic": fit_logistic, "fisher": fit_fisher}
"""Methods of ``glem fit`` that this module has."""


@define(frozen=True, eq=False)
class PhaseDiscriminants:
    """An evaluation of winning chances, and the fits that it has its weights from.

    Parameters
    ----------
    evaluation
        Linear features under the logistic link.
    models
        By phase; None where a phase has the weights of the nearest one.
    errors
        float64 [K, L + 1]: standard errors of the weights by game, the constant last; nan where there is no fit.
    warnings
        What was left out or corrected, with the phase.
    """

    evaluation: LinearEvaluation
    models: tuple[LinearModel | None, ...]
    errors: NDArray[np.float64]
    warnings: tuple[str, ...]


def fit_phases_by_result(
    positions: Positions,
    learning: Learning,
    names: tuple[str, ...],
    method: str = "logistic",
    *,
    provenance: Mapping[str, str] | None = None,
    progress: Progress = SILENT,
) -> PhaseDiscriminants:
    """Fit the weights of linear features to results: each phase to its positions and those of adjacent phases.

    Parameters
    ----------
    positions
        N positions; the sign of a label is the result, a draw is half a win.
    learning
        Features and phases of their game.
    names
        The L features.
    method
        One of :data:`METHODS`.
    provenance
        Kept in the evaluation.
    progress
        Display.

    Raises
    ------
    BadInputError
        No features or positions, or no phase that could be fitted.
    """
    if not names:
        raise BadInputError(f"--method {method} fits linear features, and there are none")
    items = [learning.features.index(name) for name in names]
    phase = learning.phases.of(positions.positions).astype(np.int64)
    won = (positions.result.astype(np.float64) + 1) / 2
    count = len(learning.phases)
    weights, errors = np.zeros((count, len(items) + 1)), np.full((count, len(items) + 1), np.nan)
    models: list[LinearModel | None] = [None] * count
    warnings: list[str] = []
    if (positions.weight > 1).any():
        warnings.append("merged positions have mean results, of which only the sign counts: make them without --merge")
    with progress("fitting phases", count) as task:
        for number, name in enumerate(learning.phases.names):
            rows = np.flatnonzero((np.abs(phase - number) <= 1) & (positions.weight > 0))
            columns: dict[str, Any] = {"trials": positions.weight[rows], "game": positions.game_key[rows]}
            features = learning.features.values(rows_of(positions.positions, rows))[:, items].astype(np.float32)
            try:
                model, kept, notes = fit_with_remedies(METHODS[method], features, won[rows], names, **columns)
            except BadInputError as error:
                warnings.append(f"{name} takes the weights of the nearest phase: {error}")
            else:
                models[number] = model
                weights[number, [*kept, -1]], errors[number, [*kept, -1]] = model.weights, model.errors()
                warnings.extend(f"{name}: {note}" for note in notes)
            task.advance()
    fitted = [number for number, model in enumerate(models) if model is not None]
    if not fitted:
        raise BadInputError(f"no phase could be fitted; {warnings[0] if warnings else 'there are no positions'}")
    nearest = [min(fitted, key=lambda number: (abs(number - own), -number)) for own in range(count)]
    evaluation = LinearEvaluation(
        learning,
        weights[nearest, -1].astype(np.float32),
        LOGISTIC,
        linear=tuple(items),
        linear_weights=weights[nearest, :-1].astype(np.float32),
        provenance=dict(provenance or {}),
    )
    return PhaseDiscriminants(evaluation, tuple(models), errors, tuple(warnings))
