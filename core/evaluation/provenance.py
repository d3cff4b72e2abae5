"""Which files an evaluation was fitted to: kept in its provenance, so that nobody grades it on them unawares."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from glem.core.files.digests import file_digest
from glem.core.files.names import distinct_names

FITTED_FILES = "files"
"""Name under which the provenance of an evaluation keeps the files, a digest and a name each."""

_MOST_FILES = 1000


def fitted_files_text(paths: Iterable[str | os.PathLike[str]], before: str = "") -> str:
    """Text for the provenance of an evaluation fitted to some files; of a thousand at most.

    Parameters
    ----------
    paths
        The files.
    before
        The text of the evaluation that the fit began with: its weights still tell of these files.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    now = (f"{file_digest(path)} {Path(path).name}" for path in list(paths)[:_MOST_FILES])
    return "\n".join(list(dict.fromkeys([*now, *before.splitlines()]))[:_MOST_FILES])


def fitted_among(
    provenances: Mapping[str, Mapping[str, str]], paths: Iterable[str | os.PathLike[str]]
) -> dict[str, list[str]]:
    """Find the files that evaluations were fitted to, byte for byte.

    Parameters
    ----------
    provenances
        Name of each evaluation to its provenance.
    paths
        Files; they are read only where an evaluation tells what it was fitted to.

    Returns
    -------
    dict
        Name of an evaluation to the names of the files that it was fitted to; without those fitted to none of them.
    """
    known = {
        name: {line.partition(" ")[0] for line in provenance.get(FITTED_FILES, "").splitlines()}
        for name, provenance in provenances.items()
    }
    if not any(known.values()):
        return {}
    given = list(paths)
    digests = dict(zip(distinct_names(given), map(file_digest, given), strict=True))
    found = {name: [file for file, digest in digests.items() if digest in own] for name, own in known.items()}
    return {name: files for name, files in found.items() if files}
