"""The main job: from scored positions to mined configurations, fitted evaluations and a report.

Three stages, each of which leaves a file in the output folder: mining on a sample of the training games, a fit of
the mined configurations alone, and a fit of patterns. A stage whose file is there, made from the same positions and
settings, is not run again, and inside a stage mining and fitting keep checkpoints. After a kill the same call
continues, and ends with the same files as one that was never interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, define, field
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, symmetry_classes
from glem.core.configurations.matching import ConfigurationMatcher
from glem.core.configurations.mining import label_statistics
from glem.core.discovery.candidates import Candidates, MiningPlan, draw_sample, find_candidates
from glem.core.errors import BadInputError, __version__, reading
from glem.core.evaluation.named import load_value
from glem.core.features.features import side_and_kind
from glem.core.features.learning import Learning
from glem.core.files.archives import ArchiveFormat
from glem.core.files.atomic import atomic_path, check_writable
from glem.core.files.digests import arrays_digest
from glem.core.fitting.assessment import BaselineFit, calibration_bins, phase_errors
from glem.core.fitting.least_squares import FitSettings, Terms, Training, train, value_chunks
from glem.core.fitting.training_files import load_weights, save_weights
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.positions import PositionSet
from glem.core.report import DiscoveryReport, Item, to_json, write_report
from glem.core.report.discovery_report import (
    Assessment,
    cell_maps,
    configuration_items,
    discovery_report,
    pattern_items,
    summary_of,
    unimproved_phases,
)
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import remove_work, run_folder

__all__ = ["RESULTS", "Discovery", "DiscoverySettings", "discover"]

CONFIGURATIONS = "configurations"
PATTERNS = "patterns"

_LARGEST_DESIGN = 3 << 30
"""Bytes of active configurations that are kept in memory; beyond that each phase is fitted by itself."""
_SIZES = ArchiveFormat("glem sizes of phases", version=1, required=("phase_weights",))


@define(frozen=True)
class DiscoverySettings:
    """Settings of a discovery.

    Parameters
    ----------
    mining
        What to mine and keep.
    fit
        How weights are fitted.
    pattern_set
        Name of the game's pattern set; None for its first, empty for no patterns.
    held_out
        Share of games that no stage sees; the errors in the report are theirs.
    validation
        Share of games for early stopping.
    seed
        Chooses games and sample.
    shown
        Configurations in the report.
    """

    mining: MiningPlan = field(factory=MiningPlan)
    fit: FitSettings = field(factory=FitSettings.default)
    pattern_set: str | None = None
    held_out: float = 0.1
    validation: float = 0.05
    seed: int = 0
    shown: int = 24


@define(frozen=True, eq=False)
class Discovery:
    """Results of a discovery; the files in its folder hold the same.

    Parameters
    ----------
    candidates
        The mined configurations and how many there were.
    trainings
        Model name to its training: configurations alone, where there are some, and patterns.
    assessment
        Errors on held-out games.
    report
        What ``report.html`` shows.
    """

    candidates: Candidates
    trainings: Mapping[str, Training]
    assessment: Assessment
    report: DiscoveryReport


RESULTS = ("report.html", "discovery.json", "mined.npz", f"{CONFIGURATIONS}.npz", f"{PATTERNS}.npz")
"""Files that a discovery writes into its folder."""


@define(frozen=True)
class _Stages:
    """Folder of the unfinished stages, and what their evaluations are to tell."""

    work: Path
    provenance: Mapping[str, str]


def _described(positions: PositionSet, settings: DiscoverySettings) -> dict[str, Any]:
    """All that the results depend on, as JSON values."""
    chosen = json.loads(json.dumps(asdict(settings), default=repr))
    digest = arrays_digest(positions.columns().values())
    return {"work": "discover", "glem": __version__, "positions": digest, **chosen}


def _check_results(folder: Path) -> None:
    """Refuse to overwrite what no discovery has written: nobody has named these files."""
    found = [name for name in RESULTS if (folder / name).exists()]
    try:
        earlier = "glem" in json.loads((folder / "discovery.json").read_bytes())["facts"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        earlier = False
    if found and not earlier and not (folder / "work" / "work.json").exists():
        raise BadInputError(
            f"{folder} holds {found[0]}, but no discovery.json of glem: it would be overwritten; name another folder"
        )


def _candidates(
    stages: _Stages,
    sample: PositionSet,
    learning: Learning,
    settings: DiscoverySettings,
    jobs: int,
    progress: Progress,
) -> Candidates:
    arrays = stages.work / "candidates.npz"
    counts = stages.work / "candidates.json"
    if counts.exists():
        with reading(counts, "facts about candidates"):
            return Candidates(ConfigurationSet.load(arrays), **json.loads(counts.read_text("utf-8")))
    try:
        candidates = find_candidates(
            sample, learning, settings.mining, seed=settings.seed, work=stages.work, jobs=jobs, progress=progress
        )
    except BadInputError:
        # The same settings would end here again, and others cannot go on with these parts.
        remove_work(stages.work)
        raise
    candidates.configurations.save(arrays)
    with atomic_path(counts) as temporary:
        facts = {name: getattr(candidates, name) for name in ("mined", "significant", "incomplete", "lacking")}
        temporary.write_text(json.dumps(facts))
    return candidates


def _is_large(terms: Terms, learning: Learning, positions: PositionSet) -> bool:
    """Whether the active configurations of all positions would not fit into memory, judged by a few thousand."""
    if terms.configurations is None or len(positions) == 0:
        return False
    rows = np.linspace(0, len(positions) - 1, 4096).astype(np.int64)
    values = learning.features.values(positions.select(rows).positions)
    starts, _ = ConfigurationMatcher(terms.configurations).active(values, most_specific=terms.most_specific)
    return bool(4 * starts[-1] / len(rows) * len(positions) > _LARGEST_DESIGN)


def _fitted(
    name: str,
    terms: Terms,
    stages: _Stages,
    training_set: PositionSet,
    learning: Learning,
    settings: DiscoverySettings,
    jobs: int,
    progress: Progress,
) -> Training:
    path = stages.work / f"training-{name}.npz"
    sizes_path = stages.work / f"sizes-{name}.npz"
    evaluation_path = stages.work / f"evaluation-{name}.npz"
    if path.exists():
        evaluation = load_value(evaluation_path)
        sizes = _SIZES.read(sizes_path)[1]
        return Training(evaluation, load_weights(path, evaluation.link), **sizes)
    validation = None
    if settings.validation:
        validation = training_set.held_out_mask(settings.validation, settings.seed + 1)
    training = train(
        training_set,
        learning,
        terms,
        settings.fit,
        held_out=validation,
        work=stages.work / f"fit-{name}",
        by_phase=_is_large(terms, learning, training_set),
        provenance={
            "command": "discover",
            "positions": f"{len(training_set):,} from {', '.join(training_set.sources)}"[:2000],
            "labels": training_set.label_kind,
            "seed": str(settings.seed),
            **stages.provenance,
        },
        jobs=jobs,
        progress=progress,
    )
    training.evaluation.save(evaluation_path)
    _SIZES.write(sizes_path, {}, {"phase_weights": training.phase_weights})
    save_weights(training.weights, path)
    return training


def _assessed(
    learning: Learning,
    training_set: PositionSet,
    held_out: PositionSet,
    trainings: Mapping[str, Training],
    jobs: int,
    progress: Progress,
) -> Assessment:
    fit = BaselineFit(learning)
    with progress("baselines", len(training_set)) as task:
        start = 0
        for values, phase in value_chunks(learning, training_set.positions):
            rows = slice(start, start + len(phase))
            fit.add(values, phase, training_set.label[rows], training_set.weight[rows])
            task.advance(len(phase))
            start += len(phase)
    baselines = fit.solve()
    phases = learning.phases.of(held_out.positions)
    predicted: dict[str, list[NDArray[Any]]] = {name: [] for name in baselines}
    for values, phase in value_chunks(learning, held_out.positions):
        for name, baseline in baselines.items():
            predicted[name].append(baseline.predict(values, phase))
    predictions: dict[str, NDArray[Any]] = {name: np.concatenate(parts) for name, parts in predicted.items()}
    for name, training in trainings.items():
        predictions[name] = training.evaluation.predict(held_out.positions, jobs=jobs, progress=progress)
    count = len(learning.phases)
    return Assessment(
        counts=np.bincount(phases, minlength=count),
        weights=np.bincount(phases, held_out.weight, count).astype(np.float64),
        errors={
            name: phase_errors(values, held_out.label, phases, count, held_out.weight)
            for name, values in predictions.items()
        },
        baselines=tuple(baselines),
        calibrations={name: calibration_bins(predictions[name], held_out.label, held_out.weight) for name in trainings},
    )


def _cell_moments(learning: Learning, sample: PositionSet, maps: int = 3) -> tuple[NDArray[np.float64], list[str]]:
    """Label sums by own and opponent's pieces in each cell, over thirds of the phases or each one.

    No maps where the values of cells are not named as either side's: nothing else tells whose they are.
    """
    layout = learning.game.layout
    if layout is None:
        return np.zeros((0, 0, 4)), []
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
        return sums[:0], []
    names = learning.phases.names
    bounds = [[phase for phase in range(len(names)) if phase * maps // len(names) == part] for part in range(maps)]
    return sums, [
        f"phases {names[part[0]]} to {names[part[-1]]}" if len(part) > 1 else f"phase {names[part[0]]}"
        for part in bounds
    ]


def discover(
    positions: PositionSet,
    learning: Learning,
    folder: Path,
    settings: DiscoverySettings | None = None,
    *,
    provenance: Mapping[str, str] | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Discovery:
    """Mine configurations, fit them and the game's patterns, and write what was found.

    Where no configuration is worth a weight, the discovery goes on with patterns, baselines and maps, and the report
    tells why.

    Parameters
    ----------
    positions
        Scored positions with their games.
    learning
        Features, phases and patterns of their game.
    folder
        Where ``report.html``, ``discovery.json``, ``mined.npz`` and the evaluations ``configurations.npz`` and
        ``patterns.npz`` go. Made if absent. Without configurations neither file of theirs is there.
        Unfinished work lies in its folder ``work``.
    settings
        What to do; defaults if None.
    provenance
        Kept in the evaluations beside how they were made.
    jobs
        Threads; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        Too few positions or games, an unknown pattern set, all labels equal, or the folder holds unfinished work of
        other settings, or files of such names that no discovery has written.
    """
    chosen = settings if settings is not None else DiscoverySettings()
    pattern_set = _pattern_set(learning, chosen.pattern_set)
    training_set, held_out = positions.split_by_game(chosen.held_out, chosen.seed)
    if len(training_set) < 1000 or len(held_out) < 100:
        raise BadInputError(
            f"{len(positions):,} positions split into {len(training_set):,} to learn from and {len(held_out):,} held "
            "out; at least 1,000 and 100 are needed"
        )
    if not folder.is_dir():
        check_writable(folder)
    _check_results(folder)
    folder.mkdir(exist_ok=True)
    with run_folder(folder / "work", _described(positions, chosen)) as work:
        stages = _Stages(work, {} if provenance is None else provenance)
        return _discovered(
            positions, training_set, held_out, learning, pattern_set, stages, chosen, jobs=jobs, progress=progress
        )


def _discovered(
    positions: PositionSet,
    training_set: PositionSet,
    held_out: PositionSet,
    learning: Learning,
    pattern_set: PatternSet | None,
    stages: _Stages,
    chosen: DiscoverySettings,
    *,
    jobs: int,
    progress: Progress,
) -> Discovery:
    folder = stages.work.parent
    sample = draw_sample(training_set, chosen.mining.sample, chosen.seed)
    candidates = _candidates(stages, sample, learning, chosen, jobs, progress)
    configurations = candidates.configurations
    classes = symmetry_classes(configurations, learning.features.symmetries)
    models = {}
    if len(configurations):
        models[CONFIGURATIONS] = Terms(configurations=configurations, classes=classes)
    if pattern_set is not None:
        models[PATTERNS] = Terms(patterns=pattern_set, linear=learning.linear)
    trainings = {
        name: _fitted(name, terms, stages, training_set, learning, chosen, jobs, progress)
        for name, terms in models.items()
    }
    assessment = _assessed(learning, training_set, held_out, trainings, jobs, progress)
    shown: tuple[Item, ...] = ()
    if CONFIGURATIONS in trainings:
        values = learning.features.values(sample.positions)
        statistics = label_statistics(configurations, values, sample.label, jobs=jobs)
        correlations = np.nan_to_num(statistics.correlations()[0])
        training = trainings[CONFIGURATIONS]
        shown = configuration_items(configurations, classes, training, learning.features, correlations, chosen.shown)
    sums, names = _cell_moments(learning, sample)
    report = discovery_report(
        learning,
        facts=_facts(positions, training_set, held_out, sample, candidates, classes, trainings, chosen, maps=names),
        assessment=assessment,
        trainings=trainings,
        configurations=shown,
        patterns=pattern_items(trainings[PATTERNS], learning.features, minimum_matches=20)
        if PATTERNS in trainings
        else (),
        maps=cell_maps(sums, names),
        summary=summary_of(learning, positions, candidates, assessment, trainings),
        significance_name="correlation",
        label_kind=positions.label_kind,
    )
    for name, training in trainings.items():
        training.evaluation.save(folder / f"{name}.npz")
    if CONFIGURATIONS in trainings:
        configurations.save(folder / "mined.npz")
    else:
        # Of an earlier discovery in this folder, as _check_results has seen: the report would not be theirs.
        for name in ("mined.npz", f"{CONFIGURATIONS}.npz"):
            (folder / name).unlink(missing_ok=True)
    write_report(report, folder / "report.html")
    with atomic_path(folder / "discovery.json") as temporary:
        temporary.write_text(json.dumps(to_json(report), indent=1, sort_keys=True))
    return Discovery(candidates, trainings, assessment, report)


def _pattern_set(learning: Learning, name: str | None) -> PatternSet | None:
    if name == "" or not learning.pattern_sets:
        return None
    chosen = name if name is not None else next(iter(learning.pattern_sets))
    if chosen not in learning.pattern_sets:
        raise BadInputError(
            f"{learning.game.name} has no pattern set {chosen!r}; it has: {', '.join(learning.pattern_sets)}"
        )
    return PatternSet.from_names(learning.features, learning.pattern_sets[chosen])


def _facts(
    positions: PositionSet,
    training_set: PositionSet,
    held_out: PositionSet,
    sample: PositionSet,
    candidates: Candidates,
    classes: NDArray[np.int32],
    trainings: Mapping[str, Training],
    settings: DiscoverySettings,
    *,
    maps: Sequence[str],
) -> dict[str, str]:
    plan = settings.mining
    facts = {
        "positions": f"{len(positions):,} from {counted(len(np.unique(positions.game_key)), 'different game')}",
        "sources": ", ".join(positions.sources) or "unknown",
        "labels": positions.label_kind,
        "learned from": f"{counted(len(training_set), 'position')}, held out {len(held_out):,}",
        "mined": (
            f"{counted(len(sample), 'position')}, at least {counted(plan.matches_for(len(sample)), 'match')}, "
            f"{'any size' if plan.size_limit is None else f'up to {plan.size_limit} relations'}, within {plan.within}"
        ),
        "configurations": (
            f"{candidates.mined:,} mined; {candidates.significant:,} significant with a gain of {plan.least_gain:g}; "
            f"{int(classes.max(initial=-1)) + 1:,} classes of them kept, "
            f"with all images {len(candidates.configurations):,}"
        ),
        "seed": str(settings.seed),
        "fit": (
            f"{settings.fit.fitter!r}, penalty {settings.fit.l2:g}, smoothing {settings.fit.smoothing}, "
            f"{settings.validation:.0%} of the games for early stopping"
        ),
        "glem": __version__,
    }
    if candidates.incomplete:
        facts["mining"] = candidates.incomplete
    if candidates.lacking:
        facts["no configurations"] = candidates.lacking
    if not maps and positions.game.layout is not None:
        facts["no maps of the board"] = "no feature of a cell has values called own and opponent"
    if not (positions.weight == 1).all():
        facts["weights of positions"] = (
            f"{float(positions.weight.sum(dtype=np.float64)):,.0f} in all: fits, errors and calibration count a "
            "position as often as its weight, the mining and the maps count it once"
        )
    for name, training in trainings.items():
        weights = training.weights
        fitted = int(((weights.patterns != 0).sum()) + (weights.configurations != 0).sum())
        facts[f"weights of {name}"] = f"{fitted:,} fitted over {len(weights.bias)} phases"
        if kept_start := unimproved_phases(training):
            facts[f"held-out error of {name}"] = f"never improved in {kept_start}: all weights there stay at zero"
    return facts
