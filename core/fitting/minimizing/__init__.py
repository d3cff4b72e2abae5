"""Ways to go downhill: conjugate gradient, descent as GLEM describes it, quasi-Newton, and Newton for a few parameters."""
