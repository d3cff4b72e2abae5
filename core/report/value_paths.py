"""A picture of how the values of parameters went while they were tuned."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from glem.core.files.atomic import atomic_path

_WIDTH, _HEIGHT = 8.0, 1.8


def write_value_paths(
    path: str | os.PathLike[str], names: Sequence[str], paths: NDArray[Any], values: NDArray[Any]
) -> None:
    """Draw the path of every parameter over the iterations, and its value, as SVG.

    Parameters
    ----------
    names
        Of P parameters.
    paths
        float64 [N + 1, P].
    values
        float64 [P].
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = {"svg.hashsalt": "glem", "text.parse_math": False, "axes.spines.top": False}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(_WIDTH, _HEIGHT * len(names) + 0.5), layout="constrained")
        rows = figure.subplots(len(names), squeeze=False)[:, 0]
        for place, (name, axes) in enumerate(zip(names, rows, strict=True)):
            axes.plot(paths[:, place], linewidth=1.2)
            axes.axhline(values[place], color="grey", linestyle="--", linewidth=1.0)
            axes.set_ylabel(name)
        rows[-1].set_xlabel("iteration")
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
