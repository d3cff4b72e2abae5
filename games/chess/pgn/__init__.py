"""Portable Game Notation, read and written."""
