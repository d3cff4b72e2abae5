"""The search: one source for every game."""
