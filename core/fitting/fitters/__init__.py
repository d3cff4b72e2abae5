"""Fitters: classes whose fields are their settings, and which learn an evaluation from positions."""
