"""Searching a position: iterative deepening, limits, several lines."""

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import numpy as np
from attrs import define

from glem.core.compiling.borrowed import Borrowed
from glem.core.compiling.kernels import compiled, direct
from glem.core.errors import BadInputError, check_arguments
from glem.core.features.evaluators import Evaluator, start
from glem.core.game.draws import OCCURRENCES
from glem.core.game.game import Game
from glem.core.search.clock import monotonic_nanoseconds
from glem.core.search.history import FOLLOW_UPS
from glem.core.search.negascout import MARGIN_WIDENING, negascout
from glem.core.search.probcut import CHECKS, FULL_WIDTH, ProbCut
from glem.core.search.pruning import LATE_MOVES
from glem.core.search.results import MOST_THREADS, Bound, Limits, Line, SearchResult, longest_seconds, usual_seconds
from glem.core.search.state import AT, KILLERS, PLIES, SearchState
from glem.core.search.table import AGES, ERAS, GREATEST_SCORE, new_table
from glem.core.tasks.stop import Stop

_MOST_DEPTH = 120
_EARLIER_POSITIONS = 1024
_NEVER = 1 << 62
_BILLION = 1_000_000_000
_MOST_MOVES = 65535

_COMPILED_POLL_NODES = 1000
_PLAIN_POLL_NODES = 8

_KEPT_SCORES = 1 << 16
_TABLE_DEPTH = 2
_PRUNED_TABLE_DEPTH = 0
_CUTOFF_DEPTH = 4
_NOWHERE = _MOST_DEPTH * 4
"""Depth that no node has."""
_ASPIRATION_DEPTH = 3
_ASPIRATION_SHARE = 32
_WIDENING = 4

# On a clock, no iteration begins after such a share of the usual time, since one takes about as long as all before it:
# the sooner, the more iterations in a row have chosen the same move.
_LAST_ITERATION_SHARES = (0.98, 0.78, 0.64, 0.64, 0.5)
# Nor a deeper one where there is nothing to choose; the score is wanted nevertheless.
_FORCED_DEPTH = 4
# Iterations of a selective search that are deeper than the game, each less selective, before one of full width.
_BEYOND_END = 12


@define(frozen=True)
class _Ordering:
    """What moves are ordered by, see :class:`~glem.core.search.state.SearchState`."""

    order_depth: int
    hint_depth: int
    killer_hint: int


_CALM = _Ordering(order_depth=4, hint_depth=2, killer_hint=10)
"""Where static scores and the hint speak of all moves alike: killers that outweigh the hint cost nodes, and next to the
leaves the hint costs more time than it saves."""

_SHARP = _Ordering(order_depth=_MOST_DEPTH + 1, hint_depth=1, killer_hint=400)
"""Where static scores do not foresee captures, and hints speak of these alone."""


@define(frozen=True)
class SearchSettings:
    """How to search.

    Parameters
    ----------
    table_mb
        Megabytes that the transposition table takes at most; 0 for none.
    probcut
        Parameters of selective search; None searches full-width.
    aspiration
        Half the width of the first window around the score of the iteration before, in steps; 0 for an open window,
        None for a quarter of the evaluator's swing in a search that prunes, else a thirty-second of its limit. Affects
        only nodes.
    order_depth
        Least remaining depth at which moves are sorted by their static scores; None for 4, or never in a game with
        tactical moves. Affects only nodes.
    quiescence
        Name of one of :attr:`Game.quiescence <glem.core.game.game.Game.quiescence>`; "" for the game's own, if any.
    pruning
        Whether null moves, reductions of late quiet moves and static scores may end searches early, where the game has
        the operations (:mod:`glem.core.game.optional_operations`).
    threads
        Threads that search a position together ("lazy SMP"): all search all of it, and what one stores in the table
        saves another its work. With several, what is found depends on chance.
    """

    table_mb: int = 16
    probcut: ProbCut | None = None
    aspiration: int | None = None
    order_depth: int | None = None
    quiescence: str = ""
    pruning: bool = False
    threads: int = 1

    def __attrs_post_init__(self) -> None:
        check_arguments(self, threads=(1, MOST_THREADS), table_mb=(0, 1 << 20), aspiration=(0,), order_depth=(0,))


@define(frozen=True)
class _Root:
    """What the iterations of one search share."""

    position: Any
    window: tuple[int, int]
    lines: int
    excluded: tuple[int, ...]
    choices: int
    """Moves that are searched."""
    plies_left: int | None
    """Upper bound on the moves left, where the game knows one."""


def _enter_root(evaluator: Any, state: Any, position: Any) -> None:
    """Fill the accumulator of the root."""
    start(evaluator, position, state.evaluation, state.accumulators, np.int64(0))


class Searcher:
    """Searches positions of one game with one evaluation.

    It keeps its table from search to search, and where it prunes what it learnt of moves.

    Parameters
    ----------
    game
        The game.
    evaluator
        The evaluation.
    settings
        How to search.
    plain
        Run the same functions as plain Python: same scores, variations and nodes, thousands of times slower.
    shared
        Memory of another searcher of equal settings, whose table this one is to fill.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchSettings | None = None,
        *,
        plain: bool = False,
        shared: SearchState | None = None,
    ) -> None:
        self.game = game
        self.evaluator = evaluator
        self.settings = SearchSettings() if settings is None else settings
        self.plain = plain
        self.rules = game.search_rules_with(self.settings.quiescence)
        self.state = self._new_state(shared)
        """Memory of the searches, for those who call the kernel themselves."""
        self._helpers: list[Searcher] = []
        self._plies = 0
        self.clear()
        self.borrowed: Any = self.state if plain else Borrowed(self.state)
        """The same as the kernel takes it."""
        self._kernel: Callable[..., Any] = negascout if plain else compiled(negascout)
        self._is_ready = False
        # As plain Python it takes longer than a search of one ply.
        self._enter_root: Callable[..., None] = _enter_root if plain else compiled(_enter_root)
        self._first_depth = 1
        alone = attrs.evolve(self.settings, threads=1)
        self._helpers = [
            Searcher(game, evaluator, alone, plain=plain, shared=self.state) for _ in range(1, self.settings.threads)
        ]
        for helper in self._helpers[::2]:
            # Half of them are one iteration ahead, else all would search the same at the same time.
            helper._first_depth = 2
        self.helper_seconds = 0.0
        """Processor time that the other threads of the last search took."""

    def _new_state(self, shared: SearchState | None) -> SearchState:
        game, evaluator, settings = self.game, self.evaluator, self.settings
        result_only = evaluator.result_only or game.greatest_score <= 1
        limit = int(evaluator.limit)
        greatest_final = limit + 1 + PLIES if result_only else game.greatest_score * evaluator.steps_per_unit
        infinity = int(max(limit, greatest_final)) + 2
        if infinity > GREATEST_SCORE:
            raise BadInputError(
                f"{evaluator.name} has scores of up to {infinity} steps; the search takes {GREATEST_SCORE}"
            )
        if game.move_count > _MOST_MOVES:
            raise BadInputError(f"{game.title} has {game.move_count} moves; the search's table takes {_MOST_MOVES}")
        if shared is None:
            table = new_table(settings.table_mb)
            scores = np.zeros(_KEPT_SCORES if evaluator.keeps_scores and settings.table_mb else 1, np.uint64)
        else:
            table, scores = shared.table, shared.scores
        prunes = settings.pruning and "null_move" in self.rules
        table_depth = _NOWHERE
        if settings.table_mb:
            table_depth = _PRUNED_TABLE_DEPTH if prunes else _TABLE_DEPTH
        ordering = _SHARP if "tactical_moves" in game.search_rules else _CALM
        order_depth = ordering.order_depth if settings.order_depth is None else settings.order_depth
        return SearchState(
            table=table,
            moves=np.zeros(PLIES * game.max_moves, np.int32),
            priorities=np.zeros(PLIES * game.max_moves, np.int32),
            keys=np.zeros(_EARLIER_POSITIONS + PLIES, np.uint64),
            killers=np.full(PLIES * KILLERS, -1, np.int32),
            history=np.zeros(2 * game.move_count, np.int32),
            variations=np.zeros(PLIES * PLIES, np.int32),
            variation_lengths=np.zeros(PLIES + 1, np.int32),
            accumulators=evaluator.empty_accumulators(PLIES + 1),
            scores=scores,
            excluded=np.zeros(game.move_count, np.uint8),
            counters=np.zeros(len(AT), np.int64),
            stop=np.zeros(1, np.uint8),
            evaluation=evaluator.data,
            selectivity=FULL_WIDTH if settings.probcut is None else settings.probcut.arrays(evaluator),
            swing=np.int64(evaluator.swing),
            prunes=np.int64(prunes),
            late=LATE_MOVES,
            statics=np.zeros(PLIES, np.int64),
            path=np.full(PLIES + 2, -1, np.int32),
            left_out=np.full(PLIES, -1, np.int32),
            follow_ups=np.zeros(FOLLOW_UPS, np.int16),
            scores_mask=np.uint64(len(scores) - 1),
            table_mask=np.uint64(len(table) // 8 - 1),
            table_depth=np.int64(table_depth),
            order_depth=np.int64(max(order_depth, ordering.hint_depth)),
            hint_depth=np.int64(ordering.hint_depth),
            # Where late moves are hardly searched, two in a hundred nodes are cut off so.
            cutoff_depth=np.int64(_NOWHERE if prunes else _CUTOFF_DEPTH),
            killer_hint=np.int64(ordering.killer_hint),
            max_moves=np.int64(game.max_moves),
            move_count=np.int64(game.move_count),
            pass_move=np.int64(-1 if game.pass_move is None else game.pass_move),
            limit=np.int64(max(1, limit)),
            win=np.int64(limit + 1 + PLIES if result_only else 0),
            proven=np.int64(limit if result_only else infinity),
            infinity=np.int64(infinity),
            final_steps=np.float64(evaluator.steps_per_unit),
            poll_nodes=np.int64(_PLAIN_POLL_NODES if self.plain else _COMPILED_POLL_NODES),
        )

    def clear(self) -> None:
        """Forget the table and the histories: the next search takes the same nodes as in a new searcher."""
        counters = self.state.counters
        era = int(counters[AT.ERA]) + 1
        if era == ERAS:
            self.state.table[:] = 0
            era = 1
        counters[:] = 0
        counters[AT.ERA] = era
        if self.state.prunes:
            self.state.history[:] = 0
            self.state.follow_ups[:] = 0
        for helper in self._helpers:
            helper.clear()

    def search(
        self,
        position: Any,
        limits: Limits,
        *,
        lines: int = 1,
        stop: Stop | None = None,
        previous: Sequence[Any] = (),
        on_iteration: Callable[[SearchResult], None] | None = None,
        window: tuple[int, int] | None = None,
        exclude: Sequence[int] = (),
    ) -> SearchResult:
        """Search a position by iterative deepening.

        Where a selective search reaches the end of the game and no depth is asked for, it goes on less and less
        selectively.

        Parameters
        ----------
        position
            The position.
        limits
            When to end; no search is deeper than 120 plies.
        lines
            So many of the best moves get an exact score each.
        stop
            Ends the search from another thread, within 10 ms.
        previous
            Earlier positions of the game, oldest first, for repetitions.
        on_iteration
            Called with the result of each completed iteration.
        window
            Lower and upper bound in steps, in place of an open window: a score outside is a bound.
        exclude
            Moves that are not searched at the root.

        Returns
        -------
        SearchResult
            What was found.

        Raises
        ------
        BadInputError
            The window is empty, there are no lines, or no legal move is left at the root.
        """
        began = monotonic_nanoseconds()
        root = self._root(position, lines, window, exclude)
        state = self.state
        if limits.nodes is not None and self._helpers:
            limits = attrs.evolve(limits, nodes=max(1, limits.nodes // self.settings.threads))
        self._begin(root, limits, began, previous, stop)
        if not root.choices:
            return self._final_result(position, began)
        result: SearchResult | None = None
        steady = 0
        with (
            contextlib.nullcontext() if stop is None else stop.relayed(state.stop),
            self._helped(
                position, limits.nodes, lines=lines, previous=previous, window=window, exclude=exclude
            ) as found,
        ):
            for depth in self._depths(root, limits):
                before, result = result, self._iterate(root, depth, result, began)
                if result.stopped:
                    break
                if on_iteration is not None:
                    on_iteration(result)
                steady = steady + 1 if before is not None and before.move == result.move else 0
                if self._is_settled(root, result, limits, steady):
                    break
        assert result is not None  # there is a first iteration
        if result.stopped and found:
            deepest = max(result, *found, key=lambda each: each.depth)
            result = self._result(root, deepest.lines, deepest.depth, began)
        return result

    @contextlib.contextmanager
    def _helped(self, position: Any, nodes: int | None, **more: Any) -> Iterator[list[SearchResult]]:
        """Let the other threads search the same position as long as the block lasts, and then list what they found."""
        found: list[SearchResult] = []
        self.helper_seconds = 0.0
        if not self._helpers:
            yield found
            return
        end = Stop()
        age, era = self.state.counters[[AT.AGE, AT.ERA]]
        for helper in self._helpers:
            if not helper._is_ready:
                # One after the other: they load the same machine code.
                helper.search(position, Limits(depth=2))
            # Its own beginning counts on to this search's age.
            helper.state.counters[[AT.AGE, AT.ERA, AT.NODES]] = (age - 1) % AGES, era, 0

        def help_by(helper: Searcher) -> tuple[SearchResult, float]:
            began = time.thread_time()
            return helper.search(position, Limits(nodes=nodes), stop=end, **more), time.thread_time() - began

        with ThreadPoolExecutor(len(self._helpers), "search") as executor:
            running = [executor.submit(help_by, helper) for helper in self._helpers]
            try:
                yield found
            finally:
                end.set()
            for each in running:
                result, seconds = each.result()
                found.append(result)
                self.helper_seconds += seconds

    def _root(self, position: Any, lines: int, window: tuple[int, int] | None, exclude: Sequence[int]) -> _Root:
        infinity = int(self.state.infinity)
        if lines < 1:
            raise BadInputError(f"a search gives at least one line, not {lines}")
        low, high = (-infinity, infinity) if window is None else window
        if low >= high:
            raise BadInputError(f"a search window needs a lower bound below the upper one, got {low} and {high}")
        moves = self.game.list_legal_moves(position)
        left = [move for move in moves if move not in set(exclude)]
        if moves and not left:
            raise BadInputError("no legal move is left: all are excluded")
        rules = self.rules
        return _Root(
            position=position,
            window=(max(low, -infinity), min(high, infinity)),
            lines=min(lines, max(1, len(left))),
            excluded=tuple(exclude),
            choices=len(left),
            plies_left=int(rules["plies_left"](position)) if "plies_left" in rules else None,
        )

    def _begin(self, root: _Root, limits: Limits, began: int, previous: Sequence[Any], stop: Stop | None) -> None:
        """Prepare the state."""
        state, game = self.state, self.game
        counters = state.counters
        state.stop[0] = stop is not None and stop.is_set()
        state.killers[:] = -1
        state.left_out[:] = -1
        if not state.prunes:
            state.history[:] = 0
        elif (len(previous) - self._plies) % 2:
            # It fades, so that what was learnt at the last move is of use at this one. The sides are told by the ply.
            state.history[:] = np.roll(state.history, state.move_count)
        self._plies = len(previous)
        earlier = self._earlier(root.position, previous)
        keys = [game.hash_key(position) for position in earlier]
        often = Counter(keys)
        for place, key in enumerate(keys):
            # What occurred once may be had again without ending the game; a complement is met nowhere.
            state.keys[place] = key if often[key] >= OCCURRENCES - 1 else ~key
        seconds = limits.seconds
        if limits.clock is not None:
            most = longest_seconds(limits.clock, root.plies_left)
            seconds = most if seconds is None else min(seconds, most)
        age, era = (int(counters[AT.AGE]) + 1) % AGES, counters[AT.ERA]
        counters[:] = 0
        counters[[AT.AGE, AT.ERA]] = age, era
        counters[AT.EARLIER] = len(earlier)
        counters[AT.NODE_LIMIT] = _NEVER if limits.nodes is None else min(limits.nodes, _NEVER)
        counters[AT.DEADLINE] = _NEVER if seconds is None else began + int(min(seconds * _BILLION, _NEVER))
        self._enter_root(self.evaluator.operations, self.borrowed, root.position)

    def _depths(self, root: _Root, limits: Limits) -> Iterable[int]:
        """Depths of the iterations."""
        most = _MOST_DEPTH if limits.depth is None else min(limits.depth, _MOST_DEPTH)
        first = self._first_depth
        if root.plies_left is None or most < root.plies_left:
            return range(first, most + 1)
        last = max(first, root.plies_left)
        if self.settings.probcut is None or limits.depth is not None:
            return range(first, last + 1)
        return *range(first, last + _BEYOND_END + 1), last + int(self.state.selectivity.depth_count)

    def _earlier(self, position: Any, previous: Sequence[Any]) -> Sequence[Any]:
        """Earlier positions that may occur again after the root."""
        rules = self.rules
        reach = int(rules["reversible_plies"](position)) if "reversible_plies" in rules else 0
        return previous[max(0, len(previous) - min(reach, _EARLIER_POSITIONS)) :]

    def _final_result(self, position: Any, began: int) -> SearchResult:
        """Give the result at the end of the game."""
        final = self.game.final_score(position)
        steps = int(np.sign(final) * self.state.win) if self.state.win else round(final * self.evaluator.steps_per_unit)
        return self._result(None, (self.line(steps, Bound.EXACT, ()),), 0, began)

    def _static_result(self, root: _Root, began: int) -> SearchResult:
        """Give a result without searching: the static score and any move."""
        static_score = self.evaluator.operations["static_score"]
        score = int(static_score(root.position, self.evaluator.data, self.state.accumulators, 0))
        move = next(move for move in self.game.list_legal_moves(root.position) if move not in root.excluded)
        return self._result(root, (self.line(score, Bound.EXACT, (move,)),), 0, began)

    def _iterate(self, root: _Root, depth: int, before: SearchResult | None, began: int) -> SearchResult:
        """Search to a depth, line by line, each without the moves of those before it."""
        state = self.state
        if root.plies_left is not None:
            state.counters[AT.BEYOND] = max(0, depth - root.plies_left)
        state.excluded[:] = 0
        state.excluded[list(root.excluded)] = 1
        found: list[Line] = []
        for place in range(root.lines):
            known = before.lines[place] if before is not None and place < len(before.lines) else None
            line = self._search_line(root, depth, known)
            if line is not None:
                found.append(line)
                state.excluded[line.moves[0]] = 1
            if state.counters[AT.STOPPED]:
                break
        if not state.counters[AT.STOPPED]:
            return self._result(root, tuple(sorted(found, key=lambda line: -line.score)), depth, began)
        if before is None:
            before = self._static_result(root, began)
        # What this iteration found comes first; the lines of the one before it follow.
        found.sort(key=lambda line: -line.score)
        moves = {line.moves[0] for line in found}
        found.extend(line for line in before.lines if line.moves[0] not in moves)
        stopped = self._result(root, tuple(found[: root.lines]), before.depth, began)
        return attrs.evolve(stopped, confidence=before.confidence)

    def _search_line(self, root: _Root, depth: int, known: Line | None) -> Line | None:
        """Best line among the moves that are not excluded; None when it was stopped before there was one.

        ``known`` is the line of the iteration before.
        """
        state = self.state
        reached = depth if root.plies_left is None else min(depth, max(1, root.plies_left))
        low, high = root.window
        width = self._aspiration()
        alpha, beta = low, high
        state.counters[AT.FIRST_MOVE] = -1 if known is None else known.moves[0]
        if known is not None and width and depth >= _ASPIRATION_DEPTH:
            alpha = max(low, min(known.score - width, high - 1))
            beta = min(high, max(known.score + width, low + 1))
        while True:
            score = self._search_window(root.position, depth, alpha, beta)
            if state.counters[AT.STOPPED]:
                found = state.variation_lengths[0] > 0
                return self.line(score, Bound.LOWER, self._variation(), reached) if found else None
            # Each time the window grows beyond the score that left it, which ends with the root's own window.
            width *= _WIDENING
            if low < score <= alpha:
                alpha = max(low, score - width)
            elif score <= alpha != low:
                alpha = low
            elif beta <= score < high:
                beta = min(high, score + width)
            elif score >= beta != high:
                beta = high
            else:
                break
        bound = Bound.UPPER if score <= low else Bound.LOWER if score >= high else Bound.EXACT
        return self.line(score, bound, self._variation() or (int(state.counters[AT.BEST_MOVE]),), reached)

    def _search_window(self, position: Any, depth: int, alpha: int, beta: int) -> int:
        state = self.state
        state.variation_lengths[0] = 0
        # The kernel looks at its limits before anything else.
        state.counters[AT.NEXT_POLL] = state.counters[AT.NODES]
        integers = (np.int64(0), np.int64(depth), np.int64(alpha), np.int64(beta))
        arguments = self.rules, self.evaluator.operations, self.borrowed, position, *integers
        if self._is_ready:
            return int(self._kernel(*arguments))
        score = int(self._kernel(*arguments))
        if not self.plain:
            self._kernel = direct(negascout, *arguments)
            self._enter_root = direct(_enter_root, arguments[1], self.borrowed, position)
        self._is_ready = True
        return score

    def _variation(self) -> tuple[int, ...]:
        state = self.state
        return tuple(int(move) for move in state.variations[: state.variation_lengths[0]])

    def _aspiration(self) -> int:
        chosen, state = self.settings.aspiration, self.state
        if chosen is not None:
            return chosen
        return max(1, int(state.swing) // 4 if state.prunes and state.swing else int(state.limit) // _ASPIRATION_SHARE)

    def _is_settled(self, root: _Root, result: SearchResult, limits: Limits, steady: int) -> bool:
        """Whether a deeper iteration would tell nothing new, or would hardly end in time.

        ``steady`` is the number of iterations before it that chose the same move.
        """
        state = self.state
        # A win or a loss in so many plies is found at that depth, and all shorter ones before it.
        if state.win and all(
            line.plies_to_end is not None and line.plies_to_end <= result.depth for line in result.lines
        ):
            return True
        if limits.clock is None:
            return False
        if root.choices == 1 and result.depth >= _FORCED_DEPTH:
            return True
        share = _LAST_ITERATION_SHARES[min(steady, len(_LAST_ITERATION_SHARES) - 1)]
        return result.seconds > share * usual_seconds(limits.clock, root.plies_left)

    def line(self, score: int, bound: Bound, moves: tuple[int, ...], depth: int = 0) -> Line:
        """Make a line of a score in steps."""
        state, value, plies = self.state, score, None
        # Beyond the evaluator's limit lie the certain wins, the sooner the greater.
        if state.win and abs(score) > state.proven:
            value, plies = int(np.sign(score) * state.limit), int(state.win) - abs(score)
        return Line(score, value / self.evaluator.steps_per_unit, bound, moves, depth, plies)

    def _result(self, root: _Root | None, lines: tuple[Line, ...], depth: int, began: int) -> SearchResult:
        counters = self.state.counters
        stopped = bool(counters[AT.STOPPED])
        # Plies beyond the depths that selective search has parameters for are of full width.
        beyond = -1 if root is None or root.plies_left is None else depth - root.plies_left
        is_whole = root is None or beyond >= int(self.state.selectivity.depth_count)
        return SearchResult(
            lines=lines,
            depth=depth - max(0, beyond),
            selective_depth=int(counters[AT.DEEPEST]),
            nodes=sum(int(each.state.counters[AT.NODES]) for each in (self, *self._helpers)),
            seconds=(monotonic_nanoseconds() - began) / _BILLION,
            stopped=stopped,
            proven=is_whole and not stopped,
            results_only=self.evaluator.result_only,
            confidence=None if is_whole else self._confidence(depth, max(0, beyond)),
        )

    def _confidence(self, depth: int, beyond: int) -> float | None:
        """Give :attr:`SearchResult.confidence` of an iteration that is so many plies deeper than the game can last."""
        probcut = self.state.selectivity
        checks = probcut.check_depths[: CHECKS * min(depth, int(probcut.depth_count))]
        if (checks < 0).all():
            return None
        return math.erf(probcut.threshold * (1 + MARGIN_WIDENING * beyond) / math.sqrt(2))
