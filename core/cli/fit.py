"""``glem fit``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from glem.core.cli.display import display_progress, print_json, tell
from glem.core.cli.outputs import check_outputs

__all__ = ["command"]


class _Fit(click.Command):
    """Hands ``--method likelihood`` on to ``glem tune``, of which it was a part; goes in the next version."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        joined = [word for word in args if word != "--method=likelihood"]
        apart = [place for place in range(len(joined) - 1) if joined[place : place + 2] == ["--method", "likelihood"]]
        for place in reversed(apart):
            del joined[place : place + 2]
        if len(joined) == len(args):
            return super().make_context(info_name, args, parent, **extra)
        from glem.core.cli.tune import command as tune

        tell("glem: notice: `glem fit --method likelihood` is called `glem tune` now")
        return tune.make_context("tune", joined, parent, **extra)


@click.command(
    "fit",
    cls=_Fit,
    epilog="""\b
Examples:
  glem fit positions.parquet -o model.npz
  glem fit positions.parquet --configurations mined.npz --patterns none -o model.npz""",
)
@click.argument("files", nargs=-1, required=True, metavar="POSITIONS...", type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Evaluation file to write (.npz).")
@click.option("--patterns", help="Pattern set; the game's first by default, `none` for none.")
@click.option("--configurations", type=click.Path(dir_okay=False), help="Mined configurations (.npz) to use as well.")
@click.option("--all-active", is_flag=True, help="Count all active configurations, not only the most specific.")
@click.option("--linear/--no-linear", default=True, show_default=True, help="Let the game's linear features enter.")
@click.option("--baseline", metavar="NAME", help="Fit only the features of this baseline of the game, linearly.")
@click.option(
    "--method",
    type=click.Choice(["conjugate", "descent"]),
    default="conjugate",
    show_default=True,
    help="Conjugate gradient, or descent as GLEM describes it.",
)
@click.option("--iterations", type=click.IntRange(1), help="Most iterations; by default 60, 250 for descent.")
@click.option(
    "--link",
    type=click.Choice(["identity", "sigmoid", "logistic"]),
    default="identity",
    show_default=True,
    help="Link function; `logistic` turns labels into 0.9, 0.5 and 0.1.",
)
@click.option("--l2", type=click.FloatRange(0, 1e9), default=25.0, show_default=True, help="Penalty, in positions.")
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
    l2: float,
    smoothing: float,
    count_rules: bool,
    validation: float,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Fit an evaluation to the scores of POSITIONS (Parquet) by least squares.

    To fit the results of games, use `glem tune`.

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
    from glem.core.fitting.conjugate import ConjugateGradient
    from glem.core.fitting.count_rules import CountRules
    from glem.core.fitting.descent import GradientDescent
    from glem.core.fitting.least_squares import FitSettings, Terms, train
    from glem.core.patterns.patterns import PatternSet
    from glem.core.positions.files import read_positions
    from glem.core.positions.positions import Positions
    from glem.core.tasks.run_folder import run_folder

    work = Path(f"{output}.work")
    check_outputs(output, folders=[work])
    progress = display_progress()
    scored = Positions.concatenate([read_positions(file) for file in files])
    learning = load_learning(scored.game.name)
    if baseline is not None:
        if patterns is not None or configurations is not None:
            raise BadInputError("--baseline fits the features of a baseline alone; leave --patterns and others out")
        if not learning.baselines.get(baseline):
            known = ", ".join(name for name, features in learning.baselines.items() if features) or "none"
            raise BadInputError(f"{scored.game.name} has no baseline {baseline!r} with features; it has: {known}")
        patterns = "none"
    if patterns is None:
        patterns = next(iter(learning.pattern_sets), "none")
    terms = Terms(
        patterns=None if patterns == "none" else PatternSet.named(learning, patterns),
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
        l2=l2,
        smoothing=smoothing,
        count_rules=CountRules() if count_rules else None,
    )
    held_out = scored.held_out_mask(validation, seed) if validation else None
    provenance = {
        "positions": f"{len(scored):,} from {', '.join(scored.sources)}"[:2000],
        FITTED_FILES: fitted_files_text(files),
        "labels": scored.label_kind,
        "fitter": repr(settings.fitter),
        "l2": f"{l2:g}",
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
