"""Features of chess positions, term by term."""
