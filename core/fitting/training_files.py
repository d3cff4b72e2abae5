"""Keeping fitted weights and how the fit went, so that a later run need not repeat it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glem.core.errors import reading
from glem.core.files.archives import ArchiveFormat
from glem.core.fitting import FitResult, Link, PhaseWeights

__all__ = ["load_weights", "save_weights"]

_WEIGHTS = ("bias", "patterns", "configurations", "linear", "match_counts")
_FORMAT = ArchiveFormat("glem fit", version=1, required=_WEIGHTS, optional=None, largest=1 << 40, packed=False)


def save_weights(weights: PhaseWeights, path: Path) -> None:
    """Write weights and results atomically; the plan of count rules and the link are not kept."""
    arrays = {name: getattr(weights, name) for name in _WEIGHTS}
    texts, numbers = [], []
    for number, result in enumerate(weights.results):
        if result is None:
            texts.append(["", ""])
            numbers.append([0.0] * 4)
            continue
        arrays[f"training_errors_{number}"] = result.training_errors
        arrays[f"held_out_errors_{number}"] = result.held_out_errors
        texts.append([result.fitter, result.reason])
        numbers.append(
            [
                float(result.converged),
                float(result.best_iteration),
                float(result.parameter_count),
                result.training_weight,
            ]
        )
    _FORMAT.write(path, {}, {"texts": np.array(texts, np.str_), "numbers": np.array(numbers), **arrays})


def load_weights(path: Path, link: Link) -> PhaseWeights:
    """Read what :func:`save_weights` wrote."""
    stored = _FORMAT.read(path)[1]
    with reading(path, "fitted weights"):
        arrays: dict[str, NDArray[np.float64]] = {name: stored[name] for name in _WEIGHTS}
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
            if fitter
            else None
            for number, ((fitter, reason), numbers) in enumerate(zip(stored["texts"], stored["numbers"], strict=True))
        )
    return PhaseWeights(
        bias=arrays["bias"],
        patterns=arrays["patterns"],
        configurations=arrays["configurations"],
        linear=arrays["linear"],
        match_counts=arrays["match_counts"],
        link=link,
        results=results,
    )
