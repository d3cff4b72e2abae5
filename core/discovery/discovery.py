"""The main job: from scored positions to mined configurations and fitted evaluations, with all that a report needs.

Stages, each of which keeps its finished parts in the run folder: mining on a sample of the training games; linear
features and the mined configurations that add to them; a fit of patterns; and what is added to these, patterns by
machine and mined configurations. After a kill the same call continues from these parts, and ends with the same files as
one that was never interrupted.

Configurations are added to an evaluation whose own weights have converged, and a phase takes them only if the games
that judge are clearly better off. Fitted without such a start, hundreds of new weights fit noise before others have
converged: more terms were worse than fewer.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, define, evolve
from numpy.typing import NDArray

from glem.core.configurations.configurations import ConfigurationSet, symmetry_classes
from glem.core.discovery.candidates import draw_sample, mine_sample, standardized
from glem.core.discovery.confirmation import q_values
from glem.core.discovery.pattern_design import design_pattern_set
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.discovery.pursuit import choose_configurations
from glem.core.errors import BadInputError, __version__
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.files.atomic import check_writable
from glem.core.files.digests import arrays_digest
from glem.core.fitting.least_squares import LEAST_GAMES, FitSettings, Terms, Training, train, values_of
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.machine.large_arrays import let_go
from glem.core.measures.calibration_bins import CalibrationBins, calibration_bins
from glem.core.measures.errors import RootMeanSquareError
from glem.core.measures.measure import Judged
from glem.core.measures.sums import measured
from glem.core.patterns.patterns import MINIMUM_MATCHES, PatternSet
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import remove_work, run_folder
from glem.core.tasks.tasks import Workers

CONFIGURATIONS = "configurations"
PATTERNS = "patterns"
EXTENDED = "extended"
"""The patterns and others that were designed for what they leave, fitted together: about as fast in a search."""
COMPLETE = "complete"
"""These, and configurations: a search is many times as slow with them."""

VALIDATION = 0.05
"""Share of the training games that judge fits: a phase that is worse after a fit keeps its start."""
_MOST_HELD_OUT = 2_000_000
_BASELINE = FitSettings(ConjugateGradient(), l2=0.0)
_SIGNIFICANT = 2.0
"""Standard errors by which configurations must make a phase better on the games that judge."""


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
    added, added_errors
        float64 [K + 1]: error of the patterns with all that was found less that of the patterns, and its standard error
        by game; nan where nothing was found.
    baselines
        Names of the models that are there to be beaten.
    calibrations
        Model name to its calibration.
    q_values
        Name of a model with configurations to float64 [classes], see
        :func:`~glem.core.discovery.confirmation.q_values`.
    """

    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    errors: Mapping[str, NDArray[np.float64]]
    added: NDArray[np.float64]
    added_errors: NDArray[np.float64]
    baselines: tuple[str, ...]
    calibrations: Mapping[str, CalibrationBins]
    q_values: Mapping[str, NDArray[np.float64]]

    def confirmed(self, model: str, rate: float) -> int:
        """Count the classes of configurations that are confirmed at a rate of false discoveries."""
        return int((self.q_values.get(model, np.ones(0)) <= rate).sum())


@define(frozen=True, eq=False, repr=False)
class Discovery:
    """What a discovery found, and from what.

    Parameters
    ----------
    learning
        Features, phases and patterns of the game.
    plan, seed
        What was done.
    positions, training_set, held_out, sample
        All positions, those that were learned from, those that no stage saw, and those that were mined.
    mined, incomplete
        How many configurations were mined, and why the mining stopped early; empty when it did not.
    trainings
        Model name to its training, of the last round where there were some: configurations, where some add to linear
        features; patterns; these with others that add to them; and with configurations that do.
    assessment
        Errors on held-out games.
    """

    learning: Learning
    plan: DiscoveryPlan
    seed: int
    positions: Positions
    training_set: Positions
    held_out: Positions
    sample: Positions
    mined: int
    incomplete: str
    trainings: Mapping[str, Training]
    assessment: Assessment

    def __repr__(self) -> str:
        name = self.learning.game.title
        return f"Discovery({name}: {counted(self.mined, 'configuration')} in {counted(len(self.sample), 'position')})"


RESULTS = (
    "report.html",
    "discovery.json",
    "mined.npz",
    f"{CONFIGURATIONS}.npz",
    f"{PATTERNS}.npz",
    f"{EXTENDED}.npz",
    f"{COMPLETE}.npz",
)
"""Files of a discovery: the page and its data, which the caller writes, and those that :func:`discover` writes."""


def _described(positions: Positions, plan: DiscoveryPlan, seed: int, patterns: PatternSet | None) -> dict[str, Any]:
    """All that the results depend on, as JSON values."""
    chosen = json.loads(json.dumps(asdict(plan), default=repr))
    digest = arrays_digest(positions.columns().values())
    names = None if patterns is None else patterns.names
    return {"work": "discover", "glem": __version__, "positions": digest, "seed": seed, **chosen, "patterns": names}


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


@define(frozen=True, eq=False)
class _Run:
    """The stages of a discovery, which keep their unfinished work in the folder ``work``."""

    work: Path
    learning: Learning
    plan: DiscoveryPlan
    seed: int
    training_set: Positions
    workers: Workers | None
    jobs: int
    progress: Progress

    @property
    def judging(self) -> NDArray[np.bool_]:
        """Positions of the training set that judge fits: bool [N]."""
        return self.training_set.held_out_mask(_share(VALIDATION, self.training_set), self.seed + 1)

    def mined(self, sample: Positions) -> ConfigurationSet:
        how: dict[str, Any] = {"work": self.work, "jobs": self.jobs, "progress": self.progress}
        try:
            return mine_sample(sample, self.learning, self.plan, seed=self.seed, **how)
        except BadInputError:
            # The same settings would end here again, and others cannot go on with these parts.
            remove_work(self.work)
            raise

    def with_configurations(
        self,
        name: str,
        mined: ConfigurationSet,
        sample: Positions,
        before: LinearEvaluation,
        provenance: Mapping[str, str],
    ) -> Training | None:
        """Add configurations to an evaluation; None where none helps on the games that judge."""
        learning = self.learning
        left = sample.label - before.predict(sample.positions, jobs=self.jobs)
        left = standardized(left, learning.phases.of(sample.positions))
        how: dict[str, Any] = {"jobs": self.jobs, "progress": self.progress}
        configurations = choose_configurations(mined, sample, learning, left, self.plan.keep, **how)
        if configurations is None:
            return None
        terms = Terms(
            configurations=configurations,
            classes=symmetry_classes(configurations, learning.features.symmetries),
            most_specific=False,
            linear=tuple(learning.features[place].name for place in before.linear),
        )
        prior = evolve(
            before,
            configurations=configurations,
            configuration_weights=np.zeros((len(learning.phases), len(configurations)), np.float32),
            most_specific=False,
        )
        training = self.fitted(name, terms, provenance, prior)
        return self.where_better(training, prior, terms, _SIGNIFICANT)

    def where_better(
        self,
        training: Training,
        before: LinearEvaluation,
        terms: Terms,
        standard_errors: float = 0.0,
    ) -> Training | None:
        """Take back phases whose error on the games that judge does not fall, by so much; None where none is left."""
        positions = self.training_set
        held_out = positions.select(self.judging)
        game, phase = np.unique(held_out.game_key, return_inverse=True)[1], self.learning.phases.of(held_out.positions)
        if game.max(initial=-1) + 1 < LEAST_GAMES:
            return None
        judged = (
            Judged(each.predict(held_out.positions, jobs=self.jobs), held_out.label, held_out.weight, game)
            for each in (before, training.evaluation)
        )
        numbers = measured(RootMeanSquareError(), *judged, group=phase, groups=len(self.learning.phases))
        better = numbers.difference[1, :-1] < -standard_errors * numbers.difference_error[1, :-1]
        return training.only_in(better, before, terms) if better.any() else None

    def extended(self, patterns: Training, given: PatternSet, provenance: Mapping[str, str]) -> Training | None:
        """Add patterns by machine to the game's; None where nothing helps."""
        how: dict[str, Any] = {"seed": self.seed, "jobs": self.jobs, "progress": self.progress}
        plan = self.plan
        designed = design_pattern_set(self.training_set, self.learning, given, plan.fit, sample=plan.sample, **how)
        if designed is None:
            return None
        before = patterns.evaluation.with_patterns(designed)
        both = Terms.of(before)
        return self.where_better(self.fitted(EXTENDED, both, provenance), before, both)

    def fitted(
        self,
        name: str,
        terms: Terms,
        provenance: Mapping[str, str],
        prior: LinearEvaluation | None = None,
    ) -> Training:
        """Fit the training set."""
        positions, plan = self.training_set, self.plan
        return train(
            positions,
            self.learning,
            terms,
            plan.fit,
            prior=prior,
            held_out=self.judging,
            work=self.work / f"fit-{name}",
            provenance={
                "command": "discover",
                "positions": f"{len(positions):,} from {', '.join(positions.sources)}"[:2000],
                "labels": positions.label_kind,
                "seed": str(self.seed),
                **provenance,
            },
            workers=self.workers,
            jobs=self.jobs,
            progress=self.progress,
        )

    def assessed(self, held_out: Positions, trainings: Mapping[str, Training]) -> Assessment:
        learning, training_set = self.learning, self.training_set
        predictions: dict[str, NDArray[Any]] = {}
        how: dict[str, Any] = {"jobs": self.jobs, "progress": self.progress}
        for name, features in learning.baselines.items():
            fitted = train(training_set, learning, Terms(linear=features), _BASELINE, workers=self.workers, **how)
            known = fitted.evaluation
            predictions[name] = known.predict(held_out.positions, **how)
        for name, training in trainings.items():
            predictions[name] = training.evaluation.predict(held_out.positions, **how)
        count, label, weight = len(learning.phases), held_out.label, held_out.weight
        phases = learning.phases.of(held_out.positions)
        game = np.unique(held_out.game_key, return_inverse=True)[1]
        # Differences are to the first.
        names = sorted(predictions, key=lambda name: name != PATTERNS)
        judged = (Judged(predictions[name], label, weight, game) for name in names)
        numbers = measured(RootMeanSquareError(), *judged, group=phases, groups=count)
        errors = dict(zip(names, numbers.value, strict=True))
        nothing = np.full(count + 1, np.nan)
        place = next((names.index(name) for name in (COMPLETE, EXTENDED) if name in trainings), None)
        return Assessment(
            counts=np.bincount(phases, minlength=count),
            weights=np.bincount(phases, weight, count).astype(np.float64),
            errors={name: errors[name] for name in predictions},
            added=nothing if place is None else numbers.difference[place],
            added_errors=nothing if place is None else numbers.difference_error[place],
            baselines=tuple(learning.baselines),
            calibrations={name: calibration_bins(predictions[name], label, weight) for name in trainings},
            q_values={
                name: q_values(training.evaluation, self.training_set, held_out, seed=self.seed, jobs=self.jobs)
                for name, training in trainings.items()
                if training.evaluation.configurations is not None
            },
        )


@contextlib.contextmanager
def discover(
    positions: Positions,
    learning: Learning,
    folder: Path,
    plan: DiscoveryPlan | None = None,
    *,
    seed: int = 0,
    provenance: Mapping[str, str] | None = None,
    workers: Workers | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Iterator[Discovery]:
    """Mine configurations, fit them and the game's patterns, and write the evaluations.

    A context manager: the block writes the report (:func:`glem.core.report.write_discovery`), and unfinished work goes
    when the block has ended. Where no configuration is worth a weight, the discovery goes on with patterns and
    baselines.

    Parameters
    ----------
    positions
        Scored positions with their games.
    learning
        Features, phases and patterns of their game.
    folder
        Where ``mined.npz`` and the evaluations ``configurations.npz``, ``patterns.npz``, ``extended.npz`` and
        ``complete.npz`` go, and the report. Made if absent. What was not found has no file. Unfinished work lies in its
        folder ``work``.
    plan
        What to do; defaults if None.
    seed
        Chooses games and sample.
    provenance
        Kept in the evaluations beside how they were made.
    workers
        Those of a scheduler, which fit (:func:`~glem.core.fitting.least_squares.train`).
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
    chosen = plan if plan is not None else DiscoveryPlan()
    training_set, held_out = positions.split_by_game(_share(chosen.held_out, positions), seed)
    pattern_set = _pattern_set(learning, chosen, training_set)
    if len(training_set) < 1000 or len(held_out) < 100:
        raise BadInputError(
            f"{counted(len(positions), 'position')} split into {len(training_set):,} to learn from and "
            f"{len(held_out):,} held "
            "out; at least 1,000 and 100 are needed"
        )
    if (training_set.label == training_set.label[0]).all():
        raise BadInputError("all labels are equal: there is nothing to explain")
    let_go(training_set.label)
    if not folder.is_dir():
        check_writable(folder)
    _check_results(folder)
    folder.mkdir(exist_ok=True)
    with run_folder(folder / "work", _described(positions, chosen, seed, pattern_set)) as work:
        run = _Run(work, learning, chosen, seed, training_set, workers, jobs, progress)
        sample = draw_sample(training_set, chosen.sample, seed)
        mined = run.mined(sample) if chosen.keep else None
        trainings: dict[str, Training] = {}
        told = provenance or {}
        base = LinearEvaluation(learning, np.zeros(len(learning.phases), np.float32))
        if mined is not None:
            if learning.linear:
                base = run.fitted("linear", Terms(linear=learning.linear), told).evaluation
            found = run.with_configurations(CONFIGURATIONS, mined, sample, base, told)
            if found is not None:
                trainings[CONFIGURATIONS] = found
        if pattern_set is not None:
            patterns = run.fitted(PATTERNS, Terms(patterns=pattern_set, linear=learning.linear), told)
            trainings[PATTERNS] = patterns
            extended = run.extended(patterns, pattern_set, told)
            if extended is not None:
                trainings[EXTENDED] = extended
            if mined is not None:
                before = trainings.get(EXTENDED, patterns).evaluation
                found = run.with_configurations(COMPLETE, mined, sample, before, told)
                if found is not None:
                    trainings[COMPLETE] = found
        assessment = run.assessed(held_out, trainings)
        kept = trainings[CONFIGURATIONS].evaluation.configurations if CONFIGURATIONS in trainings else None
        if kept is not None:
            kept.save(folder / "mined.npz", learning.features)
        else:
            (folder / "mined.npz").unlink(missing_ok=True)
        for name in {CONFIGURATIONS, PATTERNS, EXTENDED, COMPLETE} - set(trainings):
            # Of an earlier discovery in this folder, as _check_results has seen: the report would not be theirs.
            (folder / f"{name}.npz").unlink(missing_ok=True)
        for name, training in trainings.items():
            training.evaluation.save(folder / f"{name}.npz")
        yield Discovery(
            learning,
            chosen,
            seed,
            positions,
            training_set,
            held_out,
            sample,
            0 if mined is None else len(mined),
            "" if mined is None else mined.incomplete,
            trainings,
            assessment,
        )


def _share(wanted: float, positions: Positions) -> float:
    """Share of the games to hold out: as wanted, but no more than say the same with less memory."""
    return min(wanted, _MOST_HELD_OUT / max(len(positions), 1))


def _pattern_set(learning: Learning, plan: DiscoveryPlan, positions: Positions) -> PatternSet | None:
    name = next(iter(learning.pattern_sets), "") if plan.patterns is None else plan.patterns
    if name in {"", "none"}:
        return None
    minimum = plan.minimum_matches or MINIMUM_MATCHES
    return PatternSet.named(learning, name, values_of(learning, positions.positions), minimum)
