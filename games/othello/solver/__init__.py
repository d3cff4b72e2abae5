"""Endgame solver: exact scores, or who wins, of positions near the end."""

from glem.games.othello.solver.endgame import EndgameSolver
from glem.games.othello.solver.workspace import Techniques

__all__ = ["EndgameSolver", "Techniques"]
