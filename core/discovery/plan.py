"""What a user states of a discovery. Nothing here imports numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.discovery.discovery import DiscoverySettings


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
        Most relations; 4, no limit within patterns, by default.
    sample
        Positions to mine.
    keep
        Symmetry classes of configurations to keep.
    gain
        Least gain over all generalizations, in standard errors.
    sequential
        Reject rare configurations by the sequential test: faster, inexact.
    patterns
        Pattern set, or a file of `name: a1 b1 ...` lines; the game's first by default, `none` for none.
    held_out
        Hold out this share of the games, which only the errors in the report see.
    iterations
        Most iterations.
    l2
        Penalty on weights, in positions.
    smoothing
        Factor for positions of adjacent phases.
    """

    within: str = setting("all", words=("all", "patterns"))
    groups: Any = setting(None, metavar="NAMES")
    minimum_matches: int | None = setting(None, least=1, names=("-n", "--minimum-matches"))
    maximum_size: int | None = setting(None, least=1)
    sample: int = setting(200_000, least=100)
    keep: int = setting(4_000, least=1)
    gain: float = setting(3.0, least=0.0)
    sequential: bool = setting(False)
    patterns: Any = setting(None, metavar="NAME|FILE")
    held_out: float = setting(0.1, least=0.001, most=0.9, metavar="SHARE")
    iterations: int = setting(60, least=1)
    l2: float = setting(25.0, least=0.0, most=1e9)
    smoothing: float = setting(0.25, least=0.0, most=1.0)

    def settings(self, seed: int) -> DiscoverySettings:
        """Make what :func:`~glem.core.discovery.discovery.discover` takes."""
        from glem.core.discovery.candidates import MiningPlan
        from glem.core.discovery.discovery import DiscoverySettings
        from glem.core.fitting.least_squares import FitSettings
        from glem.core.fitting.minimizing.conjugate import ConjugateGradient

        groups = self.groups.split(",") if isinstance(self.groups, str) else self.groups or ()
        return DiscoverySettings(
            mining=MiningPlan(
                groups=tuple(groups),
                within=self.within,  # type: ignore[arg-type] # one of the words
                minimum_matches=self.minimum_matches,
                maximum_size=self.maximum_size,
                sample=self.sample,
                keep=self.keep,
                least_gain=self.gain,
                method="sequential" if self.sequential else "exact",
            ),
            fit=FitSettings(
                ConjugateGradient(iterations=self.iterations, patience=5), l2=self.l2, smoothing=self.smoothing
            ),
            pattern_set="" if self.patterns == "none" else self.patterns,
            held_out=self.held_out,
            seed=seed,
        )
