"""What a game of OpenSpiel gives to learning, made of the observations that OpenSpiel itself offers to learners."""

from glem.plugins.open_spiel.learning import open_spiel_learning

__all__ = ["open_spiel_learning"]
