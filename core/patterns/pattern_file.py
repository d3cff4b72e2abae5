"""Patterns that a user writes down: text files of one pattern a line."""

from __future__ import annotations

import os
from pathlib import Path

from glem.core.errors import BadInputError, reading
from glem.core.features.features import AtomicFeatures
from glem.core.tasks.counts import counted

_MOST_BYTES = 1 << 20
_MOST_PATTERNS = 1000
_MOST_FEATURES = 20


def read_pattern_file(features: AtomicFeatures, path: str | os.PathLike[str]) -> dict[str, tuple[str, ...]]:
    """Read a set of patterns.

    Parameters
    ----------
    features
        The game's atomic features.
    path
        Text of at most 1 MiB: lines ``name: a1 b1 c1`` with 1 to 20 features of the game, one instance of each
        pattern; what follows ``#`` is a comment.

    Returns
    -------
    dict
        Pattern name to the names of its features, at most 1,000.

    Raises
    ------
    BadInputError
        No such file, or a bad line; the text names file and line.
    """
    with reading(path, "file of patterns"):
        if Path(path).stat().st_size > _MOST_BYTES:
            raise BadInputError(f"more than {_MOST_BYTES:,} bytes, too much for a file of patterns")
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    known = {feature.name for feature in features.features}
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        name, colon, rest = (part.strip() for part in text.partition(":"))
        members = tuple(rest.split())
        unknown = next((member for member in members if member not in known), None)
        problem = None
        if not colon or not name:
            problem = "expected `name: feature feature ...`"
        elif name in found:
            problem = f"a second pattern {name!r}"
        elif not 1 <= len(members) <= _MOST_FEATURES:
            problem = f"pattern {name!r} has {counted(len(members), 'feature')}, expected 1 to {_MOST_FEATURES}"
        elif unknown is not None:
            problem = f"pattern {name!r}: {features.game.name} has no feature {unknown!r}"
        elif len(set(members)) < len(members):
            problem = f"pattern {name!r} names a feature twice"
        elif len(found) == _MOST_PATTERNS:
            problem = f"more than {_MOST_PATTERNS:,} patterns"
        if problem is not None:
            raise BadInputError(f"{os.fspath(path)}:{number}: {problem}")
        found[name] = members
    if not found:
        raise BadInputError(f"{os.fspath(path)}: holds no pattern")
    return found
