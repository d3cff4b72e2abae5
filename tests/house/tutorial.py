"""A tutorial as the steps that its reader takes: definitions put into files, commands run, what they print."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import define

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
