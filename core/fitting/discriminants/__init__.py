"""Discriminants of who won: logistic regression, Fisher's and the quadratic one (Buro 1995)."""
