"""The pages: links lead somewhere, commands and examples are the ones that work; no field of the interface is left out.

Links into the generated reference are checked by the build of the site, which warns of those that lead nowhere and of
pages that no table of contents names.
"""

import doctest
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import attrs
import click
import pytest

from glem.core.cli import RENAMED_COMMANDS, command_group
from glem.core.cli.fit import _Fit
from glem.core.conformance.new_game import field_meanings
from glem.core.features.evaluators import Evaluator
from glem.core.features.features import AtomicFeature, AtomicFeatures
from glem.core.features.learning import Covariate, Learning, Phases
from glem.core.game import optional_operations
from glem.core.game.game import ExternalPlayers, Game, RecordFormat
from glem.core.game.protocols import Protocol
from tests.house.documented import blocks_of, figures_in, missing
from tests.house.tree import GENERATED, ROOT, tracked

DOCS = ROOT / "docs"
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")] if not GENERATED & {*path.parts})
FENCE = re.compile(r"^```(?P<language>[\w{}-]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!\\)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
FIRST_SCREEN_LINES = 30

DECLARED = (
    Game,
    Learning,
    Phases,
    Covariate,
    AtomicFeature,
    AtomicFeatures,
    Evaluator,
    RecordFormat,
    Protocol,
    ExternalPlayers,
)


SPAN = re.compile(r"(?<!`)`(?P<text>[^`\n]+)`(?!`)")
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*\.py|(core|games|plugins|tests|docs)(/[\w.-]+)*/?")
PLACE = re.compile(r"(?<![\w./-])(?:core|plugins|tests)/[\w./-]*\w")
SCRIPT = re.compile(r"python3? (tests/[\w./-]+)")
MODULE = re.compile(r"python3? -m (tests[\w.]+)")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?")
MADE_UP = {"own_knight_attacks_opponent_queen", "WTH_2010.wtb", "eval_builder"}
"""Names that are put together while glem runs, of data, and of other programs."""


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def fenced(page: Path, language: str) -> list[str]:
    """Contents of the code blocks of one language."""
    return [
        match["body"] for match in FENCE.finditer(page.read_text(encoding="utf-8")) if match["language"] == language
    ]


def slug(heading: str) -> str:
    """Anchor that GitHub and the site give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def shell_commands(page: Path) -> list[list[str]]:
    """Every ``glem`` command in a page's shell blocks, split into words."""
    lines = "".join(fenced(page, "sh")).replace("\\\n", " ").splitlines()
    simple = [part.strip() for line in lines for part in re.split(r"&&|\||;", line)]
    words = [shlex.split(part, comments=True) for part in simple]
    return [[Path(line[0]).name, *line[1:]] for line in words if line and Path(line[0]).name == "glem"]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for match in LINK.finditer(text):
        target = match["target"]
        is_name = target.startswith("#") and slug(target[1:]) not in anchors(page)
        if re.match(r"(https?|mailto):", target) or (is_name and DOCS in page.parents):
            continue
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            broken.append(target)
    assert not broken


@cache
def tracked_places() -> frozenset[str]:
    """Files that git tracks, and their folders."""
    return frozenset(place.as_posix() for path in tracked() for place in (path, *path.parents))


@cache
def words_of_sources() -> frozenset[str]:
    paths = (ROOT / path for path in tracked() if path.suffix in {".py", ".template", ".toml"})
    return frozenset(word for path in paths for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=page_name)
def test_files_and_names_in_the_page_exist(page: Path) -> None:
    """Files by their path or its end; names of code, which have ``_``, a point or a capital inside, by their words."""
    text = page.read_text(encoding="utf-8")
    own = set(re.findall(r"\w+", "".join(match["body"] for match in FENCE.finditer(text))))
    spans = {match["text"] for match in SPAN.finditer(FENCE.sub("", text))} - MADE_UP
    files = {span for span in spans if FILE.fullmatch(span)}
    files |= {*PLACE.findall(FENCE.sub("", text)), *SCRIPT.findall(text)} | {
        f"{module.replace('.', '/')}.py" for module in MODULE.findall(text)
    }
    names = {span for span in spans - files if NAME.fullmatch(span) and re.search(r"_|[a-z][A-Z]|\.[a-z]{5}", span)}
    missing = {
        path for path in files if not any(f"/{place}".endswith(f"/{path.rstrip('/')}") for place in tracked_places())
    }
    missing |= {name for name in names if not {*re.findall(r"\w+", name)} <= words_of_sources() | own}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_in_the_page_exist(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command and option is one that ``glem`` has; the values are the reader's own."""
    monkeypatch.chdir(ROOT / "docs" / "how-to")  # where the files of examples lie
    context = click.Context(command_group, info_name="glem")
    for words in shell_commands(page):
        arguments = [word for word in words[1:] if word not in {"...", "--help", "--version"}]
        if not arguments:
            continue
        command: click.Command | None = command_group
        while isinstance(command, click.Group) and arguments:
            if arguments[0] == "--trust":
                del arguments[:2]
            with context:
                _, command, arguments = command.resolve_command(context, arguments)
        if isinstance(command, _Fit):
            command = command.chosen(arguments)
        assert command is not None
        is_old = {tuple(words[1:2]), tuple(words[1:3])} & RENAMED_COMMANDS.keys()
        assert not is_old, f"{page_name(page)}: {shlex.join(words)!r} has another name now"
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        used = {word.split("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert used <= known, f"{page_name(page)}: {shlex.join(words)!r} has options that the command has not"


@pytest.mark.parametrize("page", [page for page in PAGES if ">>> " in page.read_text(encoding="utf-8")], ids=page_name)
def test_python_examples_give_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in page.parent.glob("*.py"):
        shutil.copy(example, tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # A fence is no output: the examples alone, as the page has them.
    text = "\n".join(fenced(page, "python"))
    if "open_spiel:" in text:
        pytest.importorskip("pyspiel", reason="open_spiel is not installed; pip install 'pyglem[open-spiel]'")
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "explanation"], ids=page_name)
def test_pages_say_when_the_figures_of_their_tables_were_printed(page: Path) -> None:
    rows = re.compile(r"^\|.*\d\.\d", re.MULTILINE)
    unmarked = [block.line for block in blocks_of(page) if block.mark is None and rows.search(block.text)]
    assert not unmarked, f"{page_name(page)}: mark the blocks of lines {unmarked} as *Checked.* or *By hand, DATE.*"


def test_figures_are_compared_as_the_page_rounds_them() -> None:
    assert figures_in("0.588 ± 0.010, +1.5 and 12, 1,983 games, section 4.2") == ("0.588", "0.010", "+1.5", "4.2")
    printed = "grade 0.5879 0.0096 less -1.52"
    assert missing(("0.588", "0.010", "-1.5", "1.5"), printed, 0.0) == []
    assert missing(("0.589", "+0.588", "1.6"), printed, 0.0) == ["0.589", "1.6"]
    assert missing(("0.589", "1.6"), printed, 0.01) == ["1.6"]


def test_readme_sets_up_in_two_commands_on_its_first_screen() -> None:
    readme = ROOT / "README.md"
    first_screen = "\n".join(readme.read_text(encoding="utf-8").splitlines()[:FIRST_SCREEN_LINES])
    demo, tests = fenced(readme, "sh")[:2]
    assert demo in first_screen
    assert tests in first_screen
    for command in (demo, tests):
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
        assert command.count("\n") == 1
    assert demo.endswith(" && .venv/bin/glem discover --demo\n")
    assert tests.endswith(" && .venv/bin/pytest -n 2\n")


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """The script takes the command from the README; this is how it does."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    [extraction] = re.findall(r"^test_command=\$\((.+)\)$", script, re.MULTILINE)
    command = subprocess.check_output(["bash", "-c", extraction], cwd=ROOT, text=True)
    assert command == fenced(ROOT / "README.md", "sh")[1]
    assert subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("kind", DECLARED)
def test_docstring_says_what_every_field_means(kind: type) -> None:
    fields = [field.name for field in attrs.fields(kind) if field.init]
    assert set(fields) <= set(field_meanings(kind))


@pytest.mark.parametrize("kind", DECLARED)
def test_page_of_the_interface_has_every_part(kind: type) -> None:
    page = (ROOT / "docs" / "reference" / "interface.md").read_text(encoding="utf-8")
    assert f".. autoclass:: {kind.__module__}.{kind.__name__}\n" in page


def test_every_operation_of_the_search_is_described() -> None:
    told = re.findall(r"^``(\w+)\(", optional_operations.__doc__ or "", re.MULTILINE)
    assert sorted(told) == sorted(optional_operations.OPTIONAL_OPERATIONS)
