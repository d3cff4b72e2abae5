"""What tells two descriptions of work apart, for messages that refuse to continue one with the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["described_differences", "text_differences"]

_MOST_SHOWN = 5
_LONGEST_SHOWN = 60
_ABSENT = object()


def described_differences(found: Any, wanted: Any) -> str:
    """Text of the values in which two JSON values differ, ``players[1].limits.depth: 4, not 3``.

    Parameters
    ----------
    found, wanted
        Mappings, sequences and scalars as JSON has them.

    Returns
    -------
    str
        At most five differences; empty where there are none.
    """
    texts = [f"{path}: {_shown(one)}, not {_shown(other)}" for path, one, other in _differences("", found, wanted)]
    more = len(texts) - _MOST_SHOWN
    return "; ".join(texts[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def text_differences(found: str, wanted: Mapping[str, Any]) -> str:
    """Say in what a JSON text differs from the wanted settings; empty where it is no JSON or does not differ."""
    try:
        return described_differences(json.loads(found), json.loads(json.dumps(wanted)))
    except (ValueError, RecursionError):
        return ""


def _differences(path: str, found: Any, wanted: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for name in sorted({*found, *wanted}):
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(inner, found.get(name, _ABSENT), wanted.get(name, _ABSENT))
    elif _is_list(found) and _is_list(wanted) and len(found) == len(wanted):
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            yield from _differences(f"{path}[{place}]", one, other)
    elif found != wanted:
        yield path or "all", found, wanted


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "nothing"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
