"""What the report of a discovery shows, gathered from its results."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from glem.core.configurations.configurations import symmetry_classes
from glem.core.discovery.discovery import COMPLETE, CONFIGURATIONS, EXTENDED, PATTERNS, VALIDATION, Discovery
from glem.core.errors import __version__
from glem.core.features.features import AtomicFeatures, Relation, side_and_kind
from glem.core.features.learning import Learning
from glem.core.files.atomic import write_text
from glem.core.fitting.least_squares import Training
from glem.core.fitting.minimizing.minimizer import FitResult
from glem.core.fitting.normal_equations import SOLVED
from glem.core.positions.positions import Positions
from glem.core.report.data import (
    Added,
    Calibration,
    CellMap,
    DiscoveryReport,
    Item,
    LearningCurve,
    PhaseErrors,
    to_json,
)
from glem.core.report.pages.discovery import render
from glem.core.tasks.counts import counted

_HOW_TO_READ = """\
An evaluation is a sum of weights, one for every pattern entry or configuration that is present in a position. \
Weights are in {unit}, for the side to move, and differ from phase to phase{phases}.

The label of a position is what the evaluation is to predict: {labels}. Matches are the positions learned from in \
which a configuration, or an image of it under a symmetry of the board, is present. A configuration is tested beside \
all others on games that no fit has seen: q is the share of chance findings among those that are at least as sure.

Errors are root mean square differences between prediction and label on games that no fit has seen; every position \
counts with its weight, that of a merged one the number of equal positions. The quiet lines are baselines: a \
feature or two, fitted phase by phase.

A configuration fixes the content of the drawn cells and leaves all others open. Configurations that a symmetry of \
the board turns into each other share one weight; the one nearest the top left is drawn.{corners}"""

_SHOWN = 24
"""Configurations in a report."""
_ENOUGH_MATCHES = 20
"""Positions in which an entry of a pattern counts as known."""
_ENOUGH_IN_CELL = 30
"""Positions with a piece of each side in a cell, with which its worth is told."""

_LABELS = {
    "result": "the result of its game",
    "theoretical": "its exact value",
    "auto": "its exact value where that is known, else the result of its game",
    "search": "the score that a search found",
}


def _item(
    kind: Literal["configuration", "pattern"],
    name: str,
    features: AtomicFeatures,
    relations: Sequence[Relation],
    weights: NDArray[np.float64],
    matches: NDArray[np.float64],
    *,
    q_value: float | None = None,
    note: str = "",
) -> Item:
    """Item of some relations: on the board what lies on a cell, in words the rest; weights where there were matches."""
    cells: dict[int, str] = {}
    other = []
    for relation in relations:
        feature = features[relation.feature]
        if feature.cell is not None and feature.cell not in cells:
            cells[feature.cell] = feature.value_name(relation.value)
        else:
            other.append(features.describe(relation))
    return Item(
        kind,
        name,
        dict(sorted(cells.items())),
        other,
        np.where(matches > 0, weights, np.nan).tolist(),
        [round(matched) for matched in matches],
        q_value,
        note,
    )


def _configuration_items(found: Discovery, model: str) -> tuple[Item, ...]:
    """Return the configurations whose weights move evaluations most, of each symmetry class that nearest the top left.

    Confirmed ones come first. The influence of a weight in a phase is the standard deviation of what it adds,
    ``|w| sqrt(p (1 - p))`` for a share p of positions in which it counts; classes are ranked by the root mean square of
    that over the phases.
    """
    training = found.trainings.get(model)
    configurations = None if training is None else training.evaluation.configurations
    if training is None or configurations is None:
        return ()
    features, q_values = found.learning.features, found.assessment.q_values[model]
    classes = symmetry_classes(configurations, features.symmetries)
    weights = training.weights.configurations
    matches = training.weights.match_counts[:, training.weights.patterns.shape[1] :]
    influence = _influence(weights, matches, training.phase_weights)
    table = configurations.table
    cells_of = [feature.cell for feature in features.features]

    def lying(member: np.int64) -> list[tuple[bool, int]]:
        cells = [cells_of[table.features[relation]] for relation in configurations.relations_of(int(member))]
        return sorted((cell is None, cell or 0) for cell in cells)

    items = []
    for chosen in np.lexsort((-influence, q_values > found.plan.false_discoveries))[:_SHOWN]:
        if influence[chosen] == 0:
            break
        member = int(min(np.flatnonzero(classes == chosen), key=lying))
        relations = [table[int(relation)] for relation in configurations.relations_of(member)]
        items.append(
            _item(
                "configuration",
                configurations.describe(member, features),
                features,
                relations,
                weights[:, chosen],
                matches[:, chosen],
                # Products of large matrices differ in the last digits by the number of threads.
                q_value=float(f"{q_values[chosen]:.4g}"),
            )
        )
    return tuple(items)


def _pattern_items(training: Training | None, first: int = 0) -> tuple[Item, ...]:
    """For every pattern from one on the entry that moves evaluations most, with what the whole pattern contributes."""
    patterns = training.evaluation.patterns if training is not None else None
    if training is None or patterns is None:
        return ()
    weights = training.weights.patterns
    matches = training.weights.match_counts[:, : patterns.weight_count]
    sizes = training.phase_weights
    influence = _influence(weights, matches, sizes)
    items = []
    for place, pattern in list(enumerate(patterns.patterns))[first:]:
        part = slice(int(patterns.weight_starts[place]), int(patterns.weight_starts[place + 1]))
        chosen = part.start + int(np.argmax(influence[part]))
        share = matches[:, part] / np.maximum(sizes, 1)[:, None]
        mean = (share * weights[:, part]).sum(axis=1)
        spread = np.sqrt(np.maximum((share * weights[:, part] ** 2).sum(axis=1) - mean**2, 0))
        overall = float(np.sqrt((spread**2).mean()))
        valid = int((matches[:, part].sum(axis=0) >= _ENOUGH_MATCHES).sum())
        note = (
            f"The strongest of {counted(patterns.weight_sizes[place], 'entry')}, {valid:,} of which match at least "
            f"{_ENOUGH_MATCHES} positions; what all entries together add has a standard deviation of {overall:.1f}."
        )
        relations = patterns.describe(chosen)[1]
        name, columns = pattern.name.replace("_", " "), (weights[:, chosen], matches[:, chosen])
        items.append((-overall, _item("pattern", name, patterns.features, relations, *columns, note=note)))
    return tuple(item for _, item in sorted(items, key=lambda pair: pair[0]))


def _added(found: Discovery) -> Added | None:
    if not {EXTENDED, COMPLETE} & set(found.trainings):
        return None
    given = found.trainings[PATTERNS].evaluation.patterns
    assert given is not None
    return Added(
        (*_pattern_items(found.trainings.get(EXTENDED), len(given.patterns)), *_configuration_items(found, COMPLETE)),
        found.assessment.added.tolist(),
        found.assessment.added_errors.tolist(),
    )


def _influence(
    weights: NDArray[np.float64], matches: NDArray[np.float64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    share = np.clip(matches / np.maximum(sizes, 1)[:, None], 0, 1)
    spread: NDArray[np.float64] = np.sqrt((weights**2 * share * (1 - share)).mean(axis=0))
    return np.nan_to_num(spread)


def _cell_maps(found: Discovery) -> tuple[CellMap, ...]:
    """Heat maps: what a cell's content is worth, the mean label with an own piece less that with the opponent's."""
    maps = []
    for name, sums in zip(*_cell_moments(found.learning, found.sample), strict=True):
        with np.errstate(invalid="ignore", divide="ignore"):
            difference = sums[:, 1] / sums[:, 0] - sums[:, 3] / sums[:, 2]
        enough = np.minimum(sums[:, 0], sums[:, 2]) >= _ENOUGH_IN_CELL
        maps.append(CellMap(name, np.where(enough, difference, np.nan).tolist()))
    return tuple(maps)


def _cell_moments(learning: Learning, sample: Positions, maps: int = 3) -> tuple[list[str], NDArray[np.float64]]:
    """Label sums by own and opponent's pieces in each cell, over thirds of the phases or each one, with their names.

    float64 [maps, cells, 4]: for each map and cell, number and label sum with an own piece, then with the opponent's.
    What lies on the images of a cell under the board's symmetries counts as if it lay there: all corners have one mean.

    No maps where the values of cells are not named as either side's: nothing else tells whose they are.
    """
    layout = learning.game.layout
    if layout is None:
        return [], np.zeros((0, 0, 4))
    maps = min(maps, len(learning.phases))
    phase = learning.phases.of(sample.positions).astype(np.int64)
    values = learning.features.values(sample.positions)
    third = np.minimum(phase * maps // len(learning.phases), maps - 1)
    sums = np.zeros((maps, layout.rows * layout.columns, 4))
    for place, feature in enumerate(learning.features.features):
        if feature.cell is None:
            continue
        sides = [side_and_kind(name)[0] for name in feature.value_names]
        for side, owner in enumerate(("own", "opponent")):
            here = np.isin(values[:, place], [feature.low + at for at, found in enumerate(sides) if found == owner])
            sums[:, feature.cell, 2 * side] += np.bincount(third[here], minlength=maps)
            sums[:, feature.cell, 2 * side + 1] += np.bincount(third[here], sample.label[here], maps)
    if not (sums[..., 0].any() and sums[..., 2].any()):
        return [], sums[:0]
    if learning.features.symmetries is not None:
        cells = np.array([-1 if feature.cell is None else feature.cell for feature in learning.features.features])
        known, first = (each[1:] if cells.min() < 0 else each for each in np.unique(cells, return_index=True))
        whole = np.zeros_like(sums)
        images = cells[learning.features.symmetries[:, first]]
        for image in images:
            whole[:, image] += sums[:, known]
        # A cell that is its own image under some has been counted as often.
        whole[:, known] /= (images == known).sum(axis=0)[:, None]
        sums = whole
    names = learning.phases.names
    parts = [[name for at, name in enumerate(names) if at * maps // len(names) == part] for part in range(maps)]
    return [f"phases {part[0]} to {part[-1]}" if len(part) > 1 else f"phase {part[0]}" for part in parts], sums


def _curves(learning: Learning, model: str, results: Sequence[FitResult | None]) -> list[LearningCurve]:
    names = learning.phases.names if len(results) == len(learning.phases) else ("all phases",)
    return [
        LearningCurve(
            name=f"{model}, {name}",
            iterations=list(range(len(result.training_errors))),
            training=np.sqrt(result.training_errors).tolist(),
            validation=np.sqrt(result.held_out_errors).tolist(),
        )
        for name, result in zip(names, results, strict=True)
        if result is not None and result.fitter != SOLVED
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


def write_discovery(found: Discovery, folder: Path) -> DiscoveryReport:
    """Write ``report.html`` and ``discovery.json``, the same as data, into the folder of a discovery."""
    report = discovery_report(found)
    write_text(folder / "report.html", render(report))
    write_text(folder / "discovery.json", json.dumps(to_json(report), indent=1, sort_keys=True))
    return report


def discovery_report(found: Discovery) -> DiscoveryReport:
    """Gather what a discovery found for its report; the learning curves are of the best one-stage fit."""
    learning, assessment = found.learning, found.assessment
    unit, phases, described = learning.label_unit, learning.phases.names, learning.phases.description
    curves: list[LearningCurve] = []
    if found.trainings:
        model = min(
            found.trainings, key=lambda name: (found.trainings[name].has_prior, float(assessment.errors[name][-1]))
        )
        curves = _curves(learning, model, found.trainings[model].weights.results)
    maps, given, added = _cell_maps(found), _pattern_name(found), _added(found)
    return DiscoveryReport(
        title=f"What decides a game of {learning.game.title}",
        game_title=learning.game.title,
        layout=learning.game.layout,
        summary=_summary(found, added),
        facts=_facts(found, has_maps=bool(maps)),
        phases=phases,
        phase_description=described,
        curves=curves,
        errors=PhaseErrors(
            phases=phases,
            counts=assessment.counts.tolist(),
            models={name: errors[:-1].tolist() for name, errors in assessment.errors.items()},
            unit=unit,
            baselines=assessment.baselines,
            weights=assessment.weights.tolist(),
        ),
        calibrations=[
            Calibration(name, bins.predicted.tolist(), bins.observed.tolist(), bins.counts.tolist(), unit)
            for name, bins in assessment.calibrations.items()
        ],
        configurations=_configuration_items(found, CONFIGURATIONS),
        patterns=_pattern_items(found.trainings.get(PATTERNS)),
        added=added,
        unit=unit,
        pattern_source=f"the set {given} of {learning.game.title}" if given in learning.pattern_sets else given,
        how_to_read=_HOW_TO_READ.format(
            unit=unit,
            phases=f" ({described})" if described else "",
            labels=_LABELS.get(found.positions.label_kind, "the score that is given for it"),
            corners=_corners(learning),
        ),
        cell_maps=maps,
        cell_map_title="What a cell is worth: mean label with an own piece there, less the mean with an opponent's.",
        cell_names=_cell_names(learning),
    )


def _pattern_name(found: Discovery) -> str:
    """Name of the set, or of the file, whose patterns were fitted beside what was found."""
    name = found.plan.patterns
    if name is None:
        return next(iter(found.learning.pattern_sets), "")
    return "" if name == "none" else Path(name).name


def _summary(found: Discovery, added: Added | None) -> str:
    """Tell in a few sentences what was searched, found and reached."""
    learning, assessment, trainings = found.learning, found.assessment, found.trainings
    unit = f"{learning.label_unit} root mean square error"
    whose = {PATTERNS: f"patterns of {_pattern_name(found)}"}
    reached = " and ".join(
        f"{whose.get(name, name)} reach {float(assessment.errors[name][-1]):.2f}"
        for name in trainings
        if name in {CONFIGURATIONS, PATTERNS}
    )
    claims = [f"{reached} {unit}"] if trainings else []
    if assessment.baselines:
        best_baseline = min(assessment.baselines, key=lambda name: float(assessment.errors[name][-1]))
        against = f"{float(assessment.errors[best_baseline][-1]):.2f}"
        claims.append(
            f"the best baseline ({best_baseline}) {against}"
            if trainings
            else f"the best baseline ({best_baseline}) reaches {against} {unit}"
        )
    classes = _class_count(found, CONFIGURATIONS)
    mined = f" Of {counted(found.mined, 'configuration')} that occur often enough, " if found.mined else ""
    if mined and classes:
        mined += f"{classes:,} and their images are kept{_confirmed_text(found, CONFIGURATIONS)}."
    elif mined:
        mined += "none helps on held-out games."
    told = f" On games that no fit has seen, {', '.join(claims)}." if claims else ""
    told += _added_text(found, added)
    unlearned = "".join(
        f" {name}: {warning}."
        for name, training in trainings.items()
        if not training.has_prior
        for warning in training.warnings
    )
    sources = found.positions.sources
    origin = "" if not sources else f" from {sources[0] if len(sources) == 1 else f'{len(sources):,} sources'}"
    searched = f"{counted(len(found.positions), 'position')} of {learning.game.title}{origin}."
    return f"{searched}{mined}{told}{unlearned}"


def _confirmed_text(found: Discovery, model: str) -> str:
    rate = found.plan.false_discoveries
    confirmed = found.assessment.confirmed(model, rate)
    return f", {confirmed:,} of them confirmed on games that no fit has seen (at most {rate:.0%} by chance)"


def _class_count(found: Discovery, model: str) -> int:
    """Count the symmetry classes of configurations in a model."""
    return found.trainings[model].weights.configurations.shape[1] if model in found.trainings else 0


def _added_text(found: Discovery, added: Added | None) -> str:
    """Tell whether what was found adds to the patterns that were given."""
    if PATTERNS not in found.trainings:
        return ""
    if added is None:
        return " Nothing was found that adds to these patterns."
    assessment = found.assessment
    by_phase, change, error = assessment.added[:-1], float(assessment.added[-1]), float(assessment.added_errors[-1])
    better, worse = int((by_phase < 0).sum()), int((by_phase > 0).sum())
    doubt = "" if abs(change) > 2 * error else ", which may be chance"
    patterns = sum(item.kind == "pattern" for item in added.items)
    counts = {"pattern": patterns, "configuration": _class_count(found, COMPLETE)}
    what = " and ".join(counted(count, kind) for kind, count in counts.items() if count)
    what += _confirmed_text(found, COMPLETE) + "," if counts["configuration"] else ""
    phases = f"{counted(better, 'phase')} better, {worse} worse"
    return f" {what} added to these: {change:+.3f} ± {error:.3f}{doubt} ({phases})."


def _penalties(found: Discovery) -> str:
    """Penalty on weights as stated, or those that were chosen for the patterns, by phase."""
    if found.plan.l2 is not None or PATTERNS not in found.trainings:
        return "chosen" if found.plan.l2 is None else f"{found.plan.l2:g}"
    return " ".join(f"{each:.3g}" for each in found.trainings[PATTERNS].penalties) + " (patterns, by phase)"


def _facts(found: Discovery, *, has_maps: bool) -> dict[str, str]:
    positions, plan, mined = found.positions, found.plan, len(found.sample)
    facts = {
        "positions": f"{len(positions):,} from {counted(positions.different_games, 'different game')}",
        "sources": ", ".join(positions.sources) or "unknown",
        "labels": positions.label_kind,
        "learned from": f"{counted(len(found.training_set), 'position')}, held out {len(found.held_out):,}",
        "mined": (
            f"{counted(mined, 'position')}, at least {counted(plan.matches_for(mined), 'match')}, "
            f"{'any size' if plan.size_limit is None else 'up to ' + counted(plan.size_limit, 'relation')}, "
            f"within {plan.within}"
        ),
        "configurations": (
            f"{found.mined:,} mined; symmetry classes kept: {_class_count(found, CONFIGURATIONS):,} beside linear "
            f"features, {_class_count(found, COMPLETE):,} beside patterns"
        ),
        "seed": str(found.seed),
        "fit": (
            f"{plan.fit.fitter!r}, penalty {_penalties(found)}, smoothing {plan.smoothing}, "
            f"judged by {VALIDATION:.0%} of the games"
        ),
        "glem": __version__,
    }
    if found.incomplete:
        facts["mining"] = found.incomplete
    if not has_maps and positions.game.layout is not None:
        facts["no maps of the board"] = "no feature of a cell has values called own and opponent"
    if not (positions.weight == 1).all():
        facts["weights of positions"] = (
            f"{float(positions.weight.sum(dtype=np.float64)):,.0f} in all: fits, errors and calibration count a "
            "position as often as its weight, the mining and the maps count it once"
        )
    for name, training in found.trainings.items():
        weights = training.weights
        fitted = int(((weights.patterns != 0).sum()) + (weights.configurations != 0).sum())
        facts[f"weights of {name}"] = f"{fitted:,} fitted over {counted(len(weights.bias), 'phase')}"
    return facts
