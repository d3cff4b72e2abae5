"""A filled report with invented but likely numbers: 13 phases of an 8 x 8 board.

Running this file writes it: ``python tests/core/report/report_example.py report.html``.
"""

import sys

import numpy as np

from glem.core.game.game import BoardLayout
from glem.core.report.data import Calibration, CellMap, DiscoveryReport, Item, LearningCurve, PhaseErrors
from glem.core.report.page import write_page
from glem.core.report.pages.discovery import render

PHASES = tuple(f"{13 + 4 * phase if phase else 4}-{16 + 4 * phase}" for phase in range(13))
COUNTS = (52_113, *np.linspace(41_200, 31_800, 11).astype(int).tolist(), 17_204)
LATE = np.linspace(0, 1, 13)

CONFIGURATIONS = (
    ("a1=own b1=own c1=own", ()),
    ("a1=empty b2=own", ("mobility=3",)),
    ("b2=own a1=empty c3=own", ()),
    ("h8=own h7=own g8=own g7=own", ()),
    ("a1=own a8=own", ("parity=odd",)),
    ("d3=opponent e3=opponent d6=opponent e6=opponent", ()),
    ("b1=own c1=empty d1=own a1=empty", ()),
    ("c3=own c6=own f3=own f6=own", ("corner_moves=0", "opponent_mobility=2")),
    ("g1=opponent h1=empty", ()),
    ("a3=own a4=own a5=own a6=own", ()),
    ("h1=opponent g1=opponent f1=opponent e1=own", ()),
    ("", ("mobility=0", "opponent_mobility=5")),
)
PATTERNS = {
    "edge_2x": "b2 a1 b1 c1 d1 e1 f1 g1 h1 g2",
    "corner_3x3": "a1 b1 c1 a2 b2 c2 a3 b3 c3",
    "corner_2x5": "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "diagonal_8": "a8 b7 c6 d5 e4 f3 g2 h1",
    "row_4": "a4 b4 c4 d4 e4 f4 g4 h4",
    "diagonal_4": "a4 b3 c2 d1",
}


def _cell(square: str) -> int:
    return ord(square[0]) - ord("a") + 8 * (int(square[1]) - 1)


def _configuration(name: str, other: tuple[str, ...], rank: int, random: np.random.Generator) -> Item:
    parts = dict(part.split("=") for part in name.split())
    shape = (np.sin(np.pi * LATE * random.uniform(0.7, 1.2)) + 0.35 * LATE) * random.choice([-1, 1, 1])
    counts = random.lognormal(8.5 - 0.1 * rank, 0.3) * np.exp(-0.5 * ((LATE - random.uniform(0.3, 0.8)) / 0.3) ** 2)
    weights = 4.2 * 0.93**rank * shape + random.normal(0, 0.15, 13)
    weights[counts < 250] = 0.0
    return Item(
        kind="configuration",
        name=", ".join((*name.split(), *other)),
        cells=dict(sorted((_cell(square), value) for square, value in parts.items())),
        other=other,
        weights=weights.tolist(),
        match_counts=counts.astype(int).tolist(),
        significance=0.31 * 0.96**rank * (1 if weights.sum() > 0 else -1),
    )


def _pattern(name: str, squares: str, random: np.random.Generator) -> Item:
    return Item(
        kind="pattern",
        name=name,
        cells={_cell(square): str(random.choice(["own", "own", "opponent", "empty"])) for square in squares.split()},
        other=(),
        weights=(random.uniform(1, 4) * (0.3 + np.sin(np.pi * LATE)) + random.normal(0, 0.1, 13)).tolist(),
        match_counts=[8 * count for count in COUNTS],
        significance=random.uniform(0.2, 0.6),
        note=f"{3 ** len(squares.split()):,} contents in each phase.",
    )


def _curve(phase: str, place: int, random: np.random.Generator) -> LearningCurve:
    iterations = np.arange(0, 61)
    floor = 19 - 1.1 * place
    training = floor + 6 * np.exp(-iterations / 5) - 0.02 * iterations
    validation = floor + 6 * np.exp(-iterations / 5.5) + 0.35 + 0.00035 * (iterations - 22) ** 2
    validation += random.normal(0, 0.01, 61)
    return LearningCurve(phase, iterations.tolist(), training.tolist(), validation.tolist())


def example_report() -> DiscoveryReport:
    """Everything filled in, the same on every call."""
    random = np.random.default_rng(11)
    constant = 22 - 1.5 * LATE
    errors = PhaseErrors(
        phases=PHASES,
        counts=COUNTS,
        models={
            name: values.tolist()
            for name, values in {
                "patterns": 21.4 - 13 * LATE**1.6,
                "mined configurations": 21.5 - 11.6 * LATE**1.7,
                "constant": constant,
                "disc difference": constant - 0.3 - 9.5 * LATE**5,
                "mobility": constant - 0.5 - 3.2 * np.sin(np.pi * LATE) + 0.4 * LATE,
            }.items()
        },
        unit="discs",
        baselines=("constant", "disc difference", "mobility"),
    )
    predicted = np.linspace(-48, 48, 25)
    bins = (60_000 * np.exp(-0.5 * (predicted / 17) ** 2)).astype(int)
    noise = 14 / np.sqrt(bins / 100 + 1)
    calibrations = [
        Calibration(
            name, predicted.tolist(), (slope * predicted + random.normal(0, noise)).tolist(), bins.tolist(), "discs"
        )
        for name, slope in (("patterns", 1.0), ("mined configurations", 0.93), ("mobility", 1.04))
    ]
    rows, columns = np.divmod(np.arange(64), 8)
    edge = np.maximum(abs(rows - 3.5), abs(columns - 3.5)) / 3.5
    corner = (abs(rows - 3.5) + abs(columns - 3.5)) / 7
    beside_corner = (corner > 0.65) & (corner < 0.9)
    maps = [
        CellMap(phase, (corner**6 * (9 - 2.5 * late) - 2.6 * (1 - late) * beside_corner * edge + 0.4 * late).tolist())
        for phase, late in zip(PHASES, LATE, strict=True)
    ]
    return DiscoveryReport(
        title="What 137,548 games say about a position",
        game_title="Othello",
        layout=BoardLayout(8, 8),
        summary=(
            "From 137,548 games, 7.9 million positions were labelled with the final disc difference. Of 1,034,112 "
            "configurations with at least 200 matches, 104,220 are related to the label beyond chance and were "
            "fitted in 13 phases; Logistello's 46 pattern instances were fitted beside them. On games kept out of "
            "the fit, the patterns predict the result within 17.5 discs, root mean square."
        ),
        facts={
            "Game": "Othello, 64 cells, 13 phases by disc count",
            "Games": "137,548 read, 413 unfinished, 0 illegal",
            "Positions": "7,912,004 before and 7,104,310 after merging duplicates",
            "Labels": "final score from the side to move; exact from 24 empties on",
            "Held out": "10 % of the games, seed 1",
            "Mining": "minimum matches 200, at most 5 relations, 48.2 s",
            "Fitting": "conjugate gradient, L2 0.5, 61 iterations, 102 s",
            "Versions": "glem 0.1.0, numpy 2.4.6, numba 0.68.0, Python 3.11.7",
        },
        phases=PHASES,
        curves=[_curve(f"{phase} discs", place, random) for place, phase in enumerate(PHASES)],
        errors=errors,
        calibrations=calibrations,
        configurations=[
            _configuration(name, other, rank, random)
            for rank, (name, other) in enumerate((*CONFIGURATIONS, *CONFIGURATIONS))
        ],
        patterns=[_pattern(name, squares, random) for name, squares in PATTERNS.items()],
        unit="discs",
        how_to_read=(
            "A configuration is a set of conditions that must all hold, for instance that a corner and the square "
            "next to it are the side to move's own. Its weight is what it adds to the evaluation when it is active."
            "\n\nA pattern is a set of squares; each of its contents has a weight of its own, and the bars show "
            "their spread."
        ),
        cell_maps=maps,
        cell_map_title="What an own disc on each square is worth against an opponent's, by phase.",
        significance_name="correlation",
    )


if __name__ == "__main__":
    write_page(render(example_report()), sys.argv[1])
