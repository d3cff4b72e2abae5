"""Patterns and their sparse tables."""
