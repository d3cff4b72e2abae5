"""Plots and the self-contained HTML report."""

from glem.core.report.data import (
    DEFAULT_GLYPHS,
    Calibration,
    CellMap,
    DiscoveryReport,
    Glyph,
    Item,
    LearningCurve,
    PhaseErrors,
    to_json,
)
from glem.core.report.page import render, write_report

__all__ = [
    "DEFAULT_GLYPHS",
    "Calibration",
    "CellMap",
    "DiscoveryReport",
    "Glyph",
    "Item",
    "LearningCurve",
    "PhaseErrors",
    "render",
    "to_json",
    "write_report",
]
