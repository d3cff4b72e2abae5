"""What the report of a discovery shows, gathered from its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet
from glem.core.discovery.candidates import Candidates
from glem.core.features.features import AtomicFeatures, Relation
from glem.core.features.learning import Learning
from glem.core.fitting import FitResult
from glem.core.fitting.assessment import CalibrationBins
from glem.core.fitting.least_squares import Training
from glem.core.positions.positions import PositionSet
from glem.core.report.data import Calibration, CellMap, DiscoveryReport, Item, LearningCurve, PhaseErrors
from glem.core.tasks.counts import counted

__all__ = [
    "Assessment",
    "cell_maps",
    "configuration_items",
    "discovery_report",
    "pattern_items",
    "summary_of",
    "unimproved_phases",
]

_HOW_TO_READ = """\
An evaluation is a sum of weights, one for every pattern entry or configuration that is present in a position. \
Weights are in {unit}, for the side to move, and differ from phase to phase{phases}.

The label of a position is what the evaluation is to predict: {labels}. A correlation is that of a configuration's \
presence with the label, over all phases of the positions that were mined. Matches are the positions learned from in \
which a configuration, or an image of it under a symmetry of the board, is present. Its gain is the difference of its \
mean label from that of the nearest configuration with one relation less, in standard errors.

Errors are root mean square differences between prediction and label on games that no fit has seen; every position \
counts with its weight, that of a merged one the number of equal positions. The quiet lines are baselines: a \
feature or two, fitted phase by phase.

A configuration fixes the content of the drawn cells and leaves all others open. Configurations that a symmetry of \
the board turns into each other share one weight; the one nearest the top left is drawn.{corners}"""

_LABELS = {
    "result": "the result of its game",
    "theoretical": "its exact value",
    "auto": "its exact value where that is known, else the result of its game",
    "search": "the score that a search found",
}


@define(frozen=True)
class Assessment:
    """Held-out errors of several models.

    Parameters
    ----------
    counts
        int64 [K]: held-out positions by phase.
    weights
        float64 [K]: their weights, with which every mean is taken.
    errors
        Model name to float64 [K + 1]: error by phase, the last over all.
    baselines
        Names of the models that are there to be beaten.
    calibrations
        Model name to its calibration.
    """

    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    errors: Mapping[str, NDArray[np.float64]]
    baselines: tuple[str, ...]
    calibrations: Mapping[str, CalibrationBins]


def _drawn(features: AtomicFeatures, relations: Sequence[Relation]) -> tuple[dict[int, str], tuple[str, ...]]:
    """Cells of a board with the names of their values, and the texts of the other relations."""
    cells: dict[int, str] = {}
    other = []
    for relation in relations:
        feature = features[relation.feature]
        if feature.cell is not None and feature.cell not in cells:
            cells[feature.cell] = feature.value_name(relation.value)
        else:
            other.append(features.describe(relation))
    return cells, tuple(other)


def configuration_items(
    configurations: ConfigurationSet,
    classes: NDArray[np.int32],
    training: Training,
    features: AtomicFeatures,
    significance: NDArray[np.floating] | None,
    count: int,
) -> tuple[Item, ...]:
    """Return the configurations whose weights move evaluations most, of each symmetry class that nearest the top left.

    The influence of a weight in a phase is the standard deviation of what it adds, |w| sqrt(p (1 - p)) for a share p
    of positions in which it counts; classes are ranked by the root mean square of that over the phases.
    """
    weights = training.weights.configurations
    matches = training.weights.match_counts[:, training.weights.patterns.shape[1] :]
    influence = _influence(weights, matches, training.phase_weights)
    table = configurations.table
    cells_of = [feature.cell for feature in features.features]

    def lying(member: np.int64) -> list[tuple[bool, int]]:
        cells = [cells_of[table.features[relation]] for relation in configurations.relations_of(int(member))]
        return sorted((cell is None, cell or 0) for cell in cells)

    items = []
    for chosen in np.argsort(-influence, kind="stable")[:count]:
        if influence[chosen] == 0:
            break
        member = int(min(np.flatnonzero(classes == chosen), key=lying))
        relations = [
            Relation(int(table.features[relation]), int(table.values[relation]))
            for relation in configurations.relations_of(member)
        ]
        cells, other = _drawn(features, relations)
        items.append(
            Item(
                kind="configuration",
                name=" ".join(features.describe(relation) for relation in relations),
                cells=cells,
                other=other,
                weights=_shown(weights[:, chosen], matches[:, chosen]),
                match_counts=tuple(round(matched) for matched in matches[:, chosen]),
                significance=None if significance is None else float(significance[member]),
            )
        )
    return tuple(items)


def pattern_items(training: Training, features: AtomicFeatures, *, minimum_matches: int) -> tuple[Item, ...]:
    """For every pattern the entry that moves evaluations most, with what the whole pattern contributes."""
    patterns = training.evaluation.patterns
    if patterns is None:
        return ()
    weights = training.weights.patterns
    matches = training.weights.match_counts[:, : patterns.weight_count]
    sizes = training.phase_weights
    influence = _influence(weights, matches, sizes)
    items = []
    for place, pattern in enumerate(patterns.patterns):
        part = slice(int(patterns.weight_starts[place]), int(patterns.weight_starts[place + 1]))
        chosen = part.start + int(np.argmax(influence[part]))
        _, relations = patterns.describe(chosen)
        cells, other = _drawn(features, relations)
        share = matches[:, part] / np.maximum(sizes, 1)[:, None]
        mean = (share * weights[:, part]).sum(axis=1)
        spread = np.sqrt(np.maximum((share * weights[:, part] ** 2).sum(axis=1) - mean**2, 0))
        valid = int((matches[:, part].sum(axis=0) >= minimum_matches).sum())
        items.append(
            (
                float(np.sqrt((spread**2).mean())),
                Item(
                    kind="pattern",
                    name=pattern.name.replace("_", " "),
                    cells=cells,
                    other=other,
                    weights=_shown(weights[:, chosen], matches[:, chosen]),
                    match_counts=tuple(round(matched) for matched in matches[:, chosen]),
                    note=(
                        f"The strongest of {patterns.weight_sizes[place]:,} entries, {valid:,} of which match at least "
                        f"{minimum_matches} positions; what all entries together add "
                        f"has a standard deviation of {float(np.sqrt((spread**2).mean())):.1f}."
                    ),
                ),
            )
        )
    items.sort(key=lambda pair: -pair[0])
    return tuple(item for _, item in items)


def _influence(
    weights: NDArray[np.float64], matches: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    share = np.clip(matches / np.maximum(sizes, 1)[:, None], 0, 1)
    spread: NDArray[np.float64] = np.sqrt((weights**2 * share * (1 - share)).mean(axis=0))
    return np.nan_to_num(spread)


def _shown(weights: NDArray[np.float64], matches: NDArray[np.float64]) -> tuple[float, ...]:
    """Weights of the phases in which there were matches; nan elsewhere."""
    return tuple(
        float(weight) if matched > 0 else float("nan") for weight, matched in zip(weights, matches, strict=True)
    )


def cell_maps(moments: NDArray[np.float64], names: Sequence[str]) -> tuple[CellMap, ...]:
    """Heat maps from sums: what a cell's content is worth, the mean label with the first named value less the second.

    Parameters
    ----------
    moments
        float64 [M, cells, 4]: for each map and cell, number and label sum with one value, then with the other.
    names
        Names of the M maps.
    """
    maps = []
    for name, sums in zip(names, moments, strict=True):
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = sums[:, 1] / sums[:, 0] - sums[:, 3] / sums[:, 2]
        enough = np.minimum(sums[:, 0], sums[:, 2]) >= 30
        maps.append(CellMap(name, tuple(np.where(enough, difference, np.nan))))
    return tuple(maps)


def _curves(learning: Learning, model: str, results: Sequence[FitResult | None]) -> list[LearningCurve]:
    names = learning.phases.names if len(results) == len(learning.phases) else ("all phases",)
    return [
        LearningCurve(
            name=f"{model}, {name}",
            iterations=range(len(result.training_errors)),
            training=np.sqrt(result.training_errors),
            validation=np.sqrt(result.held_out_errors),
        )
        for name, result in zip(names, results, strict=True)
        if result is not None
    ]


def _cell_names(learning: Learning) -> dict[int, str]:
    """Name of each cell of the board by the game's layout; otherwise of the first feature that lies on it."""
    layout = learning.game.layout
    names: dict[int, str] = dict(enumerate(layout.cell_names)) if layout is not None else {}
    for feature in learning.features.features:
        if feature.cell is not None:
            names.setdefault(feature.cell, feature.name)
    return names


def _corners(learning: Learning) -> str:
    layout = learning.game.layout
    if layout is None:
        return ""
    names = _cell_names(learning)
    first, last = (names.get(cell, "") for cell in (0, layout.rows * layout.columns - 1))
    return f" Every board has {first} at the top left and {last} at the bottom right." if first and last else ""


def discovery_report(
    learning: Learning,
    *,
    facts: Mapping[str, str],
    assessment: Assessment,
    trainings: Mapping[str, Training],
    configurations: tuple[Item, ...],
    patterns: tuple[Item, ...],
    maps: tuple[CellMap, ...],
    summary: str,
    significance_name: str,
    label_kind: str,
) -> DiscoveryReport:
    """Put the report together; the learning curves are those of the best model."""
    curves: list[LearningCurve] = []
    if trainings:
        model, training = min(trainings.items(), key=lambda entry: float(assessment.errors[entry[0]][-1]))
        curves = _curves(learning, model, training.weights.results)
    return DiscoveryReport(
        title=f"What decides a game of {learning.game.title}",
        game_title=learning.game.title,
        layout=learning.game.layout,
        summary=summary,
        facts=facts,
        phases=learning.phases.names,
        phase_description=learning.phases.description,
        curves=tuple(curves),
        errors=PhaseErrors(
            phases=learning.phases.names,
            counts=tuple(int(count) for count in assessment.counts),
            models={name: tuple(errors[:-1]) for name, errors in assessment.errors.items()},
            unit=learning.label_unit,
            baselines=assessment.baselines,
            weights=tuple(float(weight) for weight in assessment.weights),
        ),
        calibrations=tuple(
            Calibration(name, bins.predicted, bins.observed, bins.counts, learning.label_unit)
            for name, bins in assessment.calibrations.items()
        ),
        configurations=configurations,
        patterns=patterns,
        unit=learning.label_unit,
        how_to_read=_HOW_TO_READ.format(
            unit=learning.label_unit,
            phases=f" ({learning.phases.description})" if learning.phases.description else "",
            labels=_LABELS.get(label_kind, "the score that is given for it"),
            corners=_corners(learning),
        ),
        cell_maps=maps,
        cell_map_title="What a cell is worth: mean label with an own piece there, less the mean with an opponent's.",
        significance_name=significance_name,
        cell_names=_cell_names(learning),
    )


def unimproved_phases(training: Training) -> str:
    """Names of the phases whose held-out error no iteration improved; empty when there are none."""
    results = training.weights.results
    names = training.evaluation.learning.phases.names if len(results) > 1 else ("all phases",)
    return ", ".join(name for name, result in zip(names, results, strict=True) if result and not result.improved)


def summary_of(
    learning: Learning,
    positions: PositionSet,
    candidates: Candidates,
    assessment: Assessment,
    trainings: Mapping[str, Training],
) -> str:
    """Tell in a few sentences what was searched, found and reached."""
    unit = f"{learning.label_unit} root mean square error"
    reached = " and ".join(f"{name} reach {float(assessment.errors[name][-1]):.2f}" for name in trainings)
    claims = [f"{reached} {unit}"] if trainings else []
    if assessment.baselines:
        best_baseline = min(assessment.baselines, key=lambda name: float(assessment.errors[name][-1]))
        against = f"{float(assessment.errors[best_baseline][-1]):.2f}"
        claims.append(
            f"the best baseline ({best_baseline}) {against}"
            if trainings
            else f"the best baseline ({best_baseline}) reaches {against} {unit}"
        )
    found = (
        f"No configurations: {candidates.lacking}."
        if candidates.lacking
        else (
            f"Of {counted(candidates.mined, 'configuration')} that occur often enough, {candidates.significant:,} say "
            "more about the outcome than every generalization of theirs."
        )
    )
    told = f" On games that no fit has seen, {', '.join(claims)}." if claims else ""
    unlearned = "".join(
        f" All weights of {name} stay at zero in {phases}: no iteration did better on the games for early stopping."
        for name, training in trainings.items()
        if (phases := unimproved_phases(training))
    )
    sources = positions.sources
    origin = "" if not sources else f" from {sources[0] if len(sources) == 1 else f'{len(sources):,} sources'}"
    searched = f"{counted(len(positions), 'position')} of {learning.game.title}{origin}, searched for what"
    return f"{searched} tells the winner. {found}{told}{unlearned}"
