"""Games of OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453) as games of glem, without writing rules.

The family ``open_spiel`` wraps any game of the package that two players play in turns, with perfect information and
without chance, for a result that is one's gain and the other's loss. ``load_game("open_spiel:breakthrough(rows=6)")``
loads one; what stands behind the colon is a game as OpenSpiel writes it. The rules are OpenSpiel's own: numba cannot
compile them, so everything runs as plain Python, with a warning.
"""

from glem.games.open_spiel.wrapping import open_spiel_game

__all__ = ["open_spiel_game"]
