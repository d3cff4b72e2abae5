"""Checks of the compiled rules: whether they agree with the plain ones on every position of a sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.compiling.columns import position_at, rows_of, store_position
from glem.core.compiling.kernels import compiled
from glem.core.compiling.operations import Operations
from glem.core.conformance.playouts import GUARD_ROWS, Sample, columns_of, guarded_buffer, moves_in, same
from glem.core.conformance.report import Examination, OpenCheck
from glem.core.game.game import Game, count_moves, final_score, hash_key, is_over, legal_moves, play, transform
from glem.core.game.optional_operations import (
    OPTIONAL_OPERATIONS,
    extension,
    is_drawn,
    move_hint,
    move_order,
    must_move,
    no_moves_score,
    plies_left,
    reversible_plies,
    table_key,
    tactical_moves,
)

__all__ = ["AGREEMENT", "check_compiled"]

AGREEMENT = "the compiled rule agrees with the plain one"
"""Promise of every check of compiled rules."""

_SYMMETRY_SAMPLE = 60


def _list_all(rules: Any, columns: Any, start: np.int64, moves: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = legal_moves(rules, position_at(columns, row), moves[row], start)


def _play_all(rules: Any, columns: Any, moves: Any, children: Any) -> None:
    for row in range(moves.shape[0]):
        store_position(children, row, play(rules, position_at(columns, row), moves[row]))


def _end_all(rules: Any, columns: Any, over: Any) -> None:
    for row in range(over.shape[0]):
        over[row] = is_over(rules, position_at(columns, row))


def _score_all(rules: Any, columns: Any, scores: Any) -> None:
    for row in range(scores.shape[0]):
        scores[row] = final_score(rules, position_at(columns, row))


def _hash_all(rules: Any, columns: Any, keys: Any) -> None:
    for row in range(keys.shape[0]):
        keys[row] = hash_key(rules, position_at(columns, row))


def _count_all(rules: Any, columns: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = count_moves(rules, position_at(columns, row))


def _transform_all(rules: Any, columns: Any, symmetry: np.int64, images: Any) -> None:
    for row in range(images[0].shape[0]):
        store_position(images, row, transform(rules, position_at(columns, row), symmetry))


def _list_tactical(rules: Any, columns: Any, start: np.int64, moves: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = tactical_moves(rules, position_at(columns, row), moves[row], start)


def _settle_all(rules: Any, columns: Any, scores: Any) -> None:
    for row in range(scores.shape[0]):
        scores[row] = no_moves_score(rules, position_at(columns, row))


def _reach_all(rules: Any, columns: Any, plies: Any) -> None:
    for row in range(plies.shape[0]):
        plies[row] = reversible_plies(rules, position_at(columns, row))


def _hint_all(rules: Any, before: Any, after: Any, moves: Any, hints: Any) -> None:
    for row in range(hints.shape[0]):
        hints[row] = move_hint(rules, position_at(before, row), moves[row])


def _force_all(rules: Any, columns: Any, forced: Any) -> None:
    for row in range(forced.shape[0]):
        forced[row] = must_move(rules, position_at(columns, row))


def _draw_all(rules: Any, columns: Any, drawn: Any) -> None:
    for row in range(drawn.shape[0]):
        drawn[row] = is_drawn(rules, position_at(columns, row))


def _key_all(rules: Any, columns: Any, keys: Any) -> None:
    for row in range(keys.shape[0]):
        keys[row] = table_key(rules, position_at(columns, row))


def _bound_all(rules: Any, columns: Any, plies: Any) -> None:
    for row in range(plies.shape[0]):
        plies[row] = plies_left(rules, position_at(columns, row))


def _extend_all(rules: Any, before: Any, after: Any, moves: Any, plies: Any) -> None:
    for row in range(plies.shape[0]):
        plies[row] = extension(rules, position_at(before, row), moves[row], position_at(after, row))


def _order_all(rules: Any, before: Any, after: Any, moves: Any, hints: Any) -> None:
    for row in range(hints.shape[0]):
        hints[row] = move_order(rules, position_at(before, row), moves[row], position_at(after, row))


_VALUES: dict[str, tuple[Callable[..., None], Any]] = {
    "is_over": (_end_all, np.bool_),
    "final_score": (_score_all, np.float64),  # a score that is no whole number must not look like one
    "hash_key": (_hash_all, np.uint64),
    "count_moves": (_count_all, np.int64),
    "no_moves_score": (_settle_all, np.int64),
    "reversible_plies": (_reach_all, np.int64),
    "plies_left": (_bound_all, np.int64),
    "is_drawn": (_draw_all, np.bool_),
    "table_key": (_key_all, np.uint64),
    "must_move": (_force_all, np.bool_),
}
"""Operations that give a number for a position: kernel and dtype."""

_AT_THE_END = ("final_score", "no_moves_score")
"""Those of them that are asked where there are no moves."""

_OF_MOVES: dict[str, Callable[..., None]] = {"extension": _extend_all, "move_order": _order_all, "move_hint": _hint_all}
"""Operations that give a number for a move."""


class _Comparison:
    """Compiled functions of a game against its plain ones, on a sample."""

    def __init__(self, game: Game, sample: Sample, columns: Any, examination: Examination) -> None:
        self.game, self.sample, self.columns, self.examination = game, sample, columns, examination
        self.all_rows = range(len(sample.positions))
        self.played = [row for row, move in enumerate(sample.played) if move is not None]
        self.moves = np.array([sample.played[row] for row in self.played], np.int32)

    def check(self, rules: Operations, operation: str, body: Callable[[OpenCheck], None], label: str = "") -> None:
        """Run one comparison, unless the operation is absent or cannot be compiled."""
        name = f"{label or operation} compiled"
        if operation not in rules:
            self.examination.skip(name, AGREEMENT, f"the game has no {operation}")
            return
        self.examination.compare_compiled(name, AGREEMENT, body, lambda: rules.plain_reasons.get(operation))

    def compare(
        self, name: str, rows: Sequence[int], expected: Callable[[int], Any], found: NDArray[Any], check: OpenCheck
    ) -> None:
        """Compare numbers, one of each row."""
        for row, value in zip(rows, found, strict=True):
            wanted = expected(row)
            check.expect(
                value == wanted, f"{name}: plain rules give {wanted}, compiled {value}, {self.sample.place(row)}"
            )

    def columns_at(self, rows: Sequence[int]) -> Any:
        """Take some positions of the sample, as columns."""
        return rows_of(self.columns, list(rows))

    def numbers(self, rules: Operations, operation: str) -> None:
        """Compare an operation that gives a number for a position."""
        kernel, kind = _VALUES[operation]

        def body(check: OpenCheck) -> None:
            rows = self.sample.ends if operation in _AT_THE_END else self.all_rows
            found = np.zeros(len(rows), kind)
            compiled(kernel)(rules, self.columns_at(rows), found)
            plain = rules[operation]
            self.compare(operation, rows, lambda row: kind(plain(self.sample.positions[row])), found, check)

        self.check(rules, operation, body)

    def listing(self, rules: Operations, label: str) -> None:
        """Compare the legal moves, in their order."""

        def body(check: OpenCheck) -> None:
            moves, counts = self.listed(_list_all, rules)
            for row in self.all_rows:
                where = self.sample.place(row)
                legal = self.sample.legal[row]
                found = moves_in(self.game, moves[row], counts[row], where)
                agree = found == legal if rules is self.game.rules else sorted(found) == sorted(legal)
                check.expect(agree, f"plain rules list {legal}, compiled {found}, {where}")

        self.check(rules, "legal_moves", body, label)

    def listed(self, kernel: Callable[..., None], rules: Operations) -> tuple[Any, NDArray[np.int64]]:
        """List moves of all positions in guarded buffers, with their numbers."""
        moves = np.tile(guarded_buffer(self.game), (len(self.all_rows), 1))
        counts = np.zeros(len(self.all_rows), np.int64)
        compiled(kernel)(rules, self.columns, np.int64(GUARD_ROWS), moves, counts)
        return moves, counts

    def playing(self, rules: Operations, label: str) -> None:
        """Compare the positions after the moves that were played."""

        def body(check: OpenCheck) -> None:
            children = self.game.empty_columns(len(self.played))
            compiled(_play_all)(rules, self.columns_at(self.played), self.moves, children)
            for place, row in enumerate(self.played):
                move = int(self.moves[place])
                wanted, found = self.game.play(self.sample.positions[row], move), position_at(children, place)
                check.cases += 1
                if not same(found, wanted):
                    name, where = self.game.format_move(move), self.sample.place(row)
                    check.fail(f"after {name} plain rules give {wanted}, compiled {found}, {where}")

        self.check(rules, "play", body, label)

    def transforming(self, function: Callable[..., Any]) -> None:
        """Compare the images of positions."""
        game, sample = self.game, self.sample

        def body(check: OpenCheck) -> None:
            rows = sample.some(_SYMMETRY_SAMPLE)
            for symmetry in range(game.symmetry_count):
                images = game.empty_columns(len(self.all_rows))
                compiled(_transform_all)(game.rules, self.columns, np.int64(symmetry), images)
                for row in rows:
                    wanted, found = function(sample.positions[row], symmetry), position_at(images, row)
                    check.expect(
                        same(found, wanted),
                        f"symmetry {symmetry}: plain rules give {wanted}, compiled {found}, {sample.place(row)}",
                    )

        self.check(game.rules, "transform", body)

    def tactical(self, rules: Operations) -> None:
        """Compare the moves for quiescence, in their order."""

        def body(check: OpenCheck) -> None:
            moves, counts = self.listed(_list_tactical, rules)
            for row in self.all_rows:
                plain = guarded_buffer(self.game)
                count = int(rules["tactical_moves"](self.sample.positions[row], plain, GUARD_ROWS))
                listed = slice(GUARD_ROWS, GUARD_ROWS + (count if count >= 0 else ~count))
                check.expect(
                    counts[row] == count and np.array_equal(plain[listed], moves[row, listed]),
                    f"tactical_moves: plain code gives {count}, {plain[listed]}, compiled {counts[row]}, "
                    f"{moves[row, listed]}, {self.sample.place(row)}",
                )

        self.check(rules, "tactical_moves", body)

    def of_moves(self, rules: Operations, operation: str) -> None:
        """Compare an operation that gives a number for a move."""
        sample = self.sample

        def body(check: OpenCheck) -> None:
            following = [self.game.play(sample.positions[row], int(self.moves[n])) for n, row in enumerate(self.played)]
            found = np.zeros(len(following), np.int64)
            before, after = self.columns_at(self.played), columns_of(self.game, following)
            compiled(_OF_MOVES[operation])(rules, before, after, self.moves, found)
            plain = rules[operation]
            children = dict(zip(self.played, following, strict=True))

            def expected(row: int) -> int:
                arguments = (sample.positions[row], sample.played[row], children[row])
                return int(plain(*arguments[: plain.__code__.co_argcount]))

            self.compare(operation, self.played, expected, found, check)

        self.check(rules, operation, body)


def check_compiled(game: Game, sample: Sample, examination: Examination) -> None:
    """Compare every compiled operation of a game with the plain one.

    What numba cannot compile is left out, with the reason: such rules run as plain Python everywhere.
    """
    columns = game.empty_columns(len(sample.positions))
    with examination.check("columns", "positions survive being stored in columns") as check:
        for row, position in enumerate(sample.positions):
            store_position(columns, row, position)
            stored = position_at(columns, row)
            check.cases += 1
            if not same(stored, position):
                check.fail(f"columns make it {stored}, {sample.place(row)}")
    comparison = _Comparison(game, sample, columns, examination)
    rules, searching, replaced = game.rules, game.search_rules, game.search_functions
    comparison.listing(rules, "legal_moves")
    comparison.playing(rules, "play")
    for operation in ("is_over", "final_score", "hash_key", "count_moves"):
        comparison.numbers(rules, operation)
    if game.transform is None:
        examination.skip("transform compiled", AGREEMENT, "the game has no symmetries")
    else:
        comparison.transforming(game.transform)
    if "legal_moves" in replaced:
        comparison.listing(searching, "legal_moves of the search")
    if "play" in replaced:
        comparison.playing(searching, "play of the search")
    if "tactical_moves" in replaced:
        comparison.tactical(searching)
    for operation in (*_VALUES, *_OF_MOVES):
        if operation in replaced and operation in OPTIONAL_OPERATIONS:
            compare = comparison.numbers if operation in _VALUES else comparison.of_moves
            compare(searching, operation)
