"""Positions labelled by search and solver (GLEM, section 3).

A search that starts from a position gives it a better label than its evaluation, and near the end of the game a solver
gives the exact one. Four kinds of positions can be added to those that are given:

- those after random moves. Games between good players hardly ever have a gross mistake in them, and an evaluation that
  has seen none does not know what it costs;
- positions drawn from the searches themselves (:mod:`glem.core.labelling.sampled`), of all or of near-even static
  scores;
- the successor by the principal variation of every labelled position, with the negated label, or by each line that a
  program tells. Most moves that a search looks at are mistakes, so that the side to move in its positions has the
  better chances on average; without the successors an evaluation learns a bonus for the right to move that is not
  there. Kept alone, they leave out what no static evaluation foresees: a search of depth 1 takes the best of many
  moves, but behind that its score is a static one.

Labels of all moves of each position are a *choice set*: it tells how much an evaluation loses that chooses by itself
(:mod:`glem.core.measures.choices`).

Equal input, settings and seed give equal labels, whatever the number of workers.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from attrs import define

from glem.core.compiling.columns import position_at, store_position
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations
from glem.core.errors import BadInputError, GlemError
from glem.core.evaluation.links import LOGISTIC
from glem.core.files.digests import arrays_digest
from glem.core.game.game import Game, is_over, legal_moves, play
from glem.core.game.optional_operations import gain, is_quiet, must_move, standing
from glem.core.game.protocols import ScoredMove
from glem.core.labelling.plan import LabellingPlan
from glem.core.labelling.sampled import PositionSampler
from glem.core.players.scoring import kept_scoring, running_scoring
from glem.core.players.spec import EXTERNAL, SEARCH, PlayerSpec
from glem.core.players.thinker import kept_thinker
from glem.core.positions.labels import serious_error
from glem.core.positions.positions import CHOICES, Positions
from glem.core.search.searcher import Searcher
from glem.core.tasks.chunked_work import Arrays, ChunkedWork, PositionsTask
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress
from glem.core.tasks.settings import setting
from glem.core.tasks.tasks import Workers

_LONGEST_EXCHANGE = 12
"""Moves after which a position that is not quiet is given up."""
_SURE = 0.9999
"""Greatest expected result that has log odds."""


class Origin(IntEnum):
    """Where a labelled position comes from; files name it behind their source."""

    GIVEN = 0
    SAMPLED = 1
    EVEN = 2
    SUCCESSOR = 3
    CHILD = 4


def check_labeller(spec: PlayerSpec, *kinds: str) -> None:
    """Raise :class:`BadInputError` for a player that cannot label positions; it may be of these kinds too."""
    if spec.kind not in (SEARCH, *kinds):
        raise BadInputError(f"{spec.name!r} does not search; labels need an evaluation file with depth= or nodes=")
    spec.check_repeatable("its labels could not be made again")
    if spec.result_from:
        raise BadInputError(
            f"{spec.name!r} solves for win, draw and loss from {counted(spec.result_from, 'move')} on; use solve="
        )


class Judgement(NamedTuple):
    """What a player says of a position.

    Parameters
    ----------
    score
        A label.
    move
        The best; -1 where none is known.
    exact
        The score is the exact final score.
    lines
        Moves that lead to successors whose labels are known.
    """

    score: float
    move: int
    exact: bool = False
    lines: tuple[ScoredMove, ...] = ()


def judge_of(game: Game, spec: PlayerSpec) -> Callable[[Any], Judgement]:
    """Return what judges positions as a player, kept and cleared for this task.

    Where evaluation or program tell winning chances, the score is the expected result, from -1 to 1.

    Raises
    ------
    BadInputError
        Results are expected but scores tell by how much a game is won, or as for
        :class:`~glem.core.players.thinker.Thinker`.
    """
    thinker = None if spec.kind == EXTERNAL else kept_thinker(game, spec)
    is_odds = thinker is None or thinker.evaluation.link == LOGISTIC
    if is_odds and game.greatest_score > 1:
        raise BadInputError(f"{spec.name} tells winning chances; the labels of {game.title} are scores")
    if thinker is None:
        scoring = running_scoring(game, spec)
        scoring.forget()

        def told(position: Any) -> Judgement:
            found = scoring.score(position)
            if found.expected is None:
                problem = found.problem or f"its {scoring.unit} tell nothing of results"
                raise GlemError(f"{spec.name}: no label for {game.format_position(position)}: {problem}")
            return Judgement(found.expected, -1 if found.move is None else found.move, lines=found.lines)

        return told

    def searched(position: Any) -> Judgement:
        found = thinker.judge(position)
        assert found.score is not None
        score = math.tanh(found.score / 2) if is_odds else found.score
        return Judgement(score, found.move, found.exact, () if found.move < 0 else (ScoredMove(found.move, score),))

    return searched


def decisive_facts(settings: Any) -> dict[str, Any]:
    """All of some settings that labels depend on, as JSON values: files are known by digests, names mean nothing."""
    return attrs.asdict(settings, filter=lambda entry, _: entry.name not in {"name", "evaluation", "probcut"})


@define(frozen=True, slots=False)
class SearchLabelling(LabellingPlan):
    """A plan of labels, checked, and what else they depend on.

    Parameters
    ----------
    seed
        Of the draw.
    positions_per_task
        Given positions of one task, which also share a transposition table.
    """

    seed: int = setting(0, least=0)
    positions_per_task: int = setting(250, least=1)

    def __attrs_post_init__(self) -> None:
        check_labeller(self.by, EXTERNAL)
        if self.sampled + self.even and self.sampler.kind == EXTERNAL:
            raise BadInputError(f"{self.sampler.name!r} shows nothing of its search: draw from a player of glem")
        if self.sample_by is not None:
            check_labeller(self.sample_by)
        if self.child_moves > 1 and not self.children:
            raise BadInputError(f"{self.child_moves} random moves lead nowhere: no positions after them are added")
        if self.choices and (self.children + self.sampled + self.even or self.quiet):
            raise BadInputError("the labels of all moves are a set of their own: no other is added, none left out")
        if self.only_successors and (self.choices or not self.successors):
            raise BadInputError("only successors are asked for, but none are added")
        if not self.given and self.children + self.sampled + self.even == 0:
            raise BadInputError("nothing is labelled: neither the given positions nor added ones")

    @property
    def sampler(self) -> PlayerSpec:
        """Player whose searches are drawn from."""
        return self.sample_by or self.by

    @property
    def label_kind(self) -> str:
        """Label kind of the positions."""
        return CHOICES if self.choices else "search"


def _is_over(rules: Operations, position: Any) -> bool:
    return bool(is_over(rules, position))


def _is_calm(rules: Operations, position: Any, move: int) -> bool:
    """Whether the side to move can stand still, and its best move, where it is known, takes nothing."""
    if must_move(rules, position):
        return False
    return bool(move < 0 or is_quiet(rules, position, move) or gain(rules, position, move) == 0)


def _follow(rules: Operations, position: Any, moves: Any, quiet: bool, legal: Any, after: Any, fit: Any) -> None:
    """Make some moves, and tell which of them are legal and lead where a static evaluation may be asked."""
    count = legal_moves(rules, position, legal, 0)
    for place in range(len(moves)):
        fit[place] = (legal[:count] == moves[place]).any()
        if fit[place]:
            successor = play(rules, position, moves[place])
            store_position(after, place, successor)
            fit[place] = not is_over(rules, successor) and not (quiet and standing(rules, successor) == 0)


def label_chunk(task: PositionsTask[tuple[Game, SearchLabelling]]) -> Arrays:
    """Label some positions and those that are added to them."""
    game, settings = task.work
    judge, rules = judge_of(game, settings.by), game.search_rules
    over, calm, follow = compiled(_is_over), compiled(_is_calm), compiled(_follow)
    legal, after = np.zeros(game.max_moves, np.int32), game.empty_columns(game.max_moves)
    fit = np.zeros(game.max_moves, np.bool_)
    positions: list[Any] = []
    facts: list[tuple[float, int, int, int]] = []

    def add(position: Any, row: int, distance: int, origin: Origin) -> None:
        for _ in range(_LONGEST_EXCHANGE):
            if over(rules, position):
                if settings.choices:
                    positions.append(position)
                    facts.append((game.final_score(position), row, distance, origin))
                return
            found = judge(position)
            if not settings.quiet or calm(rules, position, found.move):
                break
            if found.move < 0:
                return
            position, distance = game.play(position, found.move), distance + 1
        else:
            return
        if not settings.only_successors:
            positions.append(position)
            facts.append((found.score, row, distance, origin))
        if settings.choices or not settings.successors:
            return
        lines = [line for line in found.lines if not (settings.quiet and line.goes_on)][: len(fit)]
        follow(rules, position, np.array([line.move for line in lines], np.int32), settings.quiet, legal, after, fit)
        for place in np.flatnonzero(fit[: len(lines)]).tolist():
            positions.append(position_at(after, place))
            facts.append((-lines[place].score, row, distance + 1, Origin.SUCCESSOR))

    drawing = None
    if settings.sampled + settings.even:
        thinker = kept_thinker(game, settings.sampler)
        window = serious_error(game) / 2 if settings.even_within is None else settings.even_within
        if thinker.evaluation.link == LOGISTIC:
            window = 2 * math.atanh(min(window, _SURE))
        sampler = PositionSampler(game, thinker.evaluator, settings.sampled, even_room=settings.even, window=window)
        drawing = sampler, Searcher(game, sampler.evaluator, thinker.searcher.settings)
    for row in range(len(task.positions[0])):
        position = position_at(task.positions, row)
        if settings.given and not settings.choices:
            add(position, row, 0, Origin.GIVEN)
        if settings.children or settings.choices:
            for child, distance in _children(game, position, settings, task.first + row):
                add(child, row, distance, Origin.CHILD)
        if drawing is None:
            continue
        sampler, searcher = drawing
        sampler.begin(settings.seed + ((task.first + row) << 32))
        # With a full table a search would evaluate little but what is new to it.
        searcher.clear()
        searcher.search(position, settings.sampler.limits)
        samples = sampler.drawn()
        for place, (ply, near_even) in enumerate(zip(samples.ply, samples.near_even, strict=True)):
            origin = Origin.EVEN if near_even else Origin.SAMPLED
            add(position_at(samples.positions, place), row, int(ply), origin)
    kinds = {"label": np.float32, "row": np.int64, "distance": np.int16, "origin": np.int8}
    told = {name: np.array([fact[place] for fact in facts], kind) for place, (name, kind) in enumerate(kinds.items())}
    return {f"position_{name}": column for name, column in game.columns_of(positions)._asdict().items()} | told


def _children(game: Game, position: Any, settings: SearchLabelling, number: int) -> Iterator[tuple[Any, int]]:
    """Give the positions after moves of a given position that are labelled, with the number of moves."""
    moves = game.list_legal_moves(position, fast=True)
    if settings.choices:
        # A forced move is no choice.
        yield from ((game.play(position, move), 1) for move in moves if len(moves) > 1)
        return
    generator, over = np.random.default_rng((settings.seed, number)), compiled(_is_over)
    for place in generator.permutation(len(moves))[: settings.children].tolist():
        child, distance = game.play(position, moves[place]), 1
        for _ in range(generator.integers(settings.child_moves) if settings.child_moves > 1 else 0):
            if over(game.search_rules, child):
                break
            further = game.list_legal_moves(child, fast=True)
            child, distance = game.play(child, further[generator.integers(len(further))]), distance + 1
        yield child, distance


def label_by_search(
    positions: Positions,
    settings: SearchLabelling,
    work: Path,
    *,
    workers: Workers | None = None,
    progress: Progress = SILENT,
) -> Iterator[Positions]:
    """Label positions by search, and add sampled ones and successors.

    Parameters
    ----------
    positions
        N positions that are not over; their own labels are not looked at.
    work
        Folder for what is done already, made if absent; the same call continues there after a kill.
    workers
        Where; the labels do not depend on it.

    Yields
    ------
    Positions
        Parts in order, of the settings' label kind. An added position has the record, game and weight of the given
        one that it comes from, and its file's name followed by the origin as its source. In a choice set, ``record`` is
        the number of the given position, and finished positions have their final score.

    Raises
    ------
    BadInputError
        The labeller cannot be made, or the folder holds other work.
    """
    game = positions.game
    if len(positions.sources) * len(Origin) > np.iinfo(np.int16).max:
        raise BadInputError(f"positions of {len(positions.sources):,} files are too many sources to label at once")
    if settings.quiet and not {"is_quiet", "must_move", "gain"} <= set(game.search_functions):
        raise BadInputError(f"{game.title} does not tell which moves are quiet: all its positions are labelled")
    sample_by = None if settings.sample_by is None else settings.sample_by.resolved(game)
    settings = attrs.evolve(settings, by=settings.by.resolved(game), sample_by=sample_by)
    facts = decisive_facts(settings)
    # Under the names that folders of unfinished work have.
    facts |= {"labeller": facts.pop("by"), "window": facts.pop("even_within")}
    mark = {"game": game.name, "positions": arrays_digest(positions.positions), **facts}
    step = settings.positions_per_task
    chunks = ChunkedWork(work, mark).run(
        label_chunk, (game, settings), positions.positions, step, name="labels", workers=workers, progress=progress
    )
    names = positions.sources or ("",)
    sources = tuple(f"{name} ({origin.name.lower()})".strip() for name in names for origin in Origin)
    try:
        for number, arrays in enumerate(chunks):
            rows = arrays["row"] + number * step
            given = positions.select(rows)
            yield attrs.evolve(
                given,
                record=rows if settings.choices else given.record,
                positions=game.position_type(*(arrays[f"position_{name}"] for name in game.position_type._fields)),
                label=arrays["label"],
                ply=np.where(given.ply < 0, -1, given.ply + arrays["distance"]).astype(np.int16),
                source=(np.maximum(given.source, 0) * len(Origin) + arrays["origin"]).astype(np.int16),
                sources=sources,
                label_kind=settings.label_kind,
                label_spread=None,
            )
    finally:
        kept_scoring.drop()


class SearchCounts:
    """What :func:`label_by_search` gave, counted up part by part."""

    def __init__(self) -> None:
        self.origins: Counter[str] = Counter()
        """Positions by origin."""
        # By side to move, then without successors and successors alone: number and sum of labels.
        self._sums = np.zeros((2, 2, 2))

    def add(self, part: Positions) -> None:
        """Count the positions of a part."""
        origin = part.source % len(Origin)
        counts = np.bincount(origin, minlength=len(Origin))
        self.origins.update({kind.name.lower(): int(counts[kind]) for kind in Origin if counts[kind]})
        known = part.ply >= 0
        group = 2 * (part.ply[known] % 2) + (origin[known] == Origin.SUCCESSOR)
        for place, weights in enumerate((None, part.label[known])):
            self._sums[:, :, place] += np.bincount(group, weights, 4).reshape(2, 2)

    def mean_labels(self) -> list[tuple[str, int, float, int, float]]:
        """Compare labels with and without the successors, for each side to move; positions of unknown ply are left out.

        Returns
        -------
        rows
            Side to move, number and mean label of positions without the successors, the same with them.
        """
        by_side = [*zip(("first player", "second player"), self._sums, strict=True), ("both", self._sums.sum(axis=0))]
        rows = []
        for name, sums in by_side:
            (count, total), (every, every_total) = sums[0], sums.sum(axis=0)
            rows.append(
                (name, int(count), float(total / max(count, 1)), int(every), float(every_total / max(every, 1)))
            )
        return rows
