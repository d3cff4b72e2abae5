"""Players: from their text to their moves."""
