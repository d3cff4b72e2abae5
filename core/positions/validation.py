"""Judging the records of a file: which are bad, why, and what becomes of them."""

from collections.abc import Callable

import attrs
import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.records import MAX_PROBLEMS, GameRecords
from glem.core.positions.replay import FINISHED, ILLEGAL, Replay


@define(eq=False)
class BadRecords:
    """The bad ones among some records, each with the first thing that was found wrong with it.

    Parameters
    ----------
    count
        Number of records, good and bad.
    place
        Tells where a record is, for messages: index in the chunk to ``games.txt:17``.
    skip_bad
        Leave bad ones out and count them instead of raising.
    """

    count: int
    place: Callable[[int], str]
    skip_bad: bool
    _reason: NDArray[np.int16] = field(init=False)
    _texts: list[Callable[[int], str]] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self._reason = np.full(self.count, -1, np.int16)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which records are bad: bool [count]."""
        return self._reason >= 0

    def mark(self, mask: NDArray[np.bool_], text: Callable[[int], str]) -> None:
        """Mark records as bad that are not yet; ``text`` says for an index what was found and what would be right."""
        self._reason[mask & (self._reason < 0)] = len(self._texts)
        self._texts.append(text)

    def describe(self, index: int) -> str:
        """One line about a bad record: where it is and what is wrong."""
        return f"{self.place(index)}: {self._texts[self._reason[index]](index)}"

    def problems(self, *, limit: int = MAX_PROBLEMS) -> tuple[str, ...]:
        """One line for each of the first ``limit`` bad records.

        Raises
        ------
        BadInputError
            There is a bad record and bad ones are not to be skipped; the text is about the first.
        """
        bad = np.flatnonzero(self.mask)
        if len(bad) and not self.skip_bad:
            raise BadInputError(self.describe(int(bad[0])))
        return tuple(self.describe(int(index)) for index in bad[:limit])


def validated(
    game: Game, records: GameRecords, reached: Replay, stored: NDArray[np.float32], bad: BadRecords
) -> GameRecords:
    """Leave out bad records and give the others the score that their replay has.

    Bad are the records already marked, those with an illegal move, and finished games whose stored score
    contradicts the replay.

    Parameters
    ----------
    game
        Whose rules were used.
    records
        The records; ``score`` is what the file says, in the file's convention, nan where it says nothing.
    reached
        Their replay.
    stored
        float32 [G]: what the file should say for the last position of each game, in the same convention.
    bad
        Records found bad so far.

    Returns
    -------
    GameRecords
        ``score`` is the replayed final score, nan for unfinished games; ``extra["stored_score"]`` what the file says;
        ``played`` is the replay.

    Raises
    ------
    BadInputError
        There is a bad record and bad ones are not to be skipped.
    """

    def illegal(index: int) -> str:
        at = int(reached.illegal_at[index])
        move = int(records.moves[records.offsets[index] + at])
        name = game.format_move(move) if 0 <= move < game.move_count else str(move)
        return f"move {at + 1}, {name}, is illegal"

    def contradiction(index: int) -> str:
        return f"the score is given as {records.score[index]:+g}, but the moves end at {stored[index]:+g}"

    finished = reached.status == FINISHED
    bad.mark(reached.status == ILLEGAL, illegal)
    bad.mark(finished & ~np.isnan(records.score) & (records.score != stored), contradiction)
    problems = bad.problems()
    judged = attrs.evolve(
        records,
        score=np.where(finished, reached.final_score, np.float32(np.nan)).astype(np.float32),
        extra={**records.extra, "stored_score": records.score},
        played=reached,
        problems=records.problems + problems,
        skipped=records.skipped + int(bad.mask.sum()),
    )
    return judged.select(~bad.mask) if bad.mask.any() else judged
