"""Ways to go downhill: conjugate gradient, descent as GLEM describes it, and quasi-Newton."""
