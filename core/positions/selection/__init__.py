"""Positions of games, chosen by where they stand in their games."""
