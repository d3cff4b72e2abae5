"""Finding the active configurations of positions, compiled (GLEM, section 4.3)."""

from glem.core.configurations.matching.matcher import ConfigurationMatcher

__all__ = ["ConfigurationMatcher"]
