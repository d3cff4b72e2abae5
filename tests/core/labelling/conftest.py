"""An evaluation to label by."""

import pytest

from glem.core.features.learning import Learning
from tests.core.evaluation.linear_evaluations import mobility_evaluation


@pytest.fixture(scope="session")
def model(othello_learning: Learning, tmp_path_factory: pytest.TempPathFactory) -> str:
    """File of an evaluation by mobility alone."""
    path = tmp_path_factory.mktemp("models") / "mobility.npz"
    mobility_evaluation(othello_learning).save(path)
    return str(path)
