"""Measures: how good an evaluation is on positions, as a number with its error by game."""
