"""What every command makes sure of before it works: that its outputs can be written and destroy no input."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from glem.core.errors import BadInputError
from glem.core.files import check_writable

__all__ = ["check_outputs"]


def check_outputs(*paths: str | Path | None, folders: Iterable[str | Path] = ()) -> None:
    """Refuse outputs that cannot be written, that are the same file twice, or an input of the command that runs.

    An input is every file that another argument or option names, players' and labellers' texts included; links and
    other spellings count as the file that they lead to.

    Parameters
    ----------
    paths
        Files that will be written; None is left out.
    folders
        Folders that will be removed or filled, in which no input may lie.

    Raises
    ------
    BadInputError
        The text names both files.
    """
    outputs = [Path(path) for path in paths if path is not None]
    for place, output in enumerate(outputs):
        check_writable(output)
        for other in outputs[:place]:
            if os.path.realpath(output) == os.path.realpath(other) or _is_same(output, other):
                raise BadInputError(f"{output} and {other} are one file, and both would be written: name two")
    context = click.get_current_context(silent=True)
    own = Counter(str(path) for path in (*outputs, *folders))
    for text in _texts(context.params if context is not None else ()):
        if own[str(Path(text))] > 0:
            own[str(Path(text))] -= 1
            continue
        for piece in {text, *re.split("[,=:]", text)}:
            for output in outputs:
                if _is_same(output, Path(piece)):
                    raise BadInputError(f"{output} would be written over the input {piece}; name another output")
            for folder in folders:
                if Path(piece).is_file() and Path(os.path.realpath(piece)).is_relative_to(os.path.realpath(folder)):
                    raise BadInputError(f"the input {piece} lies in {folder}, where work is kept; move it elsewhere")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):
        return False


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
