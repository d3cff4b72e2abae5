"""``glem evaluate``."""

from __future__ import annotations

import click

from glem.core.cli.display import display_progress, print_json, print_table
from glem.core.cli.outputs import check_outputs

__all__ = ["command"]


@click.command("evaluate")
@click.argument("models", nargs=-1, required=True, type=click.Path(dir_okay=False), metavar="MODEL...")
@click.argument("positions", type=click.Path(dir_okay=False))
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the value of every position (.npy).")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(models: tuple[str, ...], positions: str, output: str | None, jobs: int, as_json: bool) -> None:
    """Root mean square error of each MODEL on the scored POSITIONS (Parquet), phase by phase.

    Every position counts with its weight; that of a merged one is the number of equal positions.

    The positions are read in chunks, so their number is not bounded by memory.
    """
    import numpy as np

    from glem.core.assessment import phase_errors
    from glem.core.errors import BadInputError
    from glem.core.evaluation import LinearEvaluation
    from glem.core.files import atomic_path
    from glem.core.positions import PositionSet

    if output is not None and len(models) > 1:
        raise BadInputError("-o takes the values of one model; name one")
    check_outputs(output)
    evaluations = {model: LinearEvaluation.load(model) for model in models}
    games = {evaluation.learning.game.name for evaluation in evaluations.values()}
    if len(games) > 1:
        raise BadInputError(f"the models evaluate different games: {', '.join(sorted(games))}")
    units = {evaluation.unit for evaluation in evaluations.values()}
    if len(units) > 1:
        raise BadInputError(f"the models have different units, evaluate them apart: {', '.join(sorted(units))}")
    first = next(iter(evaluations.values()))
    learning = first.learning
    collected: dict[str, list[object]] = {model: [] for model in models}
    labels, weights, phases = [], [], []
    with display_progress()("evaluate") as task:
        for chunk in PositionSet.stream(positions, game=learning.game):
            for model, evaluation in evaluations.items():
                collected[model].append(evaluation.predict(chunk.positions, jobs=jobs))
            labels.append(first.labels_of(chunk.label))
            weights.append(chunk.weight)
            phases.append(learning.phases.of(chunk.positions))
            task.advance(len(chunk))
    if not labels:
        raise BadInputError(f"{positions}: holds no positions")
    label, weight, phase = np.concatenate(labels), np.concatenate(weights), np.concatenate(phases)
    names = learning.phases.names
    errors = {
        model: phase_errors(np.concatenate(parts), label, phase, len(names), weight)  # type: ignore[arg-type]
        for model, parts in collected.items()
    }
    if output is not None:
        with atomic_path(output) as temporary, temporary.open("wb") as file:
            np.save(file, np.concatenate(collected[models[0]]), allow_pickle=False)  # type: ignore[arg-type]
    counts = [*np.bincount(phase, minlength=len(names)).tolist(), len(label)]
    masses = np.bincount(phase, weight, len(names)).tolist()
    masses.append(sum(masses))
    rows = [*names, "all"]
    if as_json:
        print_json({"unit": first.unit, "phases": rows, "counts": counts, "weights": masses, "rmse": errors})
        return
    weighted = masses != counts
    print_table(
        f"Root mean square error ({first.unit})",
        ("phase", "positions", *(("weight",) if weighted else ()), *models),
        [
            (
                name,
                f"{count:,}",
                *((f"{masses[place]:,.0f}",) if weighted else ()),
                *("" if np.isnan(errors[model][place]) else f"{errors[model][place]:.3f}" for model in models),
            )
            for place, (name, count) in enumerate(zip(rows, counts, strict=True))
        ],
    )
