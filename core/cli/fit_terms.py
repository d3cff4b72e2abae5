"""``glem fit likelihood --terms``: the weights of an engine's own evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.tuning.fitting import TermsFit

OF_TERMS = ("terms", "weights", "loss", "held_terms", "template")
"""Options that have a meaning with ``--terms`` alone."""
OF_BOTH = ("l2", "iterations", "select", "skip_moves", "skip_end", "quiet_positions", "held_out")
"""Arguments that both kinds of fits take."""

_NEITHER = ("words", "file_format", "skip_bad", "output", "seed", "jobs")
_SHOWN = 15


def refuse_unused(terms: str | None) -> None:
    """Refuse options that would do nothing."""
    for parameter in options.given_parameters():
        name = parameter.name
        if terms is None and name in OF_TERMS:
            raise BadInputError(f"{parameter.opts[0]} goes with --terms")
        if terms is not None and parameter.expose_value and name not in (*OF_TERMS, *OF_BOTH, *_NEITHER):
            raise BadInputError(f"{parameter.opts[0]} does nothing with --terms")


def fit_own(
    terms: str,
    files: options.GameFiles,
    output: str,
    *,
    weights: str | None,
    loss: str,
    held_terms: tuple[str, ...],
    template: str | None,
    l2: float,
    iterations: int,
    select: str,
    skip_moves: int,
    skip_end: float,
    quiet_positions: bool,
    seed: int,
    **how: Any,
) -> None:
    """Fit, write and show weights."""
    import numpy as np

    from glem.core.discovery.game_positions import Games
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.run_folder import run_folder
    from glem.core.tuning.by_terms import tune_terms
    from glem.core.tuning.fitting import TermSettings
    from glem.core.tuning.terms import checked_template

    check_outputs(output, folders=[f"{output}.work"])
    checked_template(output, template)
    with run_folder(Path(f"{output}.work"), {"work": "tune --terms"}) as work:
        fit = tune_terms(
            terms,
            Games(files.game(), files.paths, files.format, files.skip_bad) if files.paths else None,
            SelectionRule.parse(select, skip_moves=skip_moves, skip_end=skip_end, seed=seed),
            TermSettings(loss=loss, l2=l2, iterations=iterations),
            weights=weights,
            hold=held_terms,
            quiet=quiet_positions,
            seed=seed,
            work=work,
            progress=display_progress(),
            **how,
        )
        # Whole numbers come back as such; those of a fit without any before are log odds.
        digits = 0 if weights is not None and bool((fit.start == np.rint(fit.start)).all()) else 4
        fit.terms.write(output, fit.weights, digits=digits, template=template)
    notes = (f"note: {note}" for note in fit.notes)
    print_result(_as_json(fit, output), [*_told(fit), *notes, f"wrote {output}"])


def _told(fit: TermsFit) -> Iterator[str | Table]:
    import numpy as np

    size = fit.terms.count * (2 if fit.terms.is_tapered else 1)
    tapered = ", tapered" if fit.terms.is_tapered else ""
    done = counted(fit.minimum.monitor.iterations, "iteration")
    yield (
        f"{counted(fit.fitted.positions, 'position')} of {counted(fit.fitted.games, 'game')}, "
        f"{counted(len(fit.terms.shapes), 'term')} with {counted(size, 'weight')}{tapered}; {done}, "
        f"{fit.minimum.reason}"
    )
    rows = [
        (
            f"{kind} ({counted(gain.positions, 'position')} of {counted(gain.games, 'game')})",
            f"{math.exp(gain.before):.4f}",
            f"{math.exp(gain.after):.4f}",
            f"{gain.after - gain.before:+.5f}",
            f"{gain.error:.5f}",
            f"{gain.p:.2g}",
        )
        for kind, gain in (("fitted", fit.fitted), ("held out", fit.held_out))
        if gain.positions
    ]
    yield Table(
        "Geometric mean of the probability given to the result",
        ("", "before", "after", "gain in log", "error", "p"),
        rows,
    )
    yield f"scale b: {fit.scale:.5g} for one log odd"
    if fit.draws.any():
        alpha = 1 / (1 + np.exp(-fit.draws))
        yield f"drawishness: {alpha[0]:.3f}" + (f" to {alpha[1]:.3f} at the end" if fit.terms.is_tapered else "")
    if fit.errors is None:
        yield "too many weights for standard errors"
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        sure = np.nan_to_num(np.abs(fit.weights - fit.start) / fit.errors, posinf=0.0)
    names = fit.terms.names()
    ends = ("middlegame", "endgame") if fit.terms.is_tapered else ("",)
    order = np.argsort(-sure[:, : len(ends)], axis=None, kind="stable")[:_SHOWN].tolist()
    yield Table(
        "Weights that changed most surely",
        ("term", "", "before", "after", "error"),
        [
            (
                names[place // len(ends)],
                ends[place % len(ends)],
                *(
                    f"{column[place // len(ends), place % len(ends)]:.4g}"
                    for column in (fit.start, fit.weights, fit.errors)
                ),
            )
            for place in order
        ],
    )


def _as_json(fit: TermsFit, output: str) -> dict[str, Any]:
    import attrs

    return {
        "output": output,
        "scale": fit.scale,
        "draws": fit.draws,
        "iterations": fit.minimum.monitor.iterations,
        "reason": fit.minimum.reason,
        "fitted": attrs.asdict(fit.fitted),
        "held_out": attrs.asdict(fit.held_out),
        "weights": fit.terms.values_of(fit.weights, 6),
        "errors": None if fit.errors is None else fit.terms.values_of(fit.errors, 6),
        "notes": fit.notes,
    }
