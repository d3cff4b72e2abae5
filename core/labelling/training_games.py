"""Games that players play among themselves, as training material (Buro 1995, section 3; GLEM, section 3).

A generation is a folder: ``generation.json`` says what is played, and each file of games holds the games of a range of
numbers. A game depends on what is played, the seed and its number alone. So the files do not depend on the number of
workers, a killed generation continues with the files that are missing, and a finished one can be extended.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import define, field

from glem.core.errors import BadInputError, check_arguments
from glem.core.files.atomic import check_writable
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.labelling.plan import GenerationPlan
from glem.core.players.spec import SEARCH, PlayerSpec
from glem.core.positions.game_lines import GAME_LINES
from glem.core.positions.reading import read_records, record_formats
from glem.core.positions.replay import plies_of_games
from glem.core.positions.writing import check_format_holds, write_games
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.run_folder import run_folder
from glem.core.tasks.settings import setting
from glem.core.tasks.tasks import Workers, run_tasks
from glem.core.tournament.games import GameTask, play_game
from glem.core.tournament.opening_choice import random_opening
from glem.core.tournament.openings import Opening
from glem.core.tournament.transcripts import records_of_games, records_of_openings

_MARK = "generation.json"
_VERSION = 1
_MOST_GAMES = 1 << 31


@define(frozen=True, slots=False)
class GenerationSettings(GenerationPlan):
    """What is played.

    Parameters
    ----------
    players
        One player who plays both sides, or two who change sides from game to game.
    seed
        Of openings and random moves.
    """

    players: tuple[PlayerSpec, ...] = field(kw_only=True)
    seed: int = setting(0, least=0, most=(1 << 32) - 1)

    def __attrs_post_init__(self) -> None:
        if len(self.players) not in {1, 2}:
            raise BadInputError(f"one player or two play games, got {len(self.players)}")
        for player in self.players:
            player.check_repeatable("its games could not be made again")


@define(frozen=True)
class Generated:
    """What lies in the folder of a generation.

    Parameters
    ----------
    files
        Its files of games, in order.
    games, positions
        Games in them, and positions that are not the last of a finished game.
    made
        Games that this call has played; the others were there.
    """

    files: tuple[Path, ...]
    games: int
    positions: int
    made: int


@define(frozen=True)
class _FileTask:
    game: Game
    settings: GenerationSettings
    openings: tuple[Opening, ...] | None
    """Openings of these games; None where they are random."""
    listed: int
    """Number of all openings, after which they begin anew; 0 where they are random."""
    first: int
    count: int


def _play_file(task: _FileTask) -> GameRecords:
    """Play the games of one file."""
    settings = task.settings
    players = [attrs.evolve(player, seed=(player.seed << 32) + settings.seed) for player in settings.players]
    games = []
    for number in range(task.first, task.first + task.count):
        if task.openings is None:
            opening = random_opening(task.game, settings.openings, (settings.seed, number))
        else:
            opening = task.openings[number - task.first]
        # Two players change sides from game to game, or when all openings were played.
        changed = number // task.listed % 2 if task.listed else number % 2
        first, second = players[-changed], players[changed - 1]
        played = play_game(GameTask(task.game, number, opening, first, second, exploration=settings.exploration))
        # Files depend on the options alone, and the time that a move took does not.
        timeless = tuple(attrs.evolve(choice, seconds=0.0, processor_seconds=None) for choice in played.moves)
        games.append(attrs.evolve(played, moves=timeless))
    return records_of_games(task.game, games)


def _described(game: Game, settings: GenerationSettings, openings: list[Opening] | None) -> dict[str, Any]:
    """All that the games depend on, as JSON values."""
    players = []
    for player in settings.players:
        facts = player.to_json()
        del facts["name"]
        # The digest stands for what the files hold: they may lie elsewhere.
        facts["evaluation"], facts["probcut"] = Path(player.evaluation).name, Path(player.probcut).name
        players.append(facts)
    lines = None if openings is None else "\n".join(opening.to_json(game) for opening in openings)
    return {
        "version": _VERSION,
        "game": game.name,
        "players": players,
        "openings": {**attrs.asdict(settings.openings), "kind": Path(settings.openings.kind).name},
        "openings_digest": None if lines is None else arrays_digest([], lines),
        "exploration": settings.exploration,
        "seed": settings.seed,
        "games_per_file": settings.games_per_file,
        **({} if settings.format == GAME_LINES.name else {"format": settings.format}),
    }


def generate(
    game: Game,
    folder: Path,
    settings: GenerationSettings,
    *,
    games: int | None = None,
    positions: int | None = None,
    workers: Workers | None = None,
    progress: Progress = SILENT,
    tell: Callable[[str], None] | None = None,
) -> Generated:
    """Play games into a folder; what is there already is kept.

    Parameters
    ----------
    folder
        Made if absent; holds this generation alone.
    settings
        What is played.
    games, positions
        Exactly one of them: the number of games, or the least number of positions, for which whole files are played.
    workers
        Where; the games do not depend on it.
    tell
        Called with one sentence where bad openings of a file were left out; None raises instead.

    Raises
    ------
    BadInputError
        A bad number, players that cannot be made, a folder with other games, more games than there are openings for
        players without chance.
    """
    if (games is None) == (positions is None):
        raise BadInputError("say either how many games are to be played or how many positions")
    check_arguments({"games": games, "positions": positions}, games=(1,), positions=(1,))
    settings = attrs.evolve(settings, players=tuple(player.resolved(game) for player in settings.players))
    openings = settings.openings.listed(game, tell=tell)
    suffix = _suffix(game, settings.format)
    if openings is not None:
        _check_openings(game, openings, suffix)
    if not folder.is_dir():
        check_writable(folder)
    described, files = _described(game, settings, openings), f"games-*{suffix}"
    with run_folder(
        folder, described, keep=True, mark=_MARK, files=files, content="games", remedy="name another folder"
    ):
        plan = _Plan(game, settings, openings, folder, suffix, games, games or positions or 0)
        made = 0
        run = run_tasks(_play_file, plan.tasks(), workers)
        with progress("Playing games", plan.goal) as display, contextlib.closing(run) as results:
            display.advance(plan.reached())
            for place, records in results:
                before = plan.reached()
                plan.add(place, records)
                made += len(records)
                display.advance(plan.reached() - before)
                if plan.reached() >= plan.goal:
                    break
        return plan.finish(made)


def _suffix(game: Game, name: str) -> str:
    """Suffix of files in a format."""
    formats = {each.name: each for each in record_formats(game).values() if each.write is not None and each.suffixes}
    if name not in formats:
        raise BadInputError(f"games of {game.title} are not generated as {name!r}; known: {', '.join(formats)}")
    return formats[name].suffixes[0]


def _check_openings(game: Game, openings: Sequence[Opening], suffix: str) -> None:
    if suffix in GAME_LINES.suffixes and any(opening.start for opening in openings):
        raise BadInputError(
            "an opening does not begin in the initial position, and glem's own files of games have no room for that; "
            "give moves, or another --write-format"
        )
    check_format_holds(game, f"games{suffix}", records_of_openings(game, openings))


@define(eq=False)
class _Plan:
    """Which files of games there are and which are to be made, and how far the work is."""

    game: Game
    settings: GenerationSettings
    openings: list[Opening] | None
    folder: Path
    suffix: str
    games: int | None
    goal: int
    """Games, or positions where no number of games is given."""
    amounts: dict[int, tuple[int, int]] = field(init=False, factory=dict)
    """Games and positions of the files that were looked into."""
    given_out: list[int] = field(init=False, factory=list)
    made: set[int] = field(init=False, factory=set)
    complete: int = field(init=False, default=0)
    """Files from the first on without a gap, as many as the goal needs."""

    def __attrs_post_init__(self) -> None:
        if self.games is not None and self.games > self.most_games:
            raise BadInputError(
                f"these players play only {counted(self.most_games, 'different game')}, not {self.games:,}, from "
                f"{counted(len(self.openings or ()), 'opening')}; more need exploration"
            )

    @property
    def most_games(self) -> int:
        """Games that differ: players without chance repeat themselves where the opening does."""
        settings = self.settings
        by_chance = settings.exploration > 0 or any(player.kind != SEARCH for player in settings.players)
        if self.openings is None or by_chance:
            return _MOST_GAMES
        return len(self.openings) * len(settings.players)

    def _path(self, file: int) -> Path:
        return self.folder / f"games-{file:06d}{self.suffix}"

    def tasks(self) -> Iterator[_FileTask]:
        """Yield tasks for the files that are missing, until the goal is reached."""
        for file in itertools.count():
            count = self._games_of(file)
            if count <= 0 or self.reached() >= self.goal:
                return
            if self._has(file, count):
                continue
            self.given_out.append(file)
            first = file * self.settings.games_per_file
            openings = None
            if self.openings is not None:
                among = len(self.openings)
                openings = tuple(self.openings[number % among] for number in range(first, first + count))
            yield _FileTask(self.game, self.settings, openings, len(self.openings or ()), first, count)

    def _games_of(self, file: int) -> int:
        """Games that a file must hold; none beyond the last."""
        size = self.settings.games_per_file
        return min(size, min(self.most_games, self.games or _MOST_GAMES) - file * size)

    def _has(self, file: int, games: int) -> bool:
        """Whether a file is there with at least so many games."""
        path = self._path(file)
        if file not in self.amounts and path.exists():
            self._count(file, GameRecords.concatenate(list(read_records(self.game, path))))
        return self.amounts.get(file, (0, 0))[0] >= games

    def _count(self, file: int, records: GameRecords) -> None:
        # All positions but the last of each game.
        self.amounts[file] = len(records), int(plies_of_games(self.game, records).sum())

    def add(self, place: int, records: GameRecords) -> None:
        """Write what a task has played."""
        file = self.given_out[place]
        write_games(self.game, self._path(file), records)
        self._count(file, records)
        self.made.add(file)

    def reached(self) -> int:
        """Positions, or games, of the complete files."""
        kind = 1 if self.games is None else 0
        total = sum(self.amounts[file][kind] for file in range(self.complete))
        while total < self.goal:
            needed = self._games_of(self.complete)
            if needed <= 0 or not self._has(self.complete, needed):
                break
            total += self.amounts[self.complete][kind]
            self.complete += 1
        return total

    def finish(self, played: int) -> Generated:
        """Remove what was played beyond the goal while the last files before it were still at work."""
        reached = self.reached()
        files = range(self.complete)
        for file in self.made.difference(files):
            self._path(file).unlink()
        if reached < self.goal:
            raise BadInputError(
                f"all {counted(self.most_games, 'different game')} of these players give "
                f"{counted(reached, 'position')}, "
                f"{self.goal:,} are wanted; more need exploration or longer openings"
            )
        games, positions = (sum(self.amounts[file][kind] for file in files) for kind in (0, 1))
        return Generated(tuple(map(self._path, files)), games, positions, played)
