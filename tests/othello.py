"""The game that most tests of core take for an example, and what it gives to learning."""

from glem.core.features.learning import load_learning
from glem.core.game.game import load_game
from glem.core.positions.positions import Positions

OTHELLO = load_game("othello")
LEARNING = load_learning("othello")


def sample_of_games(count: int) -> Positions:
    """Positions of the first games of the sample, which are self-play."""
    assert LEARNING.sample is not None
    sample: Positions = LEARNING.sample()
    return sample.select(sample.record < count)
