"""Where the packages are; all else is in ``pyproject.toml``."""

from pathlib import Path

from setuptools import setup

LINKS = Path(".packages")
"""Holds links to the rooms under their import names: no folder called ``glem`` hides an editable installation then."""

ROOMS = {"glem": "core/_glem", "glem.core": "core", "glem.games": "games", "glem.plugins": "plugins"}
"""Where links are files of text, as after ``git clone`` on Windows and in ZIP archives, the rooms themselves."""

setup(package_dir={"": str(LINKS)} if (LINKS / "glem" / "core").is_dir() else ROOMS)
