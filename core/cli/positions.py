"""``glem positions``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from glem.core.cli import options
from glem.core.cli.display import display_progress, print_result, prints_json, tell
from glem.core.cli.outputs import check_outputs
from glem.core.errors import BadInputError
from glem.core.tasks.counts import counted

if TYPE_CHECKING:
    from glem.core.game.game import Game
    from glem.core.positions.labels import LabelCounts
    from glem.core.positions.positions import Positions


_PLAYERS_SHOWN = 20


@options.command(
    "positions",
    "positions GAME games.wtb -o positions.parquet",
    "positions games.pgn --label result --held-out 0.2 -o games.parquet",
    features=False,
)
@options.files("FILES...", options.file_format, options.skip_bad, was_option=True)
@options.output("Parquet file to write.")
@options.choice(
    "--label",
    ["auto", "result", "theoretical", "score"],
    "Final result, exact (theoretical) scores alone, both as they are known best, or scores of position files.",
)
@options.plies
@options.option("--phases", type=options.Ranges(), metavar="LIST", help="Only these game stages, for instance 3-8,10.")
@options.of_player
@options.count("--minimum-games", None, "Only games of a player with at least so many games.")
@options.option(
    "--errors",
    type=options.Range(),
    metavar="LOW-HIGH",
    help="Only games whose result and exact score differ by so much.",
)
@options.per_game
@options.held_out(None, ": OUTPUT gets .train, .heldout", most=1, was=("--split",))
@options.flag("--unseen", "Hold out only positions that do not occur in the training games.")
@options.merge
@options.flag("--spread", "With --merge, keep the standard deviation of merged labels.")
@options.seed
@options.jobs
def command(
    files: options.GameFiles,
    output: str,
    label: str,
    plies: tuple[int, int] | None,
    phases: list[tuple[int, int]] | None,
    players: tuple[str, ...],
    minimum_games: int | None,
    errors: tuple[int, int] | None,
    per_game: int | None,
    held_out: float | None,
    unseen: bool,
    merge: bool,
    spread: bool,
    seed: int,
    jobs: int,
) -> None:
    """Turn game records, or files of positions with scores or results, into a set of scored positions (Parquet)."""
    from glem.core.features.learning import load_learning
    from glem.core.game.game import PositionFormat
    from glem.core.positions.labels import LabelCounts, Selection, frequent_players, label_records
    from glem.core.positions.reading import format_of, read_all_records

    if unseen and held_out is None:
        raise BadInputError("--unseen needs --held-out")
    if spread and not merge:
        raise BadInputError("--spread needs --merge")
    path = Path(output)
    sides = ("",) if held_out is None else (".train", ".heldout")
    targets = [path.with_name(f"{path.stem}{side}{path.suffix}") for side in sides]
    check_outputs(*targets)
    game = files.game()
    counts = LabelCounts()
    found = format_of(game, files.paths[0], files.format)
    if label == "score" or isinstance(found, PositionFormat):
        if plies or phases or players or minimum_games or errors or per_game:
            raise BadInputError("positions with scores of their own cannot be selected by game, ply or phase")
        if label == "theoretical":
            raise BadInputError("exact scores are told by game records alone; leave --label theoretical out")
        if label != "result":
            label = found.label_kind if isinstance(found, PositionFormat) else label
        parts = _scored_positions(game, files, label, counts)
    else:
        selection = Selection(
            plies=plies,
            phases=None if phases is None else _numbers(phases),
            stages=None if phases is None else load_learning(game.name).phases,
            errors=errors,
            per_game=per_game,
        )
        progress = display_progress()
        read = partial(
            read_all_records, game, files.paths, format=files.format, skip_bad=files.skip_bad, progress=progress
        )
        names = frozenset(players)
        if minimum_games is not None:
            names |= frequent_players(read(), minimum_games)
        if players or minimum_games is not None:
            selection = attrs.evolve(selection, players=names)
        records = read(keep_replay=True)
        parts = label_records(game, records, label=label, selection=selection, seed=seed, jobs=jobs, counts=counts)
    divided: Iterator[tuple[Positions, ...]] = (
        (part,) if held_out is None else part.split_by_game(held_out, seed) for part in parts
    )
    written = _write(game, divided, targets, label, unseen=unseen, merge=merge, spread=spread, counts=counts)
    told = [f"{counted(count, 'position')} in {path}" for path, count in written.items()]
    told += [f"from {counted(counts.records, 'game')}"] if counts.records else []
    files_written = [{"path": str(path), "positions": count} for path, count in written.items()]
    print_result(
        {**attrs.asdict(counts), "files": files_written},
        (*told, *(f"  {remark}" for remark in (*_caught(counts), *_remarks(counts)))),
    )
    if not prints_json():
        for problem in counts.problems:
            tell(f"skipped: {problem}")


def _numbers(ranges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(sorted({number for first, last in ranges for number in range(first, min(last, 1 << 16) + 1)}))


def _scored_positions(game: Game, files: options.GameFiles, label: str, counts: LabelCounts) -> Iterator[Positions]:
    from glem.core.files.names import distinct_names
    from glem.core.positions.reading import ReadingNotes, stream_scored

    notes = ReadingNotes()
    read = partial(stream_scored, game, format=files.format, skip_bad=files.skip_bad, label_kind=label, notes=notes)
    with display_progress()("Reading positions", len(files.paths)) as task:
        for file, name in zip(files.paths, distinct_names(files.paths), strict=True):
            task.note(name)
            for part in read(file, name=name):
                counts.positions += len(part)
                yield part
            task.advance()
    counts.skipped, counts.problems, counts.understood = notes.skipped, notes.problems, notes.understood


def _write(
    game: Game,
    parts: Iterable[tuple[Positions, ...]],
    targets: list[Path],
    label: str,
    *,
    unseen: bool,
    merge: bool,
    spread: bool,
    counts: LabelCounts,
) -> dict[Path, int]:
    """Write the parts to scratch files first, so that all targets appear together and only when all went well."""
    from glem.core.files.atomic import temporary_folder
    from glem.core.positions.files import PositionWriter, keep_unseen, merge_file, read_header

    with temporary_folder(targets[0]) as folder:
        scratch = [folder / f"{place}.parquet" for place in range(len(targets))]
        with contextlib.ExitStack() as stack:
            writers = [stack.enter_context(PositionWriter(path, game, label)) for path in scratch]
            for part in parts:
                for writer, side in zip(writers, part, strict=True):
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
    return [
        *(f"{counted(count, noun)} {text}".strip() for text, (count, noun) in found.items() if count),
        *(f"{text}: {count:,}" for text, count in counts.remarks.items()),
        *counts.understood,
    ]


def _left_out(counts: LabelCounts) -> str:
    remarks = _remarks(counts)
    if counts.other_players and not counts.players:
        remarks.append("no player's name is the one given; --of-player '*part of a name*' finds more")
    if counts.problems:
        remarks.append(f"the first: {counts.problems[0]}")
    return f"of {counted(counts.records, 'game')}: " + "; ".join(remarks) if remarks else ""
