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
    """Fit a hidden layer over what stands where to the expected results of POSITIONS (Parquet).

    Parameters
    ----------
    hidden
        Units of the hidden layer.
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
    held_out
        Hold out this share of the games, which tells how well the layer does on others.
    """

    name = "network"
    streams = True

    hidden: int = setting(128, least=1, most=1 << 12)
    passes: int = setting(12, least=1, was=("--iterations",))
    undecided: bool = setting(False)
    prior: str = setting("none", metavar="EVALUATION")
    prior_share: float = setting(0.0, least=0.0, most=1.0)
    held_out: float = setting(0.05, least=0.0, most=0.9, was=("--validation",), metavar="SHARE")

    def fit(self, data: Any, learning: Learning, run: Run) -> Fit:
        """Fit by :func:`~glem.core.fitting.network.fit_network`."""
        from glem.core.fitting.network import fit_network

        return fit_network(self, data, learning, run)
