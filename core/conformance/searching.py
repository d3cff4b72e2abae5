"""Checks of what a game gives to the search beyond its rules: faster rules, optional operations, a solver."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from glem.core.conformance.playouts import GUARD_ROWS, Sample, guarded_buffer, list_moves, moves_in, same
from glem.core.conformance.report import BrokenPromise, CheckResult, NotApplicable, Suite
from glem.core.errors import likely
from glem.core.game.declarations import is_whole
from glem.core.game.game import RULES, Game
from glem.core.game.optional_operations import OPTIONAL_OPERATIONS
from glem.core.tasks.counts import counted

SEARCHING = Suite()

_UNLIMITED = float("inf")
_RANGES_OF_MOVES = {"extension": (0, _UNLIMITED), "move_order": (-1000, 1000), "move_hint": (-1000, 1000)}
"""Least and greatest number that each operation may give for a move."""
_TACTICAL_WALKS = 40
_WHOLE_LISTS = 4000
BRUTE_FORCE_NODES = 1000
"""Positions that brute force may visit to find the value of one."""
_SOLVED_POSITIONS = 6
_SOLVER_TABLE_MB = 1


@SEARCHING.promise("search functions", "replaced rules agree with the game's own, moves as sets")
def _check_search_functions(check: CheckResult, game: Game, sample: Sample) -> None:
    sample.rely()
    functions = game.search_functions
    if not functions:
        raise NotApplicable("the game has none")
    known = (*RULES, *OPTIONAL_OPERATIONS)
    for name in functions:
        hint = likely(name, known, f"there are {', '.join(known)}")
        check.expect(name in known, f"the search knows no operation {name!r}; {hint}")
    for row, position in sample.rows(check):
        _check_replaced(game, position, sample.legal[row], check)


def _check_replaced(game: Game, position: Any, legal: list[int], check: CheckResult) -> None:
    """Compare the rules that the search uses in place of the game's own."""
    functions = game.search_functions
    if "legal_moves" in functions:
        buffer = guarded_buffer(game)
        count = functions["legal_moves"](position, buffer, GUARD_ROWS)
        listed = sorted(moves_in(game, buffer, count))
        check.expect(listed == sorted(legal), f"legal_moves of the search lists {listed}, the rules {sorted(legal)}")
    if "play" in functions:
        for move in legal:
            found, wanted = functions["play"](position, move), game.play(position, move)
            check.cases += 1
            if not same(found, wanted):
                name = game.format_move(move)
                check.fail(f"after {name} play of the search gives {found}, the rules {wanted}")
    for name in ("is_over", "hash_key", "count_moves", *(() if legal else ("final_score",))):
        own = getattr(game, name)
        if name in functions and own is not None:
            found, wanted = functions[name](position), own(position)
            check.expect(found == wanted, f"{name} of the search gives {found}, the rules {wanted}")


def _list_tactical(game: Game, function: Callable[..., Any], position: Any, legal: list[int]) -> list[int]:
    """Tactical moves, checked; none where the side to move cannot stand still."""
    buffer = guarded_buffer(game)
    count = function(position, buffer, GUARD_ROWS)
    if not is_whole(count):
        raise BrokenPromise(f"tactical_moves returned {count!r}, expected a number of moves")
    try:
        moves = moves_in(game, buffer, count if count >= 0 else ~count)
    except BrokenPromise as error:
        raise BrokenPromise(str(error).replace("legal_moves", "tactical_moves", 1)) from error
    strange = sorted(set(moves) - set(legal))
    if strange:
        raise BrokenPromise(f"tactical_moves lists {strange}, which are not legal")
    if count < 0 and sorted(moves) != sorted(legal):
        raise BrokenPromise(
            f"tactical_moves says that the side to move cannot stand still and lists {sorted(moves)}, expected all "
            f"legal moves {sorted(legal)}"
        )
    if "must_move" in game.search_functions and function is game.search_functions.get("tactical_moves"):
        forced = game.search_functions["must_move"](position)
        if not isinstance(forced, bool | np.bool_) or bool(forced) != (count < 0):
            raise BrokenPromise(f"must_move gives {forced!r}, tactical_moves {count}")
    return moves if count >= 0 else []


@SEARCHING.promise(
    "tactical moves",
    "tactical moves are legal ones, all of them (and the complement of their number) where the side to move cannot "
    "stand still, and come to an end",
)
def _check_tactical_moves(check: CheckResult, game: Game, sample: Sample) -> None:
    functions = [game.search_functions["tactical_moves"]] if "tactical_moves" in game.search_functions else []
    functions += [own["tactical_moves"] for own in game.quiescence.values() if "tactical_moves" in own]
    if sample.doubt or not functions:
        raise NotApplicable
    for function in functions:
        for row, position in sample.rows(check):
            _list_tactical(game, function, position, sample.legal[row])
            check.cases += 1
        generator = random.Random(sample.seed)  # noqa: S311 - no secret depends on it
        for _, position in sample.rows(check, sample.some(_TACTICAL_WALKS)):
            for _ in range(game.max_plies + 1):
                moves = _list_tactical(game, function, position, list_moves(game, position))
                if not moves:
                    break
                position = game.play(position, generator.choice(moves))
            else:
                check.fail(
                    f"tactical moves follow each other for more than max_plies = {counted(game.max_plies, 'ply')}"
                )
            check.cases += 1


def _in_range(value: Any, low: float, high: float, name: str) -> int:
    if not is_whole(value) or not low <= value <= high:
        room = f"{low} to {high}" if high < _UNLIMITED else f"at least {low}"
        raise BrokenPromise(f"{name} gives {value!r}, expected a whole number, {room}")
    return int(value)


@SEARCHING.promise("search operations", "the optional operations of the search keep to their ranges")
def _check_numbers(check: CheckResult, game: Game, sample: Sample) -> None:
    functions = game.search_functions
    if sample.doubt or not set(OPTIONAL_OPERATIONS[1:]) & set(functions):
        raise NotApplicable
    of_moves = [name for name in _RANGES_OF_MOVES if name in functions]
    extensions: list[int] = []
    # Of very many positions, every move of some and the move played of all.
    all_moves = set(sample.some(_WHOLE_LISTS)) if of_moves else set()
    moves_after, plies_to_equal = _moves_after(game, sample), _plies_to_equal(sample)
    for row, position in sample.rows(check):
        check.cases += 1
        if "plies_left" in functions:
            bound = _in_range(functions["plies_left"](position), 0, _UNLIMITED, "plies_left")
            if bound < moves_after[row]:
                check.fail(f"plies_left gives {bound}, the game went on for {counted(moves_after[row], 'move')}")
        if "reversible_plies" in functions:
            reach = _in_range(functions["reversible_plies"](position), 0, _UNLIMITED, "reversible_plies")
            if reach < plies_to_equal[row]:
                check.fail(
                    f"reversible_plies gives {reach}, an equal position lies {counted(plies_to_equal[row], 'ply')} back"
                )
        if "no_moves_score" in functions and not sample.legal[row]:
            found, wanted = functions["no_moves_score"](position), game.final_score(position)
            if found != wanted:
                check.fail(f"no_moves_score gives {found}, final_score {wanted}")
        if "is_drawn" in functions:
            drawn = functions["is_drawn"](position)
            if not isinstance(drawn, bool | np.bool_):
                raise BrokenPromise(f"is_drawn gives {drawn!r}, expected True or False")
            if drawn and not sample.legal[row] and game.final_score(position):
                check.fail(f"is_drawn is True in a finished game with the score {game.final_score(position)}")
        for move in (sample.legal[row] if row in all_moves else sample.played_at(row)) if of_moves else ():
            after = game.play(position, move)
            for name in of_moves:
                value = functions[name](position, move, *(() if name == "move_hint" else (after,)))
                least, most = _RANGES_OF_MOVES[name]
                value = _in_range(value, least, most, f"{name} of {game.format_move(move)}")
                if name == "extension":
                    extensions.append(value)
    extended = np.count_nonzero(extensions)
    if 2 * extended > len(extensions):
        moves = f"{extended} of {counted(len(extensions), 'move')}"
        check.fail(f"extension extends {moves}, expected 0 for most: the search would never end")


@SEARCHING.promise(
    "null moves",
    "a side may pass only where it need not move, and no earlier position comes back after that",
)
def _check_null_moves(check: CheckResult, game: Game, sample: Sample) -> None:
    functions = game.search_functions
    if sample.doubt or "null_move" not in functions:
        raise NotApplicable
    missing = [name for name in ("can_pass", "is_quiet", "must_move") if name not in functions]
    check.expect(not missing, f"null_move needs {', '.join(missing)} beside it")
    if missing:
        return
    for row, position in sample.rows(check):
        if not functions["can_pass"](position):
            continue
        after = functions["null_move"](position)
        check.expect(not functions["must_move"](position), "can_pass is True where the side must move")
        check.expect(game.hash_key(after) != game.hash_key(position), "a null move leaves the hash key as it is")
        reach = functions["reversible_plies"](after) if "reversible_plies" in functions else 0
        check.expect(reach == 0, f"reversible_plies gives {reach} after a null move")
        for move in sample.played_at(row):
            quiet = functions["is_quiet"](position, move)
            check.expect(isinstance(quiet, bool | np.bool_), f"is_quiet gives {quiet!r}, expected True or False")


def _moves_after(game: Game, sample: Sample) -> list[int]:
    """Count the moves, forced passes excluded, that were made in the game from each row on."""
    counts = [0] * len(sample.positions)
    for row in range(len(counts) - 2, -1, -1):
        move = sample.played[row]
        if move is not None:
            counts[row] = counts[row + 1] + (move != game.pass_move)
    return counts


def _plies_to_equal(sample: Sample) -> list[int]:
    """Plies from each row back to the latest equal position of the same game; 0 where there is none."""
    found = []
    latest: dict[tuple[Any, ...], int] = {}
    for row, position in enumerate(sample.positions):
        if not sample.history[row]:
            latest.clear()
        content = tuple(value.item() for value in position)
        found.append(row - latest.get(content, row))
        latest[content] = row
    return found


class _Value(NamedTuple):
    score: int
    moves: tuple[int, ...]
    longest: int


class _OutOfNodesError(Exception):
    """Brute force takes too long."""


def _brute_force(game: Game, position: Any, nodes: list[int]) -> _Value:
    """Value of a position, all best moves, and the most moves to the end, by trying everything."""
    nodes[0] -= 1
    if nodes[0] < 0:
        raise _OutOfNodesError
    moves = game.list_legal_moves(position)
    if not moves:
        return _Value(int(game.final_score(position)), (), 0)
    values = {move: _brute_force(game, game.play(position, move), nodes) for move in moves}
    best = max(-value.score for value in values.values())
    longest = max(value.longest + (move != game.pass_move) for move, value in values.items())
    return _Value(best, tuple(move for move, value in values.items() if -value.score == best), longest)


@SEARCHING.promise(
    "solver",
    "the solver finds the value of positions near the end, a best move, a legal variation and the right result",
)
def _check_solver(check: CheckResult, game: Game, sample: Sample) -> None:
    sample.rely()
    if game.make_solver is None:
        raise NotApplicable("the game has none")
    known: dict[int, _Value] = {}
    for end in sample.ends[:_SOLVED_POSITIONS]:
        row, deepest = end, None
        while row >= 0 and (row == end or sample.played[row] is not None):
            try:
                deepest = (row, _brute_force(game, sample.positions[row], [BRUTE_FORCE_NODES]))
            except (_OutOfNodesError, RecursionError):
                break
            row -= 1
        if deepest is not None:
            known[deepest[0]] = deepest[1]
    if sample.ends:
        known[sample.ends[0]] = _Value(int(game.final_score(sample.positions[sample.ends[0]])), (), 0)
    if not known:
        raise NotApplicable(f"brute force solves no position in {BRUTE_FORCE_NODES} nodes")
    solver = game.make_solver(table_mb=_SOLVER_TABLE_MB)
    for row, position in sample.rows(check, known):
        _check_solution(game, solver, position, known[row], check)


def _check_solution(game: Game, solver: Any, position: Any, value: _Value, check: CheckResult) -> None:
    names = [game.format_move(move) for move in value.moves]
    bound = solver.plies_left(position)
    check.expect(bound >= value.longest, f"plies_left gives {bound}, {counted(value.longest, 'move')} are possible")
    solution = solver.solve(position)
    check.expect(solution.exact, "a solution without limits is not exact")
    check.expect(solution.score == value.score, f"the solver finds {solution.score}, brute force {value.score}")
    fitting = solution.move in value.moves if value.moves else solution.move is None
    check.expect(fitting, f"the solver plays {solution.move}, the best moves are {names or 'none'}")
    check.expect(
        not solution.variation or solution.variation[0] == solution.move,
        f"the variation {solution.variation} does not begin with the move {solution.move}",
    )
    reached = position
    for move in solution.variation:
        legal = list_moves(game, reached)
        if move not in legal:
            check.fail(f"the variation {solution.variation} has the move {move}, which is not legal")
            break
        reached = game.play(reached, move)
    result = solver.solve(position, result_only=True).score
    check.expect(
        np.sign(result) == np.sign(value.score),
        f"asked for the result alone, the solver finds {result}, brute force {value.score}",
    )
