"""Chess: published counts of perft on thousands of positions; all promises of the rules, compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from glem.core.conformance import check_game
from glem.core.game.game import load_game
from glem.core.game.perft import perft
from glem.games.chess.notation import parse_position
from tests.oracles.chess_boards import read_counts

pytestmark = pytest.mark.shared

# `python -m tests.benchmarks.chess_perft_suites` counts them whole.
MOST_LEAVES = 20_000


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("perft.epd", 127),
        ("perft-chess960.epd", 960),
        pytest.param("random.perft.xz", 6838, marks=pytest.mark.repeats),
        ("tricky.perft", 19),
    ],
)
def test_perft_of_suites(shared: Path, name: str, size: int):
    chess = load_game("chess")
    suite = read_counts(shared / "chess" / "epd" / name)
    assert len(suite) == size
    for known in suite:
        affordable = [depth for depth, leaves in known.leaves.items() if leaves <= MOST_LEAVES]
        for depth in affordable[-1:]:
            found = perft(chess, depth, parse_position(known.fen))
            assert found == known.leaves[depth], f"{known.name}: {known.fen}, depth {depth}"


def test_the_compiled_rules_keep_their_promises(shared: Path):
    report = check_game(load_game("chess"), games=2)
    assert report.passed, str(report)
