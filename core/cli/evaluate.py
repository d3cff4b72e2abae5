"""``glem evaluate``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted
from glem.core.tasks.tables import Table

if TYPE_CHECKING:
    from glem.core.evaluation.choices import ChoiceErrors
    from glem.core.fitting.assessment import ErrorSums


@options.command(
    "evaluate", "evaluate model.npz positions.parquet", "evaluate model.npz positions.parquet -o values.npy"
)
@options.files("EVALUATION... POSITIONS", options.file_format, options.skip_bad)
@options.output("Write the value of every position (.npy).", required=False)
@options.jobs
@options.own_features
@options.as_json
def command(files: options.GameFiles, output: str | None, jobs: int) -> None:
    """Errors of each EVALUATION on scored POSITIONS: root mean square, mean absolute and mean, by phase.

    POSITIONS are a Parquet file of "glem positions", or another file of positions with scores or results.

    Where POSITIONS is a choice set ("glem label --choices"), the first tables have the mean choice error: the score
    of the best move less that of the move that EVALUATION would choose.

    Where the game can tell how many moves are left at most, a second table has the errors by their number.

    Labels of winning chances are 0.9 for what is won and 0.1 for what is lost, as fits take them, but 1 and 0 where an
    EVALUATION has a hidden layer.

    Every position counts with its weight; that of a merged one is the number of equal positions.

    The positions are read in chunks: memory does not grow with their number, but for the values of -o.
    """
    import attrs
    import numpy as np

    from glem.core.cli.game_choice import choose_game
    from glem.core.evaluation.choices import CHOICES, choice_errors
    from glem.core.evaluation.named import load_value
    from glem.core.files.atomic import atomic_path
    from glem.core.fitting.assessment import ErrorSums
    from glem.core.game.optional_operations import plies_left_of
    from glem.core.positions.reading import ReadingNotes, stream_scored

    *models, positions = files.paths
    if not models:
        raise click.UsageError("Missing argument 'POSITIONS'.", click.get_current_context())
    if output is not None and len(models) > 1:
        raise BadInputError("-o takes the values of one model; name one")
    check_outputs(output)
    game = choose_game(files.game_name, files=[positions], format=files.format, evaluations=models)
    evaluations = {model: load_value(model, game) for model in models}
    units = {evaluation.unit for evaluation in evaluations.values()}
    if len(units) > 1:
        raise BadInputError(f"the models have different units, evaluate them apart: {', '.join(sorted(units))}")
    first = next(iter(evaluations.values()))
    learning = first.learning
    # Of evaluations that are fitted to different labels, all are compared with those of the hidden layers.
    judge = next((each for each in evaluations.values() if each.network is not None), first)
    by_phase = {model: ErrorSums(len(learning.phases)) for model in models}
    by_moves = {model: ErrorSums() for model in models} if "plies_left" in game.search_rules else {}
    choices: list[list[Any]] = []
    written: list[Any] = []
    notes = ReadingNotes()
    count, has_choices = 0, False
    with display_progress()("evaluate", 1) as task:
        for chunk in stream_scored(game, positions, format=files.format, skip_bad=files.skip_bad, notes=notes):
            count, has_choices = count + len(chunk), chunk.label_kind == CHOICES
            task.note(f"{counted(count, 'position')}")
            label = judge.labels_of(chunk.label)
            phase = learning.phases.of(chunk.positions)
            moves = plies_left_of(game, chunk.positions) if by_moves else phase
            values = []
            for model, evaluation in evaluations.items():
                predicted = evaluation.predict(chunk.positions, jobs=jobs)
                by_phase[model].add(predicted, label, phase, chunk.weight)
                if by_moves:
                    by_moves[model].add(predicted, label, moves, chunk.weight)
                values.append(predicted)
            if output is not None:
                written.append(values[0].astype("<f4"))
            if has_choices:
                over = np.array([game.is_over(chunk[row]) for row in range(len(chunk))])
                # What is over needs no evaluation.
                final = [evaluation.final_values(chunk.label) for evaluation in evaluations.values()]
                values = [np.where(over, known, predicted) for known, predicted in zip(final, values, strict=True)]
                choices.append([chunk.label, chunk.record, phase, moves, *values])
        task.advance()
    if count == 0:
        raise BadInputError(f"{positions}: holds no positions{''.join(f'; {text}' for text in notes.texts())}")
    if output is not None:
        with atomic_path(output) as path, path.open("wb") as file:
            np.save(file, np.concatenate(written))
    phases = (*learning.phases.names, "all")
    report = {"unit": first.unit, "phases": phases, **_figures(by_phase)}
    tables = [_table(first.unit, "phase", phases, by_phase)]
    groups: list[tuple[dict[str, Any], str, Sequence[Any]]] = [(report, "phase", phases)]
    if by_moves:
        figures = _figures(by_moves)
        moves_left = [*range(len(figures["counts"]) - 1), "all"]
        report["moves_left"] = {"moves": moves_left, **figures}
        tables.append(_table(first.unit, "moves left", [*map(str, moves_left)], by_moves, with_empty=False))
        groups.append((report["moves_left"], "moves left", moves_left))
    if has_choices:
        label, choice, phase, moves, *values = map(np.concatenate, zip(*choices, strict=True))
        for number, ((place, kind, names), group) in enumerate(zip(groups, (phase, moves), strict=False)):
            found = {
                model: choice_errors(value, label, choice, group) for model, value in zip(models, values, strict=True)
            }
            place["choices"] = {model: attrs.asdict(errors) for model, errors in found.items()}
            tables.insert(number, _choice_table(learning.label_unit, kind, names, found))
    report |= {"remarks": notes.texts()}
    print_result(report, [*tables, *(f"note: {text}" for text in notes.texts())])


def _choice_table(unit: str, kind: str, names: Sequence[Any], found: Mapping[str, ChoiceErrors]) -> Table:
    counts = next(iter(found.values())).counts
    rows = [place for place in range(len(counts)) if counts[place]]
    names = [*names[: len(counts) - 1], "all"]
    columns = ("choice error", "+-", "best move", "rank correlation")
    return Table(
        f"Choice errors by {kind} after the move ({unit})",
        (kind, "choices", *(f"{model}\n{column}" for model in found for column in columns)),
        [
            (
                str(names[place]),
                f"{counts[place]:,}",
                *(
                    cell
                    for errors in found.values()
                    for cell in (
                        f"{errors.error[place]:.3f}",
                        f"{errors.standard_error[place]:.3f}",
                        f"{errors.best[place]:.1%}",
                        f"{errors.rank_correlation[place]:.3f}",
                    )
                ),
            )
            for place in rows
        ],
    )


def _figures(sums: Mapping[str, ErrorSums]) -> dict[str, Any]:
    """List what JSON has of errors by group; the positions of all models are the same."""
    some = next(iter(sums.values()))
    return {
        "counts": some.counts,
        "weights": some.weights,
        "rmse": {model: errors.root_mean_square for model, errors in sums.items()},
        "mean_absolute": {model: errors.mean_absolute for model, errors in sums.items()},
        "mean": {model: errors.mean for model, errors in sums.items()},
    }


def _table(
    unit: str, kind: str, names: Sequence[str], sums: Mapping[str, ErrorSums], *, with_empty: bool = True
) -> Table:
    some = next(iter(sums.values()))
    counts, weights = some.counts.tolist(), some.weights.tolist()
    weighted = weights != counts
    columns = [
        (column, text)
        for errors in sums.values()
        for column, text in ((errors.root_mean_square, ".3f"), (errors.mean_absolute, ".3f"), (errors.mean, "+.3f"))
    ]
    return Table(
        f"Errors by {kind} ({unit})",
        (
            kind,
            "positions",
            *(("weight",) if weighted else ()),
            *(f"{model}\n{error}" for model in sums for error in ("root mean square", "mean absolute", "mean")),
        ),
        [
            (
                name,
                f"{counts[place]:,}",
                *((f"{weights[place]:,.0f}",) if weighted else ()),
                *("" if math.isnan(column[place]) else f"{column[place]:{text}}" for column, text in columns),
            )
            for place, name in enumerate(names)
            if counts[place] or with_empty
        ],
    )
