"""The docstrings of the interface leave no field out: they are the one place that says what a field means."""

import re

import attrs
import pytest

from glem.core.conformance.new_game import field_meanings
from glem.core.features.evaluators import Evaluator
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.game import optional_operations
from glem.core.game.game import ExternalPlayers, Game, RecordFormat
from glem.core.game.protocols import Protocol
from tests.house.tree import ROOT

DECLARED = (Game, Learning, Phases, AtomicFeature, AtomicFeatures, Evaluator, RecordFormat, Protocol, ExternalPlayers)


@pytest.mark.parametrize("kind", DECLARED)
def test_docstring_says_what_every_field_means(kind: type) -> None:
    fields = [field.name for field in attrs.fields(kind) if field.init]
    assert set(fields) <= set(field_meanings(kind))


@pytest.mark.parametrize("kind", DECLARED)
def test_page_of_the_interface_has_every_part(kind: type) -> None:
    page = (ROOT / "docs" / "reference" / "interface.md").read_text(encoding="utf-8")
    assert f".. autoclass:: {kind.__module__}.{kind.__name__}\n" in page


def test_every_operation_of_the_search_is_described() -> None:
    told = re.findall(r"^``(\w+)\(", optional_operations.__doc__ or "", re.MULTILINE)
    assert sorted(told) == sorted(optional_operations.OPTIONAL_OPERATIONS)
