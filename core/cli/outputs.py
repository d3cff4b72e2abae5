"""What every command makes sure of before it works: that its outputs can be written and destroy no input."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from glem.core.errors import BadInputError
from glem.core.files.atomic import check_writable


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
    own = Counter(str(path) for path in outputs)
    for text, is_option in _texts():
        if is_option and own[str(Path(text))] > 0:
            own[str(Path(text))] -= 1
            continue
        for piece in {text, *re.split("[,=:]", text)}:
            for output in outputs:
                if _is_same(output, Path(piece)):
                    raise BadInputError(f"{output} would be written over the input {piece}; name another output")
            for folder in folders:
                if _lies_in(Path(piece), folder):
                    raise BadInputError(f"the input {piece} lies in {folder}, where work is kept; move it elsewhere")


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):
        return False


def _lies_in(path: Path, folder: str | Path) -> bool:
    try:
        return path.is_file() and path.resolve().is_relative_to(Path(folder).resolve())
    except (OSError, ValueError):
        return False


def _texts() -> Iterator[tuple[str, bool]]:
    """Yield the values of the command line that may name files, and whether they are those of options."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str | Path):
                yield str(each), isinstance(parameter, click.Option)
