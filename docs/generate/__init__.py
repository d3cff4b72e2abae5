"""Writes the pages of ``docs/reference`` from the sources: ``python -m docs.generate``."""
