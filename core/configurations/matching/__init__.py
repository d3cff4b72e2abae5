"""Finding the active configurations of positions, compiled (GLEM, section 4.3)."""
