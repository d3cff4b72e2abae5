"""Tuning what engines hold: weights of their own terms, and options that only they know."""
