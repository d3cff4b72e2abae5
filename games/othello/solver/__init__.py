"""Endgame solver: exact scores, or who wins, of positions near the end."""

from __future__ import annotations

from glem.games.othello.solver.endgame import EndgameSolver
from glem.games.othello.solver.workspace import Techniques

__all__ = ["EndgameSolver", "Techniques"]
