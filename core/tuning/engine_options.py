"""Options of an external engine as parameters of a search: how they are written, and what the engine announces of them.

A parameter is a line in the custom of fishtest or of OpenBench::

    NAME, START, MIN, MAX, C_END, R_END
    NAME, int, START, MIN, MAX, C_END, R_END
    NAME, true

What is left out, behind the name or between commas, is what the engine announces; C_END is then a twentieth of the
range, R_END 0.002. An option that is true or false counts as a number from 0 to 1, whose C_END is a half: with less,
most comparisons would set it alike on both sides.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError, reading
from glem.core.game.game import Game
from glem.core.game.protocols import ProgramOption
from glem.core.players.spec import EXTERNAL, PlayerSpec, external_players_of
from glem.core.tuning.spsa import Space

_CHECK, _SPIN = "check", "spin"
_TYPES = ("int", _SPIN, _CHECK)
_CHECKS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
_FIELDS = ("START", "MIN", "MAX", "C_END", "R_END")
_PART_OF_RANGE = 20.0
_LEAST_C_END = 0.5
"""Of a whole number by default: with less, both sides are often rounded to the same."""
_R_END = 0.002


@define(frozen=True)
class Parameter:
    """An option that is tuned.

    Parameters
    ----------
    name
        As the engine spells it.
    is_check
        Whether it is true or false, which count as 1 and 0; else it is a whole number.
    start
        Value to begin with; it need not be whole.
    low, high
        Bounds, both inclusive.
    c_end, r_end
        As of :class:`~glem.core.tuning.spsa.Space`.
    """

    name: str
    is_check: bool
    start: float
    low: int
    high: int
    c_end: float
    r_end: float

    def text(self, value: float) -> str:
        """Write a value as the engine reads it, rounded to the nearest."""
        rounded = min(max(math.floor(value + 0.5), self.low), self.high)
        return ("true" if rounded else "false") if self.is_check else str(rounded)


def space_of(parameters: Sequence[Parameter]) -> Space:
    """Put parameters into arrays."""
    table = np.array([(each.start, each.low, each.high, each.c_end, each.r_end) for each in parameters], np.float64)
    start, low, high, c_end, r_end = table.T
    return Space(start, low, high, c_end, r_end, np.ones(len(parameters), bool))


def texts_of(parameters: Sequence[Parameter], values: NDArray[np.float64]) -> dict[str, str]:
    """Options with their values [P] as the engine reads them."""
    return {each.name: each.text(value) for each, value in zip(parameters, values.tolist(), strict=True)}


def read_lines(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read lines of parameters from a file, each with its place; what follows ``#`` is a comment.

    Raises
    ------
    BadInputError
        The file cannot be read, or has none.
    """
    source = Path(path)
    with reading(source, "parameters"):
        texts = source.read_text(encoding="utf-8-sig").splitlines()
    lines = [(text.partition("#")[0].strip(), f"{source}:{number}") for number, text in enumerate(texts, 1)]
    if not any(text for text, _ in lines):
        raise BadInputError(f"{source}: has no parameters")
    return [(text, place) for text, place in lines if text]


def parameters_of(game: Game, spec: PlayerSpec, lines: Iterable[tuple[str, str]]) -> tuple[PlayerSpec, list[Parameter]]:
    """Read parameters, and complete and check them by what the engine announces.

    Parameters
    ----------
    spec
        The engine. An option that it sets begins there, unless the parameter names another start.
    lines
        Lines of parameters, each with what to call its place in an error.

    Returns
    -------
    spec, parameters
        The engine without the options that are tuned; these.

    Raises
    ------
    BadInputError
        There is no such engine, it announces no such option, a parameter makes no sense or there is none.
    GlemError
        The engine does not work.
    """
    if spec.kind != EXTERNAL:
        raise BadInputError(f"player {spec.name!r} is of kind {spec.kind}; options are those of an external engine")
    external = external_players_of(game, spec)
    if external.list_options is None:
        raise BadInputError(f"player {spec.name!r}: programs that {external.name}: reaches announce no options")
    announced = {option.name.lower(): option for option in external.list_options(game, spec)}
    own = {name.lower(): value for name, value in spec.options}
    found: dict[str, Parameter] = {}
    for line, place in lines:
        fields = [field.strip() for field in line.split(",")]
        option = announced.get(fields[0].lower())
        where = f"{place}: {line!r}"
        if option is None:
            known = ", ".join(sorted(option.name for option in announced.values() if option.kind in _TYPES))
            raise BadInputError(
                f"{where}: the engine of {spec.name!r} announces no option {fields[0]!r}; it has {known}"
            )
        if option.name in found:
            raise BadInputError(f"{where}: {option.name} is there twice")
        found[option.name] = _parameter(option, fields[1:], own.get(option.name.lower()), where, spec.name)
    if not found:
        raise BadInputError("nothing to tune: give --parameter or --parameters")
    names = {name.lower() for name in found}
    kept = tuple(pair for pair in spec.options if pair[0].lower() not in names)
    return attrs.evolve(spec, options=kept), list(found.values())


def _parameter(option: ProgramOption, fields: Sequence[str], own: str | None, where: str, engine: str) -> Parameter:
    said = f"{where}: {option.name} of the engine of {engine!r}"
    kind = fields[0] if fields and fields[0].isalpha() and fields[0] not in _CHECKS else None
    if kind is not None:
        fields = fields[1:]
    if option.kind not in (_CHECK, _SPIN):
        raise BadInputError(f"{said} is of type {option.kind}; only numbers (spin) and checks can be tuned")
    if kind is not None and (kind not in _TYPES or (kind == _CHECK) != (option.kind == _CHECK)):
        right = _CHECK if option.kind == _CHECK else "int"
        raise BadInputError(f"{said} is of type {option.kind}, not {kind!r}; write {right}, or no type")
    if len(fields) > len(_FIELDS):
        raise BadInputError(f"{where}: {len(fields)} numbers; a parameter has {', '.join(_FIELDS)}")
    is_check = option.kind == _CHECK
    given = dict(zip(_FIELDS, fields, strict=False))
    default = None if option.default is None else str(option.default)
    least, most = (0, 1) if is_check else (option.least, option.most)
    start = _number(said, "START", given.get("START") or own or default, is_check=is_check)
    low = _number(said, "MIN", given.get("MIN") or _as_text(least))
    high = _number(said, "MAX", given.get("MAX") or _as_text(most))
    for name, bound in (("MIN", low), ("MAX", high)):
        if bound != math.floor(bound):
            raise BadInputError(f"{said}: {name} must be a whole number, got {bound:g}")
        if (least is not None and bound < least) or (most is not None and bound > most):
            raise BadInputError(f"{said}: {name} {bound:g} is outside of {least} to {most}, which the engine announces")
    if low >= high:
        raise BadInputError(f"{said}: MIN {low:g} must be below MAX {high:g}")
    if not low <= start <= high:
        raise BadInputError(f"{said}: START {start:g} is outside of {low:g} to {high:g}")
    usual = max((high - low) / _PART_OF_RANGE, _LEAST_C_END)
    c_end = _number(said, "C_END", given.get("C_END") or str(usual))
    r_end = _number(said, "R_END", given.get("R_END") or str(_R_END))
    for name, value in (("C_END", c_end), ("R_END", r_end)):
        if value <= 0:
            raise BadInputError(f"{said}: {name} must be positive, got {value:g}")
    return Parameter(option.name, is_check, start, int(low), int(high), c_end, r_end)


def _as_text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _number(said: str, name: str, text: str | None, *, is_check: bool = False) -> float:
    if text is None:
        raise BadInputError(f"{said}: the engine announces no {name}; write it")
    if is_check and text.lower() in _CHECKS:
        return _CHECKS[text.lower()]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadInputError(
            f"{said}: {name} must be a {'number, true or false' if is_check else 'number'}, got {text!r}"
        )
    return value
