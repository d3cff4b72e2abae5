"""The command that makes the files of this process: their headers hold it, so that a file says how it was made."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from attrs import define

from glem.core.errors import __version__
from glem.core.files.digests import file_digest

_MOST_FILES, _MOST_BYTES = 1000, 1 << 30
_OUTPUT = "--output"


@define(frozen=True, slots=False)
class Making:
    """A command that makes files.

    Parameters
    ----------
    name
        Its words, without ``glem``.
    arguments
        What follows them.
    options
        Each option that was given, with its values; without those that change no result, as the number of workers.
    """

    name: Sequence[str]
    arguments: Sequence[str]
    options: Sequence[tuple[str, Sequence[str]]]

    @cached_property
    def _inputs(self) -> dict[str, str]:
        """Digests of the files that the command line names, as it names them; of very large ones their sizes."""
        texts = [*self.name, *self.arguments, *(value for _, values in self.options for value in values)]
        named = dict.fromkeys(piece for text in texts for piece in (text, *re.split("[,=:]", text)))
        found, left = dict[str, str](), _MOST_BYTES
        for name in [*filter(_is_file, named)][:_MOST_FILES]:
            size = Path(name).stat().st_size
            left -= size
            found[name] = file_digest(name) if left >= 0 else f"{size} bytes"
        return found

    def of(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Describe how a file is made; the option that names it is left out, so that its name changes no byte of it.

        Parameters
        ----------
        path
            The file, perhaps under a name that it has until it is whole: then it is what ``--output`` names, or lies in
            that folder.
        """
        named = {value: option for option, values in self.options for value in values}
        value = next((value for value in named if _is_same(path, value)), None)
        if value is None:
            value = next((value for value, option in named.items() if option == _OUTPUT), "")
        output = named.get(value, "")
        kept = [word for option, values in self.options if option != output for word in (option, *values)]
        return {
            "glem": __version__,
            "command": [*self.name, *self.arguments, *kept],
            "output": output,
            "in_folder": bool(output) and Path(value).suffix != Path(path).suffix,
            "files": {name: digest for name, digest in self._inputs.items() if not _is_same(name, value)},
        }


def _is_file(name: str) -> bool:
    with contextlib.suppress(ValueError, OSError):
        return Path(name).is_file()
    return False


def _is_same(path: str | os.PathLike[str], other: str) -> bool:
    return os.path.abspath(path) == os.path.abspath(other)  # noqa: PTH100 # its file may not be there yet


_now: Making | None = None


@contextlib.contextmanager
def making(command: Making) -> Iterator[None]:
    """Let files that are written in the block say that this command makes them."""
    global _now
    before, _now = _now, command
    try:
        yield
    finally:
        _now = before


def made(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Give what the header of a file says of its making: nothing where no command makes it."""
    return {} if _now is None else {"made": _now.of(path)}


def command_that_made(path: str | os.PathLike[str], told: Mapping[str, Any]) -> list[str]:
    """Words of the command that makes a file again under the name that it has now, by what its header says."""
    words = ["glem", *map(str, told["command"])]
    if not told["output"]:
        return words
    return [*words, str(told["output"]), str(Path(path).parent if told["in_folder"] else Path(path))]
