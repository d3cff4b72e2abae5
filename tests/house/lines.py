"""Count the lines of code of each package, and the lines of Markdown.

    python -m tests.house.lines

A line counts that holds any code: no blank lines, no comments, no docstrings. Markdown counts whole, in files that git
tracks.
"""

import ast
import tokenize
from collections import Counter
from pathlib import Path

import click

from tests.house.tree import ROOMS, ROOT, tracked

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def docstring_starts(text: str) -> set[tuple[int, int]]:
    """Return where strings begin that stand alone in a body: docstrings, those behind an attribute too."""
    return {
        (node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def code_lines(path: Path) -> int:
    """Count the lines of a source file that hold code."""
    text = path.read_text(encoding="utf-8")
    docstrings = docstring_starts(text)
    lines: set[int] = set()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in _NO_CODE and token.start not in docstrings:
                lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def package(path: Path) -> str:
    """Name the package of a file given relative to the checkout: its room and the folder below."""
    return "/".join(path.parent.parts[:2]) or path.name


@click.command()
def main() -> None:
    """Print the table."""
    counts: Counter[str] = Counter()
    for path in sorted(tracked("*.py")):
        counts[package(path)] += code_lines(ROOT / path)
    rooms: Counter[str] = Counter()
    for name, count in counts.items():
        rooms[name.split("/")[0]] += count
    for room in (*ROOMS, "tests"):
        for name, count in sorted(counts.items()):
            if name.split("/")[0] == room:
                click.echo(f"{name:28}{count:>8,}")
        click.echo(f"{room + ', all':28}{rooms[room]:>8,}\n")
    click.echo(f"{'core + games + plugins':28}{sum(rooms[room] for room in ROOMS):>8,}")
    click.echo(f"{'tests':28}{rooms['tests']:>8,}")
    markdown = sum(len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in tracked("*.md"))
    click.echo(f"{'Markdown':28}{markdown:>8,}")


if __name__ == "__main__":
    main()
