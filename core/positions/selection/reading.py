"""Selected positions of files, part by part: of position files, and of game records in any format of the game."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.game import Game, PositionFormat
from glem.core.game.records import MAX_PROBLEMS, GameRecords, added_remarks
from glem.core.positions.positions import Positions
from glem.core.positions.reading import ReadingNotes, format_of, is_position_file, read_records, stream_scored
from glem.core.positions.replay import first_sides, plies_of_games, positions_before
from glem.core.positions.selection.selection import PositionChooser, SelectionCounts, SelectionRule, chosen_plies
from glem.core.tasks.counts import counted

_CHUNK_GAMES = 8192
"""Games at a time: with comments, a few tens of megabytes."""

_RATING = "_rating"
_SHOWN_PROBLEMS = 5


@define(frozen=True)
class FileSummary:
    """What a file turned out to hold; follows its parts.

    Parameters
    ----------
    games
        How many numbers of games were given in the file.
    counts
        What the selection found.
    label_kind
        What the labels are; ``result`` for game records.
    problems
        Why bad records were skipped, at most a hundred lines.
    remarks
        What else the reader told, and of how many games (``GameRecords.remarks``).
    understood
        How the reader understood the file, where it had to find out.
    """

    games: int
    counts: SelectionCounts
    label_kind: str
    problems: tuple[str, ...] = ()
    remarks: Mapping[str, int] = field(factory=dict)
    understood: str = ""


def reading_remarks(summaries: Iterable[FileSummary]) -> list[str]:
    """Say for people what readers told, how many bad records were skipped, and why the first of them were."""
    files = list(summaries)
    found = [file.understood for file in files if file.understood]
    found += [
        f"{text}: {counted(count, 'game')}" for text, count in added_remarks(*(file.remarks for file in files)).items()
    ]
    alone = sum(file.counts.alone for file in files)
    if alone:
        found.append(
            f"{counted(alone, 'position')} that tell no game, each taken as one: of several of one game, which have "
            "one result, standard errors and p are too small, and held-out ones are not apart from the others"
        )
    tactical = sum(file.counts.tactical for file in files)
    if tactical:
        chosen = sum(file.counts.chosen for file in files)
        found.append(f"{tactical:,} of {counted(chosen, 'position')} are left out, as they are not quiet")
    skipped = sum(file.counts.skipped for file in files)
    if skipped:
        problems = [problem for file in files for problem in file.problems]
        found.append(f"{counted(skipped, 'bad record')} skipped")
        found += [f"skipped: {problem}" for problem in problems[:_SHOWN_PROBLEMS]]
    return found


def why_nothing_is_left(summaries: Iterable[FileSummary]) -> str:
    """Say why some files, of which no position is left, gave none."""
    files = list(summaries)
    counts = SelectionCounts()
    for file in files:
        counts.add(file.counts)
    reasons = []
    if counts.without:
        reasons.append("all games are too short for the selection")
    elif counts.without_result or not counts.skipped:
        reasons.append("the files hold no finished game")
    if counts.skipped:
        first = next((problem for file in files for problem in file.problems), "")
        reasons.append(f"{counted(counts.skipped, 'bad record')} skipped, the first: {first}")
    return "; ".join(reasons)


Reading: TypeAlias = Iterator[Positions | FileSummary]


def read_selected(
    game: Game,
    path: str | os.PathLike[str],
    rule: SelectionRule,
    *,
    format: str | None = None,  # noqa: A002 # the word of the command line
    skip_bad: bool = False,
    name: str | None = None,
) -> Reading:
    """Select from a file.

    Parameters
    ----------
    path
        Scored positions (glem's own ``.parquet``, or a format of the game) or game records.
    rule
        Which positions of each game.
    format
        Name of the file's format, if its name and content do not tell.
    skip_bad
        Leave bad records out, and count them, instead of raising.
    name
        What distinguishes the file from others that are read, its own name by default.

    Yields
    ------
    Positions or FileSummary
        Parts in the order of the file, which may be empty, then one summary. Records are numbered within the file, from
        0; labels are the scores of the games from the side to move.

    Raises
    ------
    BadInputError
        The file cannot be read, or positions of several games were merged.
    """
    if format is None and is_position_file(path):
        yield from _from_positions(game, path, rule, Path(path).name if name is None else name)
    elif isinstance(format_of(game, path, format), PositionFormat):
        yield from _from_scored(game, path, format, skip_bad, name)
    else:
        yield from _from_records(game, path, rule, format, skip_bad, name)


def _from_records(
    game: Game, path: str | os.PathLike[str], rule: SelectionRule, kind: str | None, skip_bad: bool, name: str | None
) -> Reading:
    counts = SelectionCounts()
    number = 0
    problems: tuple[str, ...] = ()
    remarks: Mapping[str, int] = {}
    parts = read_records(
        game, path, format=kind, skip_bad=skip_bad, chunk_games=_CHUNK_GAMES, name=name, keep_replay=True
    )
    for records in parts:
        counts.skipped += records.skipped
        problems = (*problems, *records.problems)[:MAX_PROBLEMS]
        remarks = added_remarks(remarks, records.remarks)
        unknown = np.isnan(records.score)
        counts.without_result += int(unknown.sum())
        known = records.select(~unknown) if unknown.any() else records
        if len(known):
            yield select_from_records(game, known, rule, first_record=number, counts=counts)
        number += len(known)
    yield FileSummary(number, counts, "result", problems, remarks)


def select_from_records(
    game: Game,
    records: GameRecords,
    rule: SelectionRule,
    *,
    first_record: int = 0,
    counts: SelectionCounts | None = None,
) -> Positions:
    """Select positions of games, each of which has a score.

    A game of L plies has L positions in which a move was made, and those can be selected; the one after its last move
    cannot. The random position of a game depends on its moves and the seed alone.

    Parameters
    ----------
    game
        Whose rules count; the moves are trusted to be legal, as those of
        :func:`~glem.core.positions.reading.read_records` are.
    records
        G games.
    rule
        Which positions of each game.
    first_record
        Number of the first game.
    counts
        Counts up what was found.
    """
    plies = plies_of_games(game, records)
    chosen, offsets = chosen_plies(records, plies, rule)
    columns, move = positions_before(game, records, chosen, offsets)
    row = np.repeat(np.arange(len(records)), np.diff(offsets))
    # The sides alternate, passes included.
    side = (first_sides(records)[row] * (1 - 2 * (chosen % 2))).astype(np.int8)
    if counts is not None:
        counts.games += len(records)
        counts.positions += int(plies.sum())
        counts.chosen += len(chosen)
        counts.without += int((np.diff(offsets) == 0).sum())
    return Positions(
        game,
        columns,
        label=records.score[row] * side,
        record=(first_record + row).astype(np.int32),
        ply=chosen.astype(np.int16),
        source=np.zeros(len(row), np.int16),
        sources=(records.source,),
        label_kind="result",
        records=records,
        extra={
            "side": side,
            "row": row,
            "move": move,
            "number": records.extra["number"][row] if "number" in records.extra else first_record + row + 1,
            "length": plies[row].astype(np.int32),
            "rating_difference": _rating_differences(records)[row] * side,
        },
    )


def _rating_differences(records: GameRecords) -> NDArray[np.float32]:
    """Rating of the first player less that of the second [G]; nan where one is unknown."""
    columns = [column for name, column in records.extra.items() if name.endswith(_RATING)]
    if len(columns) != 2:
        return np.full(len(records), np.nan, np.float32)
    first, second = (np.where(column > 0, column, np.nan) for column in columns)
    return (first - second).astype(np.float32)


def _from_positions(game: Game, path: str | os.PathLike[str], rule: SelectionRule, name: str) -> Reading:
    # Imported late: what grades game records needs no Parquet.
    from glem.core.positions.files import read_header, stream_positions, stream_provenance

    kind = read_header(path, game).label_kind
    chooser = PositionChooser(rule)
    records = 0
    for part in stream_provenance(path, game=game):
        chooser.observe(part["record"], part["ply"])
        records = max(records, int(part["record"].max(initial=-1)) + 1)
    for part in stream_provenance(path, game=game):
        chooser.rank(**part)
    alone = records
    for positions in stream_positions(path, game=game):
        rows = np.flatnonzero(chooser.choose(positions.record, positions.ply, positions.game_key))
        chosen = positions.select(rows)
        _check_results(chosen, str(path))
        lengths = chooser.lengths_of(chosen.record)
        single = chosen.record < 0
        numbers = chosen.record.copy()
        numbers[single] = alone + np.arange(int(single.sum()))
        alone += int(single.sum())
        yield evolve(
            chosen,
            record=numbers,
            source=np.zeros(len(chosen), np.int16),
            sources=(name,),
            extra={"length": lengths, "rating_difference": np.full(len(chosen), np.nan, np.float32)},
        )
    yield FileSummary(alone, chooser.counts(), kind)


def _check_results(positions: Positions, path: str) -> None:
    """Refuse positions that stand for several games: their mean label is the result of none."""
    merged = positions.weight != 1
    if positions.label_kind == "result":
        merged |= positions.label != np.rint(positions.label)
    if merged.any():
        row = int(np.flatnonzero(merged)[0])
        raise BadInputError(
            f"{path}: a position has weight {positions.weight[row]:g} and label {positions.label[row]:g}; merged "
            "positions have no result of their own, make the file without --merge"
        )


def _from_scored(
    game: Game, path: str | os.PathLike[str], kind: str | None, skip_bad: bool, name: str | None
) -> Reading:
    """Take the positions of a stranger's file: none tells its game or its ply, so each is chosen."""
    counts, notes = SelectionCounts(), ReadingNotes()
    labels = "result"
    for part in stream_scored(game, path, format=kind, skip_bad=skip_bad, name=name, notes=notes):
        labels, count = part.label_kind, len(part)
        numbers = np.arange(counts.games, counts.games + count, dtype=np.int32)
        counts.add(SelectionCounts(positions=count, games=count, chosen=count, unknown_ply=count, alone=count))
        unknown = {"length": np.full(count, -1, np.int32), "rating_difference": np.full(count, np.nan, np.float32)}
        yield evolve(part, record=numbers, extra=unknown)
    counts.skipped = notes.skipped
    yield FileSummary(counts.games, counts, labels, notes.problems, understood="; ".join(notes.understood))
