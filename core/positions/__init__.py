"""From game records to scored positions."""
