"""The tutorial for a new game, gone through as a reader would, in an environment of its own.

Its steps are definitions put into files, commands run, and what they print.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define

from tests.house.tree import ROOT
from tests.stranger_environment import StrangerEnvironment, stranger_environment

PAGE = ROOT / "docs" / "tutorials" / "a-game-in-an-afternoon.md"

SMALLER = {
    # The template as it is, and its rules and learning compiled, are looked at by the tests of `glem games new`.
    "cd breakthrough && glem check breakthrough": "cd breakthrough && glem check breakthrough --plain --games 5",
    "glem check breakthrough || true": "glem check breakthrough --plain --games 5 || true",
    "--games 4000": "--games 600 --games-per-file 100",
    "--generations 4": "--generations 4 --positions 200 --depth 1 --pairs 4",
    "--opening-plies 4": "--opening-plies 4 --opening-count 5",
    "--maximum-size 3": "--maximum-size 1 --iterations 5",
}
"""What of the commands takes long, and what takes its place here."""

PROGRESS = re.compile(r"^glem: .* so far(, .*)?\n", re.MULTILINE)


_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (?P<path>[\w./-]+\.\w+)\n")
_DELETED = re.compile(r"^# delete: (?P<names>.+)$", re.MULTILINE)


@define(frozen=True)
class FileStep:
    """Definitions that go into a file."""

    path: str
    text: str


@define(frozen=True)
class ShellStep:
    """Commands of one block and what the page says that they print."""

    commands: str
    shown: str


def steps(page: Path) -> Iterator[FileStep | ShellStep]:
    """Steps of a page, in order: Python blocks that begin with the name of a file, and blocks of commands."""
    blocks = [(match["language"], match["body"]) for match in _FENCE.finditer(page.read_text(encoding="utf-8"))]
    for place, (language, body) in enumerate(blocks):
        if language == "python":
            named = _FILE.match(body)
            assert named, f"no file is named at the beginning of\n{body}"
            yield FileStep(named["path"], body[named.end() :])
        elif language == "sh":
            following = blocks[place + 1] if place + 1 < len(blocks) else ("", "")
            yield ShellStep(body, following[1] if following[0] == "text" else "")


def _key(statement: ast.stmt) -> str:
    """Name by which a statement at the top of a file takes the place of another one."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign):
        return ", ".join(ast.unparse(target) for target in statement.targets)
    if isinstance(statement, ast.ImportFrom):
        return f"from {'.' * statement.level}{statement.module}"
    return ast.unparse(statement)


def _pieces(text: str) -> list[tuple[str, str]]:
    """Cut a source into its statements, each with the comments and blank lines before it, by key."""
    lines = text.splitlines(keepends=True)
    found, end = [], 0
    for statement in ast.parse(text).body:
        assert statement.end_lineno is not None
        found.append((_key(statement), "".join(lines[end : statement.end_lineno])))
        end = statement.end_lineno
    return [*found, ("", "".join(lines[end:]))]


def edited(text: str, block: str) -> str:
    """Source with the definitions of a block in the place of those of the same names, and new ones put beside them."""
    pieces = _pieces(text)
    place = -1
    waiting: list[tuple[str, str]] = []
    for key, source in _pieces(block)[:-1]:
        known = [number for number, (other, _) in enumerate(pieces) if other == key]
        if known:
            [place] = known
            pieces[place] = (key, _comments(pieces[place][1]) + source.lstrip("\n"))
            pieces[place:place] = waiting
            place += len(waiting)
            waiting = []
        elif place < 0:
            waiting.append((key, "\n\n" + source.lstrip("\n")))
        else:
            place += 1
            pieces.insert(place, (key, source))
    assert not waiting, f"nothing in the file is replaced by\n{block}"
    deleted = {name for match in _DELETED.finditer(block) for name in match["names"].split(", ")}
    assert deleted <= {key for key, _ in pieces}
    return "".join(source for key, source in pieces if key not in deleted)


def _comments(source: str) -> str:
    """Comments and blank lines before a statement."""
    kept = []
    for line in source.splitlines(keepends=True):
        if line.strip() and not line.startswith("#"):
            break
        kept.append(line)
    return "".join(kept)


def tells(shown: str, printed: str, *, numbers: bool = True) -> bool:
    """Whether something was printed as a page shows it, where ``...`` stands for anything.

    Parameters
    ----------
    shown
        What the page shows.
    printed
        What was printed.
    numbers
        Whether the numbers must be the same too; tables that follow from them are then as wide as they are.
    """
    wanted, found = (_plain(text, numbers=numbers) for text in (shown, printed))
    pattern = ".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", wanted))
    return re.fullmatch(rf"\s*{pattern}\s*", found, re.DOTALL) is not None


def _plain(text: str, *, numbers: bool) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    if numbers:
        return "\n".join(lines).strip("\n")
    # Frames of tables are as wide as the numbers; "-" stands for no number, "yes" and "no" follow from numbers.
    words = re.sub(
        r"[-+]?(\d[\d,]*\.?\d*(e-\d+)?)( ± [\d-]+)?(-[\d]+)*|[━─┏┓┳┡╇┩└┴┘]+|(?<=\s)-(?=\s)|(?<=│)\s+(yes|no) (?=│)",
        "#",
        "\n".join(lines),
    )
    return " ".join(words.split())


def smaller(commands: str) -> str:
    for part, other in SMALLER.items():
        commands = commands.replace(part, other)
    return commands


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> StrangerEnvironment:
    return stranger_environment(tmp_path_factory.mktemp("environment"))


def take(step: FileStep | ShellStep, where: Path, environment: StrangerEnvironment) -> None:
    """Do what a step says, and compare."""
    if isinstance(step, FileStep):
        file = where / step.path
        file.write_text(edited(file.read_text(encoding="utf-8"), step.text), encoding="utf-8")
        return
    commands = smaller(step.commands)
    # What tells on a slow machine how far the work is, the page does not show.
    printed = PROGRESS.sub("", environment.run(commands, where))
    if step.shown:
        same = commands == step.commands
        assert tells(step.shown, printed, numbers=same), f"{commands}\nprinted\n{printed}\nthe page shows\n{step.shown}"


@pytest.mark.repeats  # what the steps do: a game from the template installs, is checked and tested in test_new_game
def test_every_step_does_what_the_page_says(environment: StrangerEnvironment, tmp_path: Path) -> None:
    todo = list(steps(PAGE))
    assert isinstance(todo[0], ShellStep)
    take(todo[0], tmp_path, environment)
    for step in todo[1:]:
        take(step, tmp_path / "breakthrough", environment)
    report = (tmp_path / "breakthrough" / "discovery" / "report.html").read_text(encoding="utf-8")
    assert "Breakthrough" in report


def test_what_is_made_smaller_is_in_the_page() -> None:
    commands = "".join(step.commands for step in steps(PAGE) if isinstance(step, ShellStep))
    assert [part for part in SMALLER if part not in commands] == []


def test_definitions_take_the_place_of_those_of_the_same_names() -> None:
    before = (
        '"""Text."""\n\nfrom a import b\n\n# One.\nX = 1\n\n\n# Function.\ndef f() -> int:\n    return 1\n\n\nY = 2\n'
    )
    block = "from a import b, c\n\nX = 3\nZ = 4\n\n\ndef f() -> int:\n    return 2\n# delete: Y\n"
    assert edited(before, block) == (
        '"""Text."""\n\nfrom a import b, c\n\n# One.\nX = 3\nZ = 4\n\n\n# Function.\ndef f() -> int:\n    return 2\n'
    )


@pytest.mark.parametrize(
    ("shown", "printed", "numbers", "fits"),
    [
        ("a 1 ...\nend", "a 1 b\nc\nend", True, True),
        ("a 1 ...\nend", "a 2 b\nc\nend", True, False),
        ("a 1 ...\nend", "a 2 b\nc\nend", False, True),
        ("│ x │ 1,234 │ +5 ± 3 │", "│ x │   7 │   - │", False, True),
        ("│ x │ 1,234 │", "│ y │   7 │", False, False),
        ("a", "a b", True, False),
    ],
)
def test_what_is_printed_is_compared(shown: str, printed: str, numbers: bool, fits: bool) -> None:
    assert tells(shown, printed, numbers=numbers) is fits


def test_every_block_of_python_names_its_file() -> None:
    assert all(re.match(r"(src|tests)/", step.path) for step in steps(PAGE) if isinstance(step, FileStep))
