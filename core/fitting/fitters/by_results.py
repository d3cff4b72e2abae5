"""Fitters of results: logistic regression, and Fisher's and the quadratic discriminant (Buro 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from glem.core.fitting.fitters.fitter import Fit, Fitter, Run
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.features.learning import Learning


@define(frozen=True, slots=False)
class _Discriminant(Fitter):
    """What the three have in common.

    Parameters
    ----------
    patterns
        Pattern set, or a file of ``name: a1 b1 ...`` lines, by tables that are estimated on half of the games; none by
        default.
    linear
        Let the game's linear features enter.
    baseline
        Of the linear features only those of this baseline of the game.
    """

    streams = True

    patterns: Any = setting(None, metavar="NAME|FILE")
    linear: bool = setting(True)
    baseline: str | None = setting(None, metavar="NAME")

    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Fit by :func:`~glem.core.fitting.discriminants.by_phase.fit_rows`."""
        from glem.core.features.learning import baseline_features
        from glem.core.fitting.discriminants.by_phase import fit_rows, parts_of, rows_to_fit
        from glem.core.patterns.patterns import PatternSet

        linear = learning.linear if self.baseline is None else baseline_features(learning, self.baseline)
        names = linear if self.linear else ()
        patterns = None if self.patterns in (None, "none") else PatternSet.named(learning, self.patterns)
        rows = rows_to_fit(parts_of(data), learning, names, patterns, seed=run.seed, progress=run.progress)
        told = {**run.provenance, "fitter": self.name, **run.files}
        return fit_rows(rows, self.name, provenance=told, progress=run.progress)


class Logistic(_Discriminant):
    """Fit winning chances to the results of POSITIONS (Parquet) by logistic regression, with errors by game.

    Linear features, and patterns that are named, are fitted to who won, without a penalty; a draw is half a win.
    """

    name = "logistic"


class Fisher(_Discriminant):
    """Fit winning chances to the results of POSITIONS (Parquet) by Fisher's discriminant, with errors by game.

    Linear features, and patterns that are named, are fitted to who won; a draw is half a win.
    """

    name = "fisher"


class Quadratic(_Discriminant):
    """Fit winning chances to the results of POSITIONS (Parquet) by the quadratic discriminant.

    Linear features, and patterns that are named, are fitted to who won; a draw is half a win.
    """

    name = "quadratic"
