"""The sample of Othello games that glem ships.

It is played anew by ``python -m glem.plugins.othello.sample plugins/othello/sample.txt.xz``.
"""

from __future__ import annotations

from pathlib import Path

import click
from attrs import evolve

from glem.core.files.atomic import atomic_path
from glem.core.files.packed import open_packed
from glem.core.game.records import GameRecords
from glem.core.positions.labels import positions_of_records
from glem.core.positions.positions import PositionSet
from glem.core.positions.reading import read_records
from glem.games.othello import OTHELLO
from glem.games.othello.formats.transcripts import write_transcripts
from glem.plugins.othello.self_play import play_games

__all__ = ["SAMPLE_FILE", "sample_games", "sample_positions"]

SAMPLE_FILE = Path(__file__).with_name("sample.txt.xz")
"""Transcripts with black's final score, packed."""

_GAMES = 5000
_SEED = 1998
_SOLVED_EMPTIES = 14


def sample_games() -> GameRecords:
    """Games of the sample: played by :mod:`glem.plugins.othello.self_play`, the last 14 squares perfectly."""
    return GameRecords.concatenate(list(read_records(OTHELLO, SAMPLE_FILE, format="transcripts")))


def sample_positions() -> PositionSet:
    """All positions of the sample, about 300,000, labelled by the result; exact from 14 empty squares on."""
    games = evolve(sample_games(), source="glem's own shallow self-play")
    return positions_of_records(OTHELLO, [games])


@click.command("sample")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--games", default=_GAMES, show_default=True, help="Number of games.")
@click.option("--seed", default=_SEED, show_default=True, help="Another seed gives other games.")
@click.option("--empties", default=_SOLVED_EMPTIES, show_default=True, help="Empty squares from which play is perfect.")
@click.option("--jobs", default=1, show_default=True, help="Threads; they do not change the games.")
def _command(path: Path, games: int, seed: int, empties: int, jobs: int) -> None:
    """Play the sample's games and write them to PATH as transcripts (.txt, .txt.gz, .txt.xz).

    The defaults take some three minutes of processor time and reproduce the file that glem ships.
    """
    records = play_games(games, seed, solved_empties=empties, jobs=jobs)
    with atomic_path(path) as temporary, open_packed(temporary) as file:
        file.writelines(write_transcripts(OTHELLO, records, score="raw"))
    click.echo(f"{len(records)} games in {path}")


if __name__ == "__main__":
    _command()
