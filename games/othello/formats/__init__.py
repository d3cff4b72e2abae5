"""File formats of Othello games and positions."""
