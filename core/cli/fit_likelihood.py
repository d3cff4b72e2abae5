"""``glem fit likelihood``."""

from __future__ import annotations

from typing import Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.fit_terms import OF_BOTH, OF_TERMS, fit_own, refuse_unused
from glem.core.cli.options.described import described
from glem.core.cli.outputs import check_outputs
from glem.core.tuning.by_games import Likelihood


@options.command(
    "fit likelihood",
    "fit likelihood games.parquet --prior default -o fitted.npz",
    "fit likelihood games.pgn --terms engine.py:coefficients --weights engine.json -o tuned.json",
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
@described(Likelihood)
@options.seed
@options.jobs
@options.memory
def command(files: options.GameFiles, output: str, terms: str | None, seed: int, jobs: int, **how: Any) -> None:
    """Fit an evaluation and its drawishness to the results of GAMES, by their likelihood.

    GAMES are game records, positions with results (FEN and EPD lines, CSV, Parquet and the like), or Parquet files of
    `glem positions --label result`; a game counts once, however many of its positions are taken.

    With --terms the weights of your own evaluation are fitted: a value of positions for the side to move is the sum of
    weights times coefficients. Those of FILE.py:FUNCTION are a mapping from names to arrays [N, ...] for columns of N
    positions, or a pair of it and the phase [N], 1 to 0, where terms are tapered. Weights keep their unit and come back
    in the form in which they went in.

    Interrupted or killed, the same command continues; the state of the unfinished fit lies beside the output in
    a folder that ends in .work.
    """
    from glem.functions import fit

    refuse_unused(terms)
    own = {name: how.pop(name) for name in OF_TERMS if name != "terms"}
    if terms is not None:
        fit_own(terms, files, output, **own, seed=seed, jobs=jobs, **{name: how[name] for name in OF_BOTH})
        return
    if not files.paths:
        raise click.UsageError("Missing argument 'GAMES...'.", click.get_current_context())
    check_outputs(output, folders=[f"{output}.work"])

    found = fit(
        files.paths,
        Likelihood(**how),
        game=files.game(),
        format=files.format,
        skip_bad=files.skip_bad,
        output=output,
        seed=seed,
        jobs=jobs,
        progress=display_progress(),
    )
    print_result({"output": output, **found.as_json()}, (*found.lines(), f"wrote {output}"))
