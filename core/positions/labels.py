"""From game records to scored positions (GLEM, section 3).

Three kinds of labels, all from the side to move; R is the final score of the game, T the exact value that a
record may give for one of its positions:

=============== ============================ ================================
label           up to the exact position     after it
=============== ============================ ================================
``result``      R                            R
``theoretical`` T                            T where R = T, else left out
``auto``        T, or R where there is no T  from T to R, move by move
=============== ============================ ================================

Before the exact position T is the better label: what the position led to, without the mistakes made after it.
Behind it T ignores the mistakes made since, and R those still to come, so that ``auto`` lets the share of T fall
linearly from 1 to 0 over the first two thirds of the remaining moves. On tournament games with T 24 plies
before the end these labels have less error than either alone where exact scores can be computed.
Where R = T play was perfect, or mistakes cancelled out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from attrs import define, evolve, field, fields
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.compiling.kernels import kernel, mix
from glem.core.errors import BadInputError, check_arguments
from glem.core.features.learning import Phases
from glem.core.game.equal_positions import position_keys
from glem.core.game.game import Game
from glem.core.game.records import MAX_PROBLEMS, GameRecords, added_remarks
from glem.core.positions.people import counted_names, of_players, player_columns
from glem.core.positions.positions import Positions
from glem.core.positions.replay import FINISHED, ILLEGAL, UNFINISHED, Replay, replay
from glem.core.tasks.threads import ordered_map

LABELS = ("result", "theoretical", "auto")
"""Kinds of labels that game records give."""

_THEORETICAL, _AUTO = 1, 2
_FADE = 1.5
_NO_MOVE = -2
_GAMES_AT_ONCE = 20_000


@define(frozen=True)
class Selection:
    """Which games and positions are taken. The default takes all.

    Feature variance matters: games between good players alone keep the important features balanced, so their
    mistakes, and who exploits them, are worth choosing (GLEM, section 3).

    Parameters
    ----------
    plies
        First and last ply, both inclusive; 0 is the starting position, passes count.
    phases
        Numbers of the game stages to take, with ``stages``.
    stages
        The game's stages.
    players
        Take the games with at least one of these players, see :mod:`~glem.core.positions.people`.
    errors
        Take the games in which result and theoretical score differ by at least the first and at most the second
        number: from 0 up to a few points for flawless endgames, from many up for serious mistakes.
    per_game
        At most this many positions of a game, drawn at random.
    """

    plies: tuple[int, int] | None = None
    phases: tuple[int, ...] | None = None
    stages: Phases | None = None
    players: frozenset[str] | None = None
    errors: tuple[float, float] | None = None
    per_game: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.plies is not None and not 0 <= self.plies[0] <= self.plies[1]:
            raise BadInputError(f"plies must be a range like 20-50, got {self.plies[0]}-{self.plies[1]}")
        if self.errors is not None and not 0 <= self.errors[0] <= self.errors[1]:
            raise BadInputError(f"errors must be a range like 0-4, got {self.errors[0]:g}-{self.errors[1]:g}")
        check_arguments(self, per_game=(1,))
        if self.phases is not None:
            if self.stages is None:
                raise BadInputError("a selection by phases needs the game's stages")
            for phase in self.phases:
                if not 0 <= phase < len(self.stages):
                    raise BadInputError(f"there is no phase {phase}, they run from 0 to {len(self.stages) - 1}")


@define
class LabelCounts:
    """What became of the game records; counts up while positions are made.

    Parameters
    ----------
    records
        Games read.
    skipped
        Bad records that the reader left out.
    unfinished
        Games that stop early without a result; they may have a theoretical score.
    illegal
        Games with an illegal move; left out.
    other_players
        Games left out for their players.
    players
        The players that were asked for, by the names in the records, and how many games each has.
    other_errors
        Games left out for the size of their errors.
    without_label
        Positions left out because their game gives them no label of the kind.
    positions
        Positions taken.
    problems
        Reader's reasons for skipped records, at most 100.
    remarks
        What else the readers told, and of how many games (``GameRecords.remarks``).
    understood
        How readers understood files, where they had to find out.
    """

    records: int = 0
    skipped: int = 0
    unfinished: int = 0
    illegal: int = 0
    other_players: int = 0
    other_errors: int = 0
    without_label: int = 0
    positions: int = 0
    problems: tuple[str, ...] = ()
    remarks: Mapping[str, int] = field(factory=dict)
    players: Mapping[str, int] = field(factory=dict)
    understood: tuple[str, ...] = ()

    def add(self, other: LabelCounts) -> None:
        """Add the counts of another part."""
        for name in (entry.name for entry in fields(LabelCounts) if isinstance(getattr(other, entry.name), int)):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.players = added_remarks(self.players, other.players)
        self.remarks = added_remarks(self.remarks, other.remarks)
        self.problems = (*self.problems, *other.problems)[:MAX_PROBLEMS]


class KnownScores(NamedTuple):
    """The known scores of G games with P positions, as kernels read them.

    Parameters
    ----------
    offsets, side, move
        As of :class:`~glem.core.positions.replay.Replay`.
    result
        float32 [G]: score of each game for the first player, nan where unknown.
    theoretical, exact_move
        float32 and int16 [G]: an exact score for the first player, nan where unknown, and the moves made before it.
    pass_move
        The move that passes; none where there is no such move.
    """

    offsets: NDArray[np.int64]
    side: NDArray[np.int8]
    move: NDArray[np.int16]
    result: NDArray[np.float32]
    theoretical: NDArray[np.float32]
    exact_move: NDArray[np.int16]
    pass_move: np.int64

    @classmethod
    def of(cls, game: Game, records: GameRecords, played: Replay) -> KnownScores:
        """Gather the scores of records and their replay."""
        return cls(
            played.offsets,
            played.side,
            played.move,
            results_of_games(records, played),
            np.ascontiguousarray(records.theoretical_score, np.float32),
            np.ascontiguousarray(records.theoretical_ply, np.int16),
            np.int64(_NO_MOVE if game.pass_move is None else game.pass_move),
        )


@kernel
def _write_labels(scores: Any, kind: Any, label: Any) -> None:
    """Write the label of every position for the side to move, nan for those without one."""
    offsets, side, move = scores.offsets, scores.side, scores.move
    result, theoretical, exact_move = scores.result, scores.theoretical, scores.exact_move
    for game in range(len(offsets) - 1):
        after_exact = -exact_move[game]
        for row in range(offsets[game], offsets[game + 1]):
            after_exact += move[row] != scores.pass_move and move[row] >= 0
        moves_made = 0
        for row in range(offsets[game], offsets[game + 1]):
            known = result[game]
            if kind == _THEORETICAL:
                if moves_made <= exact_move[game]:
                    known = theoretical[game]
                elif known != theoretical[game]:
                    known = np.float32(np.nan)
            elif kind == _AUTO and not np.isnan(theoretical[game]):
                if moves_made <= exact_move[game]:
                    known = theoretical[game]
                else:
                    share = 1.0 - _FADE * (moves_made - exact_move[game]) / after_exact
                    if share > 0.0:
                        known += np.float32(share * (theoretical[game] - known))
            label[row] = known * side[row]
            moves_made += move[row] != scores.pass_move


@kernel
def _draw_positions(offsets: Any, wanted: Any, per_game: Any, game_key: Any, salt: Any, drawn: Any) -> None:
    """Draw up to ``per_game`` of the wanted positions of each game (Knuth, vol. 2, section 3.4.2, algorithm S)."""
    for game in range(len(offsets) - 1):
        left = 0
        for row in range(offsets[game], offsets[game + 1]):
            left += wanted[row]
        missing = min(left, per_game)
        for row in range(offsets[game], offsets[game + 1]):
            if wanted[row]:
                ply = np.uint64(row - offsets[game])
                number = mix(mix(game_key[game] ^ salt) + ply)
                # The upper 53 bits are a uniform number below 1.
                if np.float64(number >> np.uint64(11)) * 2.0**-53 * left < missing:
                    drawn[row] = True
                    missing -= 1
                left -= 1


def _label_part(
    game: Game, records: GameRecords, number: NDArray[np.int32], label: str, selection: Selection, seed: int
) -> tuple[Positions, LabelCounts]:
    """Positions of some games; ``number`` [G] are the games' record numbers in the set."""
    counts = LabelCounts(
        records=len(records), skipped=records.skipped, problems=records.problems, remarks=records.remarks
    )
    if selection.players is not None:
        chosen = np.zeros(len(records), np.bool_)
        for column, own in of_players(records, selection.players).items():
            chosen |= own
            caught = counted_names(records.names[column], records.extra[column][own])
            counts.players = added_remarks(counts.players, caught)
        counts.other_players = len(records) - int(chosen.sum())
        records = records.select(chosen)
        number = number[chosen]
    played = replay(game, records)
    result = results_of_games(records, played)
    counts.unfinished = int(((played.status == UNFINISHED) & np.isnan(result)).sum())
    counts.illegal = int((played.status == ILLEGAL).sum())
    chosen = played.status != ILLEGAL
    if selection.errors is not None:
        # The error of a game without either score is nan, which compares false.
        error = np.abs(result - records.theoretical_score)
        fitting = (error >= selection.errors[0]) & (error <= selection.errors[1])
        counts.other_errors = int((chosen & ~fitting).sum())
        chosen &= fitting
    labels = labels_of_games(game, records, played, label)
    wanted = chosen[played.record]
    if selection.plies is not None:
        wanted &= (played.ply >= selection.plies[0]) & (played.ply <= selection.plies[1])
    if selection.phases is not None and selection.stages is not None:
        wanted &= np.isin(selection.stages.of(played.positions), selection.phases)
    # Nobody misses a label where the game is over.
    wanted[played.finished] = False
    counts.without_label = int((wanted & np.isnan(labels)).sum())
    wanted &= ~np.isnan(labels)
    game_key = position_keys(game, rows_of(played.positions, played.last))
    if selection.per_game is not None:
        drawn = np.zeros(len(wanted), np.bool_)
        salt = mix(np.uint64(seed % (1 << 64)))
        _draw_positions(played.offsets, wanted, np.int64(selection.per_game), game_key, salt, drawn)
        wanted = drawn
    rows = np.flatnonzero(wanted)
    counts.positions = len(rows)
    game_of_row = played.record[rows]
    positions = Positions(
        game,
        rows_of(played.positions, rows),
        labels[rows],
        record=number[game_of_row],
        ply=played.ply[rows],
        source=np.zeros(len(rows), np.int16),
        game_key=game_key[game_of_row],
        sources=(records.source,),
        label_kind=label,
    )
    return positions, counts


def results_of_games(records: GameRecords, played: Replay) -> NDArray[np.float32]:
    """Score of each game for the first player: float32 [G], of an unfinished one that of its record, perhaps nan."""
    return np.where(played.status == FINISHED, played.final_score, records.score).astype(np.float32)


def labels_of_games(game: Game, records: GameRecords, played: Replay, label: str) -> NDArray[np.float32]:
    """Label of every replayed position from its own game, for the side to move: float32 [P], nan where it has none.

    Parameters
    ----------
    records
        G games.
    played
        Their replay, P positions.
    label
        One of :data:`LABELS`.
    """
    labels = np.empty(len(played.ply), np.float32)
    _write_labels(KnownScores.of(game, records, played), np.int64(LABELS.index(label)), labels)
    return labels


def frequent_players(chunks: Iterable[GameRecords], minimum_games: int) -> frozenset[str]:
    """Names of the players with at least ``minimum_games`` games, who are mostly the good ones.

    Parameters
    ----------
    chunks
        All game records; columns of names that end in ``player``, or are called ``white`` and ``black``, are looked at.
    minimum_games
        Least number of games.

    Raises
    ------
    BadInputError
        Records without players.
    """
    games: Counter[str] = Counter()
    for records in chunks:
        for column in player_columns(records):
            games.update(counted_names(records.names[column], records.extra[column]))
    return frozenset(name for name, count in games.items() if count >= minimum_games)


def numbered_records(chunks: Iterable[GameRecords]) -> Iterator[tuple[GameRecords, NDArray[np.int32]]]:
    """Yield records in slices of bounded size with their numbers [G] in the set of all files.

    The numbers of a file begin after the last of the file before, and count bad records that were skipped. Another
    file begins with another source, and where the numbers within the file begin anew.
    """
    source: str | None = None
    first = 0
    following = 0
    for records in chunks:
        begins_anew = len(records) and first + int(records.extra.get("number", [following + 1])[0]) <= following
        if records.source != source or begins_anew:
            source, first = records.source, following
        if "number" in records.extra:
            number = first + np.asarray(records.extra["number"], np.int64) - 1
        else:
            number = following + np.arange(len(records))
        following = max(following, int(number.max(initial=-1)) + 1)
        if following > np.iinfo(np.int32).max:
            raise BadInputError(f"{source}: more than {np.iinfo(np.int32).max} game records in one set")
        for start in range(0, max(len(records), 1), _GAMES_AT_ONCE):
            part = slice(start, start + _GAMES_AT_ONCE)
            some = records if len(records) <= _GAMES_AT_ONCE else records.select(part)
            if start:
                some = evolve(some, problems=(), skipped=0, remarks={})
            yield some, number[part].astype(np.int32)


def serious_error(game: Game) -> float:
    """Label units that a serious error costs: an eighth of the greatest score, half a win where only results count."""
    greatest = game.greatest_score
    return greatest / 8 if greatest > 1 else greatest / 2


def label_records(
    game: Game,
    chunks: Iterable[GameRecords],
    *,
    label: str = "result",
    selection: Selection | None = None,
    seed: int = 0,
    jobs: int = 1,
    counts: LabelCounts | None = None,
) -> Iterator[Positions]:
    """Turn game records into scored positions, part by part.

    Every game is replayed. The last position of a finished game is left out: the rules score it, no evaluation sees
    it. Record numbers run through all files: those of a file begin after the last of the file before, and count the
    bad records that were skipped.

    Parameters
    ----------
    chunks
        Game records, for instance from :func:`glem.core.positions.reading.read_records`.
    label
        One of :data:`LABELS`.
    selection
        Which positions to take, default all.
    seed
        Decides which positions ``selection.per_game`` draws, for each game by itself.
    jobs
        Number of threads; the result does not depend on it.
    counts
        Counts up what was read, left out and taken.

    Yields
    ------
    Positions
        Positions of up to 20,000 games, in order; concatenate them with ``renumber=False``.

    Raises
    ------
    BadInputError
        An unknown label, or records that do not know what the selection asks for.
    """
    if label not in LABELS:
        raise BadInputError(f"unknown label {label!r}; there are: {', '.join(LABELS)}")
    chosen = Selection() if selection is None else selection
    total = LabelCounts() if counts is None else counts

    def make(piece: tuple[GameRecords, NDArray[np.int32]]) -> tuple[Positions, LabelCounts]:
        return _label_part(game, *piece, label, chosen, seed)

    for positions, found in ordered_map(jobs, make, numbered_records(chunks)):
        total.add(found)
        yield positions


def positions_of_records(
    game: Game,
    chunks: Iterable[GameRecords],
    *,
    label: str = "result",
    selection: Selection | None = None,
    seed: int = 0,
    jobs: int = 1,
) -> Positions:
    """Make one set of all positions of some game records; the arguments are those of :func:`label_records`."""
    parts = label_records(game, chunks, label=label, selection=selection, seed=seed, jobs=jobs)
    return Positions.concatenate([*parts, Positions.empty(game, label_kind=label)], renumber=False)
