"""The next generation of an evaluation: fitted phase by phase from the end of the game backwards (GLEM, section 3).

Endgame positions can be labelled exactly, so the weights of the last phase are fitted first. Positions of the phase
before are then labelled by searches that look into the phase whose weights were just fitted, and so on to the opening.
"""

from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
from attrs import define, field

from glem.core.configurations.configurations import symmetry_classes
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import EVALUATION_ARRAYS, LinearEvaluation
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.files.atomic import check_writable
from glem.core.files.digests import arrays_digest
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.labelling.by_search import SearchLabelling, label_by_search
from glem.core.positions.files import PositionWriter, read_positions
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import remove_work, run_folder
from glem.core.tasks.tasks import Workers


@define(frozen=True)
class ImproveSettings:
    """How a generation is made.

    Parameters
    ----------
    labelling
        How positions are labelled; the evaluation of its labeller is replaced by the newest one.
    fit
        How weights are fitted.
    positions_per_phase
        Given positions of each phase that are labelled, drawn at random if there are more.
    validation
        Share of games for early stopping.
    seed
        Of the draw, and of the games for early stopping.
    """

    labelling: SearchLabelling
    fit: FitSettings = field(factory=FitSettings.default)
    positions_per_phase: int = 100_000
    validation: float = 0.05
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        if self.positions_per_phase < 1:
            raise BadInputError(f"a phase needs at least one position, got {self.positions_per_phase}")
        if not 0 <= self.validation < 1:
            raise BadInputError(f"the share of games for early stopping must be from 0 to 1, got {self.validation}")


@define(frozen=True, eq=False)
class Generation:
    """A new evaluation and what it was fitted to.

    Parameters
    ----------
    evaluation
        The evaluation.
    given, labelled
        Positions that were given for each phase, and those that were labelled there with all that were added.
    errors
        Root mean square error of each phase's fit on the games for early stopping, nan without such.
    """

    evaluation: LinearEvaluation
    given: tuple[int, ...]
    labelled: tuple[int, ...]
    errors: tuple[float, ...]


def improve(
    positions: Positions,
    first: LinearEvaluation,
    settings: ImproveSettings,
    folder: Path,
    *,
    workers: Workers | None = None,
    provenance: Mapping[str, str] | None = None,
    jobs: int = 1,
    progress: Progress = SILENT,
) -> Generation:
    """Make the next generation of an evaluation, with the same patterns, configurations and linear features.

    Parameters
    ----------
    positions
        Positions of all phases; their labels are not looked at. Equal ones should be merged.
    first
        The generation before: it stands for all phases that are not fitted yet, and stays where a phase has no
        positions.
    settings
        How.
    folder
        For what is done already, made if absent; the same call continues there after a kill. It keeps the labelled
        positions of each phase.
    workers
        Where positions are labelled; the result does not depend on it.
    provenance
        Kept in the evaluation beside how it was made.
    jobs
        Threads of the fits; they change no result.
    progress
        Display.

    Raises
    ------
    BadInputError
        Positions of another game than the evaluation's, another link than its own, or the folder holds other work.
    """
    learning = first.learning
    if positions.game.name != learning.game.name:
        raise BadInputError(f"positions of {positions.game.name} do not fit an evaluation of {learning.game.name}")
    if settings.fit.link != first.link:
        raise BadInputError(
            f"the evaluation has the {first.link.name} link, the next generation would have the "
            f"{settings.fit.link.name} one: its phases are fitted one by one and need the same"
        )
    if not folder.is_dir():
        check_writable(folder)
    mark = {
        "positions": arrays_digest(positions.positions),
        "first": arrays_digest(getattr(first, name) for name in EVALUATION_ARRAYS),
        "labelling": settings.labelling.to_json(),
        "fit": repr(settings.fit),
        "settings": [settings.positions_per_phase, settings.validation, settings.seed],
    }
    with run_folder(folder, mark, keep=True):
        found = _Improvement(positions, first, settings, folder, workers, jobs, progress).run()
    own = _provenance(positions, first, settings, found) | dict(provenance or {})
    return attrs.evolve(found, evaluation=attrs.evolve(found.evaluation, provenance=own))


def _provenance(
    positions: Positions, first: LinearEvaluation, settings: ImproveSettings, found: Generation
) -> dict[str, str]:
    labeller, names = settings.labelling.labeller, first.learning.phases.names
    kept = [name for name, labelled in zip(names, found.labelled, strict=True) if not labelled]
    limits = ", ".join(f"{name}={value}" for name, value in attrs.asdict(labeller.limits).items() if value is not None)
    before = (f"{name}: {text}" for name, text in first.provenance.items() if name != FITTED_FILES)
    return {
        "command": "improve",
        "positions": f"{sum(found.given):,} of {len(positions):,} from {', '.join(positions.sources)}"[:2000],
        FITTED_FILES: first.provenance.get(FITTED_FILES, ""),
        "labels": f"search; {sum(found.labelled):,} with those of positions that were added",
        "labelled by": f"the newest generation, {limits}, solve={labeller.solve_from or 0}",
        "fitter": repr(settings.fit.fitter),
        "l2": f"{settings.fit.l2:g}",
        "smoothing": f"{settings.fit.smoothing:g}",
        "validation": f"{settings.validation:g} of the games, seed {settings.seed}",
        "phases kept": ", ".join(kept) or "none",
        "generation before": "; ".join(before)[:2000] or "unknown",
    }


@define(eq=False)
class _Improvement:
    """One run from the last phase to the first."""

    positions: Positions
    evaluation: LinearEvaluation
    settings: ImproveSettings
    folder: Path
    workers: Workers | None
    jobs: int
    progress: Progress
    labelled: list[Positions] = field(init=False, factory=list)

    def run(self) -> Generation:
        phases = self.evaluation.learning.phases
        count, phase_of = len(phases), phases.of(self.positions.positions)
        given, labelled, errors = [0] * count, [0] * count, [float("nan")] * count
        for phase in reversed(range(count)):
            rows = np.flatnonzero(phase_of == phase)
            if len(rows) > self.settings.positions_per_phase:
                generator = np.random.default_rng((self.settings.seed, phase))
                rows = np.sort(generator.permutation(rows)[: self.settings.positions_per_phase])
            given[phase] = len(rows)
            if len(rows) == 0:
                continue
            part = self._label(phase, self.positions.select(rows))
            labelled[phase] = len(part)
            # Added positions may lie in the phase behind; those of earlier steps that lie in this one count too.
            self.labelled = [*self.labelled[-1:], part]
            errors[phase] = self._fit(phase)
        return Generation(self.evaluation, tuple(given), tuple(labelled), tuple(errors))

    def _label(self, phase: int, chosen: Positions) -> Positions:
        """Label positions of a phase by searches with the weights fitted so far."""
        target = self.folder / f"labelled-{phase:02d}.parquet"
        newest, work = self.folder / f"newest-{phase:02d}.npz", self.folder / f"labels-{phase:02d}"
        if not target.exists():
            self.evaluation.save(newest)
            labeller = attrs.evolve(self.settings.labelling.labeller, evaluation=str(newest), digest="")
            settings = attrs.evolve(self.settings.labelling, labeller=labeller)
            try:
                with PositionWriter(target, self.positions.game, "search") as writer:
                    parts = label_by_search(chosen, settings, work, workers=self.workers, progress=self.progress)
                    for part in parts:
                        writer.append(part)
            except BaseException:
                if not work.exists():
                    newest.unlink()
                raise
        remove_work(work)
        newest.unlink(missing_ok=True)
        return read_positions(target, self.positions.game)

    def _fit(self, phase: int) -> float:
        """Fit the weights of a phase, put them into the evaluation, and return the error."""
        settings = self.settings
        path = self.folder / f"fitted-{phase:02d}.npz"
        pool = Positions.concatenate(self.labelled, renumber=False)
        phases = self.evaluation.learning.phases
        near = phases.of(pool.positions).astype(np.int64)
        # The phase before has no labels yet; the one behind smooths.
        pool = pool.select((near == phase) | (near == phase + 1))
        held_out = pool.held_out_mask(settings.validation, settings.seed) if settings.validation else None
        if path.exists():
            fitted = LinearEvaluation.load(path)
        else:
            fitted = train(
                pool,
                self.evaluation.learning,
                _terms_of(self.evaluation),
                settings.fit,
                held_out=held_out,
                jobs=self.jobs,
                progress=self.progress,
            ).evaluation
            fitted.save(path)
        changed = {name: getattr(self.evaluation, name).copy() for name in EVALUATION_ARRAYS}
        for name, weights in changed.items():
            weights[phase] = getattr(fitted, name)[phase]
        self.evaluation = attrs.evolve(self.evaluation, **changed)
        if held_out is None:
            return float("nan")
        own = pool.select(held_out & (phases.of(pool.positions) == phase))
        if len(own) == 0:
            return float("nan")
        misses = fitted.predict(own.positions, jobs=self.jobs) - own.label
        return float(np.sqrt(np.average(misses.astype(np.float64) ** 2, weights=own.weight)))


def _terms_of(evaluation: LinearEvaluation) -> Terms:
    features = evaluation.learning.features
    configurations = evaluation.configurations
    return Terms(
        patterns=evaluation.patterns,
        configurations=configurations,
        classes=None if configurations is None else symmetry_classes(configurations, features.symmetries),
        most_specific=evaluation.most_specific,
        linear=tuple(features.features[place].name for place in evaluation.linear),
    )
