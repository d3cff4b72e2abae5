"""The page of the interface leaves nothing out and names checks that there are."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator

import attrs
import pytest

from docs.generate.docstrings import parameters
from docs.generate.interface_page import interface_parts
from glem.core.conformance import check_game
from glem.core.features.features import AtomicFeatures
from glem.core.features.learning import Learning, Phases
from glem.core.fitting.fitters import Fitter
from glem.core.game.game import Game, PositionFormat, RecordFormat
from glem.core.game.optional_operations import OPTIONAL_OPERATIONS
from glem.core.game.protocols import Protocol
from glem.core.game.solver import Solver
from tests.core.countdown_game import COUNTDOWN
from tests.house.tree import modules

PARTS = interface_parts()
OPENS_CHECK = {"check", "compare_compiled", "skip"}
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


def check_names() -> Iterator[str]:
    """Names of the checks of the conformance suite, as regular expressions: parts of some depend on the game."""
    suite = [module for module in modules() if module.name.startswith("glem.core.conformance.")]
    for node in (node for module in suite for node in ast.walk(module.tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OPENS_CHECK:
            match node.args:
                case [ast.Constant(value=str(name)), *_]:
                    yield re.escape(name)
                case [ast.JoinedStr(values=parts), *_]:
                    yield "".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in parts)


def test_checks_are_those_of_the_conformance_suite() -> None:
    known = re.compile("|".join(check_names()))
    named = {check for part in PARTS for contract in part.rows.values() for check in contract.checks}
    assert not [name for name in named if not known.fullmatch(name)]


def test_names_of_checks_are_those_that_a_report_has() -> None:
    """Else the test before would be no test."""
    known = re.compile("|".join(check_names()))
    names = {result.name for result in check_game(COUNTDOWN, games=1, plain=True).results}
    assert len(names) > 8
    assert not [name for name in names if not known.fullmatch(name)]
    assert not known.fullmatch("no such check")


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
