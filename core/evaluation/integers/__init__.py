"""Evaluations as integers that a move updates."""
