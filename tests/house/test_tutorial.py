"""The tutorial for a new game, gone through as a reader would, in an environment of its own."""

import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tests.house.tutorial import FileStep, ShellStep, edited, steps, tells
from tests.stranger_environment import StrangerEnvironment, stranger_environment

PAGE = ROOT / "docs" / "tutorials" / "a-game-in-an-afternoon.md"

SMALLER = {
    # The template as it is, and its rules and learning compiled, are looked at by the tests of `glem new-game`.
    "cd breakthrough && glem check breakthrough": "cd breakthrough && glem check breakthrough --plain --games 5",
    "glem check breakthrough || true": "glem check breakthrough --plain --games 5 || true",
    "--games 4000": "--games 200 --games-per-file 100",
    "--positions-per-phase 30000": "--positions-per-phase 200",
    "--opening-plies 4": "--opening-plies 4 --opening-count 5",
    "--maximum-size 3": "--maximum-size 1 --iterations 5",
}
"""What of the commands takes long, and what takes its place here."""

PROGRESS = re.compile(r"^glem: .* so far(, .*)?\n", re.MULTILINE)


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
