"""Text protocols of engines."""
