"""Keeping the outcome of a fit beside its evaluation file, so that a later stage need not repeat it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from glem.core.evaluation import LinearEvaluation
from glem.core.files import atomic_path
from glem.core.fitting import FitResult, PhaseWeights
from glem.core.training import Training

__all__ = ["load_training", "save_training"]

_WEIGHTS = ("bias", "patterns", "configurations", "linear", "match_counts")


def save_training(training: Training, path: Path) -> None:
    """Write everything but the evaluation itself, atomically; count rules' plans are not kept."""
    weights = training.weights
    arrays = {name: getattr(weights, name) for name in _WEIGHTS}
    for number, result in enumerate(weights.results):
        arrays[f"training_errors_{number}"] = result.training_errors
        arrays[f"held_out_errors_{number}"] = result.held_out_errors
    texts = [[result.fitter, result.reason] for result in weights.results]
    numbers = [
        [float(result.converged), float(result.best_iteration), float(result.parameter_count), result.training_weight]
        for result in weights.results
    ]
    with atomic_path(path) as temporary:
        np.savez(
            temporary,
            allow_pickle=False,
            texts=np.array(texts, np.str_),
            numbers=np.array(numbers),
            phase_weights=training.phase_weights,
            **arrays,
        )


def load_training(path: Path, evaluation: LinearEvaluation) -> Training:
    """Read what :func:`save_training` wrote, for the evaluation that was saved with it."""
    with np.load(path, allow_pickle=False) as stored:
        results = tuple(
            FitResult(
                fitter=str(fitter),
                converged=bool(numbers[0]),
                reason=str(reason),
                training_errors=stored[f"training_errors_{number}"],
                held_out_errors=stored[f"held_out_errors_{number}"],
                best_iteration=int(numbers[1]),
                parameter_count=int(numbers[2]),
                training_weight=float(numbers[3]),
            )
            for number, ((fitter, reason), numbers) in enumerate(zip(stored["texts"], stored["numbers"], strict=True))
        )
        weights = PhaseWeights(link=evaluation.link, results=results, **{name: stored[name] for name in _WEIGHTS})
        return Training(evaluation, weights, stored["phase_weights"])
