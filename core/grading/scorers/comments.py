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
- The unit by their size: hundredths are whole numbers, and their typical size (geometric mean) is at least 5, or they
  are written as ``ce``. Where an event counts in pawns, a single game may still have hundredths, even in a part of it:
  its scores of 3 and more are all whole numbers, and of many sizes. Its whole numbers are then read as hundredths.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.grading.calibration import Prediction
from glem.core.grading.scorers.constant_scores import ConstantScore, PlayersScores
from glem.core.grading.scorers.scorer import Scorer
from glem.core.positions.positions import Positions
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tables import Table

COMMENT_KINDS = ("none", "plain", "eval", "wv", "ev", "ce")
"""Ways of writing a score, by the number that stands in ``comment_kind``."""

_DEFINED = ("eval", "wv")
"""Ways of writing that speak for the first player by definition."""

_CENTIPAWNS = "ce"
"""The way of writing that counts in hundredths by definition."""

FIRST, MOVER = "first", "mover"
PAWNS, HUNDREDTHS = "pawns", "centipawns"

_FEWEST = 10
_LEAST_PREVIOUS = 0.2
_LEAST_RESULT = 0.1
_WHOLE_SHARE = 0.95
_HUNDREDTHS_FROM = 5.0
_LARGE = 3.0
_LEAST_SIZES = 8
_PAIRS_SHARE = 0.05

_SHOWN_PLAYERS = 30

_EVIDENCE = ("same sign", "result, first", "result, mover")


class CommentSums(NamedTuple):
    """What the scores of an event that are written in one way tell about their side and unit, added up over games.

    Parameters
    ----------
    games, scores
        How many games have such scores, and how many there are.
    same, opposite
        Consecutive scores of a game of one sign, and of different sign.
    decided, first_agrees, mover_agrees
        Scores but 0 in decided games, and their signs times the result (1 or -1), read from either side.
    sized, whole, log_size
        Finite scores but 0, how many are whole numbers, and the logarithms of their sizes.
    """

    games: Any
    scores: Any
    same: Any
    opposite: Any
    decided: Any
    first_agrees: Any
    mover_agrees: Any
    sized: Any
    whole: Any
    log_size: Any


def games_with_hundredths(records: GameRecords) -> NDArray[np.bool_]:
    """Tell of each game [G] whether its whole numbers must be hundredths, whatever the event counts in."""
    written, kind = (records.move_columns[name] for name in ("comment_score", "comment_kind"))
    size = np.where(kind == COMMENT_KINDS.index(_CENTIPAWNS), np.nan, np.abs(written))
    large = np.flatnonzero(np.isfinite(size) & (size >= _LARGE))
    game, size = np.repeat(np.arange(len(records)), records.lengths)[large], size[large]
    broken = np.bincount(game[size != np.rint(size)], minlength=len(records))
    order = np.lexsort((size, game))
    game, size = game[order], size[order]
    is_new = np.append(True, (game[1:] != game[:-1]) | (size[1:] != size[:-1]))[: len(game)]
    marked: NDArray[np.bool_] = (broken == 0) & (np.bincount(game[is_new], minlength=len(records)) >= _LEAST_SIZES)
    return marked


class CommentStatistics:
    """Sums for every event and way of writing that occurs."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._sums = np.zeros((len(CommentSums._fields), 0))

    def add(self, records: GameRecords) -> NDArray[np.int64]:
        """Add games with scores in comments; return the number of each move's event and way of writing, -1 for none."""
        written, kind = (records.move_columns[name] for name in ("comment_score", "comment_kind"))
        place = np.flatnonzero((kind > 0) & (kind < len(COMMENT_KINDS)) & ~np.isnan(written))
        score, kind = written[place].astype(np.float64), kind[place].astype(np.int64)
        game = np.repeat(np.arange(len(records)), records.lengths)[place]
        event = records.extra.get("event", np.full(len(records), -1)).astype(np.int64)
        present, found = np.unique(event[game] * len(COMMENT_KINDS) + kind, return_inverse=True)
        numbers = [self._number(records, *divmod(one, len(COMMENT_KINDS))) for one in present.tolist()]
        row = np.array(numbers, np.int64)[found]
        start = 1 if records.start_side is None else records.start_side[game].astype(np.int64)
        mover = start * (1 - 2 * ((place - records.offsets[game]) % 2))
        sign = np.sign(score)
        # With the move before in the same game, if it has a score that is written in the same way.
        pair = np.zeros(len(place))
        follows = (place[1:] == place[:-1] + 1) & (game[1:] == game[:-1]) & (row[1:] == row[:-1])
        pair[1:] = np.where(follows, sign[1:] * sign[:-1], 0)
        result = np.sign(np.nan_to_num(records.score))[game]
        sized = np.isfinite(score) & (score != 0)
        sums = CommentSums(
            games=np.zeros(len(place)),
            scores=np.ones(len(place)),
            same=pair > 0,
            opposite=pair < 0,
            decided=(sign != 0) & (result != 0),
            first_agrees=sign * result,
            mover_agrees=sign * mover * result,
            sized=sized,
            whole=sized & (score == np.rint(score)),
            log_size=np.log(np.abs(score), out=np.zeros(len(place)), where=sized),
        )
        sums.games[np.unique(game * len(COMMENT_KINDS) + kind, return_index=True)[1]] = 1
        self._sums = np.pad(self._sums, ((0, 0), (0, len(self._numbers) - self._sums.shape[1])))
        for total, part in zip(self._sums, sums, strict=True):
            total += np.bincount(row, part, len(total))
        rows = np.full(len(written), -1, np.int64)
        rows[place] = row
        return rows

    def _number(self, records: GameRecords, event: int, kind: int) -> int:
        names = records.names.get("event")
        text = "" if event < 0 else str(event) if names is None else names[event]
        return self._numbers.setdefault((text, COMMENT_KINDS[kind]), len(self._numbers))

    def by_event(self) -> dict[tuple[str, str], CommentSums]:
        """Event and way of writing to their sums, by their numbers."""
        return {key: CommentSums(*sums) for key, sums in zip(self._numbers, self._sums.T.tolist(), strict=True)}


@define(frozen=True)
class CommentConvention:
    """What the scores of an event mean that are written in one way.

    Parameters
    ----------
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


def _convention(event: str, kind: str, sums: CommentSums, side: str | None, unit: str | None) -> CommentConvention:
    pairs = sums.same + sums.opposite
    previous = _ratio(sums.same - sums.opposite, pairs)
    first_agrees, mover_agrees = (_ratio(one, sums.decided) for one in (sums.first_agrees, sums.mover_agrees))
    lead = first_agrees - mover_agrees
    by_result = by_previous = None
    if sums.decided >= _FEWEST and abs(lead) >= _LEAST_RESULT:
        by_result = FIRST if lead > 0 else MOVER
    if pairs >= max(_FEWEST, _PAIRS_SHARE * sums.scores) and abs(previous) >= _LEAST_PREVIOUS:
        by_previous = FIRST if previous > 0 else MOVER
    told: list[str | None] = [by_previous, by_result]
    if side is not None:
        side_from = "given"
    elif kind in _DEFINED and (told != [MOVER, MOVER] or sums.games < _FEWEST):
        side = FIRST
        side_from = ("previous", "result")[told.index(FIRST)] if FIRST in told else "defined"
    elif by_previous is not None:
        side, side_from = by_previous, "previous"
    elif by_result is not None:
        side, side_from = by_result, "result"
    else:
        side, side_from = MOVER if kind == "plain" else FIRST, "assumed"
    size = math.exp(_ratio(sums.log_size, sums.sized)) if sums.sized else math.nan
    if unit is not None:
        unit_from = "given"
    elif sums.sized >= _FEWEST:
        is_large = size >= _HUNDREDTHS_FROM or kind == _CENTIPAWNS
        unit, unit_from = HUNDREDTHS if is_large and sums.whole >= _WHOLE_SHARE * sums.sized else PAWNS, "size"
    else:
        unit, unit_from = HUNDREDTHS if kind == _CENTIPAWNS else PAWNS, "assumed"
    return CommentConvention(
        event=event,
        kind=kind,
        games=int(sums.games),
        scores=int(sums.scores),
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


class CommentScorer(Scorer):
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
        self._players = PlayersScores()
        self._constant: Mapping[int, ConstantScore] = {}
        self._left_out = 0
        self._parts: list[tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.bool_], NDArray[np.int32]]] = []
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
        record, move = selected.extra["row"], selected.extra["move"]
        rows = np.where(move >= 0, self._statistics.add(records)[move], -1)
        written = records.move_columns["comment_score"][move]
        wanted = rows >= 0
        if self._kind is not None:
            wanted &= records.move_columns["comment_kind"][move] == COMMENT_KINDS.index(self._kind)
        marked = games_with_hundredths(records)
        self._games_with_hundredths += int(marked.sum())
        players = np.where(move >= 0, self._players.add(records)[move], -1)
        self._parts.append((rows, selected.side, marked[record] & (written == np.rint(written)), players))
        return Prediction(np.where(wanted, written, np.nan).astype(np.float32), unit="pawns")

    def _nothing(self, selected: Positions, source: str) -> Prediction:
        count = len(selected)
        self._without[source] = self._without.get(source, 0) + count
        nobody = np.full(count, -1, np.int32)
        self._parts.append((np.full(count, -1), selected.side, np.zeros(count, np.bool_), nobody))
        return Prediction(np.full(count, np.nan, np.float32), unit="pawns")

    def complete(self, prediction: Prediction) -> Prediction:
        """Read the scores from the side to move, in pawns."""
        self.conventions = conventions_of(self._statistics, side=self._side, unit=self._unit)
        value = np.array(prediction.value, np.float64)
        if self._parts:
            rows, sides, hundredths, players = map(np.concatenate, zip(*self._parts, strict=True))
            self._constant = self._players.constant()
            for number, (_, size) in self._constant.items():
                silent = (players == number) & (np.abs(value) == size)
                self._left_out += int(silent.sum())
                value[silent] = np.nan
            # What has no score is in the last place.
            speaks_for_first = np.array([*(one.side == FIRST for one in self.conventions), False])
            divisor = np.array([*(100.0 if one.unit == HUNDREDTHS else 1.0 for one in self.conventions), 1.0])[rows]
            if self._unit is None:
                divisor = np.where(hundredths, 100.0, divisor)
            value = value / divisor * np.where(speaks_for_first[rows], sides, 1)
        proved = np.isinf(value)
        value[proved] = np.copysign(self._mate, value[proved])
        self._parts = []
        return attrs.evolve(prediction, value=value)

    def remarks(self) -> Sequence[str]:
        """Say where what was found is doubtful."""
        found = [
            f"{self.name}: what comes from {source} has no scores in comments (positions: {count:,})"
            for source, count in self._without.items()
        ]
        doubtful = (
            "the results or consecutive scores contradict the side that scores are read for; see the table, and side="
        )
        assumed = "nothing tells which side scores speak for; it is assumed"
        for what, meant in (
            (doubtful, [one for one in self.conventions if one.is_doubtful]),
            (assumed, [one for one in self.conventions if one.side_from == "assumed"]),
        ):
            if meant:
                games = counted(sum(one.games for one in meant), "game")
                found.append(f"{self.name}: in {counted(len(meant), 'event')} with {games} {what}")
        if self._constant:
            some = sorted(self._constant.values())
            names = ", ".join(f"{player} ({size:g})" for player, size in some[:_SHOWN_PLAYERS])
            more = f" and {len(some) - _SHOWN_PLAYERS} more" if len(some) > _SHOWN_PLAYERS else ""
            positions = counted(self._left_out, "position")
            found.append(f"{self.name}: scores that never change count as missing, in {positions}: {names}{more}")
        strays = self._games_with_hundredths - sum(one.games for one in self.conventions if one.unit == HUNDREDTHS)
        if self._unit is None and strays > 0:
            games = counted(strays, "game")
            found.append(f"{self.name}: {games} of events in pawns with scores in hundredths, read so")
        return found

    def tables(self) -> Sequence[Table]:
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
            Table(
                f"{self.name}: what the scores mean",
                ("written", "from", "told by", "unit", "told by", "events", "games", "scores"),
                tuple((*meaning, *_totals(found)) for meaning, found in summary),
            ),
            Table(
                f"{self.name}: by event",
                ("event", "written", "games", "from", "unit", *_EVIDENCE, "size", ""),
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
