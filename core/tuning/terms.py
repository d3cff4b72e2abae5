"""The terms of an engine's own evaluation: names, shapes, weights, and the files that hold weights."""

from __future__ import annotations

import fnmatch
import json
import os
import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.files.atomic import write_text
from glem.core.files.json_values import read_json, shortened

Weights = NDArray[np.float64]
"""float64 [K, 2]: of each coefficient the weight in the middlegame, phase 1, and the one in the endgame, phase 0; where
terms are not tapered only the first counts."""

_GREATEST_WEIGHT = 1e12
_LINE = 100
TEMPLATES = {
    ".h": "static const int {NAME}{dimensions} = {values};",
    ".c": "static const int {NAME}{dimensions} = {values};",
    ".rs": "pub const {NAME}: {type} = {values};",
}
"""How arrays are written by the suffix of the file; :meth:`Terms.write` says what stands for what."""
_PLACES = "{name}, {NAME}, {values}, {dimensions}, {type}"


@define(frozen=True)
class Terms:
    """Terms, each a number or an array of numbers with as many weights, one after the other.

    Parameters
    ----------
    shapes
        Name of each term to the shape of its coefficients, ``()`` for a number.
    is_tapered
        Whether every weight is two, one for each end of the game.
    """

    shapes: Mapping[str, tuple[int, ...]]
    is_tapered: bool

    @property
    def count(self) -> int:
        """Number K of coefficients."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def columns(self) -> dict[str, slice]:
        """Where the coefficients of each term stand among all."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])
        return {
            name: slice(int(begin), int(end)) for name, begin, end in zip(self.shapes, [0, *ends], ends, strict=False)
        }

    def names(self) -> list[str]:
        """Name each coefficient, such as ``pawn[12]``: K texts."""
        return [
            name + "".join(f"[{index}]" for index in place)
            for name, shape in self.shapes.items()
            for place in np.ndindex(*shape)
        ]

    def matching(self, patterns: Sequence[str]) -> NDArray[np.bool_]:
        """Tell which coefficients belong to terms of some names or patterns: bool [K].

        Raises
        ------
        BadInputError
            No term is meant by a pattern.
        """
        found = np.zeros(self.count, bool)
        for pattern in patterns:
            meant = [name for name in self.shapes if fnmatch.fnmatchcase(name, pattern)]
            if not meant:
                raise BadInputError(f"there is no term {pattern!r}; terms: {', '.join(self.shapes)}")
            for name in meant:
                found[self.columns()[name]] = True
        return found

    def weights_of(self, values: Mapping[str, Any], place: str) -> Weights:
        """Take weights out of nested lists by name, as a file of JSON holds them.

        Parameters
        ----------
        values
            A number or nested lists for each term, of its shape; of tapered ones a pair of such, the middlegame first.
        place
            Where they come from, for messages.

        Raises
        ------
        BadInputError
            A term is missing or unknown, or has another shape.
        """
        unknown, missing = [*(values.keys() - self.shapes.keys())], [*(self.shapes.keys() - values.keys())]
        if unknown or missing:
            told = [f"has no {', '.join(sorted(missing))}"] if missing else []
            told += [f"has {', '.join(sorted(unknown))}, which is no term"] if unknown else []
            raise BadInputError(f"{place}: {'; '.join(told)}")
        weights = np.zeros((self.count, 2))
        for name, columns in self.columns().items():
            wanted = (2, *self.shapes[name]) if self.is_tapered else self.shapes[name]
            problem, found = "", np.zeros(())
            if not _is_numeric(values[name]):
                problem = shortened(values[name])
            elif (found := np.array(values[name], np.float64)).shape != wanted:
                problem = _told_shape(found.shape)
            elif not (np.abs(found) <= _GREATEST_WEIGHT).all():
                problem = f"not within {_GREATEST_WEIGHT:g} of 0 everywhere"
            if problem:
                both = ", middlegame and endgame" if self.is_tapered else ""
                raise BadInputError(f"{place}: {name} must be {_told_shape(wanted)}{both}, it is {problem}")
            weights[columns] = found.reshape(2, -1).T if self.is_tapered else np.stack([found.ravel()] * 2, 1)
        return weights

    def values_of(self, weights: Weights, digits: int = 0) -> dict[str, Any]:
        """Give weights as nested lists by name, the inverse of :meth:`weights_of`, rounded to so many digits."""
        found: dict[str, Any] = {}
        rounded = np.round(weights, digits) + 0.0
        for name, columns in self.columns().items():
            own = rounded[columns].T if self.is_tapered else rounded[columns, 0]
            shaped = own.reshape(((2,) if self.is_tapered else ()) + self.shapes[name])
            found[name] = (shaped if digits else shaped.astype(np.int64)).tolist()
        return found

    def read(self, path: str | os.PathLike[str]) -> tuple[Weights, bool]:
        """Read weights from a file of JSON, and whether all of them are whole numbers.

        Raises
        ------
        BadInputError
            The file cannot be read, or weights do not fit the terms.
        """
        values = read_json(path, "JSON file of weights")
        if not isinstance(values, dict):
            raise BadInputError(f"{os.fspath(path)}: an object with a member for each term is needed")
        weights = self.weights_of(values, os.fspath(path))
        return weights, bool((weights == np.rint(weights)).all())

    def write(
        self, path: str | os.PathLike[str], weights: Weights, *, digits: int = 0, template: str | None = None
    ) -> None:
        """Write weights: JSON, or for other suffixes (``.h``, ``.c``, ``.rs``) arrays of that language.

        Parameters
        ----------
        digits
            Digits behind the point; 0 writes whole numbers.
        template
            One line for each term, in place of that of the suffix: ``{name}`` and ``{NAME}`` stand for its name,
            ``{values}`` for its numbers in the braces or brackets of the language, ``{dimensions}`` for its lengths as
            ``[2][64]``, ``{type}`` for the type of Rust, ``[[i32; 64]; 2]``.

        Raises
        ------
        BadInputError
            As :func:`checked_template` does.
        """
        values = self.values_of(weights, digits)
        pattern = checked_template(path, template)
        if pattern is None:
            lines = [f"{json.dumps(name)}: {_nested(value, '[]')}" for name, value in values.items()]
            text = "{\n" + ",\n".join(lines) + "\n}\n"
        else:
            brackets = "[]" if Path(path).suffix.lower() == ".rs" else "{}"
            parts = (_parts(name, value, brackets, digits) for name, value in values.items())
            text = "".join(pattern.format(**each) + "\n" for each in parts)
        write_text(path, text)


def checked_template(path: str | os.PathLike[str], template: str | None) -> str | None:
    """Give the line by which :meth:`Terms.write` writes each term; None for JSON.

    Raises
    ------
    BadInputError
        No template goes with the suffix of the path, or its braces hold anything else than the plain names of
        :meth:`Terms.write`, or none holds ``values``.
    """
    if template is None:
        suffix = Path(path).suffix.lower()
        if suffix not in TEMPLATES and suffix != ".json":
            raise BadInputError(
                f"{os.fspath(path)}: weights are written as .json, {', '.join(TEMPLATES)}, or by --template"
            )
        return TEMPLATES.get(suffix)
    try:
        # Surrogates stand for bytes of the command line that are no text.
        template.encode()
        fields = [field for field in string.Formatter().parse(template) if field[1] is not None]
    except ValueError as error:
        raise BadInputError(
            f"--template {template!r}: {error}; it may hold {_PLACES}, and {{{{ and }}}} for braces"
        ) from None
    for _, name, width, conversion in fields:
        # Attributes, indices, widths and conversions reach into Python's objects, or ask for any amount of memory.
        if f"{{{name}}}" not in _PLACES or width or conversion:
            seen = f"{{{name}{f'!{conversion}' if conversion else ''}{f':{width}' if width else ''}}}"
            raise BadInputError(f"--template {template!r}: {seen} is unknown; a template may hold {_PLACES}")
    if "values" not in [name for _, name, _, _ in fields]:
        raise BadInputError(f"--template {template!r}: without {{values}} no weight is written; it may hold {_PLACES}")
    return template


def _is_numeric(value: Any) -> bool:
    """Whether a value is a number, or nested sequences of numbers of one shape."""
    if isinstance(value, list | tuple):
        try:
            return all(map(_is_numeric, value)) and np.array(value, np.float64) is not None
        except (ValueError, OverflowError):
            return False
    return not isinstance(value, bool) and np.asarray(value).dtype.kind in "iuf"


def _told_shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) + " numbers" if shape else "a number"


def _nested(value: Any, brackets: str) -> str:
    """Write nested lists, one line for each row of the innermost, eight numbers a line where they are squares."""
    if not isinstance(value, list):
        return str(value)
    inner = [_nested(each, brackets) for each in value]
    if isinstance(value[0], list):
        return f"{brackets[0]}\n" + ",\n".join(inner) + f"{brackets[1]}"
    step = 8 if len(inner) % 8 == 0 and len(inner) > 8 else len(inner)
    rows = [", ".join(inner[begin : begin + step]) for begin in range(0, len(inner), step)]
    return brackets[0] + ",\n ".join(rows) + brackets[1]


def _parts(name: str, value: Any, brackets: str, digits: int) -> dict[str, str]:
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    shape = np.shape(value)
    kind = "f64" if digits else "i32"
    for length in reversed(shape):
        kind = f"[{kind}; {length}]"
    return {
        "name": plain,
        "NAME": plain.upper(),
        "values": _nested(value, brackets),
        "dimensions": "".join(f"[{length}]" for length in shape),
        "type": kind,
    }
