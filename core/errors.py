"""The version, and the errors that glem raises on purpose; all derive from :class:`GlemError`."""

import contextlib
import os
from collections.abc import Iterator

__version__ = "0.1.0"

_LONGEST_REASON = 200


class GlemError(Exception):
    """Base of every error that glem raises on purpose; its text is meant for the user."""


class BadInputError(GlemError):
    """A file or argument is not what it should be; the text names file and record."""


class PluginError(GlemError):
    """A game plugin cannot be found, loaded or trusted; the text names the distribution."""


class ConformanceError(GlemError):
    """A plugin breaks a promise of the interface; the text shows the position."""


class GlemWarning(UserWarning):
    """Base of every warning that glem gives; commands show it as one line."""


@contextlib.contextmanager
def reading(place: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """Turn whatever goes wrong while something of a stranger is read into a :class:`BadInputError` that names it.

    Every reader of a file stands in such a block: zipfile, zlib, numpy, pyarrow and json each raise what they think
    fit where bytes are damaged, and so does code that finds another type than it expects.

    Parameters
    ----------
    place
        The file, perhaps with line or record.
    what
        What it should be, without an article.

    Raises
    ------
    BadInputError
        It cannot be read, or is not what it should be.
    """
    name = os.fspath(place)
    try:
        yield
    except GlemError as error:
        if name in str(error):
            raise
        raise BadInputError(f"{name}: {error}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise BadInputError(f"{name}: cannot be read: {error.strerror or error}") from error
        lines = str(error).splitlines()
        reason = f"{type(error).__name__}: {lines[0][:_LONGEST_REASON]}" if lines else type(error).__name__
        raise BadInputError(f"{name}: damaged, or no {what or 'file of the expected kind'} ({reason})") from error
