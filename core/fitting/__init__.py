"""Fitters: from scored positions to weights."""

from __future__ import annotations

from glem.core.fitting.conjugate import ConjugateGradient
from glem.core.fitting.count_rules import CountRules, WeightPlan
from glem.core.fitting.descent import GradientDescent
from glem.core.fitting.design import Design, LinearTerms
from glem.core.fitting.fitters import FitResult, Fitter
from glem.core.fitting.links import IDENTITY, LOGISTIC, Link, link_of, result_labels, scaled_sigmoid
from glem.core.fitting.phases import PhaseWeights, fit_phases
from glem.core.fitting.problem import LeastSquares

__all__ = [
    "IDENTITY",
    "LOGISTIC",
    "ConjugateGradient",
    "CountRules",
    "Design",
    "FitResult",
    "Fitter",
    "GradientDescent",
    "LeastSquares",
    "LinearTerms",
    "Link",
    "PhaseWeights",
    "WeightPlan",
    "fit_phases",
    "link_of",
    "result_labels",
    "scaled_sigmoid",
]
