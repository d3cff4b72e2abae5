"""A package for a new game, written from a template: what ``glem new-game`` makes."""

from glem.core.conformance.new_game.names import check_name, check_title
from glem.core.conformance.new_game.package import new_game

__all__ = ["check_name", "check_title", "new_game"]
