"""Measures by name: entry points of the group ``glem.measures``, and functions and classes of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from glem.core.errors import BadInputError
from glem.core.features.functions import load_function
from glem.core.game.registry import load_plugin, plugin_names
from glem.core.measures.measure import FunctionMeasure, Measure

MEASURES_GROUP = "glem.measures"
"""Entry points that name a :class:`~glem.core.measures.measure.Measure`, or a function ``(judged) -> numbers``."""


def measure_names() -> list[str]:
    """Names of all installed measures, sorted; nothing is imported."""
    return plugin_names(MEASURES_GROUP)


def load_measure(text: str) -> tuple[str, Measure]:
    """Load a measure: its name in tables, and itself.

    Parameters
    ----------
    text
        A name of an installed measure, or ``FILE.py:NAME``, a class or a function of the user's own; settings follow
        after commas, ``calibration-error,bins=10``.

    Raises
    ------
    BadInputError
        There is no such measure or setting, or the file cannot be loaded.
    """
    word, *settings = text.split(",")
    if ":" in word:
        kind, name = load_function(word), word.rpartition(":")[2]
    elif word not in measure_names():
        raise BadInputError(f"there is no measure {word!r}; there are: {', '.join(measure_names())}, and FILE.py:NAME")
    else:
        kind, name = load_plugin(MEASURES_GROUP, word, object), word
    return ",".join([name, *settings]), _made(kind, name, settings)


def _made(kind: Any, name: str, settings: Iterable[str] = ()) -> Measure:
    """Make a measure of what a name stands for: a class, a function, or the measure itself."""
    if not (isinstance(kind, type) and issubclass(kind, Measure)):
        if not isinstance(kind, Measure) and (isinstance(kind, type) or not callable(kind)):
            raise BadInputError(f"{name} is neither a subclass of Measure nor a function of what is judged")
        for setting in settings:
            raise BadInputError(f"measure {name} has no settings, got {setting!r}")
        return kind if isinstance(kind, Measure) else FunctionMeasure(kind)
    make: type[Measure] = kind
    fields = {one.name: one for one in attrs.fields(kind) if one.init} if attrs.has(kind) else {}
    given = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in fields:
            if key in measure_names():
                raise BadInputError(f"{','.join([name, *settings])!r} names two measures; name each by itself")
            known = ", ".join(f"{one}=" for one in fields) or "none"
            raise BadInputError(f"measure {name} has no setting {key!r}; it has: {known}")
        given[key] = _value(name, key, value, fields[key])
    try:
        return make(**given)
    except (TypeError, ValueError) as error:
        raise BadInputError(f"measure {name}: {error}") from error


def _value(name: str, key: str, text: str, about: Any) -> Any:
    """Read a setting as what its annotation says: a number, or else a text."""
    words = str(getattr(about.type, "__name__", about.type)).replace(" ", "").split("|")
    try:
        return int(text) if "int" in words else float(text) if "float" in words else text
    except ValueError:
        raise BadInputError(f"measure {name}: {key} must be a number, got {text!r}") from None


Given = str | Measure | type[Measure] | Callable[..., Any]
"""What stands for a measure in Python: a text, the measure, its class, or a function of what is judged."""


def measures_of(given: Given | Iterable[Given] | Mapping[str, Given]) -> dict[str, Measure]:
    """Load measures, by their names in tables.

    Raises
    ------
    BadInputError
        As of :func:`load_measure`; or two have one name.
    """
    if isinstance(given, str | Measure) or callable(given):
        given = [given]
    pairs: Any = given.items() if isinstance(given, Mapping) else ((None, each) for each in given)
    found: dict[str, Measure] = {}
    for own, each in pairs:
        if isinstance(each, str):
            name, measure = load_measure(each)
        else:
            name = getattr(each, "__name__", type(each).__name__)
            measure = _made(each, name)
        name = name if own is None else own
        if name in found:
            raise BadInputError(f"two measures are called {name}; name one of them otherwise")
        found[name] = measure
    return found
