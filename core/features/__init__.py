"""The atomic-feature interface: what a game gives to learning and to the search."""
