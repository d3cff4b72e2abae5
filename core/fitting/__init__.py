"""From positions to weights: fitters, the problems they solve, and the drivers ``least_squares`` and ``likelihood``."""
