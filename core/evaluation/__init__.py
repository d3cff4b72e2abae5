"""Evaluations: what they are, their files, their form for the search."""
