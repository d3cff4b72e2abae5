"""Finding configurations in positions: GenConf, its sequential test, and selection by significance."""

from __future__ import annotations

from glem.core.mining.checkpoint import MiningCheckpoint
from glem.core.mining.generation import Method, generate_configurations, mine
from glem.core.mining.mined import MinedConfigurations, Part

__all__ = ["Method", "MinedConfigurations", "MiningCheckpoint", "Part", "generate_configurations", "mine"]
