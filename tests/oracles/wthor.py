"""WTHOR files byte by byte, for making test files."""

import struct
from collections.abc import Sequence


def names_file(names: Sequence[str], size: int) -> bytes:
    """Bytes of a .JOU (``size`` 20) or .TRN (``size`` 26) file."""
    header = struct.pack("<4BIHH4B", 20, 26, 2, 1, 0, len(names), 0, 0, 0, 0, 0)
    return header + b"".join(name.encode("latin-1").ljust(size, b"\0") for name in names)


def game_record(
    moves: Sequence[int], discs: int, theoretical: int = 32, ids: tuple[int, int, int] = (0, 0, 0)
) -> bytes:
    """Bytes of one game; ``ids`` are tournament, black and white player."""
    squares = bytes(10 * (move // 8 + 1) + move % 8 + 1 for move in moves)
    return struct.pack("<3H2B", *ids, discs, theoretical) + squares.ljust(60, b"\0")


def games_file(records: Sequence[bytes], year: int = 1999, depth: int = 24, count: int | None = None) -> bytes:
    """Bytes of a .wtb file."""
    announced = len(records) if count is None else count
    header = struct.pack("<4BIHH4B", 20, 26, 2, 1, announced, 0, year, 8, 0, depth, 0)
    return header + b"".join(records)
