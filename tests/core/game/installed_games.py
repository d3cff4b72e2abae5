"""Games of the tests, installed for a while as a stranger's distribution would be."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_distribution"]


def write_distribution(folder: Path, name: str = "games-of-tests", **groups: dict[str, str]) -> Path:
    """Write a distribution of entry points into a folder, which belongs on the module path.

    Parameters
    ----------
    folder
        Where to write.
    name
        Of the distribution.
    groups
        Name of the entry-point group, ``__`` for a dot, to the entry points in it: name to ``module:attribute``.
    """
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group.replace('__', '.')}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
