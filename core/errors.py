"""Errors that glem raises on purpose; all derive from :class:`GlemError`."""

from __future__ import annotations

__all__ = ["BadInputError", "ConformanceError", "GlemError", "PluginError"]


class GlemError(Exception):
    """Base of every error that glem raises on purpose; its text is meant for the user."""


class BadInputError(GlemError):
    """A file or argument is not what it should be; the text names file and record."""


class PluginError(GlemError):
    """A game plugin cannot be found, loaded or trusted; the text names the distribution."""


class ConformanceError(GlemError):
    """A plugin breaks a promise of the interface; the text shows the position."""
