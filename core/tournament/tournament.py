"""Tournaments: every player meets every other one from every opening, twice with colours reversed.

The games go into a journal (:mod:`glem.core.tasks.journal`) as they end: a tournament that was killed goes on with the
games that are missing. Games do not depend on each other, so that without time limits the result is the same whatever
the number of workers. A sequential test judges the pairs in the order of the openings, whatever the order in which they
were played, and its result counts no pair after the decisive one.
"""

import contextlib
import os
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

import attrs
from attrs import define, field

from glem.core.errors import BadInputError, GlemError, reading
from glem.core.game.families import check_named_by_file
from glem.core.game.game import Game, load_game
from glem.core.players.making import close_programs
from glem.core.players.spec import PlayerSpec
from glem.core.search.solver import can_solve
from glem.core.tasks.counts import counted
from glem.core.tasks.journal import Journal, read_journal
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.tasks import Workers, run_tasks
from glem.core.tournament.elo import PairCounts
from glem.core.tournament.games import Adjudication, GameTask, PlayedGame, play_game
from glem.core.tournament.openings import Opening
from glem.core.tournament.ratings import ratings_of
from glem.core.tournament.sprt import Sprt, SprtState, SprtVerdict
from glem.core.tournament.standings import Standings
from glem.core.tournament.transcripts import contradictions

RECORD_KIND = "tournament"
"""Kind of the journal that holds a tournament's games."""

_FIRST_GAME = 2
"""Line of a record with its first game; the header stands before it."""

_GAMES_AT_ONCE = 1000

_ALL_FAILED = 10
"""Games, all of which a program may lose by failures before it is no opponent; fewer where it plays fewer."""


@define(frozen=True)
class Tournament:
    """Everything that determines a tournament.

    Parameters
    ----------
    game
        The game.
    players
        At least two, of different names.
    openings
        At least one.
    adjudication
        How games are ended and clocks are judged.
    sprt
        Sequential test of the first player against the second, which ends the tournament early.

    Raises
    ------
    BadInputError
        Too few players or openings, equal names, a test of more than two players, no solver to adjudicate with.
    """

    game: Game
    players: tuple[PlayerSpec, ...]
    openings: tuple[Opening, ...]
    adjudication: Adjudication = field(factory=Adjudication)
    sprt: Sprt | None = None

    def __attrs_post_init__(self) -> None:
        names = [player.name for player in self.players]
        if len(names) < 2:
            raise BadInputError(f"a tournament needs two players or more, got {len(names)}")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadInputError(f"two players are called {twice[0]!r}; tell them apart with name=")
        if not self.openings:
            raise BadInputError("a tournament needs at least one opening")
        if self.sprt is not None and len(names) > 2:
            raise BadInputError(f"a sequential test compares two players, got {len(names)}")
        if self.adjudication.solve_from and not can_solve(self.game):
            raise BadInputError(f"{self.game.title} cannot be solved, so no solver can adjudicate games")

    def __len__(self) -> int:
        """Count the games."""
        return len(self.openings) * len(self.players) * (len(self.players) - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the players."""
        return tuple(player.name for player in self.players)

    def game_at(self, number: int) -> GameTask:
        """Return a game by its number: opening by opening, pairing by pairing, both colours."""
        pairings = tuple(combinations(self.players, 2))
        opening, place = divmod(number, 2 * len(pairings))
        one, other = pairings[place // 2]
        first, second = (other, one) if place % 2 else (one, other)
        return GameTask(self.game, number, self.openings[opening], first, second, self.adjudication)

    def settings(self) -> dict[str, Any]:
        """Everything that determines the games and their result, as JSON values."""
        return {
            "game": self.game.name,
            "players": [player.to_json() for player in self.players],
            "openings": [opening.to_json(self.game) for opening in self.openings],
            "adjudication": attrs.asdict(self.adjudication),
            "sprt": None if self.sprt is None else attrs.asdict(self.sprt),
        }


@define(frozen=True, eq=False, repr=False)
class TournamentResult:
    """What a tournament has shown.

    Parameters
    ----------
    tournament
        What was played.
    standings
        Of the games that count: all of them, or those until a sequential test decided.
    sprt
        Where the sequential test stands, if there is one.
    played
        Games that were played in all; workers may have gone on after the decisive pair.
    """

    tournament: Tournament
    standings: Standings
    sprt: SprtState | None
    played: int

    def __repr__(self) -> str:
        return f"TournamentResult({self.standings!r}, {self.played} of {len(self.tournament)} played)"

    def _repr_html_(self) -> str:
        return self.standings._repr_html_()

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "game": self.tournament.game.name,
            "openings": len(self.tournament.openings),
            "games_planned": len(self.tournament),
            "games_played": self.played,
            **self.standings.to_json(),
            "ratings": [attrs.asdict(rating) for rating in ratings_of(self.standings)],
            "sprt": None if self.sprt is None else attrs.asdict(self.sprt),
        }


def run_tournament(
    tournament: Tournament,
    record: str | os.PathLike[str] | None = None,
    *,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> TournamentResult:
    """Play a tournament, or what is missing of it.

    Parameters
    ----------
    record
        Journal of the games; where it holds games already, they are not played again. None keeps no record.
    progress
        Display; shows the score.

    Raises
    ------
    BadInputError
        A player cannot be made; the record belongs to another tournament or is damaged.
    GlemError
        A program gives no move, or lost all its games, ten or more of them, by failures.
    """
    tournament = attrs.evolve(
        tournament, players=tuple(player.resolved(tournament.game) for player in tournament.players)
    )
    tally = _Tally(tournament)
    with contextlib.ExitStack() as stack:
        stack.callback(close_programs)
        journal = None
        if record is not None:
            journal = stack.enter_context(Journal(record, RECORD_KIND, tournament.settings()))

            def kept(found: Any) -> PlayedGame:
                game = PlayedGame.from_json(tournament.game, found)
                tally.add(game)
                return game

            for _ in _possible(tournament.game, journal.records(kept), os.fspath(record)):
                pass
        tally.check_alive()
        task = stack.enter_context(progress("play", len(tournament)))
        task.advance(tally.played)
        task.note(tally.note())
        missing = (number for number in range(len(tournament)) if number not in tally.numbers and not tally.decided)
        tasks = map(tournament.game_at, missing)
        results = run_tasks(play_game, tasks, workers)
        for _, game in stack.enter_context(contextlib.closing(results)):
            if journal is not None:
                journal.append(game.to_json(tournament.game))
            tally.add(game)
            tally.check_alive()
            task.advance()
            task.note(tally.note())
            if tally.decided:
                break
    return tally.result()


def read_games(path: str | os.PathLike[str]) -> tuple[Game, dict[str, Any], Iterator[PlayedGame]]:
    """Read the record of a tournament: its game, its settings and the games that were played, in the file's order.

    Raises
    ------
    BadInputError
        The file is missing, damaged, or no record of a tournament.
    """
    settings, games = read_journal(path, RECORD_KIND, lambda found: PlayedGame.from_json(game, found))
    with reading(path, "record of a tournament"):
        game = load_game(check_named_by_file(str(settings.get("game")), path))
    return game, settings, _possible(game, games, os.fspath(path))


def _possible(game: Game, games: Iterator[PlayedGame], path: str) -> Iterator[PlayedGame]:
    """Yield games that their own moves bear out."""
    lines = enumerate(games, _FIRST_GAME)
    while some := list(islice(lines, _GAMES_AT_ONCE)):
        for (line, _), problem in zip(some, contradictions(game, [one for _, one in some]), strict=True):
            if problem:
                raise BadInputError(f"{path}:{line}: {problem}")
        yield from (one for _, one in some)


class _Tally:
    """Games of a tournament as they come in, and what follows from them."""

    def __init__(self, tournament: Tournament) -> None:
        self._tournament = tournament
        self._standings = Standings(tournament.names)
        self.numbers: set[int] = set()
        # A sequential test judges in the order of the numbers: games that came early wait for those before them.
        self._waiting: dict[int, PlayedGame] = {}
        self._next = 0
        self._state = None if tournament.sprt is None else tournament.sprt.test(PairCounts())

    @property
    def played(self) -> int:
        return len(self.numbers)

    @property
    def decided(self) -> bool:
        return self._state is not None and self._state.verdict != SprtVerdict.CONTINUE

    def add(self, game: PlayedGame) -> None:
        if game.number in self.numbers:
            raise BadInputError(f"the record has game {game.number} twice")
        if not 0 <= game.number < len(self._tournament):
            raise BadInputError(f"the record has game {game.number}, the tournament has {len(self._tournament)}")
        planned = self._tournament.game_at(game.number)
        if (game.players, game.opening) != ((planned.first.name, planned.second.name), planned.opening):
            raise BadInputError(f"game {game.number} of the record is not the tournament's: {' - '.join(game.players)}")
        self.numbers.add(game.number)
        sprt = self._tournament.sprt
        if sprt is None:
            self._standings.add(game)
            return
        self._waiting[game.number] = game
        while not self.decided and {self._next, self._next + 1} <= self._waiting.keys():
            for number in (self._next, self._next + 1):
                self._standings.add(self._waiting.pop(number))
            self._next += 2
            (pairing,) = self._standings.pairings.values()
            self._state = sprt.test(pairing.pairs)

    def check_alive(self) -> None:
        """Raise :class:`GlemError` where a program has lost all its games by failures: they say nothing of strength."""
        planned = len(self._tournament) * 2 // len(self._tournament.players)
        for name, totals in self._standings.totals.items():
            if totals.lost_by_failure == totals.games >= min(_ALL_FAILED, planned):
                games = counted(totals.games, "game")
                raise GlemError(
                    f"the program of {name} has lost {games} by failures and ended none; the last: {totals.problem}"
                )

    def note(self) -> str:
        """Score so far, for people who watch."""
        totals = self._standings.totals
        if len(totals) > 2:
            ranked = sorted(totals.items(), key=lambda item: -item[1].score if item[1].games else 0.0)
            return "  ".join(f"{name} {100 * total.score:.1f} %" for name, total in ranked if total.games)
        (pairing,) = self._standings.pairings.values()
        text = f"{pairing.wins}-{pairing.draws}-{pairing.losses}"
        if pairing.games:
            text += f"  {100 * pairing.score:.1f} %  Elo {pairing.elo.elo:+.0f} ± {pairing.elo.error:.0f}"
        if self._state is not None:
            text += f"  LLR {self._state.llr:.2f} ({self._state.lower:.2f}, {self._state.upper:.2f})"
        return text

    def result(self) -> TournamentResult:
        return TournamentResult(self._tournament, self._standings, self._state, self.played)
