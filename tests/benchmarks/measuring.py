"""What the benchmarks share: clocks, Markdown tables, searches, games of tournaments."""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define

from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from glem.core.search.results import Limits, SearchResult
from glem.core.search.searcher import Searcher


def command_line(text: str | None, **wanted: Any) -> argparse.ArgumentParser:
    """Make the parser of a script.

    Parameters
    ----------
    text
        What the script does.
    wanted
        By name a type, for an argument that must be given; a list of one, for any number of them; a mapping, for one
        of its keys; False, for a switch; or an option's default, a tuple where it takes several values.
    """
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind in wanted.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(kind, Mapping):
            parser.add_argument(name, choices=kind)
        elif isinstance(kind, type):
            parser.add_argument(name, type=kind)
        elif isinstance(kind, list):
            parser.add_argument(name, type=kind[0], nargs="+")
        elif isinstance(kind, tuple):
            parser.add_argument(option, type=type(kind[0]), nargs="+", default=kind)
        elif kind is False:
            parser.add_argument(option, action="store_true")
        else:
            parser.add_argument(option, type=type(kind), default=kind)
    return parser


def table_header(*names: str) -> None:
    """Begin a Markdown table."""
    print(f"| {' | '.join(names)} |\n{'|---' * len(names)}|")


def table_row(*cells: Any) -> None:
    """Print a row of a Markdown table at once."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def glem(*arguments: str | Path) -> dict[str, Any]:
    """Run a command of glem and read what it prints as JSON."""
    command = [sys.executable, "-m", "glem", "-q", *map(str, arguments), "--json"]
    told: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told


def processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a piece of work returns, and its processor time."""
    began = processor_seconds()
    result = work()
    return result, processor_seconds() - began


def median_seconds(work: Callable[[], Any], rounds: int) -> float:
    """Return the median processor time of a piece of work, after a first round."""
    return medians_in_turn(work, rounds=rounds)[0]


def medians_in_turn(*works: Callable[[], Any], rounds: int) -> list[float]:
    """Return the median processor time of each piece of work, all of them in turn, after a first round."""
    times = [[timed(work)[1] for work in works] for _ in range(rounds + 1)]
    return [statistics.median(seconds) for seconds in zip(*times[1:], strict=True)]


@define(frozen=True)
class Searches:
    """Searches of some positions."""

    results: list[SearchResult]
    seconds: float

    @property
    def nodes(self) -> int:
        """Nodes of all searches."""
        return sum(result.nodes for result in self.results)

    @property
    def speed(self) -> float:
        """Million nodes a second."""
        return self.nodes / self.seconds / 1e6


def search_all(searcher: Searcher, positions: Iterable[Any], limits: Limits) -> Searches:
    """Search positions one after the other, each with an empty table; compilation is not counted."""
    searcher.search(searcher.game.initial_position, Limits(depth=1))
    results, seconds = [], 0.0
    for position in positions:
        searcher.clear()
        result, taken = timed(lambda position=position: searcher.search(position, limits))
        results.append(result)
        seconds += taken
    return Searches(results, seconds)


def tournament_records(game: Game, folder: Path, files: str = "*.wtb") -> Iterator[GameRecords]:
    """Read all tournament games in a folder of ``.wtb`` files, or in some of them."""
    for file in sorted(folder.glob(files)):
        yield from read_records(game, file)
