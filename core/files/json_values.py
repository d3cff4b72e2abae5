"""JSON that strangers, full disks and other programs may have written: bounded, and every value of its own kind."""

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import attrs

from glem.core.errors import reading

T = TypeVar("T")

_LARGEST = 1 << 26
_MOST = 1 << 62
_MOST_DIGITS = 300
"""Every whole number with so many is a float, too."""


def parse_json(text: str | bytes) -> Any:
    """Read a JSON text.

    Raises
    ------
    ValueError
        It is none, a number is too large for a float or none at all, an object has a name twice, or it is too deep.
    """
    try:
        return json.loads(
            text, parse_float=_finite, parse_int=_not_huge, parse_constant=_finite, object_pairs_hook=_without_twins
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: str | os.PathLike[str], what: str, *, largest: int = _LARGEST) -> Any:
    """Read a JSON file of a stranger's.

    Parameters
    ----------
    what
        What it should be, for errors.
    largest
        Most bytes.

    Raises
    ------
    BadInputError
        The file cannot be read, is larger, or :func:`parse_json` raises; the text names it.
    """
    with reading(path, what), Path(path).open("rb") as file:
        text = file.read(largest + 1)
        if len(text) > largest:
            raise ValueError(f"it holds more than {largest:,} bytes")
        return parse_json(text)


def whole_of(value: Any, least: int = 0, greatest: int = _MOST) -> int:
    """Give a whole number of JSON; :class:`ValueError` for 1.5, for "1", for true and beyond the bounds."""
    if type(value) is not int or not least <= value <= greatest:
        raise ValueError(f"{shortened(value)} where a whole number is expected")
    return value


def real_of(value: Any) -> float:
    """Give a number of JSON; :class:`ValueError` for "1", for true, and for what is not finite."""
    if type(value) not in {int, float} or not math.isfinite(value):
        raise ValueError(f"{shortened(value)} where a number is expected")
    return float(value)


def reals_of(value: Any) -> list[float]:
    """Give the numbers of an array of JSON; :class:`ValueError` where it is none."""
    if not isinstance(value, list):
        raise ValueError(f"{shortened(value)} where an array of numbers is expected")
    return [real_of(each) for each in value]


def instance_of(kind: type[T], value: Any) -> T:
    """Make an attrs class of a JSON object; :class:`ValueError` where a value is missing or not of its field's kind.

    Fields of other kinds than numbers, texts and truth values are left to the class.
    """
    found = dict(value)
    known = {column.alias: column.default for column in attrs.fields(kind) if column.init}  # type: ignore[arg-type]
    for name in found:
        if name not in known:
            raise ValueError(f"unknown {shortened(name)}; known: {', '.join(known)}")
    for name, default in known.items():
        if name not in found and default is attrs.NOTHING:
            raise ValueError(f"no {name}")
    for column in attrs.fields(kind):  # type: ignore[arg-type] # every attrs class
        name, wanted = column.name, getattr(column.type, "__name__", str(column.type))
        if name not in found or (found[name] is None and wanted.endswith("| None")):
            continue
        match wanted.removesuffix(" | None"):
            case "int":
                found[name] = whole_of(found[name], -_MOST)
            case "float" if not isinstance(found[name], float):
                found[name] = real_of(found[name])
            case "str" | "bool" as simple:
                if type(found[name]).__name__ != simple:
                    raise ValueError(f"{name} is {shortened(found[name])}")
    return kind(**found)


def shortened(value: Any) -> str:
    """Text of a JSON value, cut where it is long."""
    text = json.dumps(value, default=repr) if not isinstance(value, int) or abs(value) < _MOST else "a number too large"
    return text if len(text) <= 40 else f"{text[:40]}..."


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is no number that can be held")
    return number


def _not_huge(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits cannot be held")
    return int(text)


def _without_twins(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is there twice")
        found[name] = value
    return found
