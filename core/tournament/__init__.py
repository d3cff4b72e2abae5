"""Tournaments between players: openings, games, ratings."""
