"""``glem positions``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from glem.core.cli.display import display_progress, print_json, tell
from glem.core.cli.outputs import check_outputs
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.positions.labels import LabelCounts, Selection
    from glem.core.positions.positions import Positions

__all__ = ["command", "ply_range"]

_PLAYERS_SHOWN = 20


@click.command("positions")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="Parquet file to write.")
@click.option("--game", "game_name", metavar="NAME", help="Game of the files; needed where they do not tell.")
@click.option("--format", "file_format", metavar="NAME", help="Format of the files, if their names do not tell.")
@click.option(
    "--label",
    type=click.Choice(["auto", "result", "theoretical", "score"]),
    default="auto",
    show_default=True,
    help="Final result, exact (theoretical) scores alone, both as they are known best, or scores of position files.",
)
@click.option("--plies", metavar="FIRST-LAST", help="Only these plies; 0 is the starting position.")
@click.option("--phases", metavar="LIST", help="Only these game stages, for instance 3-8,10.")
@click.option(
    "--player",
    "players",
    multiple=True,
    metavar="NAME",
    help="Only games of this player; may be repeated. A whole name or a pattern like '*kasparov*', in any case.",
)
@click.option("--minimum-games", type=click.IntRange(1), help="Only games of a player with at least so many games.")
@click.option("--errors", metavar="LOW-HIGH", help="Only games whose result and exact score differ by so much.")
@click.option(
    "--sample", type=click.IntRange(1, 1_000_000), metavar="N", help="At most N random positions of each game."
)
@click.option(
    "--split", type=click.FloatRange(0, 1), help="Hold out this share of games: OUTPUT gets .train, .heldout."
)
@click.option("--unseen", is_flag=True, help="Hold out only positions that do not occur in the training games.")
@click.option("--merge", is_flag=True, help="Merge equal positions, mirror images too; labels are averaged.")
@click.option("--spread", is_flag=True, help="With --merge, keep the standard deviation of merged labels.")
@click.option("--skip-bad", is_flag=True, help="Leave bad records out and count them instead of stopping.")
@click.option("--seed", default=0, show_default=True, help="Chooses sampled positions and held-out games.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="processors", help="Threads.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    files: tuple[str, ...],
    output: str,
    game_name: str | None,
    file_format: str | None,
    label: str,
    plies: str | None,
    phases: str | None,
    players: tuple[str, ...],
    minimum_games: int | None,
    errors: str | None,
    sample: int | None,
    split: float | None,
    unseen: bool,
    merge: bool,
    spread: bool,
    skip_bad: bool,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Turn game records, or files of scored positions, into a set of scored positions (Parquet)."""
    from glem.core.cli.game_choice import choose_game
    from glem.core.errors import BadInputError
    from glem.core.positions.labels import LabelCounts, label_records
    from glem.core.positions.reading import read_all_records

    if unseen and split is None:
        raise BadInputError("--unseen needs --split")
    if spread and not merge:
        raise BadInputError("--spread needs --merge")
    targets = _targets(output, split)
    game = choose_game(game_name, files=files, format=file_format)
    counts = LabelCounts()
    if label == "score":
        if plies or phases or players or minimum_games or errors or sample:
            raise BadInputError("positions with scores of their own cannot be selected by game, ply or phase")
        parts = _scored_positions(game, files, file_format, skip_bad, counts, quiet=as_json)
    else:
        progress = display_progress(quiet=as_json)
        read = partial(read_all_records, game, files, format=file_format, skip_bad=skip_bad, progress=progress)
        selection = _selection(game, plies, phases, errors, sample)
        names = frozenset(players)
        if minimum_games is not None:
            from glem.core.positions.labels import frequent_players

            names |= frequent_players(read(), minimum_games)
        if players or minimum_games is not None:
            from attrs import evolve

            selection = evolve(selection, players=names)
        records = read(keep_replay=True)
        parts = label_records(game, records, label=label, selection=selection, seed=seed, jobs=jobs, counts=counts)
    written = _write(game, parts, targets, label, split, seed, unseen=unseen, merge=merge, spread=spread, counts=counts)
    _report(counts, written, as_json=as_json)


def ply_range(text: str, option: str) -> tuple[int, int]:
    """First and last of a range like 20-50 that an option was given."""
    from glem.core.errors import BadInputError
    from glem.core.game.whole_numbers import whole_number

    first, dash, last = text.partition("-")
    least, greatest = whole_number(first.strip()), whole_number((last if dash else first).strip())
    if least is None or greatest is None:
        raise BadInputError(f"{option} must be a number or a range like 20-50, got {text!r}")
    return least, greatest


def _selection(game: Game, plies: str | None, phases: str | None, errors: str | None, sample: int | None) -> Selection:
    from glem.core.features.learning import load_learning
    from glem.core.positions.labels import Selection

    chosen = None
    if phases is not None:
        ranges = [ply_range(part, "--phases") for part in phases.split(",")]
        chosen = tuple(sorted({phase for first, last in ranges for phase in range(first, min(last, 1 << 16) + 1)}))
    return Selection(
        plies=None if plies is None else ply_range(plies, "--plies"),
        phases=chosen,
        stages=None if phases is None else load_learning(game.name).phases,
        errors=None if errors is None else ply_range(errors, "--errors"),
        per_game=sample,
    )


def _scored_positions(
    game: Game, files: Sequence[str], file_format: str | None, skip_bad: bool, counts: LabelCounts, *, quiet: bool
) -> Iterator[Positions]:
    from glem.core.files.names import distinct_names
    from glem.core.game.records import MAX_PROBLEMS
    from glem.core.positions.positions import Positions
    from glem.core.positions.reading import read_scored_positions

    with display_progress(quiet=quiet)("Reading positions", len(files)) as task:
        for file, name in zip(files, distinct_names(files), strict=True):
            task.note(name)
            for chunk in read_scored_positions(game, file, format=file_format, skip_bad=skip_bad):
                counts.skipped += len(chunk.problems)
                counts.problems = (*counts.problems, *chunk.problems)[:MAX_PROBLEMS]
                counts.positions += len(chunk.label)
                # Each counts as a game of its own, so that equal ones fall on the same side of a split.
                yield Positions.from_positions(game, chunk.positions, chunk.label, source=name)
            task.advance()


def _targets(output: str, split: float | None) -> list[Path]:
    path = Path(output)
    sides = ("",) if split is None else (".train", ".heldout")
    targets = [path.with_name(f"{path.stem}{side}{path.suffix}") for side in sides]
    check_outputs(*targets)
    return targets


def _write(
    game: Game,
    parts: Iterator[Positions],
    targets: list[Path],
    label: str,
    split: float | None,
    seed: int,
    *,
    unseen: bool,
    merge: bool,
    spread: bool,
    counts: LabelCounts,
) -> dict[Path, int]:
    """Write the parts to scratch files first, so that all targets appear together and only when all went well."""
    from glem.core.errors import BadInputError
    from glem.core.files.atomic import temporary_folder
    from glem.core.positions.files import PositionWriter, keep_unseen, merge_file, read_header

    with temporary_folder(targets[0]) as folder:
        scratch = [folder / f"{place}.parquet" for place in range(len(targets))]
        with contextlib.ExitStack() as stack:
            writers = [stack.enter_context(PositionWriter(path, game, label)) for path in scratch]
            for part in parts:
                for writer, side in zip(writers, _sides(part, split, seed), strict=True):
                    writer.append(side)
        if unseen:
            keep_unseen(scratch[1], scratch[1], training=scratch[0])
        if merge:
            for path in scratch:
                merge_file(path, path, keep_spread=spread)
        if sum(read_header(path, game).count for path in scratch) == 0:
            raise BadInputError(f"no position is left to write: {_left_out(counts) or 'the files hold none'}")
        for path, target in zip(scratch, targets, strict=True):
            path.replace(target)
    return {target: read_header(target, game).count for target in targets}


def _sides(part: Positions, split: float | None, seed: int) -> tuple[Positions, ...]:
    return (part,) if split is None else part.split_by_game(split, seed)


def _report(counts: LabelCounts, written: dict[Path, int], *, as_json: bool) -> None:
    from attrs import asdict

    if as_json:
        files = [{"path": str(path), "positions": count} for path, count in written.items()]
        print_json({**asdict(counts), "files": files})
        return
    for path, count in written.items():
        click.echo(f"{counted(count, 'position')} in {path}")
    if counts.records:
        click.echo(f"from {counted(counts.records, 'game')}")
    for remark in (*_caught(counts), *_remarks(counts)):
        click.echo(f"  {remark}")
    for problem in counts.problems:
        tell(f"skipped: {problem}")


def _caught(counts: LabelCounts) -> list[str]:
    """Tell the players that were asked for, those with the most games first."""
    most = sorted(counts.players.items(), key=lambda entry: (-entry[1], entry[0]))
    lines = [f"{counted(games, 'game')} of {name}" for name, games in most[:_PLAYERS_SHOWN]]
    if len(most) > len(lines):
        lines.append(f"and those of {counted(len(most) - len(lines), 'other player')}")
    return lines


def _remarks(counts: LabelCounts) -> list[str]:
    """Say what was found on the way, and what was left out."""
    found = {
        "skipped": (counts.skipped, "bad record"),
        "": (counts.unfinished, "unfinished game"),
        "with illegal moves left out": (counts.illegal, "game"),
        "left out for their players": (counts.other_players, "game"),
        "left out for the size of their errors": (counts.other_errors, "game"),
        "left out, as their games give them no label of this kind": (counts.without_label, "position"),
    }
    return [f"{counted(count, noun)} {text}".strip() for text, (count, noun) in found.items() if count] + [
        f"{text}: {count:,}" for text, count in counts.remarks.items()
    ]


def _left_out(counts: LabelCounts) -> str:
    remarks = _remarks(counts)
    if counts.other_players and not counts.players:
        remarks.append("no player's name is the one given; --player '*part of a name*' finds more")
    if counts.problems:
        remarks.append(f"the first: {counts.problems[0]}")
    return f"of {counted(counts.records, 'game')}: " + "; ".join(remarks) if remarks else ""
