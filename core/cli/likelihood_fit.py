"""``glem fit --method likelihood``: what it reads, fits and prints."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.fitting.likelihood_training import LikelihoodSettings, LikelihoodTraining
    from glem.core.positions.selection.reading import FileSummary

__all__ = ["fit_results"]

_MOST_SHOWN = 15


def fit_results(
    files: tuple[str, ...],
    output: str,
    *,
    game_name: str | None,
    prior: str,
    patterns: str | None,
    configurations: str | None,
    linear: bool,
    settings: LikelihoodSettings,
    select: str,
    skip_moves: int,
    skip_end: float,
    quiet: bool,
    settle: bool,
    skip_bad: bool,
    on_disk: bool,
    validation: float,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit value, drawishness and scale to the results of games, and write the evaluation.

    Parameters
    ----------
    files
        Game records, or positions (Parquet).
    output
        Evaluation file to write.
    game_name
        The game; None where the files tell.
    prior
        Where the fit begins: an evaluation file, ``default`` or ``none``.
    patterns, configurations
        Name of a pattern set, and a file, that the prior does not have.
    linear
        Whether the game's linear features enter.
    settings
        How to fit.
    select, skip_moves, skip_end
        Which positions of each game.
    quiet
        Only quiet ones of these.
    settle
        In place of each that to which quiescence with the prior leads.
    skip_bad
        Leave bad records out.
    on_disk
        Keep the terms of positions in files.
    validation, seed
        Share of games for early stopping, and which.
    jobs
        Threads.
    as_json
        Print JSON.
    """
    from glem.core.cli.game_choice import choose_game
    from glem.core.configurations.configurations import ConfigurationSet
    from glem.core.discovery.game_positions import read_game_positions
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import NO_EVALUATION
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.features.learning import load_learning
    from glem.core.files.names import distinct_names
    from glem.core.fitting.likelihood_training import fit_likelihood, load_prior
    from glem.core.patterns.patterns import PatternSet
    from glem.core.positions.selection.reading import reading_remarks
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    game = choose_game(game_name, files=files)
    learning = load_learning(game.name)
    rule = SelectionRule.parse(select, skip_moves=skip_moves, skip_end=skip_end, seed=seed)
    chosen = None
    if patterns not in (None, "none"):
        if patterns not in learning.pattern_sets:
            known = ", ".join(learning.pattern_sets) or "none"
            raise BadInputError(f"{game.name} has no pattern set {patterns!r}; it has: {known}")
        chosen = PatternSet.from_names(learning.features, learning.pattern_sets[patterns])
    if settle and prior == NO_EVALUATION:
        raise BadInputError("--settle plays exchanges out by the prior: name one with --prior")
    progress = display_progress(quiet=as_json)
    begin = load_prior(learning, prior)
    summaries: list[FileSummary] = []
    provenance = {
        "fitted to": f"results of the games in {', '.join(distinct_names(files))}"[:2000],
        "positions": str(rule) + (", settled" if settle else ", quiet ones" if quiet else ""),
        FITTED_FILES: fitted_files_text(files),
        "prior": prior,
        "settings": repr(settings),
        "validation": f"{validation:g} of the games, seed {seed}",
    }
    described = {
        "work": "fit", **provenance, "patterns": patterns, "configurations": configurations, "linear": linear,
    }  # fmt: skip
    with run_folder(work, described):
        training = fit_likelihood(
            read_game_positions(
                game,
                files,
                rule,
                quiet=quiet and not settle,
                settle=begin.value if settle else None,
                skip_bad=skip_bad,
                observe=summaries.append,
                progress=progress,
            ),
            begin,
            settings,
            linear=learning.linear if linear else (),
            drawishness=learning.drawishness,
            patterns=chosen,
            configurations=None if configurations is None else ConfigurationSet.load(configurations),
            held_out=validation,
            seed=seed,
            work=work,
            on_disk=on_disk,
            provenance=provenance,
            jobs=jobs,
            progress=progress,
        )
        training.evaluation.save(output)
    if as_json:
        print_json({**_as_json(training, output), "remarks": reading_remarks(summaries)})
        return
    _print(training)
    for remark in reading_remarks(summaries):
        click.echo(f"note: {remark}")
    click.echo(f"wrote {output}")


def _as_json(training: LikelihoodTraining, output: str) -> dict[str, Any]:
    monitor = training.minimum.monitor
    before, after, held_before, held_after = training.grades()
    return {
        "output": output,
        "positions": training.positions,
        "games": training.games,
        "held_out_games": training.held_out_games,
        "parameters": training.parameters,
        "grade": {"before": before, "after": after},
        "held_out_grade": {"before": held_before, "after": held_after},
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


def _print(training: LikelihoodTraining) -> None:
    before, after, held_before, held_after = training.grades()
    minimum = training.minimum
    click.echo(
        f"{counted(training.positions, 'position')} of {counted(training.games, 'game')}, "
        f"{counted(training.parameters, 'parameter')}; "
        f"{counted(minimum.monitor.iterations, 'iteration')}, {minimum.reason}"
    )
    rows = [(f"{counted(training.games, 'fitted game')}", f"{before:.4f}", f"{after:.4f}")]
    if training.held_out_games:
        rows.append((f"{training.held_out_games:,} held-out games", f"{held_before:.4f}", f"{held_after:.4f}"))
    print_table("Geometric mean of the probability given to the result", ("", "prior", "fitted"), rows)
    error = training.errors.scale if training.errors is not None else math.nan
    more = f" ± {error:.2g}" if math.isfinite(error) else ""
    click.echo(f"scale of the prior: {training.prior_scale:.4g}{more}; the fitted value has scale 1")
    if training.errors is None:
        click.echo("too many parameters for standard errors")
        return
    surest = sorted(
        (row for row in _weights(training) if row[4] > 0 and row[1] != "bias"),
        key=lambda row: -abs(row[3] / row[4]),
    )[:_MOST_SHOWN]
    print_table(
        "Weights that are known best: log odds a unit of the feature",
        ("feature", "part", "phase", "weight", "error"),
        [(name, part, phase, f"{weight:+.4f}", f"{error:.4f}") for part, name, phase, weight, error in surest],
    )
