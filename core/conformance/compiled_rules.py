"""Checks of the compiled rules: whether they agree with the plain ones on every position of a sample."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations, bound
from glem.core.conformance.playouts import GUARD_ROWS, Sample, guarded_buffer, move_text, moves_in, same
from glem.core.conformance.report import CheckResult, ConformanceReport, NotApplicable, Suite
from glem.core.game.game import Game, count_moves, final_score, hash_key, is_over, legal_moves, play, transform
from glem.core.game.optional_operations import (
    OPTIONAL_OPERATIONS,
    can_pass,
    extension,
    gain,
    is_drawn,
    is_losing,
    is_quiet,
    move_hint,
    move_order,
    must_move,
    no_moves_score,
    plies_left,
    progress,
    reversible_plies,
    table_key,
    tactical_moves,
)

COMPILED = Suite()

_AGREEMENT = "the compiled rule agrees with the plain one"
"""Promise of every check of compiled rules."""

_SYMMETRY_SAMPLE = 60

_asked: Any = None
"""Stands for the operation that a copy of the functions below asks."""


def _list_all(rules: Any, columns: Any, start: np.int64, moves: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = _asked(rules, position_at(columns, row), moves[row], start)


def _play_all(rules: Any, columns: Any, moves: Any, children: Any) -> None:
    for row in range(moves.shape[0]):
        store_position(children, row, play(rules, position_at(columns, row), moves[row]))


def _transform_all(rules: Any, columns: Any, symmetry: np.int64, images: Any) -> None:
    for row in range(images[0].shape[0]):
        store_position(images, row, transform(rules, position_at(columns, row), symmetry))


def _ask_all(rules: Any, columns: Any, numbers: Any) -> None:
    for row in range(numbers.shape[0]):
        numbers[row] = _asked(rules, position_at(columns, row))


def _ask_before(rules: Any, before: Any, after: Any, moves: Any, numbers: Any) -> None:
    for row in range(numbers.shape[0]):
        numbers[row] = _asked(rules, position_at(before, row), moves[row])


def _ask_between(rules: Any, before: Any, after: Any, moves: Any, numbers: Any) -> None:
    for row in range(numbers.shape[0]):
        numbers[row] = _asked(rules, position_at(before, row), moves[row], position_at(after, row))


def _asking(function: Callable[..., None], *operations: Callable[..., Any]) -> dict[str, Callable[..., None]]:
    """Make one function for each operation, by its name."""
    return {operation.__name__: bound(function, _asked=operation) for operation in operations}


_KINDS: dict[Callable[..., Any], Any] = {
    is_over: np.bool_,
    final_score: np.float64,  # a score that is no whole number must not look like one
    hash_key: np.uint64,
    count_moves: np.int64,
    no_moves_score: np.int64,
    reversible_plies: np.int64,
    plies_left: np.int64,
    is_drawn: np.bool_,
    progress: np.int64,
    table_key: np.uint64,
    must_move: np.bool_,
    can_pass: np.bool_,
}
"""Operations that give a number for a position, and its type."""

_AT_THE_END = ("final_score", "no_moves_score")
"""Those of them that are asked where there are no moves."""

_LISTS = _asking(_list_all, legal_moves, tactical_moves)
_OF_POSITIONS = _asking(_ask_all, *_KINDS)
_OF_MOVES = {
    **_asking(_ask_between, extension, move_order),
    **_asking(_ask_before, move_hint, is_quiet, gain, is_losing),
}


class _Comparison:
    """Compiled functions of a game against its plain ones, on a sample.

    The methods that go through the sample give what was asked, and what the plain and the compiled function answered.
    """

    def __init__(self, game: Game, sample: Sample, columns: Any, report: ConformanceReport) -> None:
        self.game, self.sample, self.columns, self.report = game, sample, columns, report
        self.played = [row for row, move in enumerate(sample.played) if move is not None]
        self.moves = np.array([sample.played[row] for row in self.played], np.int32)

    def compare(
        self,
        rules: Operations,
        operation: str,
        answers: Callable[[Operations, str, CheckResult], Iterator[tuple[str, Any, Any]]],
        label: str = "",
    ) -> None:
        """Run one comparison, unless the operation is absent or cannot be compiled."""
        name = f"{label or operation} compiled"

        def look(check: CheckResult) -> None:
            if operation not in rules:
                raise NotApplicable(f"the game has no {'symmetries' if operation == 'transform' else operation}")
            for asked, plain, found in answers(rules, operation, check):
                check.cases += 1
                if not (same(found, plain) if isinstance(plain, tuple) else found == plain):
                    check.fail(f"{asked}: plain rules give {plain}, compiled {found}")

        self.report.run(name, _AGREEMENT, look, lambda: rules.plain_reasons.get(operation))

    def columns_at(self, rows: Sequence[int]) -> Any:
        """Take some positions of the sample, as columns."""
        return rows_of(self.columns, list(rows))

    def numbers(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """Ask for a number for each position."""
        kernel = _OF_POSITIONS[operation]
        kind = next(kind for asked, kind in _KINDS.items() if asked.__name__ == operation)
        rows = self.sample.ends if operation in _AT_THE_END else range(len(self.sample.positions))
        found = np.zeros(len(rows), kind)
        compiled(kernel)(rules, self.columns_at(rows), found)
        for number, (_, position) in zip(found, self.sample.rows(check, rows), strict=True):
            yield operation, kind(rules[operation](position)), number

    def of_moves(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """Ask for a number for each move that was played."""
        children = [self.following(row) for row in self.played]
        found = np.zeros(len(children), np.int64)
        before, after = self.columns_at(self.played), self.game.columns_of(children)
        compiled(_OF_MOVES[operation])(rules, before, after, self.moves, found)
        plain = rules[operation]
        for place, (row, position) in enumerate(self.sample.rows(check, self.played)):
            arguments = (position, self.sample.played[row], children[place])
            yield operation, int(plain(*arguments[: plain.__code__.co_argcount])), found[place]

    def listed(self, rules: Operations, operation: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """List moves of all positions in guarded buffers, with what the operation returned."""
        rows = len(self.sample.positions)
        moves, counts = np.tile(guarded_buffer(self.game), (rows, 1)), np.zeros(rows, np.int64)
        compiled(_LISTS[operation])(rules, self.columns, np.int64(GUARD_ROWS), moves, counts)
        return moves, counts

    def legal(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """List the legal moves, in the order of the rules; those of the search may come in any."""
        moves, counts = self.listed(rules, operation)
        ordered = list if rules is self.game.rules else sorted
        for row, _ in self.sample.rows(check):
            found = moves_in(self.game, moves[row], counts[row])
            yield operation, ordered(self.sample.legal[row]), ordered(found)

    def tactical(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """List the moves for quiescence, in their order, behind their number or its complement."""
        moves, counts = self.listed(rules, operation)
        for row, position in self.sample.rows(check):
            buffer = guarded_buffer(self.game)
            count = int(rules[operation](position, buffer, GUARD_ROWS))
            room = slice(GUARD_ROWS, GUARD_ROWS + (count if count >= 0 else ~count))
            yield operation, [count, *buffer[room].tolist()], [int(counts[row]), *moves[row, room].tolist()]

    def playing(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """Play the moves that were played."""
        children = self.game.empty_columns(len(self.played))
        compiled(_play_all)(rules, self.columns_at(self.played), self.moves, children)
        for place, (row, _) in enumerate(self.sample.rows(check, self.played)):
            name = move_text(self.game, int(self.moves[place]))
            yield f"{operation} of {name}", self.following(row), position_at(children, place)

    def images(self, rules: Operations, operation: str, check: CheckResult) -> Iterator[tuple[str, Any, Any]]:
        """Transform some positions."""
        for symmetry in range(self.game.symmetry_count):
            images = self.game.empty_columns(len(self.sample.positions))
            compiled(_transform_all)(rules, self.columns, np.int64(symmetry), images)
            for row, position in self.sample.rows(check, self.sample.some(_SYMMETRY_SAMPLE)):
                yield f"symmetry {symmetry}", rules[operation](position, symmetry), position_at(images, row)

    def following(self, row: int) -> Any:
        """Position after the move that was played, by the plain rules."""
        return self.game.play(self.sample.positions[row], self.sample.played[row])


@COMPILED.step
def _check_compiled(report: ConformanceReport, game: Game, sample: Sample) -> None:
    """Compare every compiled operation of a game with the plain one.

    What numba cannot compile is left out, with the reason: such rules run as plain Python everywhere.
    """
    if sample.doubt:
        report.run("compiled", _AGREEMENT, lambda check: sample.rely())
        return
    columns = game.empty_columns(len(sample.positions))

    def look(check: CheckResult) -> None:
        for row, position in sample.rows(check):
            store_position(columns, row, position)
            stored = position_at(columns, row)
            check.cases += 1
            if not same(stored, position):
                check.fail(f"columns make it {stored}")

    report.run("columns", "positions survive being stored in columns", look)
    comparison = _Comparison(game, sample, columns, report)
    rules, searching, replaced = game.rules, game.search_rules, game.search_functions
    comparison.compare(rules, "legal_moves", comparison.legal)
    comparison.compare(rules, "play", comparison.playing)
    for operation in ("is_over", "final_score", "hash_key", "count_moves"):
        comparison.compare(rules, operation, comparison.numbers)
    comparison.compare(rules, "transform", comparison.images)
    for operation, answers in (("legal_moves", comparison.legal), ("play", comparison.playing)):
        if operation in replaced:
            comparison.compare(searching, operation, answers, f"{operation} of the search")
    for operation in ("tactical_moves", *_OF_POSITIONS, *_OF_MOVES):
        if operation in replaced and operation in OPTIONAL_OPERATIONS:
            of_positions = comparison.numbers if operation in _OF_POSITIONS else comparison.of_moves
            comparison.compare(searching, operation, comparison.tactical if operation in _LISTS else of_positions)
