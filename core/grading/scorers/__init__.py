"""What gives the scores that are graded."""
