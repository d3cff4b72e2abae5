"""Games of the tests, installed for a while as a stranger's distribution would be."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_distribution"]


def write_distribution(folder: Path, **groups: dict[str, str]) -> Path:
    """Write a distribution of entry points into a folder, which belongs on the module path.

    Parameters
    ----------
    folder
        Where to write.
    groups
        Name of the entry-point group, ``__`` for a dot, to the entry points in it: name to ``module:attribute``.
    """
    metadata = folder / "games_of_tests-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: games-of-tests\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group.replace('__', '.')}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder
