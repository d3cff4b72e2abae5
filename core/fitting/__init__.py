"""Fitters: from scored positions to weights."""
