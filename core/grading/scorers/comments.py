"""Grading the scores that players left in the comments of game records.

The score that belongs to a position is the one given with the move that was played there: the judgement of the side to
move, after its search. Records carry it in the columns of moves ``comment_score`` (as written, nan for none, infinite
for a proved win) and ``comment_kind`` (how it was written, :data:`COMMENT_KINDS`).

What a written score means differs from event to event: it may speak for the first player or for the one who moves, and
count in pawns, or units like them, or in hundredths. Both are found out for every event and way of writing:

- The side by consecutive scores of a game, which two different players give to almost the same position. Where scores
  speak for the first player they keep their sign from one move to the next, where they speak for the mover they change
  it. Where that tells nothing, by which of the two readings agrees with the results of the games. ``eval`` and ``wv``
  speak for the first player by their definition. Two players who each think themselves ahead, or one who writes the
  same score all along, look like scores for the mover too: it takes both kinds of evidence, in ten games, to read
  them against it.
- The unit by their size: hundredths are whole numbers, and their typical size (geometric mean) is at least 5. Where an
  event counts in pawns, a single game may still have hundredths, even in a part of it: its scores of 3 and more are all
  whole numbers, and of many sizes. Its whole numbers are then read as hundredths.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.compiling.kernels import kernel
from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.grading.grading import Prediction
from glem.core.grading.scorers.scorer_tables import ScorerTable
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

__all__ = [
    "COMMENT_KINDS",
    "FIRST",
    "HUNDREDTHS",
    "MOVER",
    "PAWNS",
    "CommentConvention",
    "CommentScorer",
    "CommentStatistics",
    "conventions_of",
    "games_with_hundredths",
]

COMMENT_KINDS = ("none", "plain", "eval", "wv", "ev")
"""Ways of writing a score, by the number that stands in ``comment_kind``."""

_DEFINED = ("eval", "wv")
"""Ways of writing that speak for the first player by definition."""

FIRST, MOVER = "first", "mover"
PAWNS, HUNDREDTHS = "pawns", "centipawns"

_GAMES, _SCORES, _SAME, _OPPOSITE, _FIRST_AGREES, _MOVER_AGREES, _DECIDED, _SIZED, _WHOLE, _LOG_SIZE = range(10)
_SUMS = 10

_FEWEST = 10
_LEAST_PREVIOUS = 0.2
_LEAST_RESULT = 0.1
_WHOLE_SHARE = 0.95
_HUNDREDTHS_FROM = 5.0
_LARGE = 3.0
_LEAST_SIZES = 8
_PAIRS_SHARE = 0.05

Floats = NDArray[np.float64]


@kernel
def _add_statistics(
    offsets: Any, start_side: Any, result: Any, event: Any, score: Any, kind: Any, kinds: Any, sums: Any
) -> None:
    """Add what the scores of some games tell to ``sums`` [events * kinds, 10]."""
    seen = np.zeros(kinds, np.bool_)
    for game in range(len(offsets) - 1):
        seen[:] = False
        side = np.int64(start_side[min(game, len(start_side) - 1)])
        before_kind, before = np.int64(0), 0.0
        for place in range(offsets[game], offsets[game + 1]):
            written, value = np.int64(kind[place]), np.float64(score[place])
            if written > 0 and written < kinds and not np.isnan(value):
                row = event[game] * kinds + written
                sums[row, _SCORES] += 1
                if not seen[written]:
                    seen[written] = True
                    sums[row, _GAMES] += 1
                if value != 0.0:
                    sign = 1.0 if value > 0.0 else -1.0
                    if before_kind == written and before != 0.0:
                        sums[row, _SAME if sign == before else _OPPOSITE] += 1
                    if result[game] != 0:
                        sums[row, _DECIDED] += 1
                        sums[row, _FIRST_AGREES] += sign * result[game]
                        sums[row, _MOVER_AGREES] += sign * side * result[game]
                    if np.isfinite(value):
                        sums[row, _SIZED] += 1
                        sums[row, _WHOLE] += value == np.rint(value)
                        sums[row, _LOG_SIZE] += np.log(abs(value))
                    before = sign
                else:
                    before = 0.0
                before_kind = written
            else:
                before_kind = np.int64(0)
            side = -side


@kernel
def _mark_hundredths(offsets: Any, score: Any, sizes: Any, marked: Any) -> None:
    """Mark games whose large scores are whole numbers of many sizes; ``sizes`` is room for those."""
    for game in range(len(offsets) - 1):
        found = 0
        whole = True
        for place in range(offsets[game], offsets[game + 1]):
            size = abs(score[place])
            if not np.isfinite(size) or size < _LARGE:
                continue
            if size != np.rint(size):
                whole = False
                break
            known = False
            for earlier in range(found):
                known |= sizes[earlier] == size
            if not known and found < len(sizes):
                sizes[found] = size
                found += 1
        marked[game] = whole and found == len(sizes)


def games_with_hundredths(records: GameRecords) -> NDArray[np.bool_]:
    """Tell of each game [G] whether its whole numbers must be hundredths, whatever the event counts in."""
    marked = np.zeros(len(records), np.bool_)
    _mark_hundredths(
        np.ascontiguousarray(records.offsets, np.int64),
        np.ascontiguousarray(records.move_columns["comment_score"], np.float32),
        np.empty(_LEAST_SIZES, np.float32),
        marked,
    )
    return marked


class CommentStatistics:
    """What the scores of an event tell about their side and unit, added up over games."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._sums = np.zeros((0, _SUMS))

    def add(self, records: GameRecords) -> NDArray[np.int64]:
        """Add games with scores in comments; return the number of each one's event [G]."""
        event = self._events(records)
        columns = records.move_columns
        sides = np.ones(1, np.int8) if records.start_side is None else np.ascontiguousarray(records.start_side, np.int8)
        rows = len(self._numbers) * len(COMMENT_KINDS)
        if rows > len(self._sums):
            self._sums = np.concatenate([self._sums, np.zeros((rows - len(self._sums), _SUMS))])
        if len(records):
            _add_statistics(
                np.ascontiguousarray(records.offsets, np.int64),
                sides,
                np.sign(np.nan_to_num(records.score)).astype(np.int64),
                event,
                np.ascontiguousarray(columns["comment_score"], np.float32),
                np.ascontiguousarray(columns["comment_kind"], np.uint8),
                len(COMMENT_KINDS),
                self._sums,
            )
        return event

    def _events(self, records: GameRecords) -> NDArray[np.int64]:
        column = records.extra.get("event")
        if column is None:
            return np.full(len(records), self._number(""), np.int64)
        names = records.names.get("event")
        present, place = np.unique(column, return_inverse=True)
        texts = ["" if value < 0 else str(value) if names is None else names[value] for value in present.tolist()]
        return np.array([self._number(text) for text in texts], np.int64)[place]

    def _number(self, event: str) -> int:
        return self._numbers.setdefault(event, len(self._numbers))

    def by_event(self) -> dict[tuple[str, str], Floats]:
        """Event and way of writing to their sums; only what occurs."""
        kinds = len(COMMENT_KINDS)
        return {
            (event, COMMENT_KINDS[kind]): self._sums[number * kinds + kind]
            for event, number in self._numbers.items()
            for kind in range(1, kinds)
            if self._sums[number * kinds + kind, _SCORES]
        }

    def row_of(self, event: str, kind: str) -> int:
        """Return the number that stands for an event and a way of writing in ``event * len(COMMENT_KINDS) + kind``."""
        return self._numbers[event] * len(COMMENT_KINDS) + COMMENT_KINDS.index(kind)


@define(frozen=True)
class CommentConvention:
    """What the scores of an event mean that are written in one way.

    Parameters
    ----------
    event
        Name of the event.
    kind
        One of :data:`COMMENT_KINDS`.
    games, scores
        How many games have such scores, and how many there are.
    side
        ``first`` where scores speak for the first player, ``mover`` where they speak for the one who moves.
    unit
        ``pawns`` or ``centipawns``.
    side_from, unit_from
        ``previous``, ``result`` or ``size``: what told it; ``defined`` where nothing did or what did is weaker than the
        definition of ``kind``, ``assumed`` where nothing did; ``given`` by the user.
    previous
        Share of consecutive scores of one sign less the share of those of different sign; nan without such pairs.
    first_agrees, mover_agrees
        Mean product of the score's sign and the result (1 or -1) of decided games, read from either side; nan without.
    size
        Typical size of the scores as written, 0 left out; nan without.
    is_doubtful
        Whether the results, or consecutive scores, contradict the side that was taken.
    """

    event: str
    kind: str
    games: int
    scores: int
    side: str
    unit: str
    side_from: str
    unit_from: str
    previous: float
    first_agrees: float
    mover_agrees: float
    size: float
    is_doubtful: bool


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def conventions_of(
    statistics: CommentStatistics, *, side: str | None = None, unit: str | None = None
) -> tuple[CommentConvention, ...]:
    """Find out what the scores of each event mean.

    Parameters
    ----------
    statistics
        Of all games.
    side, unit
        What is known; found out where None.
    """
    return tuple(_convention(event, kind, sums, side, unit) for (event, kind), sums in statistics.by_event().items())


def _convention(event: str, kind: str, sums: Floats, side: str | None, unit: str | None) -> CommentConvention:
    pairs, decided, sized = sums[_SAME] + sums[_OPPOSITE], sums[_DECIDED], sums[_SIZED]
    previous = _ratio(sums[_SAME] - sums[_OPPOSITE], pairs)
    first_agrees, mover_agrees = _ratio(sums[_FIRST_AGREES], decided), _ratio(sums[_MOVER_AGREES], decided)
    lead = first_agrees - mover_agrees
    by_result = by_previous = None
    if decided >= _FEWEST and abs(lead) >= _LEAST_RESULT:
        by_result = FIRST if lead > 0 else MOVER
    if pairs >= max(_FEWEST, _PAIRS_SHARE * sums[_SCORES]) and abs(previous) >= _LEAST_PREVIOUS:
        by_previous = FIRST if previous > 0 else MOVER
    told: list[str | None] = [by_previous, by_result]
    if side is not None:
        side_from = "given"
    elif kind in _DEFINED and (told != [MOVER, MOVER] or sums[_GAMES] < _FEWEST):
        side = FIRST
        side_from = ("previous", "result")[told.index(FIRST)] if FIRST in told else "defined"
    elif by_previous is not None:
        side, side_from = by_previous, "previous"
    elif by_result is not None:
        side, side_from = by_result, "result"
    else:
        side, side_from = MOVER if kind == "plain" else FIRST, "assumed"
    size = math.exp(_ratio(sums[_LOG_SIZE], sized)) if sized else math.nan
    if unit is not None:
        unit_from = "given"
    elif sized >= _FEWEST:
        is_hundredths = sums[_WHOLE] >= _WHOLE_SHARE * sized and size >= _HUNDREDTHS_FROM
        unit, unit_from = HUNDREDTHS if is_hundredths else PAWNS, "size"
    else:
        unit, unit_from = PAWNS, "assumed"
    return CommentConvention(
        event=event,
        kind=kind,
        games=int(sums[_GAMES]),
        scores=int(sums[_SCORES]),
        side=side,
        unit=unit,
        side_from=side_from,
        unit_from=unit_from,
        previous=previous,
        first_agrees=first_agrees,
        mover_agrees=mover_agrees,
        size=size,
        is_doubtful=any(one not in (None, side) for one in told),
    )


class CommentScorer:
    """The scores in the comments of the graded games, in pawns from the side to move.

    Parameters
    ----------
    name
        For people.
    side, unit
        What all scores mean; found out for each event where None.
    kind
        Only scores written in this way; all if None.
    mate
        Pawns that a proved win counts as; infinitely many by default.
    """

    is_search = False

    def __init__(
        self,
        name: str,
        *,
        side: str | None = None,
        unit: str | None = None,
        kind: str | None = None,
        mate: float = math.inf,
    ) -> None:
        for what, value, known in (
            ("side", side, (FIRST, MOVER)),
            ("unit", unit, (PAWNS, HUNDREDTHS)),
            ("kind", kind, COMMENT_KINDS[1:]),
        ):
            if value is not None and value not in known:
                raise BadInputError(f"{name!r}: {what} of scores in comments is {' or '.join(known)}, not {value!r}")
        if not mate > 0:
            raise BadInputError(f"{name!r}: a proved win counts as a positive number of pawns, not {mate:g}")
        self.name = name
        self._side, self._unit, self._kind, self._mate = side, unit, kind, mate
        self.begin()

    def begin(self) -> None:
        """Forget earlier collections."""
        self._statistics = CommentStatistics()
        self._rows: list[NDArray[np.int32]] = []
        self._sides: list[NDArray[np.int8]] = []
        self._hundredths: list[NDArray[np.bool_]] = []
        self._games_with_hundredths = 0
        self._without: dict[str, int] = {}
        self.conventions: tuple[CommentConvention, ...] = ()

    def predict(self, selected: Positions, *, progress: Progress = SILENT) -> Prediction:
        """Scores as they are written; :meth:`complete` makes values of them.

        Positions without records, and of formats without comments, have none.
        """
        records = selected.records
        if records is None:
            return self._nothing(selected, "files of positions, not of games,")
        if "comment_score" not in records.move_columns:
            return self._nothing(selected, "files whose format has no comments")
        event = self._statistics.add(records)
        row, move = selected.extra["row"], selected.extra["move"]
        written = np.where(move >= 0, records.move_columns["comment_score"][move], np.nan)
        kind = records.move_columns["comment_kind"][move].astype(np.int32)
        wanted = (kind > 0) & (kind < len(COMMENT_KINDS))
        if self._kind is not None:
            wanted &= kind == COMMENT_KINDS.index(self._kind)
        self._rows.append((event[row] * len(COMMENT_KINDS) + kind).astype(np.int32))
        self._sides.append(selected.side)
        marked = games_with_hundredths(records)
        self._games_with_hundredths += int(marked.sum())
        self._hundredths.append(marked[row] & (written == np.rint(written)))
        return Prediction(np.where(wanted, written, np.nan).astype(np.float32), unit="pawns")

    def _nothing(self, selected: Positions, source: str) -> Prediction:
        self._without[source] = self._without.get(source, 0) + len(selected)
        self._rows.append(np.zeros(len(selected), np.int32))
        self._sides.append(selected.side)
        self._hundredths.append(np.zeros(len(selected), np.bool_))
        return Prediction(np.full(len(selected), np.nan, np.float32), unit="pawns")

    def complete(self, prediction: Prediction) -> Prediction:
        """Read the scores from the side to move, in pawns."""
        self.conventions = conventions_of(self._statistics, side=self._side, unit=self._unit)
        value = np.array(prediction.value, np.float64)
        if self._rows:
            rows, sides = np.concatenate(self._rows), np.concatenate(self._sides)
            speaks_for_first = np.zeros(int(rows.max()) + 1, np.bool_)
            by_row = np.ones(len(speaks_for_first))
            for one in self.conventions:
                row = self._statistics.row_of(one.event, one.kind)
                if row < len(by_row):
                    speaks_for_first[row] = one.side == FIRST
                    by_row[row] = 100.0 if one.unit == HUNDREDTHS else 1.0
            divisor = by_row[rows]
            if self._unit is None:
                divisor = np.where(np.concatenate(self._hundredths), 100.0, divisor)
            value = value / divisor * np.where(speaks_for_first[rows], sides, 1)
        proved = np.isinf(value)
        value[proved] = np.copysign(self._mate, value[proved])
        self._rows, self._sides, self._hundredths = [], [], []
        return attrs.evolve(prediction, value=value)

    def remarks(self) -> Sequence[str]:
        """Say where what was found is doubtful."""
        doubtful = [one for one in self.conventions if one.is_doubtful]
        assumed = [one for one in self.conventions if one.side_from == "assumed"]
        found = [
            f"{self.name}: what comes from {source} has no scores in comments (positions: {count:,})"
            for source, count in self._without.items()
        ]
        if doubtful:
            found.append(
                f"{self.name}: in {counted(len(doubtful), 'event')} with "
                f"{counted(sum(one.games for one in doubtful), 'game')} the results "
                "or consecutive scores contradict the side that scores are read for; see the table, and side="
            )
        if assumed:
            found.append(
                f"{self.name}: in {counted(len(assumed), 'event')} with "
                f"{counted(sum(one.games for one in assumed), 'game')} nothing tells "
                "which side scores speak for; it is assumed"
            )
        strays = self._games_with_hundredths - sum(one.games for one in self.conventions if one.unit == HUNDREDTHS)
        if self._unit is None and strays > 0:
            found.append(
                f"{self.name}: {counted(strays, 'game')} of events in pawns with scores in hundredths, read so"
            )
        return found

    def tables(self) -> Sequence[ScorerTable]:
        """Show what scores were found to mean, in all and by event; what is out of the ordinary comes first."""
        if not self.conventions:
            return ()
        groups: dict[tuple[str, ...], list[CommentConvention]] = {}
        for one in self.conventions:
            groups.setdefault(_meaning(one), []).append(one)
        summary = sorted(groups.items(), key=lambda item: -sum(one.scores for one in item[1]))
        common = summary[0][0]
        by_event = sorted(self.conventions, key=lambda one: (_meaning(one) == common, -one.games))
        return (
            ScorerTable(
                f"{self.name}: what the scores mean",
                ("written", "from", "told by", "unit", "told by", "events", "games", "scores"),
                tuple((*meaning, *_totals(found)) for meaning, found in summary),
            ),
            ScorerTable(
                f"{self.name}: by event",
                (
                    "event",
                    "written",
                    "games",
                    "from",
                    "unit",
                    "same sign",
                    "result, first",
                    "result, mover",
                    "size",
                    "",
                ),
                tuple(_event_row(one) for one in by_event),
            ),
        )


def _meaning(one: CommentConvention) -> tuple[str, ...]:
    return (one.kind, one.side, one.side_from, one.unit, one.unit_from)


def _totals(found: Sequence[CommentConvention]) -> tuple[str, ...]:
    totals = (len(found), sum(one.games for one in found), sum(one.scores for one in found))
    return tuple(f"{total:,}" for total in totals)


def _event_row(one: CommentConvention) -> tuple[str, ...]:
    figures = (f"{value:+.2f}" for value in (one.previous, one.first_agrees, one.mover_agrees))
    doubt = "doubtful" if one.is_doubtful else "assumed" if one.side_from == "assumed" else ""
    return (one.event, one.kind, f"{one.games:,}", one.side, one.unit, *figures, f"{one.size:.3g}", doubt)
