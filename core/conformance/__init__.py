"""The conformance suite: whether a plugin keeps the promises of the interface. Plugin authors run it on their own.

>>> check_game(load_game("my_game")).require()
"""

from glem.core.conformance.evaluation import check_evaluation, random_evaluation
from glem.core.conformance.fitters_and_measures import check_fitter, check_measure
from glem.core.conformance.learning import check_features, check_learning, check_phases
from glem.core.conformance.report import CheckResult, ConformanceReport
from glem.core.conformance.rules import check_game

__all__ = [
    "CheckResult",
    "ConformanceReport",
    "check_evaluation",
    "check_features",
    "check_fitter",
    "check_game",
    "check_learning",
    "check_measure",
    "check_phases",
    "random_evaluation",
]
