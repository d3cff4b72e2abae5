"""Run the commands of the pages and compare the figures that the pages give with what is printed; run by hand.

    python -m tests.house.documented                     # every block that is marked as checked, some minutes
    python -m tests.house.documented --only grading.md --by-hand

A block of commands is checked where the line behind it says so, and with what tolerance:

    *Checked, within 0.5 %.*

Every number from there to the next block or heading that has a decimal point and two digits that count must be among
those that the commands print, rounded as on the page. *By hand, 2026-11-28.* marks what takes longer, and says when its
figures were last printed; `--by-hand` runs these too. Blocks of a page run in one folder with the collections of the
data sets, so later blocks find what earlier ones wrote. The status is 1 where a figure was not printed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import define

from tests.house.tree import ROOT

DATA = ROOT.parent / "shared" / "data"
# What the pages call folders and files of the collections.
FOLDERS = {"ENGINES": "chess/engines", "WTHOR": "othello/wthor", "FOLDER": "othello/wthor"}
FILES = {"HUMANS": "chess/players/*.pgn.xz"}
BESIDE = ("chess/engines", "chess/players", "chess/openings", "othello/openings")

_BLOCK = re.compile(
    r"^```sh\n(?P<commands>.*?)^```\n(?:\n\*(?P<mark>Checked|By hand)(?P<how>[^*]*)\.\*\n)?", re.MULTILINE | re.DOTALL
)
_NEXT = re.compile(r"^(#+ |```sh$)", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.,:/])[-+−]?\d[\d,]*(?:\.\d+)?(?![\w/]|\.\d)")
_SHARE = re.compile(r"within ([\d.]+) %")
_FEWEST_DIGITS = 2


@define(frozen=True)
class Documented:
    """A block of commands, and what the page says of it."""

    page: Path
    line: int
    commands: str
    mark: str | None
    tolerance: float
    text: str

    @property
    def figures(self) -> tuple[str, ...]:
        """What the page says that the commands print."""
        return figures_in(self.text)


def blocks_of(page: Path) -> Iterator[Documented]:
    """Blocks of a page that glem's figures follow."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        rest = text[match.end() :]
        following = _NEXT.search(rest)
        share = _SHARE.search(match["how"] or "")
        if "glem " in match["commands"] or "python " in match["commands"]:
            yield Documented(
                page,
                text.count("\n", 0, match.start()) + 1,
                match["commands"],
                match["mark"],
                float(share[1]) / 100 if share else 0.0,
                rest if following is None else rest[: following.start()],
            )


def figures_in(text: str) -> tuple[str, ...]:
    """Numbers of a text that say something: those with a decimal point and two digits or more that count."""
    found = _NUMBER.findall(re.sub(r"\]\([^)]*\)", "]", text))
    return tuple(
        number for number in found if "." in number and len(re.sub(r"\D", "", number).lstrip("0")) >= _FEWEST_DIGITS
    )


def missing(figures: tuple[str, ...], printed: str, tolerance: float) -> list[str]:
    """Those figures that no printed number rounds to; a sign that the page leaves out may be printed."""
    known = [_value(number) for number in _NUMBER.findall(printed)]
    known += [abs(number) for number in known]

    def is_among(figure: str) -> bool:
        value = _value(figure)
        reach = 0.5001 * 10.0 ** -len(figure.partition(".")[2]) + tolerance * abs(value)
        return any(abs(number - value) <= reach for number in known)

    return [figure for figure in figures if not is_among(figure)]


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _folder(path: Path) -> None:
    """Put the collections, and the scripts of docs/experiments, where the commands look for them."""
    (path / "docs").symlink_to(ROOT / "docs")
    for name, inner in FOLDERS.items():
        (path / name).symlink_to(DATA / inner)
    for inner in BESIDE:
        for file in (DATA / inner).iterdir():
            (path / file.name).unlink(missing_ok=True)
            (path / file.name).symlink_to(file)


def _run(block: Documented, folder: Path) -> str:
    commands = block.commands
    for name, pattern in FILES.items():
        commands = re.sub(rf"\b{name}\b", str(DATA / pattern), commands)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "240",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise SystemExit(f"{block.page}:{block.line}: status {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def main() -> int:
    """Run the blocks and say which figures were not printed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--only", default="", help="pages whose path holds this text")
    parser.add_argument("--by-hand", action="store_true", help="run the slow blocks of these pages, too")
    parser.add_argument("--show", action="store_true", help="print what the commands print")
    chosen = parser.parse_args()
    marks = {"Checked", "By hand"} if chosen.by_hand else {"Checked"}
    lost = 0
    for page in sorted((ROOT / "docs").rglob("*.md")):
        blocks = [block for block in blocks_of(page) if block.mark in marks and chosen.only in str(page)]
        with tempfile.TemporaryDirectory() as scratch:
            _folder(Path(scratch))
            for block in blocks:
                began = time.monotonic()
                printed = _run(block, Path(scratch))
                if chosen.show:
                    print(printed)
                absent = missing(block.figures, printed, block.tolerance)
                lost += len(absent)
                print(
                    f"{page.relative_to(ROOT)}:{block.line}: {len(block.figures) - len(absent)} of "
                    f"{len(block.figures)} figures, {time.monotonic() - began:.0f} s"
                    + (f"; not printed: {', '.join(absent)}" if absent else ""),
                    flush=True,
                )
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
