"""Ways to go downhill: conjugate gradient, descent as GLEM has it, quasi-Newton, and Newton for a few parameters."""
