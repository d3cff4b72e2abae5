"""Games of the tests, installed for a while as a stranger's distribution would be."""

from collections.abc import Mapping
from pathlib import Path


def write_distribution(folder: Path, groups: Mapping[str, dict[str, str]], name: str = "games-of-tests") -> Path:
    """Write a distribution of entry points into a folder, which belongs on the module path.

    Parameters
    ----------
    folder
        Where to write.
    groups
        Name of the entry-point group to the entry points in it: name to ``module:attribute``.
    name
        Of the distribution.
    """
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{entry} = {value}" for entry, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
