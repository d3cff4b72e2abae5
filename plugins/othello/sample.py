"""The sample of Othello games that glem ships.

Its 5,000 games begin with 4 to 11 random moves. Then two shallow searches play, one weaker than the other, and the last
14 squares are played perfectly. For a sample of your own, run ``glem generate othello``.
"""

from pathlib import Path

from attrs import evolve

from glem.core.game.records import GameRecords
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import Positions
from glem.core.positions.reading import read_records
from glem.games.othello import OTHELLO

SAMPLE_FILE = Path(__file__).with_name("sample.txt.xz")
"""Transcripts with black's final score, packed."""


def sample_games() -> GameRecords:
    """Read the games of the sample."""
    return GameRecords.concatenate(list(read_records(OTHELLO, SAMPLE_FILE, format="transcripts")))


def sample_positions() -> Positions:
    """All positions of the sample, about 300,000, labelled by the result; exact from 14 empty squares on."""
    games = evolve(sample_games(), source="glem's own shallow self-play")
    return positions_of_records(OTHELLO, [games])
