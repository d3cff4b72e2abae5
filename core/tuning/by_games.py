"""The fitter that learns an evaluation and its drawishness from the results of games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, evolve

from glem.core.errors import BadInputError
from glem.core.fitting.fitters.fitter import Fit, Fitter, Run
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.features.learning import Learning

_PHASES = ("each", "linear", "one")


@define(frozen=True, slots=False)
class Likelihood(Fitter):
    """Fit an evaluation and its drawishness to the results of GAMES, by their likelihood.

    Parameters
    ----------
    prior
        What the fit begins with and is held to: a file, `default`, or `none`.
    patterns
        Pattern set, or a file of `name: a1 b1 ...` lines for a prior without one; none by default.
    configurations
        Use mined configurations (.npz) too.
    linear
        Let the game's linear features enter.
    hold
        Keep this part of the prior as it is; of the value, all but its scale.
    value_phases
        Corrections of the value are free in each phase, linear over the phases, or one for all.
    drawishness_phases
        The same for the drawishness.
    l2
        Penalty on weights: 1 / (expected correction of the prior in log odds)^2.
    iterations
        Most iterations.
    select
        Positions of each game: random (one), last (one), all, or every:N.
    skip_moves
        Leave out the first moves of each side.
    skip_end
        Leave out this share of each game, at its end.
    quiet_positions
        Leave out positions with tactical moves, which a search never evaluates.
    settle
        Leave none out; play exchanges out as quiescence with the prior does, and fit to where they end.
    even_within
        Leave out positions that the prior values further from even, in log odds.
    held_out
        Hold out this share of the games for early stopping; 0 fits to the last iteration.
    """

    name = "likelihood"
    from_games = True

    prior: str = setting("none", metavar="EVALUATION")
    patterns: Any = setting(None, metavar="NAME|FILE")
    configurations: Any = setting(None, metavar="FILE")
    linear: bool = setting(True)
    hold: str | None = setting(None, words=("value", "drawishness"))
    value_phases: str = setting("linear", words=_PHASES)
    drawishness_phases: str = setting("linear", words=_PHASES)
    l2: float = setting(4.0, least=0.0, most=1e9)
    iterations: int = setting(200, least=1)
    select: str = setting("every:7", metavar="RULE")
    skip_moves: int = setting(10, least=0)
    skip_end: float = setting(0.1, least=0.0, most=0.99)
    quiet_positions: bool = setting(True, names=("--quiet-positions/--any-position",), was=("--quiet",))
    settle: bool = setting(False)
    even_within: float | None = setting(None, least=0.0, was=("--window",), metavar="VALUE")
    held_out: float = setting(0.05, least=0.0, most=0.9, was=("--validation",), metavar="SHARE")

    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Fit by :func:`~glem.core.fitting.likelihood.fit_likelihood`.

        Parameters
        ----------
        data
            :class:`~glem.core.discovery.game_positions.Games`.
        """
        from glem.core.configurations.configurations import ConfigurationSet
        from glem.core.discovery.game_positions import Games
        from glem.core.evaluation import named
        from glem.core.evaluation.provenance import FITTED_FILES, fitted_files_text
        from glem.core.files.names import distinct_names
        from glem.core.fitting.likelihood import LikelihoodSettings, fit_likelihood, prior_of, without_knowledge
        from glem.core.patterns.patterns import PatternSet
        from glem.core.positions.selection.reading import FileSummary, reading_remarks
        from glem.core.positions.selection.selection import SelectionRule

        if not isinstance(data, Games):
            raise BadInputError("likelihood learns from files of games, not from scored positions")
        before = named.load_prior(self.prior, learning.game)
        if self.settle and before is None:
            raise BadInputError("exchanges are played out by the prior: name one with --prior")
        rule = SelectionRule.parse(self.select, skip_moves=self.skip_moves, skip_end=self.skip_end, seed=run.seed)
        settings = LikelihoodSettings(
            l2=self.l2,
            value_phases=self.value_phases,
            drawishness_phases=self.drawishness_phases,
            iterations=self.iterations,
            names=() if self.hold == "value" else None,
            drawishness_names=() if self.hold == "drawishness" else None,
            window=self.even_within,
        )
        has_patterns = self.patterns not in (None, "none")
        begin = without_knowledge(learning) if before is None else prior_of(before)
        earlier = "" if before is None else before.provenance.get(FITTED_FILES, "")
        told = {
            "fitted to": f"results of the games in {', '.join(distinct_names(data.paths))}"[:2000],
            "positions": f"{rule}{', settled' if self.settle else ', quiet ones' if self.quiet_positions else ''}",
            FITTED_FILES: fitted_files_text(data.paths, earlier),
            "prior": self.prior,
            "settings": repr(settings),
            "validation": f"{self.held_out:g} of the games, seed {run.seed}",
        }
        terms = {"patterns": self.patterns, "configurations": str(self.configurations), "linear": self.linear}
        summaries: list[FileSummary] = []
        positions = data.positions(
            rule,
            quiet=self.quiet_positions and not self.settle,
            settle=begin.value if self.settle else None,
            observe=summaries.append,
            progress=run.progress,
        )
        found = fit_likelihood(
            positions,
            begin,
            settings,
            linear=learning.linear if self.linear and begin.value.network is None else (),
            drawishness=learning.drawishness,
            patterns=PatternSet.named(learning, self.patterns) if has_patterns else None,
            configurations=ConfigurationSet.of(self.configurations),
            held_out=self.held_out,
            seed=run.seed,
            work=run.work({"work": "tune", **told, **terms}),
            provenance=told,
            jobs=run.jobs,
            progress=run.progress,
        )
        return evolve(found, remarks=tuple(reading_remarks(summaries)))
