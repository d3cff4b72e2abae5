"""The games of one person, out of the records of many (Levene and Fenner 2009, section 3.2)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from attrs import define, evolve, field
from numpy.typing import NDArray

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.people import counted_names, is_meant, near_names, of_players
from glem.core.positions.replay import Replay, replay
from glem.core.styles.chosen_moves import own_moves
from glem.core.tasks.counts import counted

_TELLING_MOVES = 60
"""Games of one side whose first moves are the same, or all of them, are one game."""


@define(frozen=True, eq=False)
class PersonGames:
    """Games of a person.

    Parameters
    ----------
    name
        As it was asked for.
    records
        G games.
    side
        int8 [G]: 1 where the person is the first player, -1 where the second, 0 where the moves of both count.
    caught
        The names that were taken for the person's, and in how many games each stands.
    near
        The names that are spelled nearly so and were not taken, with their games.
    left_out
        Why games of the person were left out, and how many.
    """

    name: str
    records: GameRecords = field(repr=False)
    side: NDArray[np.int8] = field(repr=False)
    caught: Mapping[str, int]
    near: Mapping[str, int]
    left_out: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.side)

    def select(self, games: NDArray[np.int64]) -> "PersonGames":
        """Pick games by their numbers."""
        return evolve(self, records=self.records.select(games), side=self.side[games])

    def divided(self, seed: int, test: int, training: int | None = None) -> "tuple[PersonGames, PersonGames]":
        """Divide the games at random into some to learn from, all others if None, and so many to ask about."""
        order = np.random.default_rng(seed).permutation(len(self))
        return self.select(np.sort(order[test:][:training])), self.select(np.sort(order[:test]))

    @classmethod
    def together(cls, game: Game, persons: "Sequence[PersonGames]") -> "PersonGames":
        """Put the games of several persons behind one another."""
        records = GameRecords.concatenate([one.records for one in persons], initial_position=game.initial_position)
        return cls("", records, np.concatenate([one.side for one in persons]), {}, {}, {})

    def moves(self, game: Game, plies: tuple[int, int]) -> tuple[Replay, NDArray[np.int64]]:
        """Replay the games, and find the rows in which the person moved."""
        played = replay(game, self.records)
        return played, own_moves(played, self.side, plies)

    def years(self) -> NDArray[np.int64]:
        """Year of each game, int64 [G]; 0 where it is unknown."""
        extra = self.records.extra
        found = extra["year"] if "year" in extra else extra["date"] // 10000 if "date" in extra else -1
        return np.maximum(np.broadcast_to(np.asarray(found, np.int64), len(self)), 0)

    def ratings(self) -> NDArray[np.int64]:
        """Rating of the person in each game, int64 [G]; -1 where it is unknown."""
        own = [self.records.extra.get(name, np.full(len(self), -1)) for name in ("white_rating", "black_rating")]
        return np.where(self.side > 0, *own).astype(np.int64)

    def facts(self) -> dict[str, str]:
        """Return what the file of a style says of the games: player, names, and, where known, years and mean rating."""
        years, ratings = self.years(), self.ratings()
        years, ratings = years[years > 0], ratings[ratings > 0]
        found = {"player": self.name, "names": ", ".join(self.caught)[:500]}
        found |= {"years": f"{years.min()}-{years.max()}"} if len(years) else {}
        return found | ({"rating": f"{ratings.mean():.0f}"} if len(ratings) else {})

    def told(self) -> list[str]:
        """Say in a few lines what was taken and what not."""
        lines = [f"{self.name}: {counted(len(self), 'game')}, of " + _listed(self.caught)]
        lines += [f"  not taken, though spelled alike: {_listed(self.near)}"] if self.near else []
        lines += [f"  left out: {_listed(self.left_out)}"] if self.left_out else []
        return lines


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.items())


def person_of(
    game: Game,
    chunks: Iterable[GameRecords],
    wanted: Sequence[str],
    *,
    without: Iterable[str] = (),
    without_events: Iterable[str] = (),
) -> PersonGames:
    """Pick the games of a person.

    Parameters
    ----------
    chunks
        Game records.
    wanted
        What names the person, see :mod:`~glem.core.positions.people`.
    without
        Opponents whose games are left out.
    without_events
        Events, whole names or patterns, whose games are left out: rapid or blindfold ones, say.

    Raises
    ------
    BadInputError
        There are no games of the person; the text names those who are spelled alike.
    """
    opponents, events = list(without), is_meant(without_events)
    parts: list[GameRecords] = []
    sides: list[NDArray[np.int8]] = []
    caught: Counter[str] = Counter()
    every: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    seen: set[tuple[int, bytes]] = set()
    sources = []
    for records in chunks:
        sources.append(records.source)
        own = of_players(records, wanted)
        if not own:
            continue
        first, second = own.values()
        for column, of_column in own.items():
            caught += counted_names(records.names[column], records.extra[column][of_column])
            every += counted_names(records.names[column], records.extra[column])
        chosen = first != second
        left_out["both sides"] += int((first & second).sum())
        side = first.astype(np.int8) - second.astype(np.int8)
        for reason, unwanted in (
            ("opponents", _other_side(records, side, opponents)),
            ("events", _events(records, events)),
        ):
            left_out[reason] += int((chosen & unwanted).sum())
            chosen &= ~unwanted
        for place in np.flatnonzero(chosen):
            begin, end = records.offsets[place], records.offsets[place + 1]
            key = int(side[place]), records.moves[begin : min(end, begin + _TELLING_MOVES)].astype(np.int16).tobytes()
            if key in seen:
                chosen[place] = False
                left_out["duplicates"] += 1
            seen.add(key)
        parts.append(records.select(chosen))
        sides.append(side[chosen])
    name = ", ".join(wanted)
    near = near_names(every, wanted)
    if not sum(map(len, parts)):
        alike = f"; names like it: {_listed({one: every[one] for one in near[:20]})}" if near else ""
        why = f" ({_listed(+left_out)} left out)" if +left_out else ""
        raise BadInputError(f"no games of {name!r} in {', '.join(dict.fromkeys(sources))}{why}{alike}")
    return PersonGames(
        name,
        GameRecords.concatenate(parts, initial_position=game.initial_position),
        np.concatenate(sides),
        dict(caught.most_common()),
        {one: every[one] for one in near},
        dict((+left_out).most_common()),
    )


def everybody(game: Game, chunks: Iterable[GameRecords]) -> PersonGames:
    """Take the moves of both sides in all games."""
    records = GameRecords.concatenate(list(chunks), initial_position=game.initial_position)
    return PersonGames("", records, np.zeros(len(records), np.int8), {}, {}, {})


def between(person: PersonGames, opponent: str) -> PersonGames:
    """Games of a person against somebody, from the person's side.

    Raises
    ------
    BadInputError
        There are none.
    """
    chosen = _other_side(person.records, person.side, [opponent])
    if not chosen.any():
        raise BadInputError(f"no games between {person.name!r} and {opponent!r}")
    return person.select(np.flatnonzero(chosen))


def _other_side(records: GameRecords, side: NDArray[np.int8], wanted: Iterable[str]) -> NDArray[np.bool_]:
    """Games whose other player is one of the wanted: bool [G]."""
    first, second = of_players(records, wanted).values()
    return np.where(side > 0, second, first)


def _events(records: GameRecords, meant: Callable[[str], bool]) -> NDArray[np.bool_]:
    for column in ("event", "tournament"):
        if column in records.names:
            known = np.array([*map(meant, records.names[column]), False])
            return np.asarray(known[records.extra[column]], np.bool_)
    return np.zeros(len(records), np.bool_)
