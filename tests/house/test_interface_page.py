"""The page of the interface leaves nothing out and names checks that there are."""

from __future__ import annotations

import inspect

import attrs
import pytest

from docs.generate.docstrings import parameters
from docs.generate.interface_page import interface_parts
from glem.core.conformance import check_game, check_learning
from glem.core.features import AtomicFeatures
from glem.core.fitting import Fitter
from glem.core.game import Game, load_game
from glem.core.learning import Learning, Phases, load_learning
from glem.core.protocols import Protocol
from glem.core.records import PositionFormat, RecordFormat
from glem.core.search.choices import OPTIONAL_OPERATIONS
from glem.core.solving import Solver
from tests.house.removed_games import built_in_games

PARTS = interface_parts()
KINDS = {f"{kind}, {need}" for kind in ("dual", "plain", "value") for need in ("required", "optional")}


def rows_of(source: str) -> list[str]:
    return [name for part in PARTS if part.source.endswith(source) for name in part.rows]


@pytest.mark.parametrize("declared", [Game, Learning, Phases, AtomicFeatures, RecordFormat, Protocol])
def test_every_field_has_one_contract(declared: type) -> None:
    fields = [field.name for field in attrs.fields(declared) if field.init]
    assert sorted(rows_of(f".{declared.__name__}")) == sorted(fields)


@pytest.mark.parametrize("declared", [Game, Learning, Phases, AtomicFeatures])
def test_contracts_say_what_may_be_left_out(declared: type) -> None:
    needs = {
        name: contract.kind.endswith("required")
        for part in PARTS
        if part.source.endswith(f".{declared.__name__}")
        for name, contract in part.rows.items()
    }
    assert needs == {field.name: field.default is attrs.NOTHING for field in attrs.fields(declared) if field.init}


def test_position_formats_add_their_own_field() -> None:
    more = {field.name for field in attrs.fields(PositionFormat)} - {field.name for field in attrs.fields(RecordFormat)}
    assert set(rows_of(".PositionFormat")) == more


@pytest.mark.parametrize("declared", [Solver, Fitter])
def test_every_method_has_a_contract(declared: type) -> None:
    methods = {name for name, value in vars(declared).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert set(rows_of(f".{declared.__name__}")) == methods


def test_every_operation_of_the_search_has_a_contract() -> None:
    assert rows_of(".choices") == list(OPTIONAL_OPERATIONS)
    assert rows_of(".evaluators") == ["start", "update", "static_score", "search_phase"]


def test_contracts_are_of_known_kinds() -> None:
    assert {contract.kind for part in PARTS for contract in part.rows.values()} <= KINDS


def test_checks_are_those_of_the_conformance_suite() -> None:
    name = min(built_in_games())
    reports = (check_game(load_game(name), games=1), check_learning(load_learning(name), games=1))
    known = {result.name for report in reports for result in report.results}
    named = {check for part in PARTS for contract in part.rows.values() for check in contract.checks}
    assert named <= known


def test_parameters_that_share_a_description_are_parted() -> None:
    docstring = """Do it.

    Parameters
    ----------
    first, second
        The two.
    third : int
        Another
        one.

    Returns
    -------
    result
    """
    assert parameters(docstring) == {"first": "The two.", "second": "The two.", "third": "Another\none."}
