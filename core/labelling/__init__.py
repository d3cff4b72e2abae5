"""Positions with values from searches, solvers and whole collections of games."""
