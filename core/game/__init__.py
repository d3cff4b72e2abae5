"""The game interface: what a game is to everything above it."""
