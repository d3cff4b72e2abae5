"""Grading evaluations by the results of games (Ban 2012, sections 3 and 4)."""

from glem.core.evaluation.result_distribution import (
    ResultDistribution,
    expectation,
    log_correctness,
    result_distribution,
)
from glem.core.grading.comparison import Comparison, compare
from glem.core.grading.correctness import LEAST_CORRECTNESS, Grade, grade_by_group, grade_of
from glem.core.grading.grading import (
    EvaluationGrade,
    GradedPositions,
    Grading,
    GradingSettings,
    Grouping,
    Prediction,
    grade_predictions,
)
from glem.core.grading.scale import ScaleFit, fit_scale
from glem.core.positions.selection.selected import SelectedPositions
from glem.core.positions.selection.selection import PAPER_RULE, SelectionRule

__all__ = [
    "LEAST_CORRECTNESS",
    "PAPER_RULE",
    "Comparison",
    "EvaluationGrade",
    "Grade",
    "GradedPositions",
    "Grading",
    "GradingSettings",
    "Grouping",
    "Prediction",
    "ResultDistribution",
    "ScaleFit",
    "SelectedPositions",
    "SelectionRule",
    "compare",
    "expectation",
    "fit_scale",
    "grade_by_group",
    "grade_of",
    "grade_predictions",
    "log_correctness",
    "result_distribution",
]
