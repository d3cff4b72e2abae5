"""How plain functions become machine code."""
