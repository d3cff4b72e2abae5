"""A package for a new game, written from a template: what ``glem games new`` makes.

What it may be called is looked at first; its files are rendered, and written together or not at all.
"""

import importlib.util
import inspect
import json
import keyword
import os
import re
import sys
import textwrap
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from glem.core.errors import INTERFACE_VERSION, BadInputError, __version__
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Learning, Phases, learning_names
from glem.core.files.atomic import check_writable, temporary_folder
from glem.core.game.game import Game, game_names

_ROLE = re.compile(r":\w+:`(~?)([^`]+)`")
_WIDTH = 120
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_NAME = 40
_LONGEST_TITLE = 60

_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    ".gitignore": "gitignore",
    "src/{name}/__init__.py": "__init__.py",
    "src/{name}/rules.py": "rules.py",
    "src/{name}/learning.py": "learning.py",
    "tests/test_{name}.py": "test_game.py",
}
"""Path in the package to the name of its template."""


def new_game(name: str, folder: Path | None = None, *, title: str | None = None) -> tuple[Path, ...]:
    """Write a package with a small game that works, to be replaced part by part.

    Parameters
    ----------
    name
        Of the game and of its package: a lower-case identifier.
    folder
        Where; a folder of that name in the current one by default. It must not be there, or be empty.
    title
        The game's name for people; made from the name by default.

    Returns
    -------
    files
        Their paths, the folder's included.

    Raises
    ------
    BadInputError
        The name or the title will not do (:func:`check_name`, :func:`check_title`), the folder holds something, or it
        cannot be written.
    """
    check_name(name)
    shown = name.replace("_", " ").capitalize() if title is None else title.strip()
    check_title(shown)
    target = Path(name) if folder is None else folder
    _check_free(target)
    texts = _rendered(name, shown)
    try:
        _write(target, texts)
    except OSError as error:
        raise BadInputError(f"{target} cannot be written: {error.strerror or error}") from error
    return tuple(target / path for path in texts)


def check_name(name: str) -> None:
    """Make sure that a package and a game may have the name.

    Raises
    ------
    BadInputError
        It is no lower-case identifier, a word of Python, an installed game, or a module that can be imported already.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise BadInputError(
            f"{name!r} cannot name a game: expected at most {_LONGEST_NAME} lower-case letters, digits and single "
            "underscores between them, a letter first, as in my_game"
        )
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise BadInputError(f"{name!r} cannot name a game: it is a word of the Python language; try {name}_game")
    if name in {*game_names(), *learning_names()}:
        raise BadInputError(f"there is a game {name!r} installed already; `glem games` lists them, choose another name")
    if name in sys.stdlib_module_names:
        raise BadInputError(
            f"{name!r} cannot name a game: it is a module of Python's standard library; try {name}_game"
        )
    place = _importable_from(name)
    if place is not None:
        raise BadInputError(
            f"{name!r} cannot name a game: `import {name}` finds {place}; choose another name, or uninstall that"
        )


def _importable_from(name: str) -> str | None:
    """Where a module of that name comes from; a mere folder below the current one is none."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:
        # Set up without a specification: it is there all the same.
        return f"the module {name}"
    if spec is None:
        return None
    if spec.origin is not None:
        return spec.origin
    # A folder without __init__.py is taken for a package where it lies on the path, and the current folder may.
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    elsewhere = [folder for folder in folders if folder.resolve().parent != Path.cwd()]
    return str(elsewhere[0]) if elsewhere or not folders else None


def check_title(title: str) -> None:
    """Make sure that a title can be written into every file of a package as it is.

    Raises
    ------
    BadInputError
        It is empty, too long, or has quotation marks, backslashes or unprintable characters.
    """
    if not title.strip() or len(title) > _LONGEST_TITLE or not title.isprintable() or set(title) & set('"\\`<>$'):
        raise BadInputError(
            f'a title has 1 to {_LONGEST_TITLE} printable characters and none of " \\ ` < > $, got {title!r}'
        )


def _check_free(target: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()):
            raise BadInputError(f"the folder {target} is not empty, and nothing is overwritten; name another with -o")
        if not os.access(target, os.W_OK):
            raise BadInputError(f"the folder {target} cannot be written")
    elif target.exists() or target.is_symlink():
        raise BadInputError(f"{target} is there and no folder, and nothing is overwritten; name another with -o")
    else:
        check_writable(target)


def _rendered(name: str, title: str) -> dict[str, str]:
    """Path of each file to its text."""
    values = {
        "name": name,
        "title": title,
        # A JSON string without control characters is one of Python and of TOML as well.
        "quoted_title": json.dumps(title, ensure_ascii=False),
        "quoted_description": json.dumps(f"{title}, a game for glem", ensure_ascii=False),
        "distribution": f"glem-{name.replace('_', '-')}",
        "glem_version": __version__,
        "interface_version": str(INTERFACE_VERSION),
        **{
            f"{kind.__name__}_{field}": meaning
            for kind in (Game, Learning, AtomicFeature, AtomicFeatures, Phases)
            for field, meaning in field_meanings(kind).items()
        },
    }
    templates = resources.files("glem.core.conformance") / "template"
    texts = {
        path: (templates / f"{template}.template").read_text(encoding="utf-8") for path, template in _FILES.items()
    }
    return {path.format(name=name): _wrapped(Template(text).substitute(values)) for path, text in texts.items()}


def field_meanings(kind: type[Any]) -> dict[str, str]:
    """Read from the docstring of a part of the interface what each of its fields means, as plain text of one line."""
    _, _, section = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------\n")
    section = section.partition("\n\nRaises\n------\n")[0]
    entries = re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?|\n(?=    ))+)", section, re.MULTILINE)
    texts = [(names, " ".join(_ROLE.sub(_plain, text).replace("``", "`").split())) for names, text in entries]
    return {name: text for names, text in texts for name in names.split(", ")}


def _plain(role: re.Match[str]) -> str:
    """Write a reference as a reader sees it."""
    return f"`{role[2].rpartition('.')[2] if role[1] else role[2]}`"


def _wrapped(text: str) -> str:
    """Break the comments that have become too long for a line."""
    wrapped = [
        textwrap.fill(line, _WIDTH, subsequent_indent=f"{line.partition('#')[0]}# ", break_on_hyphens=False)
        if len(line) > _WIDTH and line.lstrip().startswith("# ")
        else line
        for line in text.splitlines()
    ]
    return "\n".join([*wrapped, ""])


def _write(target: Path, texts: dict[str, str]) -> None:
    """Write all files beside the folder first, so that it gets all of them or none."""
    with temporary_folder(target.resolve()) as folder:
        scratch = folder / target.resolve().name
        for path, text in texts.items():
            file = scratch / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if target.is_dir():
            _move_into(scratch, target)
        else:
            scratch.rename(target)


def _move_into(scratch: Path, target: Path) -> None:
    """Move what is in one folder into an empty one, which may be the current one and so must stay the same."""
    moved: list[Path] = []
    try:
        for entry in sorted(scratch.iterdir()):
            place = target / entry.name
            if place.exists():
                raise FileExistsError(17, f"{place} has appeared meanwhile")
            entry.rename(place)
            moved.append(place)
    except BaseException:
        for place in moved:
            place.rename(scratch / place.name)
        raise
