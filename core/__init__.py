"""Game-agnostic learning of evaluation functions; knows no game."""
