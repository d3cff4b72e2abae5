"""``glem tune``."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli.display import display_progress, old_quiet, print_json, print_table
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.fitting.likelihood import LikelihoodTraining
    from glem.core.positions.selection.reading import FileSummary

__all__ = ["command"]

_MOST_SHOWN = 15
_PHASES = click.Choice(["each", "linear", "one"])


@click.command(
    "tune",
    epilog="""\b
Examples:
  glem tune games.parquet --prior default -o tuned.npz
  glem tune games.parquet --patterns none --value-phases one -o tuned.npz""",
)
@click.argument("files", nargs=-1, required=True, metavar="GAMES...", type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Evaluation file to write (.npz).")
@click.option("--game", "game_name", metavar="NAME", help="Game of the files, where they do not tell.")
@click.option(
    "--prior",
    metavar="EVALUATION",
    default="none",
    show_default=True,
    help="What the fit begins with and is held to: a file, `default`, or `none`.",
)
@click.option("--patterns", help="Pattern set for a prior without one; none by default.")
@click.option("--configurations", type=click.Path(dir_okay=False), help="Mined configurations (.npz) to use as well.")
@click.option("--linear/--no-linear", default=True, show_default=True, help="Let the game's linear features enter.")
@click.option(
    "--hold",
    type=click.Choice(["value", "drawishness"]),
    help="Keep this part of the prior as it is; of the value, all but its scale.",
)
@click.option(
    "--value-phases",
    type=_PHASES,
    default="linear",
    show_default=True,
    help="Corrections of the value are free in each phase, linear over the phases, or one for all.",
)
@click.option(
    "--drawishness-phases", type=_PHASES, default="linear", show_default=True, help="The same for the drawishness."
)
@click.option(
    "--l2",
    type=click.FloatRange(0, 1e9),
    default=4.0,
    show_default=True,
    help="Penalty: 1 / (expected correction of the prior in log odds)^2.",
)
@click.option("--iterations", type=click.IntRange(1), default=200, show_default=True, help="Most iterations.")
@click.option(
    "--select",
    default="every:7",
    show_default=True,
    metavar="RULE",
    help="Positions of each game: random, last, all, or every:N. A game counts once.",
)
@click.option(
    "--skip-moves", type=click.IntRange(0), default=10, show_default=True, help="First moves of each side left out."
)
@click.option(
    "--skip-end",
    type=click.FloatRange(0, 0.99),
    default=0.1,
    show_default=True,
    help="Share of each game left out at its end.",
)
@click.option(
    "--quiet-positions/--any-position",
    "quiet",
    default=True,
    show_default=True,
    help="Leave out positions with tactical moves, which a search never evaluates.",
)
@click.option("--quiet", expose_value=False, is_flag=True, hidden=True, callback=old_quiet)
@click.option(
    "--settle",
    is_flag=True,
    help="Leave none out; play exchanges out as quiescence with the prior does, and fit to where they end.",
)
@click.option(
    "--window",
    type=click.FloatRange(0, min_open=True),
    metavar="LOG_ODDS",
    help="Leave out positions that the prior values further from even.",
)
@click.option(
    "--validation",
    type=click.FloatRange(0, 0.9),
    default=0.05,
    show_default=True,
    help="Share of games for early stopping; 0 fits to the last iteration.",
)
@click.option("--seed", default=0, show_default=True, help="Chooses positions and the validation games.")
@click.option("--skip-bad", is_flag=True, help="Leave bad game records out instead of stopping.")
@click.option("--on-disk", is_flag=True, help="Keep the terms of positions in files, not in memory.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    files: tuple[str, ...],
    output: str,
    game_name: str | None,
    prior: str,
    patterns: str | None,
    configurations: str | None,
    linear: bool,
    hold: str | None,
    value_phases: str,
    drawishness_phases: str,
    l2: float,
    iterations: int,
    select: str,
    skip_moves: int,
    skip_end: float,
    quiet: bool,
    settle: bool,
    window: float | None,
    validation: float,
    seed: int,
    skip_bad: bool,
    on_disk: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit an evaluation and its drawishness to the results of GAMES, by their likelihood.

    GAMES are game records or Parquet files of `glem positions --label result`. To fit scores, use `glem fit`.

    Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in
    a folder that ends in .work.
    """
    from glem.core.cli.game_choice import choose_game
    from glem.core.configurations.configurations import ConfigurationSet
    from glem.core.discovery.game_positions import read_game_positions
    from glem.core.errors import BadInputError
    from glem.core.evaluation.named import NO_EVALUATION, load_evaluation
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.features.learning import load_learning
    from glem.core.files.names import distinct_names
    from glem.core.fitting.likelihood import LikelihoodSettings, fit_likelihood, prior_of, without_knowledge
    from glem.core.patterns.patterns import PatternSet
    from glem.core.positions.selection.reading import reading_remarks
    from glem.core.positions.selection.selection import SelectionRule
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    game = choose_game(game_name, files=files)
    learning = load_learning(game.name)
    rule = SelectionRule.parse(select, skip_moves=skip_moves, skip_end=skip_end, seed=seed)
    chosen = None if patterns in (None, "none") else PatternSet.named(learning, patterns)
    if settle and prior == NO_EVALUATION:
        raise BadInputError("--settle plays exchanges out by the prior: name one with --prior")
    settings = LikelihoodSettings(
        l2=l2,
        value_phases=value_phases,
        drawishness_phases=drawishness_phases,
        iterations=iterations,
        names=() if hold == "value" else None,
        drawishness_names=() if hold == "drawishness" else None,
        window=window,
    )
    progress = display_progress(quiet=as_json)
    begin = without_knowledge(learning) if prior == NO_EVALUATION else prior_of(load_evaluation(prior, game))
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
        "work": "tune", **provenance, "patterns": patterns, "configurations": configurations, "linear": linear,
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
