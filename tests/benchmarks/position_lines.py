"""Lines of positions with results a second, in every custom: `python -m tests.benchmarks.position_lines [LINES]`."""

import gzip
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from glem.core.positions.reading import read_scored_positions
from glem.games.chess import CHESS
from tests.oracles.chess_boards import bullet_record, random_game

_TEXTS = {"1.0": "1-0", "0.5": "1/2-1/2", "0.0": "0-1"}
_CUSTOMS: dict[str, Callable[[str, str], str]] = {
    "operation.epd": lambda fen, number: f'{" ".join(fen.split()[:4])} c9 "{_TEXTS[number]}";',
    "brackets.epd": lambda fen, number: f"{fen} [{number}]",
    "bars.epd": lambda fen, number: f"{fen} | 35 | {number}",
    "semicolon.epd": lambda fen, number: f"{fen};{_TEXTS[number]}",
    "first.epd": lambda fen, number: f"{_TEXTS[number]} {fen}",
    "letters.epd": lambda fen, number: f"{fen};{'ldw'[int(2 * float(number))]}",
    "records.plain": lambda fen, number: (
        f"fen {fen}\nmove e2e4\nscore 31\nply 7\nresult {2 * float(number) - 1:.0f}\ne"
    ),
    "last.epd": lambda fen, number: f"{fen} {number}",
    "table.csv": lambda fen, number: f"{fen},{number}",
}


def _positions() -> Iterator[tuple[str, str, bytes]]:
    for seed in range(200):
        for board, _ in random_game(seed, 100):
            yield board.fen(en_passant="fen"), [*_TEXTS][seed % 3], bullet_record(board, 35, seed % 3)


def main(count: int) -> None:
    """Write files of so many lines, read them, print lines a second of processor time."""
    *rows, records = zip(*_positions(), strict=True)
    rows = [*zip(*rows, strict=True)]
    repeated = -(-count // len(rows))
    with tempfile.TemporaryDirectory() as folder:
        for name, line in _CUSTOMS.items():
            text = "".join(f"{line(*row)}\n" for row in rows) * repeated
            (Path(folder) / name).write_text(("fen,result\n" if name.endswith(".csv") else "") + text)
        (Path(folder) / "records.data").write_bytes(b"".join(records) * repeated)
        with gzip.open(Path(folder) / "packed.epd.gz", "wt", compresslevel=1) as file:
            file.write((Path(folder) / "bars.epd").read_text())
        columns = {
            "fen": [fen for fen, _ in rows] * repeated,
            "result": [float(result) for _, result in rows] * repeated,
        }
        pq.write_table(pa.table(columns), Path(folder) / "table.parquet")
        for path in sorted(Path(folder).iterdir()):
            # The positions are random, so nothing shows whose numbers are.
            name = {".plain": "positions", ".data": "bullet"}.get(path.suffix, "positions-white")
            next(read_scored_positions(CHESS, path, format=name))  # compiles
            begin = time.process_time()
            lines = sum(len(part.label) for part in read_scored_positions(CHESS, path, format=name))
            seconds = time.process_time() - begin
            print(f"{path.name:16} {lines:10,} lines  {lines / seconds:12,.0f} a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
