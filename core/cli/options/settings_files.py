"""Settings files: arguments and options of one command, as TOML."""

import difflib
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from glem.core.errors import BadInputError, check_regular

_LARGEST = 1 << 20
_ARGUMENTS, _COMMAND = "arguments", "command"


def settings_of_file(
    path: str, command: str, parameters: Sequence[click.Parameter], given: Collection[click.Parameter]
) -> Iterator[str]:
    """Yield the words of the command line that a settings file stands for.

    Its keys are options without their hyphens in front; ``arguments`` lists what stands before the options. A list
    repeats its option, ``true`` and ``false`` are flags. ``command`` may name the command that the file is for.

    Parameters
    ----------
    command
        The command that runs, without ``glem``.
    parameters
        Those of the command.
    given
        Those that the command line gives itself.

    Raises
    ------
    BadInputError
        The file is missing or not TOML, is for another command, or names an option that the command does not have.
    """
    found = _read(path)
    if (meant := found.pop(_COMMAND, command)) != command:
        raise BadInputError(
            f"{path}: is for `glem {meant}`, this is `glem {command}`; call `glem {meant} --config {path}`"
        )
    arguments = found.pop(_ARGUMENTS, [])
    if not isinstance(arguments, list):
        raise BadInputError(f"{path}: arguments: expected a list, got {arguments!r}")
    if not any(isinstance(parameter, click.Argument) for parameter in given):
        yield from (_text(path, _ARGUMENTS, each) for each in arguments)
    options = {
        name.lstrip("-"): option for option in parameters for name in (*option.opts, *getattr(option, "was", ()))
    }
    for key, value in found.items():
        option = options.get(key.replace("_", "-"))
        if not isinstance(option, click.Option):
            near = difflib.get_close_matches(key, options, 1)
            words = f"; did you mean {near[0]!r}?" if near else ""
            raise BadInputError(f"{path}: {key!r} is no option of `glem {command}`{words}")
        if option not in given:
            yield from _words(path, key, value, option)


def _read(path: str) -> dict[str, Any]:
    check_regular(path)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise BadInputError(f"{path}: larger than {_LARGEST:,} bytes, no settings file")
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInputError(f"{path}: not TOML: {error}") from error


def _words(path: str, key: str, value: Any, option: click.Option) -> Iterator[str]:
    if option.is_flag:
        if not isinstance(value, bool):
            raise BadInputError(f"{path}: {key}: expected true or false, got {value!r}")
        yield from (option.opts if value else option.secondary_opts)[-1:]
        return
    values = value if isinstance(value, list) else [value]
    if len(values) > 1 and not option.multiple:
        raise BadInputError(f"{path}: {key}: expected one value, got {value!r}")
    for each in values:
        yield from (option.opts[-1], _text(path, key, each))


def _text(path: str, key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadInputError(f"{path}: {key}: expected a text or a number, got {value!r}")
    return str(value)
