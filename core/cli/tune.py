"""``glem tune``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.cli.tune_terms import OF_BOTH, OF_TERMS, refuse_unused, tune_own
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.fitting.likelihood import LikelihoodTraining


_MOST_SHOWN = 15
_PHASES = click.Choice(["each", "linear", "one"])


@options.command(
    "tune",
    "tune games.parquet --prior default -o tuned.npz",
    "tune games.pgn --terms engine.py:coefficients --weights engine.json -o tuned.json",
)
@options.files("GAMES...", options.file_format, options.skip_bad, is_required=False, was_option=True)
@options.output("Evaluation file to write (.npz); with --terms the weights (.json, .h, .c, .rs).")
@options.option(
    "--terms",
    metavar="FUNCTION|TABLE",
    help="Fit the weights of an engine's own terms instead: FILE.py:FUNCTION gives their coefficients in positions, or "
    "a table (CSV, Parquet, .npz) holds them with the results.",
)
@options.file("--weights", "Weights of --terms to begin with (JSON); zeros by default.")
@options.choice(
    ("--objective", "loss"), ["likelihood", "logistic"], "With --terms: Ban's, which knows draws, or plain logistic."
)
@options.option("--hold-term", "held_terms", multiple=True, metavar="NAME", help="Keep the weights of these --terms.")
@options.option("--template", metavar="TEXT", help="With --terms: the line for each: '{name} = {values}'.")
@options.prior
@options.patterns(" for a prior without one; none by default")
@options.configurations
@options.linear
@options.option(
    "--hold",
    type=click.Choice(["value", "drawishness"]),
    help="Keep this part of the prior as it is; of the value, all but its scale.",
)
@options.option(
    "--value-phases",
    type=_PHASES,
    default="linear",
    help="Corrections of the value are free in each phase, linear over the phases, or one for all.",
)
@options.option("--drawishness-phases", type=_PHASES, default="linear", help="The same for the drawishness.")
@options.l2(4.0, ": 1 / (expected correction of the prior in log odds)^2")
@options.iterations(200)
@options.selection("every:7")
@options.quiet_positions(default=True)
@options.flag(
    "--settle",
    "Leave none out; play exchanges out as quiescence with the prior does, and fit to where they end.",
)
@options.even_within("Leave out positions that the prior values further from even, in log odds.")
@options.held_out(0.05, " for early stopping; 0 fits to the last iteration", was=("--validation",))
@options.seed
@options.flag("--on-disk", "Keep the terms of positions in files, not in memory.")
@options.jobs
@options.own_features
@options.as_json
def command(files: options.GameFiles, output: str, terms: str | None, **how: Any) -> None:
    """Fit an evaluation and its drawishness to the results of GAMES, by their likelihood.

    GAMES are game records, positions with results (FEN and EPD lines, CSV, Parquet and the like), or Parquet files of
    `glem positions --label result`; a game counts once, however many of its positions are taken. To fit scores, use
    `glem fit`.

    With --terms the weights of your own evaluation are fitted: a value of positions for the side to move is the sum of
    weights times coefficients. Those of FILE.py:FUNCTION are a mapping from names to arrays [N, ...] for columns of N
    positions, or a pair of it and the phase [N], 1 to 0, where terms are tapered. Weights keep their unit and come back
    in the form in which they went in.

    Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in
    a folder that ends in .work.
    """
    from glem.functions import tune

    refuse_unused(terms)
    own = {name: how.pop(name) for name in OF_TERMS if name != "terms"}
    if terms is not None:
        tune_own(terms, files, output, **own, **{name: how[name] for name in OF_BOTH})
        return
    if not files.paths:
        raise click.UsageError("Missing argument 'GAMES...'.", click.get_current_context())
    check_outputs(output, folders=[f"{output}.work"])

    def show(training: LikelihoodTraining, remarks: list[str]) -> None:
        told = (*_told(training), *(f"note: {remark}" for remark in remarks), f"wrote {output}")
        print_result({**_as_json(training, output), "remarks": remarks}, told)

    tune(
        files.game(),
        files.paths,
        format=files.format,
        skip_bad=files.skip_bad,
        output=output,
        progress=display_progress(),
        observe=show,
        **how,
    )


def _as_json(training: LikelihoodTraining, output: str) -> dict[str, Any]:
    monitor = training.minimum.monitor
    before, after, held_before, held_after = training.grades()
    return {
        "output": output,
        "positions": training.positions,
        "games": training.games,
        "held_out_games": training.held_out_games,
        "parameters": training.parameters,
        "grade": {"before": before, "recalibrated": training.recalibrated[0], "after": after},
        "held_out_grade": {"before": held_before, "recalibrated": training.recalibrated[1], "after": held_after},
        "prior_scale": training.prior_scale,
        "prior_scale_error": None if training.errors is None else training.errors.scale,
        "converged": training.minimum.converged,
        "reason": training.minimum.reason,
        "iterations": monitor.iterations,
        "best_iteration": monitor.best_iteration,
        "weights": [
            {"part": part, "feature": name, "phase": phase, "weight": weight, "error": error}
            for part, name, phase, weight, error in _weights(training)
        ],
    }


def _weights(training: LikelihoodTraining) -> list[tuple[str, str, str, float, float]]:
    """Linear weights with their errors: part, feature, phase, weight, error."""
    found = []
    evaluation, errors = training.evaluation, training.errors
    names = evaluation.learning.phases.names
    for part, linear, table in (
        ("value", evaluation.value, None if errors is None else errors.value),
        ("drawishness", evaluation.drawishness, None if errors is None else errors.draw),
    ):
        count = len(linear.linear)
        for place, feature in enumerate((*linear.linear, None)):
            name = "bias" if feature is None else evaluation.learning.features[feature].name
            weights = linear.bias if feature is None else linear.linear_weights[:, place]
            for phase, phase_name in enumerate(names):
                error = math.nan if table is None else float(table[phase, place - count - 1])
                found.append((part, name, phase_name, float(weights[phase]), error))
    return found


def _told(training: LikelihoodTraining) -> Iterator[str | Table]:
    before, after, held_before, held_after = training.grades()
    minimum = training.minimum
    yield (
        f"{counted(training.positions, 'position')} of {counted(training.games, 'game')}, "
        f"{counted(training.parameters, 'parameter')}; "
        f"{counted(minimum.monitor.iterations, 'iteration')}, {minimum.reason}"
    )
    games = [f"{counted(training.games, 'fitted game')}", f"{counted(training.held_out_games, 'held-out game')}"]
    grades = zip((before, held_before), training.recalibrated, (after, held_after), strict=True)
    rows = [(name, *(f"{grade:.4f}" for grade in three)) for name, three in zip(games, grades, strict=True)]
    header = ("", "prior", "prior recalibrated", "fitted")
    yield Table(
        "Geometric mean of the probability given to the result", header, rows[: 2 if training.held_out_games else 1]
    )
    if training.held_out_games and held_before < held_after <= training.recalibrated[1]:
        yield "on held-out games the fit is better scaled than the prior, not better ordered"
    error = training.errors.scale if training.errors is not None else math.nan
    more = f" ± {error:.2g}" if math.isfinite(error) else ""
    yield f"scale of the prior: {training.prior_scale:.4g}{more}; the fitted value has scale 1"
    if training.errors is None:
        yield "too many parameters for standard errors"
        return
    surest = sorted(
        (row for row in _weights(training) if row[4] > 0 and row[1] != "bias"),
        key=lambda row: -abs(row[3] / row[4]),
    )[:_MOST_SHOWN]
    yield Table(
        "Weights that are known best: log odds a unit of the feature",
        ("feature", "part", "phase", "weight", "error"),
        [(name, part, phase, f"{weight:+.4f}", f"{error:.4f}") for part, name, phase, weight, error in surest],
    )
