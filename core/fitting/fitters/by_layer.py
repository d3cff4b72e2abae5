"""The fitter of hidden layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define

from glem.core.fitting.fitters.fitter import Fit, Fitter, Run
from glem.core.tasks.settings import setting

if TYPE_CHECKING:
    from glem.core.features.learning import Learning


@define(frozen=True, slots=False)
class Network(Fitter):
    """Fit a hidden layer to POSITIONS (Parquet): over patterns, or over what stands where in both players' views.

    With --prior, its own terms stay as they are, and the layer is fitted beside them: over its patterns, or, where it
    has none, over those that --patterns names.

    Parameters
    ----------
    patterns
        What the layer is over: a pattern set, or a file of ``name: a1 b1 ...`` lines. By default the prior's patterns;
        else both views of the board, where the game has these, or its first set.
    hidden
        Units of the hidden layer; by default 32 over patterns, 128 over views.
    passes
        How often all positions are learned from.
    undecided
        Fit the layer to fewer of the positions that are all but won or lost.

        A position of label y is taken with the chance 1 - y^2 alone, by which the variance of its result falls short of
        that of an even one's. The moves that a search looks at are mistakes for the most part, and a layer that must
        tell won positions from each other has fewer units for those where a game is decided.
    prior
        What the fit begins with: a file, ``default``, or ``none``.
    prior_share
        Share of the prior's weights in those of the fitted layer.

        A mean of both layers is better than either where the new positions do not tell all (Wortsman et al. 2022,
        "Robust fine-tuning of zero-shot models").
    weight_decay
        Share of a weight, times the rate, that it loses with every batch; by default 2 over patterns, 0 over views.
    held_out
        Hold out this share of the games, which tells how well the layer does on others.
    """

    name = "network"
    streams = True

    patterns: Any = setting(None, metavar="NAME|FILE")
    hidden: int | None = setting(None, least=1, most=1 << 12)
    passes: int = setting(12, least=1, was=("--iterations",))
    undecided: bool = setting(False)
    prior: Any = setting("none", metavar="EVALUATION")
    prior_share: float = setting(0.0, least=0.0, most=1.0)
    weight_decay: float | None = setting(None, least=0.0, most=1e6)
    held_out: float = setting(0.05, least=0.0, most=0.9, was=("--validation",), metavar="SHARE")

    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Fit by :func:`~glem.core.fitting.network.fit_network`."""
        from glem.core.fitting.network import fit_network

        return fit_network(self, data, learning, run)
