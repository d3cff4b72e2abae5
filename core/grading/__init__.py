"""Grading evaluations by the results of games (Ban 2012, sections 3 and 4)."""
