"""Solved positions of an OBF file, read as anyone would."""

from pathlib import Path

from glem.games.othello.notation import parse_position, parse_square
from glem.games.othello.rules import PASS, Position


def solved_positions(path: Path) -> list[tuple[Position, dict[int, float]]]:
    """Positions and the scores of their moves."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("%"):
            board, *entries = line.split(";")
            texts = dict(entry.split(":") for entry in entries if entry.strip())
            scores = {parse_square(move.strip()): float(score) for move, score in texts.items()}
            if len(scores) > 1:
                # A filler of some programs: nobody passes who has a move.
                scores.pop(PASS, None)
            found.append((parse_position(board), scores))
    return found
