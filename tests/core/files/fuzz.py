"""Every reader against thousands of damaged files: ``python -m tests.core.files.fuzz --mutations 10000``.

Whatever is done to a file, its reader refuses it with an error of glem's that names the file, or reads what a naive
reader finds in it.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from attrs import define, field

from glem.core.errors import GlemError
from tests.core.files.fuzzed_readers import Reader, readers
from tests.core.files.mutations import bytes_changed

FOREIGN = (b"", b"PK", b"PAR1", b"PAR1" * 50, b"\x89PNG\r\n\x1a\n" + bytes(100), b"[[1]]", b"[" * 100_000, b"9" * 5000)
_MEMORY = 4 << 30
_SECONDS = 30
_HEADER = ("reader", "tried", "refused", "accepted", "equal", "different", "tracebacks", "MB", "seconds")


@define
class Outcome:
    """What became of the damaged files of one reader; ``failures`` are the content and what happened."""

    name: str
    tried: int = 0
    refused: int = 0
    accepted: int = 0
    equal: int = 0
    longest: float = 0.0
    memory: float = 0.0
    tracebacks: list[tuple[bytes, str]] = field(factory=list)
    different: list[tuple[bytes, str]] = field(factory=list)

    def row(self) -> list[Any]:
        """Figures, in the order of the table."""
        counts = (self.tried, self.refused, self.accepted, self.equal, len(self.different), len(self.tracebacks))
        return [self.name, *counts, round(self.memory, 1), round(self.longest, 2)]


def damaged_contents(reader: Reader, count: int, seed: int = 1) -> Iterator[bytes]:
    """Give what never was such a file, then damage a good one, half of the time its bytes."""
    yield from FOREIGN
    chance = random.Random(zlib.crc32(reader.name.encode()) + seed)
    for number in range(count):
        yield (reader.change if number % 2 else bytes_changed)(reader.content, chance)


def tried(reader: Reader, count: int, folder: Path, seed: int = 1) -> Outcome:
    """Let a reader read damaged files."""
    outcome = Outcome(reader.name)
    path = folder / f"{reader.name.replace(' ', '-')}{reader.suffix}"
    path.write_bytes(reader.content)
    assert reader.right(reader.content, reader.read(path)) is not False, f"{reader.name}: the good file is read wrongly"
    has_alarm = hasattr(signal, "alarm")
    if has_alarm:
        signal.signal(signal.SIGALRM, _alarm)
    before = _most_memory()
    for content in damaged_contents(reader, count, seed):
        path.write_bytes(content)
        outcome.tried += 1
        begin = time.perf_counter()
        if has_alarm:
            signal.alarm(_SECONDS)
        try:
            found = reader.read(path)
        except GlemError as error:
            outcome.refused += 1
            if path.name.partition(".")[0] not in str(error):
                outcome.tracebacks.append((content, f"the error does not name the file: {error}"))
            continue
        except BaseException:  # noqa: BLE001 - the point of it all
            outcome.tracebacks.append((content, traceback.format_exc()))
            continue
        finally:
            if has_alarm:
                signal.alarm(0)
            outcome.longest = max(outcome.longest, time.perf_counter() - begin)
        outcome.memory = _most_memory() - before
        outcome.accepted += 1
        try:
            right, why = reader.right(content, found), repr(found)
            if right is None:
                continue
        except Exception:  # noqa: BLE001 - the naive reader does not get through it
            right, why = False, f"{found!r}\n{traceback.format_exc()}"
        if right:
            outcome.equal += 1
        else:
            outcome.different.append((content, why))
    outcome.memory = _most_memory() - before
    return outcome


def _most_memory() -> float:
    """MB that this process has had at most; where only Windows knows that, what it has."""
    known = psutil.Process().memory_info()
    return getattr(known, "peak_wset", known.rss) / (1 << 20)


def _alarm(*_: Any) -> None:
    raise TimeoutError("too slow")


def _one(name: str, count: int, seed: int, keep: Path | None) -> list[Any]:
    """Try one reader within bounds, and return its row."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        reader = next(known for known in readers(folder) if known.name == name)
        import resource

        used = psutil.Process().memory_info().vms
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
        outcome = tried(reader, count, folder, seed)
    for kind in ("tracebacks", "different"):
        for number, (content, why) in enumerate(getattr(outcome, kind)[:40]):
            if keep is not None:
                file = keep / f"{name.replace(' ', '-')}-{kind}-{number}"
                file.with_suffix(reader.suffix).write_bytes(content)
                file.with_suffix(".why").write_text(why[:20_000], errors="replace")
    return outcome.row()


def main() -> None:
    """Try all readers, each in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", action="append", help="only this one")
    parser.add_argument("--keep", type=Path, help="folder for the files that were read wrongly")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        names = chosen.reader or [reader.name for reader in readers(Path(scratch))]
    print("| " + " | ".join(_HEADER) + " |\n|" + "---|" * len(_HEADER), flush=True)
    failed = False
    for name in names:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            try:
                row = process.submit(_one, name, chosen.mutations, chosen.seed, chosen.keep).result()
                failed = failed or row[5] > 0 or row[6] > 0
            except BrokenProcessPool:
                row, failed = [name, "ended", *[""] * 7], True
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
