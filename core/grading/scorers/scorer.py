"""What gives the values that are graded, and the tables in which it tells people what it found out."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from glem.core.grading.calibration import Prediction
from glem.core.positions.positions import Positions
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table


class Scorer(ABC):
    """Gives values to positions. Most only predict; one that has to see a whole collection first completes its values.

    Attributes
    ----------
    name
        For people.
    is_search
        Whether it takes long, so that it is called once with all positions, without their records.
    provenance
        Of its evaluation, with the files that it was fitted to (:mod:`glem.core.evaluation.provenance`).
    """

    name: str
    is_search: ClassVar[bool] = False
    provenance: Mapping[str, str] = MappingProxyType({})

    def begin(self) -> None:  # noqa: B027 # most have nothing to forget
        """Forget earlier collections."""

    @abstractmethod
    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Values of N positions from the side to move; nan where there is none."""

    def complete(self, prediction: Prediction) -> Prediction:
        """Give the final values from those that ``predict`` gave for the parts, joined in their order."""
        return prediction

    def remarks(self) -> Sequence[str]:
        """Say in sentences what there is to say about the work."""
        return ()

    def tables(self) -> Sequence[Table]:
        """Show what was found out."""
        return ()
