"""The Universal Chess Interface, from both ends: engines of glem, and external engines."""
