"""Finding configurations in positions: GenConf, its sequential test, and selection by significance."""

from glem.core.configurations.mining.generation import Method, mine
from glem.core.configurations.mining.mined import MinedConfigurations, Part
from glem.core.configurations.mining.significance import label_significance
from glem.core.configurations.mining.statistics import LabelStatistics, label_statistics

__all__ = [
    "LabelStatistics",
    "Method",
    "MinedConfigurations",
    "Part",
    "label_significance",
    "label_statistics",
    "mine",
]
