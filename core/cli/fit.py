"""``glem fit``."""

from typing import Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, tell
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.tables import Table


class _Fit(options.Command):
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
    examples=(
        "fit positions.parquet -o model.npz",
        "fit positions.parquet --configurations mined.npz --patterns none -o model.npz",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="POSITIONS...", type=options.INPUT)
@options.evaluation_output
@options.prior
@options.patterns()
@options.count(("-n", "--minimum-matches"), 75, "Positions that have a content of a large pattern with a weight.")
@options.count("--phases", None, "Number of phases, where the game divides into any; its own by default.")
@options.configurations
@options.flag("--all-active", "Count all active configurations, not only the most specific.")
@options.linear
@options.baseline
@options.choice(
    "--method",
    ["conjugate", "descent", "logistic", "fisher", "quadratic", "network"],
    "Conjugate gradient, or descent as GLEM describes it; or, on results, logistic regression, Fisher's or the "
    "quadratic discriminant; or a hidden layer over what stands where, on expected results.",
)
@options.count("--hidden", 128, "Units of the hidden layer.", most=4096)
@options.flag("--undecided", "Fit the hidden layer to fewer of the positions that are all but won or lost.")
@options.option(
    "--prior-share",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Share of the prior's weights in those of the fitted hidden layer.",
)
@options.iterations(None, "; by default 60, 250 for descent, 12 passes for a network")
@options.choice(
    "--link", ["identity", "sigmoid", "logistic"], "Link function; `logistic` turns labels into 0.9, 0.5 and 0.1."
)
@options.l2()
@options.smoothing
@options.flag("--count-rules", "Tie rarely matched weights of neighbouring phases together.")
@options.held_out(0.05, " for early stopping; 0 fits to the last iteration", was=("--validation",))
@options.seed
@options.jobs
@options.own_features
@options.as_json
def command(files: tuple[str, ...], output: str, **how: Any) -> None:
    """Fit an evaluation to the scores of POSITIONS (Parquet) by least squares.

    With --prior, features, phases and link are the prior's, and --patterns are added to its own. --method logistic,
    fisher and quadratic fit linear features to who won, with errors by game, and --patterns by tables that are
    estimated on half of the games. To fit the results of games, use `glem tune`.

    Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in
    a folder that ends in .work.
    """
    import numpy as np

    from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
    from glem.core.fitting.discriminants.by_phase import PhaseDiscriminants
    from glem.core.fitting.least_squares import Training
    from glem.core.fitting.network import NetworkTraining
    from glem.core.positions.files import PositionFiles
    from glem.functions import fit

    options.refuse_equal_files(files)
    check_outputs(output, folders=[f"{output}.work"])
    count = len(PositionFiles.of(files))
    trainings: list[Training | PhaseDiscriminants | NetworkTraining] = []
    fit(
        files,
        output=output,
        provenance={FITTED_FILES: fitted_files_text(files)},
        progress=display_progress(),
        observe=trainings.append,
        **how,
    )
    (training,) = trainings
    if isinstance(training, PhaseDiscriminants):
        _print_discriminants(training, output, count)
        return
    results = training.results
    names = training.evaluation.learning.phases.names if len(results) > 1 else ("all phases",)
    for warning in training.warnings:
        tell(
            f"glem: warning: {warning}; more games, fewer weights or a larger --held-out may help; --held-out 0 keeps "
            "the last iteration"
        )
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
    told = []
    for name, result in zip(names, results, strict=True):
        text = "no positions"
        if result is not None:
            last = str(result).splitlines()[-1].replace("held-out positions", "held-out games")
            text = f"{last}, {result.reason}"
        told.append(f"{name:>10}: {text}")
    print_result({"output": output, "positions": count, "fits": curves}, (*told, f"wrote {output}"))


def _print_discriminants(training: Any, output: str, count: int) -> None:
    """Print what each phase was fitted to, and weights with their errors by game."""
    for warning in training.warnings:
        tell(f"glem: warning: {warning}")
    evaluation = training.evaluation
    phases, names = evaluation.learning.phases.names, [*evaluation.terms, "constant"]
    told = None if evaluation.coefficients is None else evaluation.coefficients.tolist()
    fits: list[dict[str, Any] | None] = [
        model
        and {
            "positions": model.rows,
            "games": model.games,
            "log_loss": -model.log_likelihood / model.trials,
            "weights": dict(zip(names, told[0][number], strict=True)),
            "errors": dict(zip(names, told[1][number], strict=True)),
        }
        for number, model in enumerate(training.models)
        if told is not None
    ]
    fitted = [(name, fit) for name, fit in zip(phases, fits, strict=False) if fit]
    table = Table(
        "Weights in log odds, with standard errors by game",
        ("", *(name for name, _ in fitted)),
        [
            ("games", *(f"{fit['games']:,}" for _, fit in fitted)),
            ("log loss", *(f"{fit['log_loss']:.4f}" for _, fit in fitted)),
            *(
                (each, *(f"{fit['weights'][each]:+.3f} ± {fit['errors'][each]:.3f}" for _, fit in fitted))
                for each in names
            ),
        ],
    )
    print_result(
        {"output": output, "positions": count, "fits": fits}, (*([table] if fitted else []), f"wrote {output}")
    )
