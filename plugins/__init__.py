"""What each game gives to learning: features, patterns, phases."""
