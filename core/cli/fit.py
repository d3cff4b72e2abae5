"""``glem fit``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from glem.core.cli.display import display_progress, old_quiet, print_json, tell
from glem.core.cli.outputs import check_outputs

__all__ = ["command"]


@click.command("fit")
@click.argument("files", nargs=-1, required=True, metavar="POSITIONS...", type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Evaluation file to write (.npz).")
@click.option("--patterns", help="Pattern set; the game's first by default, `none` for none.")
@click.option("--configurations", type=click.Path(dir_okay=False), help="Mined configurations (.npz) to use as well.")
@click.option("--all-active", is_flag=True, help="Count all active configurations, not only the most specific.")
@click.option("--linear/--no-linear", default=True, show_default=True, help="Let the game's linear features enter.")
@click.option("--baseline", metavar="NAME", help="Fit only the features of this baseline of the game, linearly.")
@click.option(
    "--method",
    type=click.Choice(["conjugate", "descent", "likelihood"]),
    default="conjugate",
    show_default=True,
    help="The first two fit scores by least squares; `likelihood` fits a value and a drawishness to results.",
)
@click.option(
    "--iterations", type=click.IntRange(1), help="Most iterations; by default 60, 250 for descent, 200 for likelihood."
)
@click.option(
    "--link",
    type=click.Choice(["identity", "sigmoid", "logistic"]),
    default="identity",
    show_default=True,
    help="Link function; `logistic` turns labels into 0.9, 0.5 and 0.1.",
)
@click.option(
    "--l2",
    type=click.FloatRange(0, 1e9),
    help="Penalty. For least squares in positions, 25 by default; for likelihood 1 / (expected correction of the "
    "prior in log odds)^2, 4 by default.",
)
@click.option(
    "--smoothing",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="Factor for positions of adjacent phases.",
)
@click.option("--count-rules", is_flag=True, help="Tie rarely matched weights of neighbouring phases together.")
@click.option(
    "--validation",
    type=click.FloatRange(0, 0.9),
    default=0.05,
    show_default=True,
    help="Share of games for early stopping; 0 fits to the last iteration.",
)
@click.option("--seed", default=0, show_default=True, help="Chooses the validation games.")
@click.option(
    "--prior",
    metavar="EVALUATION",
    default="none",
    show_default=True,
    help="Likelihood: what the fit begins with and is held to; a file, `default`, or `none`.",
)
@click.option(
    "--value-phases",
    type=click.Choice(["each", "linear", "one"]),
    default="linear",
    show_default=True,
    help="Likelihood: corrections of the value are free in each phase, linear over the phases, or one for all.",
)
@click.option(
    "--drawishness-phases",
    type=click.Choice(["each", "linear", "one"]),
    default="linear",
    show_default=True,
    help="The same for the drawishness.",
)
@click.option(
    "--select",
    default="every:7",
    show_default=True,
    metavar="RULE",
    help="Likelihood: positions of each game: random, last, all, or every:N. A game counts once.",
)
@click.option(
    "--skip-moves", type=click.IntRange(0), default=10, show_default=True, help="Likelihood: first moves of each side."
)
@click.option(
    "--skip-end",
    type=click.FloatRange(0, 0.99),
    default=0.1,
    show_default=True,
    help="Likelihood: share of each game, at its end, that is left out.",
)
@click.option(
    "--quiet-positions/--any-position",
    "quiet",
    default=True,
    show_default=True,
    help="Likelihood: leave out positions with tactical moves, which a search never evaluates.",
)
@click.option("--quiet", expose_value=False, is_flag=True, hidden=True, callback=old_quiet)
@click.option(
    "--settle",
    is_flag=True,
    help="Likelihood: leave none out; play exchanges out as quiescence with the prior does, and fit to where they end.",
)
@click.option(
    "--hold",
    type=click.Choice(["value", "drawishness"]),
    help="Likelihood: keep this part of the prior as it is; of the value, all but its scale.",
)
@click.option(
    "--window",
    type=click.FloatRange(0, min_open=True),
    metavar="LOG_ODDS",
    help="Likelihood: leave out positions that the prior values further from even.",
)
@click.option("--game", "game_name", metavar="NAME", help="Likelihood: game of the files, where they do not tell.")
@click.option("--skip-bad", is_flag=True, help="Likelihood: leave bad game records out instead of stopping.")
@click.option("--on-disk", is_flag=True, help="Likelihood: keep the terms of positions in files, not in memory.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    files: tuple[str, ...],
    output: str,
    patterns: str | None,
    configurations: str | None,
    all_active: bool,
    linear: bool,
    baseline: str | None,
    method: str,
    iterations: int | None,
    link: str,
    l2: float | None,
    smoothing: float,
    count_rules: bool,
    validation: float,
    seed: int,
    prior: str,
    value_phases: str,
    drawishness_phases: str,
    select: str,
    skip_moves: int,
    skip_end: float,
    quiet: bool,
    settle: bool,
    hold: str | None,
    window: float | None,
    game_name: str | None,
    skip_bad: bool,
    on_disk: bool,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit an evaluation to scored POSITIONS (Parquet), or with --method likelihood to the results of game records.

    Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in
    a folder that ends in .work.
    """
    import numpy as np
    from attrs import evolve

    from glem.core.configurations.configurations import ConfigurationSet
    from glem.core.errors import BadInputError
    from glem.core.evaluation.links import link_of, result_labels
    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.features.learning import load_learning
    from glem.core.fitting import ConjugateGradient, CountRules, GradientDescent
    from glem.core.fitting.least_squares import FitSettings, Terms, train
    from glem.core.patterns.patterns import PatternSet
    from glem.core.positions.files import read_positions
    from glem.core.positions.positions import PositionSet
    from glem.core.tasks.run_folder import run_folder

    if method == "likelihood":
        from glem.core.cli.likelihood_fit import fit_results
        from glem.core.fitting.likelihood_training import LikelihoodSettings

        if all_active or baseline is not None or link != "identity" or count_rules:
            raise BadInputError("--all-active, --baseline, --link and --count-rules are for least squares")
        fit_results(
            files,
            output,
            game_name=game_name,
            prior=prior,
            patterns=patterns,
            configurations=configurations,
            linear=linear,
            settings=LikelihoodSettings(
                l2=4.0 if l2 is None else l2,
                value_phases=value_phases,
                drawishness_phases=drawishness_phases,
                iterations=iterations or 200,
                names=() if hold == "value" else None,
                drawishness_names=() if hold == "drawishness" else None,
                window=window,
            ),
            select=select,
            skip_moves=skip_moves,
            skip_end=skip_end,
            quiet=quiet,
            settle=settle,
            skip_bad=skip_bad,
            on_disk=on_disk,
            validation=validation,
            seed=seed,
            jobs=jobs,
            as_json=as_json,
        )
        return
    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    progress = display_progress()
    scored = PositionSet.concatenate([read_positions(file) for file in files])
    penalty = 25.0 if l2 is None else l2
    learning = load_learning(scored.game.name)
    if baseline is not None:
        if patterns is not None or configurations is not None:
            raise BadInputError("--baseline fits the features of a baseline alone; leave --patterns and others out")
        if not learning.baselines.get(baseline):
            known = ", ".join(name for name, features in learning.baselines.items() if features) or "none"
            raise BadInputError(f"{scored.game.name} has no baseline {baseline!r} with features; it has: {known}")
        patterns = "none"
    chosen: Any = None
    if patterns != "none" and (patterns is not None or learning.pattern_sets):
        name = patterns if patterns is not None else next(iter(learning.pattern_sets))
        if name not in learning.pattern_sets:
            raise BadInputError(
                f"{scored.game.name} has no pattern set {name!r}; it has: {', '.join(learning.pattern_sets) or 'none'}"
            )
        chosen = PatternSet.from_names(learning.features, learning.pattern_sets[name])
    terms = Terms(
        patterns=chosen,
        configurations=None if configurations is None else ConfigurationSet.load(configurations),
        most_specific=not all_active,
        linear=learning.baselines[baseline] if baseline is not None else learning.linear if linear else (),
    )
    if link == "logistic":
        scored = evolve(scored, label=result_labels(scored.label))
    bound = max(abs(score) for score in scored.game.score_bounds)
    patience = 5 if validation else None
    settings = FitSettings(
        ConjugateGradient(iterations=iterations or 60, patience=patience)
        if method == "conjugate"
        else GradientDescent(iterations=iterations or 250),
        link=link_of(link, bound),
        l2=penalty,
        smoothing=smoothing,
        count_rules=CountRules() if count_rules else None,
    )
    held_out = scored.held_out_mask(validation, seed) if validation else None
    provenance = {
        "positions": f"{len(scored):,} from {', '.join(scored.sources)}"[:2000],
        FITTED_FILES: fitted_files_text(files),
        "labels": scored.label_kind,
        "fitter": repr(settings.fitter),
        "l2": f"{penalty:g}",
        "smoothing": f"{smoothing:g}",
        "count rules": str(count_rules),
        "validation": f"{validation:g} of the games, seed {seed}",
    }
    described = {
        "work": "fit", **provenance, "link": link, "patterns": patterns, "configurations": configurations,
        "all active": all_active, "linear": terms.linear,
    }  # fmt: skip
    with run_folder(work, described):
        training = train(
            scored,
            learning,
            terms,
            settings,
            held_out=held_out,
            work=work,
            provenance=provenance,
            jobs=jobs,
            progress=progress,
        )
        training.evaluation.save(output)
    results = training.weights.results
    names = learning.phases.names if len(results) > 1 else ("all phases",)
    unlearned = [name for name, result in zip(names, results, strict=True) if result and not result.improved]
    curves = [
        result
        and {
            "training": np.sqrt(result.training_errors),
            "validation": np.sqrt(result.held_out_errors),
            "best": result.best_iteration,
            "reason": result.reason,
            "improved": result.improved,
        }
        for result in results
    ]
    if unlearned:
        # An evaluation that says nothing in a phase plays it blindly: too grave for a word among the numbers.
        tell(
            f"glem: warning: all weights of {', '.join(unlearned)} are 0, as fitting them never improved the error on "
            "the validation games: more games, fewer weights or a larger --validation may help; "
            "--validation 0 keeps the last iteration"
        )
    if as_json:
        print_json({"output": output, "positions": len(scored), "fits": curves})
        return
    for name, result in zip(names, results, strict=True):
        if result is None:
            click.echo(f"{name:>10}: no positions: it has the weights of the nearest phase")
            continue
        text = str(result).splitlines()[-1].replace("held-out positions", "validation games")
        click.echo(f"{name:>10}: {text}, {result.reason}")
    click.echo(f"wrote {output}")
