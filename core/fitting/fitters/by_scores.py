"""The fitter of scores by least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, evolve

from glem.core.errors import BadInputError
from glem.core.fitting.fitters.fitter import Fit, Fitter, Run
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.features.learning import Learning


@define(frozen=True, slots=False)
class LeastSquares(Fitter):
    """Fit an evaluation to the scores of POSITIONS (Parquet) by least squares.

    With --prior, features, phases and link are the prior's. --patterns are added to its own and fitted with these;
    --configurations are fitted to what it leaves, and its own weights stay as they are.

    Parameters
    ----------
    prior
        What the fit begins with and is held to: a file, ``default``, or ``none``.
    patterns
        Pattern set, or a file of ``name: a1 b1 ...`` lines; the game's first by default, ``none`` for none.

        In Python a mapping of names to features, too. Those of a prior stand before them, and are all where this is
        None.
    minimum_matches
        Positions that have a content of a large pattern with a weight.
    phases
        Number of phases, where the game divides into any; its own by default.
    configurations
        Use mined configurations (.npz) too.
    all_active
        Count all active configurations, not only the most specific.
    linear
        Let the game's linear features enter.
    baseline
        Of the linear features only those of this baseline of the game.
    minimizer
        Conjugate gradient, or descent as GLEM describes it.
    iterations
        Most iterations; by default 60, 250 for descent.
    link
        Link function; ``logistic`` turns labels into 0.9, 0.5 and 0.1.
    l2
        Penalty on weights, or on what they differ from those of the prior, in positions; by default chosen, phase by
        phase, on held-out games.
    smoothing
        Factor for positions of adjacent phases.
    count_rules
        Tie rarely matched weights of neighbouring phases together.
    held_out
        Hold out this share of the games, which judge the fit: a phase that it makes worse keeps its start.
    """

    name = "least-squares"
    uses_workers = True

    prior: str = setting("none", metavar="EVALUATION")
    patterns: Any = setting(None, metavar="NAME|FILE")
    minimum_matches: int = setting(75, least=1, names=("-n", "--minimum-matches"))
    phases: int | None = setting(None, least=1)
    configurations: Any = setting(None, metavar="FILE")
    all_active: bool = setting(False)
    linear: bool = setting(True)
    baseline: str | None = setting(None, metavar="NAME")
    minimizer: str = setting("conjugate", words=("conjugate", "descent"))
    iterations: int | None = setting(None, least=1)
    link: str = setting("identity", words=("identity", "sigmoid", "logistic"))
    l2: float | None = setting(None, least=0.0, most=1e9)
    smoothing: float = setting(0.25, least=0.0, most=1.0)
    count_rules: bool = setting(False)
    held_out: float = setting(0.05, least=0.0, most=0.9, was=("--validation",), metavar="SHARE")

    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Fit by :func:`~glem.core.fitting.least_squares.train`."""
        import numpy as np

        from glem.core.configurations.configurations import ConfigurationSet
        from glem.core.evaluation import named
        from glem.core.evaluation.links import LOGISTIC, link_of, result_labels
        from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
        from glem.core.evaluation.with_drawishness import value_part
        from glem.core.features.learning import baseline_features, with_phases
        from glem.core.fitting.count_rules import CountRules
        from glem.core.fitting.least_squares import LEAST_GAMES, FitSettings, Terms, train, values_of
        from glem.core.fitting.minimizing.conjugate import ConjugateGradient
        from glem.core.fitting.minimizing.descent import GradientDescent
        from glem.core.patterns.patterns import PatternSet

        game, patterns = learning.game, self.patterns
        prior = named.load_prior(self.prior, game)
        before = None if prior is None else value_part(prior)
        if self.phases is not None:
            learning = with_phases(learning, self.phases)
        if before is not None:
            if (self.baseline, self.phases, self.link, self.linear) != (None, None, "identity", True):
                raise BadInputError("a prior is fitted with its own linear features, phases and link")
            if self.configurations is not None and patterns not in {None, "none"}:
                raise BadInputError("patterns are fitted with a prior, configurations to what it leaves: one at a time")
            if before.network is not None:
                raise BadInputError("a prior with a hidden layer is fitted by the fitter network")
            learning = before.learning
        linear = learning.linear if self.linear else ()
        if self.baseline is not None:
            if patterns is not None or self.configurations is not None:
                raise BadInputError(
                    "the features of a baseline are fitted alone: name no patterns and no configurations"
                )
            linear = baseline_features(learning, self.baseline)
            patterns = "none"
        if patterns is None:
            patterns = next(iter(learning.pattern_sets), "none") if before is None else "none"
        held = data.held_out_mask(self.held_out, run.seed) if self.held_out else None
        validation = f"{self.held_out:g} of the games, seed {run.seed}"
        few: tuple[str, ...] = ()
        if held is not None and len(np.unique(data.game_key[held])) < LEAST_GAMES:
            held, validation = None, "none"
            few = (f"fewer than {LEAST_GAMES} games would be held out: they are fitted, and nothing judges the fit",)
        chunks = values_of(learning, data.positions, held)
        named_set = None if patterns == "none" else PatternSet.named(learning, patterns, chunks, self.minimum_matches)
        if before is None or self.configurations is not None:
            terms = Terms(
                patterns=named_set,
                configurations=ConfigurationSet.of(self.configurations),
                most_specific=not self.all_active,
                linear=linear if before is None else (),
            )
        else:
            before = before if named_set is None else before.with_patterns(named_set)
            terms = Terms.of(before)
        if terms.patterns is None and terms.configurations is None and not terms.linear:
            raise BadInputError("an evaluation needs patterns, configurations or linear features")
        bounded = link_of(self.link, game.greatest_score) if before is None else before.link
        if bounded == LOGISTIC:
            data = evolve(data, label=result_labels(data.label, game.score_bounds))
        settings = FitSettings(
            ConjugateGradient(iterations=self.iterations or 60, patience=0)
            if self.minimizer == "conjugate"
            else GradientDescent(iterations=self.iterations or 250, patience=0),
            link=bounded,
            l2=self.l2,
            smoothing=self.smoothing,
            count_rules=CountRules() if self.count_rules else None,
        )
        told = {
            **run.provenance,
            "count rules": str(self.count_rules),
            "validation": validation,
            **run.files,
        }
        if before is not None:
            files = (told.get(FITTED_FILES, ""), before.provenance.get(FITTED_FILES, ""))
            told |= {"prior": self.prior, FITTED_FILES: fitted_files_text((), "\n".join(filter(None, files)))}
        described = {
            "work": "fit", **told, "l2": str(self.l2), "link": bounded.name,
            "fitter": repr(settings.fitter), "smoothing": f"{self.smoothing:g}",
            "patterns": None if terms.patterns is None else terms.patterns.names,
            "minimum matches": self.minimum_matches, "phases": learning.phases.names,
            "configurations": str(self.configurations), "all active": self.all_active, "linear": terms.linear,
        }  # fmt: skip
        training = train(
            data,
            learning,
            terms,
            settings,
            held_out=held,
            prior=before,
            work=run.work(described),
            provenance=told,
            workers=run.workers,
            jobs=run.jobs,
            progress=run.progress,
        )
        remedy = "more games, fewer weights or a larger --held-out may help; --held-out 0 keeps the last iteration"
        warnings = few + tuple(f"{warning}; {remedy}" for warning in training.warnings)
        course = tuple(None if result is None else result.course() for result in training.results)
        return Fit(training.evaluation, course, warnings)
