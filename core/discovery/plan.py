"""What a user states of a discovery. Nothing here imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.fitting.least_squares import FitSettings


@define(frozen=True, slots=False)
class DiscoveryPlan:
    """Mine configurations and patterns from scored POSITIONS, fit their weights, write a report.

    Parameters
    ----------
    within
        Combine all features, or those of one pattern at a time.
    groups
        Feature groups to combine, with commas; the board's cells by default.
    minimum_matches
        Minimal match count; 0.5 % of the sample, 75 within patterns, by default.
    maximum_size
        Most relations; 3, no limit within patterns, by default.
    sample
        Positions to mine.
    keep
        Most symmetry classes of configurations that are added to an evaluation; 0 for none.
    false_discoveries
        Confirm classes of configurations, on games that no fit has seen, so that at most this share of them is chance.
    sequential
        Reject rare configurations by the sequential test: faster, inexact.
    patterns
        Pattern set, or a file of `name: a1 b1 ...` lines; the game's first by default, `none` for none.
    held_out
        Hold out this share of the games, or some 2,000,000 positions, which only the errors in the report see.
    iterations
        Most iterations.
    l2
        Penalty on weights, in positions; by default chosen, phase by phase, on held-out games.
    smoothing
        Factor for positions of adjacent phases.
    """

    within: str = setting("all", words=("all", "patterns"))
    groups: Any = setting(None, metavar="NAMES")
    minimum_matches: int | None = setting(None, least=1, names=("-n", "--minimum-matches"))
    maximum_size: int | None = setting(None, least=1)
    sample: int = setting(200_000, least=100)
    keep: int = setting(600, least=0, most=10_000)
    false_discoveries: float = setting(0.05, least=0.0, most=1.0, metavar="SHARE")
    sequential: bool = setting(False)
    patterns: Any = setting(None, metavar="NAME|FILE")
    held_out: float = setting(0.1, least=0.001, most=0.9, metavar="SHARE")
    iterations: int = setting(60, least=1)
    l2: float | None = setting(None, least=0.0, most=1e9)
    smoothing: float = setting(0.25, least=0.0, most=1.0)

    def matches_for(self, positions: int) -> int:
        """Minimal match count for a sample of that many positions."""
        if self.minimum_matches is not None:
            return self.minimum_matches
        return 75 if self.within == "patterns" else max(50, positions // 200)

    @property
    def size_limit(self) -> int | None:
        """Most relations in a configuration."""
        if self.maximum_size is not None or self.within == "patterns":
            return self.maximum_size
        return 3

    @property
    def fit(self) -> FitSettings:
        """How weights are fitted."""
        from glem.core.fitting.least_squares import FitSettings
        from glem.core.fitting.minimizing.conjugate import ConjugateGradient

        # Few games say little of a single iteration: they would stop a fit by chance.
        return FitSettings(
            ConjugateGradient(iterations=self.iterations, patience=0), l2=self.l2, smoothing=self.smoothing
        )
