"""Checks of a game: its facts, its plain rules, and whether the compiled rules agree with them."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glem.core.conformance.playouts import (
    GUARD,
    GUARD_ROWS,
    Sample,
    guarded_buffer,
    list_moves,
    moves_in,
    play_sample,
    same,
    show,
)
from glem.core.conformance.report import BrokenPromise, ConformanceReport, Examination, OpenCheck
from glem.core.errors import BadInputError
from glem.core.game import (
    INTERFACE_VERSION,
    Game,
    count_moves,
    final_score,
    game_names,
    hash_key,
    is_over,
    legal_moves,
    play,
    transform,
)
from glem.core.kernels import compiled
from glem.core.operations import position_at, store_position
from glem.core.progress import SILENT, Progress

__all__ = ["check_game"]

_SYMMETRY_SAMPLE = 60
_HASH_WINDOW_BITS = 16


def check_game(
    game: Game, *, games: int = 40, seed: int = 0, plain: bool = False, progress: Progress = SILENT
) -> ConformanceReport:
    """Examine a game's rules, notation and symmetries on the positions of random games.

    Parameters
    ----------
    game
        The game, registered or not.
    games
        Number of random games; every position of them is looked at.
    seed
        Of the random moves: equal seeds examine equal positions.
    plain
        Leave the compiled rules out, for a first draft that is not to be compiled yet.
    progress
        Display of the work.

    Returns
    -------
    ConformanceReport
        One result per promise; ``report.require()`` raises when one is broken.

    Raises
    ------
    BadInputError
        There are no games to play.
    """
    if games < 1:
        raise BadInputError(f"a conformance check needs at least one game, got {games}")
    examination = Examination(game.title)
    sample = Sample()
    steps: list[Callable[[], None]] = [
        lambda: _check_facts(game, examination),
        lambda: _check_playouts(game, games, seed, sample, examination),
        lambda: _check_repeatable(game, sample, examination),
        lambda: _check_scores(game, sample, examination),
        lambda: _check_hash(game, sample, examination),
        lambda: _check_symmetries(game, sample, examination),
        lambda: _check_text(game, sample, examination),
        lambda: _check_pickling(game, sample, examination),
    ]
    if not plain:
        steps.append(lambda: _check_compiled(game, sample, examination))
    # Plain rules may wrap around in numpy scalars as they do compiled; numpy would warn.
    with progress(f"check {game.title}", len(steps)) as task, np.errstate(over="ignore"):
        for step in steps:
            step()
            task.advance()
    return examination.report()


def _where(game: Game, sample: Sample, row: int) -> str:
    return "in\n" + show(game, sample.positions[row], sample.history[row])


# ---------------------------------------------------------------------------------------- plain rules


def _check_facts(game: Game, examination: Examination) -> None:
    with examination.check("facts", "the game's description is complete and consistent") as check:
        start = game.initial_position
        check.expect(
            isinstance(start, tuple) and hasattr(start, "_fields"),
            f"initial_position is a {type(start).__name__}, expected a NamedTuple",
        )
        for name, value in zip(getattr(start, "_fields", ()), start, strict=False):
            check.expect(
                isinstance(value, np.generic),
                f"field {name!r} of the initial position is a {type(value).__name__}, expected a numpy scalar",
            )
        for name in ("max_moves", "move_count", "max_plies", "symmetry_count"):
            check.expect(getattr(game, name) >= 1, f"{name} is {getattr(game, name)}, expected at least 1")
        low, high = game.score_bounds
        check.expect(low <= high, f"score_bounds are {game.score_bounds}, expected the least first")
        check.expect(
            game.interface_version == INTERFACE_VERSION,
            f"interface_version is {game.interface_version}, this is glem with version {INTERFACE_VERSION}",
        )
        symmetric = game.symmetry_count > 1
        check.expect(
            (game.transform is not None) == (game.transform_move is not None) == symmetric,
            "transform, transform_move and a symmetry_count above 1 go together",
        )
        for operation, function in game.rules.functions.items():
            local = "<" in function.__qualname__
            check.expect(not local, f"{operation} is {function.__qualname__}, expected a function of a module")


def _check_playouts(game: Game, games: int, seed: int, sample: Sample, examination: Examination) -> None:
    promise = (
        "legal moves are in range, without repetition and inside their room, there are none exactly when the game is "
        "over, play gives positions of one type, games end within max_plies"
    )
    with examination.check("play", promise) as check:
        play_sample(game, games, seed, sample, check)
    if not sample.positions:
        sample.positions.append(game.initial_position)
        sample.legal.append([])
        sample.played.append(None)
        sample.history.append(())


def _check_repeatable(game: Game, sample: Sample, examination: Examination) -> None:
    with examination.check("repeatable", "the rules depend on the position alone and change nothing") as check:
        position, legal = game.initial_position, list[int]()
        for row, kept in enumerate(sample.positions):
            # The same games once more: a hidden state has moved on since.
            fresh = not sample.history[row]
            position = game.initial_position if fresh else position
            where = _where(game, sample, row)
            check.expect(same(position, kept), f"the same moves lead to another position the second time, {where}")
            legal = list_moves(game, position, where)
            check.expect(legal == sample.legal[row], f"legal_moves lists {sample.legal[row]}, then {legal}, {where}")
            shifted = np.full(2 * game.max_moves + GUARD_ROWS, GUARD, np.int32)
            count = game.legal_moves(position, shifted, 0)
            check.expect(
                [int(move) for move in shifted[:count]] == legal,
                f"legal_moves depends on start: {legal} from {GUARD_ROWS} on, {shifted[:count]} from 0 on, {where}",
            )
            if game.count_moves is not None:
                counted = game.count_moves(position)
                check.expect(counted == len(legal), f"count_moves gives {counted}, there are {len(legal)}, {where}")
            move = sample.played[row]
            if move is not None and move in legal:
                position = game.play(position, move)


def _check_scores(game: Game, sample: Sample, examination: Examination) -> None:
    low, high = game.score_bounds
    promise = "final scores are whole numbers within score_bounds, negated for the other side"
    with examination.check("scores", promise) as check:
        for row in sample.ends:
            where = _where(game, sample, row)
            position = sample.positions[row]
            score = game.final_score(position)
            if not isinstance(score, int | np.integer):
                raise BrokenPromise(f"final_score is {score!r}, expected a whole number, {where}")
            check.expect(low <= score <= high, f"final_score {score} is outside score_bounds {low}..{high}, {where}")
            if game.pass_move is not None:
                # A pass changes only who is to move, so it tells what the end is worth to the other side.
                other = game.play(position, game.pass_move)
                check.expect(bool(game.is_over(other)), f"the game is not over for the other side, {where}")
                negated = game.final_score(other)
                check.expect(negated == -score, f"final_score is {score}, for the other side {negated}, {where}")
        if not sample.ends:
            raise BrokenPromise("no random game has ended")


def _check_hash(game: Game, sample: Sample, examination: Examination) -> None:
    promise = "hash_key is a 64-bit number, equal for equal positions, different and well scattered for others"
    with examination.check("hash", promise) as check:
        keys: dict[int, int] = {}
        known: dict[tuple[Any, ...], int] = {}
        for row, position in enumerate(sample.positions):
            key = int(game.hash_key(position))
            if not 0 <= key < 1 << 64:
                raise BrokenPromise(f"hash_key gives {key}, expected 0 to 2^64 - 1, {_where(game, sample, row)}")
            content = tuple(value.item() for value in position)
            first_key = known.setdefault(content, key)
            check.expect(
                first_key == key and int(game.hash_key(position)) == key,
                f"hash_key gives one position {first_key:#x} and {key:#x}, {_where(game, sample, row)}",
            )
            twin = keys.setdefault(key, row)
            check.expect(
                same(sample.positions[twin], position),
                f"hash_key {key:#x} stands for two positions, {_where(game, sample, row)}\nand "
                f"{_where(game, sample, twin)}",
            )
        words = np.array(sorted(keys), np.uint64)
        pairs = len(words) * (len(words) - 1) / 2 / 2**_HASH_WINDOW_BITS
        for shift in range(0, 64, _HASH_WINDOW_BITS):
            window = (words >> np.uint64(shift)) & np.uint64(2**_HASH_WINDOW_BITS - 1)
            counts = np.unique(window, return_counts=True)[1].astype(np.float64)
            found = float((counts * (counts - 1) / 2).sum())
            # Pairs of random numbers meet by a Poisson law; ten standard deviations never happen by chance.
            check.expect(
                found <= pairs + 10 * pairs**0.5 + 10,
                f"hash_key scatters badly: in bits {shift} to {shift + _HASH_WINDOW_BITS - 1}, {found:.0f} pairs of "
                f"{len(words)} positions meet, chance makes {pairs:.0f}",
            )


def _check_symmetries(game: Game, sample: Sample, examination: Examination) -> None:
    promise = "the symmetries form a group and keep legal moves, play, ends and final scores"
    if game.transform is None or game.transform_move is None:
        examination.skip("symmetries", promise, "the game has none")
        return
    symmetries = range(game.symmetry_count)
    step = max(1, len(sample.positions) // _SYMMETRY_SAMPLE)
    rows = sorted({*range(0, len(sample.positions), step), *sample.ends[:_SYMMETRY_SAMPLE]})
    with examination.check("symmetries", promise) as check:
        products = {pair: set(symmetries) for pair in itertools.product(symmetries, symmetries)}
        for row in rows:
            position, where = sample.positions[row], _where(game, sample, row)
            images = [game.transform(position, symmetry) for symmetry in symmetries]
            check.expect(same(images[0], position), f"symmetry 0 is not the identity, {where}")
            for first, second in products:
                twice = game.transform(images[first], second)
                products[first, second] &= {third for third in symmetries if same(images[third], twice)}
                check.expect(
                    products[first, second],
                    f"symmetry {first}, then {second}, is none of the {game.symmetry_count} symmetries on the "
                    f"positions up to this one, {where}",
                )
                products[first, second] = products[first, second] or set(symmetries)
            for symmetry, image in enumerate(images):
                _check_image(game, sample, row, symmetry, image, check)


def _check_image(game: Game, sample: Sample, row: int, symmetry: int, image: Any, check: OpenCheck) -> None:
    assert game.transform is not None
    assert game.transform_move is not None
    where = f"under symmetry {symmetry}, {_where(game, sample, row)}"
    moves = {move: game.transform_move(move, symmetry) for move in sample.legal[row]}
    image_moves = list_moves(game, image, where)
    check.expect(
        sorted(moves.values()) == sorted(image_moves),
        f"the images of the legal moves are {sorted(moves.values())}, the image's legal moves {sorted(image_moves)}, "
        f"{where}",
    )
    move = sample.played[row]
    if move is None:
        check.expect(
            game.final_score(image) == game.final_score(sample.positions[row]), f"the final score changes, {where}"
        )
    elif moves[move] in image_moves:
        expected = game.transform(game.play(sample.positions[row], move), symmetry)
        check.expect(
            same(game.play(image, moves[move]), expected),
            f"playing {game.format_move(move)} and the symmetry do not commute, {where}",
        )


# ---------------------------------------------------------------------------------- text and pickling


def _check_text(game: Game, sample: Sample, examination: Examination) -> None:
    with examination.check("text", "positions and moves survive being written and read") as check:
        for row, position in enumerate(sample.positions):
            text = game.format_position(position)
            check.expect("\n" not in text, f"format_position writes more than one line: {text!r}")
            check.expect(
                same(game.parse_position(text), position),
                f"format_position writes {text!r}, parse_position reads another position, {_where(game, sample, row)}",
            )
        names: dict[str, int] = {}
        for move in sorted({move for moves in sample.legal for move in moves}):
            name = game.format_move(move)
            check.expect(" " not in name, f"format_move writes move {move} as {name!r}, expected no blank")
            check.expect(
                names.setdefault(name, move) == move, f"format_move writes {names[name]} and {move} as {name!r}"
            )
            read = game.parse_move(name)
            check.expect(read == move, f"format_move writes move {move} as {name!r}, parse_move reads {read}")
        for kind, parse in (("parse_position", game.parse_position), ("parse_move", game.parse_move)):
            for text in ("", "\0", "no such thing?"):
                check.expect(_rejects(parse, text), f"{kind}({text!r}) does not raise BadInputError")


def _rejects(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except BadInputError:
        return True
    except Exception:  # noqa: BLE001 - a stranger's code may raise anything
        return False
    return False


def _check_pickling(game: Game, sample: Sample, examination: Examination) -> None:
    with examination.check("pickling", "positions and rules reach another process unchanged") as check:
        for row in range(0, len(sample.positions), max(1, len(sample.positions) // 20)):
            position = sample.positions[row]
            copy = pickle.loads(pickle.dumps(position))  # noqa: S301 - made one call ago
            check.expect(
                type(copy) is type(position) and same(copy, position),
                f"a position changes under pickling, {_where(game, sample, row)}",
            )
        rules = pickle.loads(pickle.dumps(game.rules))  # noqa: S301 - made one call ago
        check.expect(rules.functions == game.rules.functions, "the rules change under pickling")
        if game.name in game_names():
            check.expect(
                pickle.loads(pickle.dumps(game)) is game,  # noqa: S301 - made one call ago
                f"the name {game.name!r} is registered for another game",
            )


# ------------------------------------------------------------------------------------- compiled rules


def _list_all(rules: Any, columns: Any, start: np.int64, moves: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = legal_moves(rules, position_at(columns, row), moves[row], start)


def _play_all(rules: Any, columns: Any, moves: Any, children: Any) -> None:
    for row in range(moves.shape[0]):
        store_position(children, row, play(rules, position_at(columns, row), moves[row]))


def _end_all(rules: Any, columns: Any, over: Any) -> None:
    for row in range(over.shape[0]):
        over[row] = is_over(rules, position_at(columns, row))


def _score_all(rules: Any, columns: Any, rows: Any, scores: Any) -> None:
    for place in range(rows.shape[0]):
        scores[place] = final_score(rules, position_at(columns, rows[place]))


def _hash_all(rules: Any, columns: Any, keys: Any) -> None:
    for row in range(keys.shape[0]):
        keys[row] = hash_key(rules, position_at(columns, row))


def _count_all(rules: Any, columns: Any, counts: Any) -> None:
    for row in range(counts.shape[0]):
        counts[row] = count_moves(rules, position_at(columns, row))


def _transform_all(rules: Any, columns: Any, symmetry: np.int64, images: Any) -> None:
    for row in range(images[0].shape[0]):
        store_position(images, row, transform(rules, position_at(columns, row), symmetry))


def _check_compiled(game: Game, sample: Sample, examination: Examination) -> None:
    rules, count = game.rules, len(sample.positions)
    columns = game.empty_columns(count)
    with examination.check("columns", "positions survive being stored in columns") as check:
        for row, position in enumerate(sample.positions):
            store_position(columns, row, position)
            stored = position_at(columns, row)
            check.expect(same(stored, position), f"columns make it {stored}, {_where(game, sample, row)}")

    def compare(name: str, rows: Any, expected: Callable[[int], Any], found: NDArray[Any], check: OpenCheck) -> None:
        for place, row in enumerate(rows):
            wanted = expected(row)
            check.expect(
                found[place] == wanted,
                f"{name}: plain rules give {wanted}, compiled {found[place]}, {_where(game, sample, row)}",
            )

    agreement = "the compiled rule agrees with the plain one"
    with examination.check("legal_moves compiled", agreement) as check:
        moves = np.tile(guarded_buffer(game), (count, 1))
        counts = np.zeros(count, np.int64)
        compiled(_list_all)(rules, columns, np.int64(GUARD_ROWS), moves, counts)
        for row, legal in enumerate(sample.legal):
            where = _where(game, sample, row)
            found = moves_in(game, moves[row], counts[row], where)
            check.expect(found == legal, f"plain rules list {legal}, compiled {found}, {where}")
    with examination.check("play compiled", agreement) as check:
        rows = np.array([row for row, move in enumerate(sample.played) if move is not None], np.int64)
        parents = game.position_type(*(column[rows] for column in columns))
        played = np.array([sample.played[row] for row in rows], np.int32)
        children = game.empty_columns(len(rows))
        compiled(_play_all)(rules, parents, played, children)
        for place, row in enumerate(rows):
            # The next row of the sample is the position that the plain rules made of this one.
            wanted = game.play(sample.positions[row], int(played[place]))
            check.expect(
                same(position_at(children, place), wanted),
                f"after {game.format_move(int(played[place]))} plain rules give {wanted}, compiled "
                f"{position_at(children, place)}, {_where(game, sample, row)}",
            )
    with examination.check("is_over compiled", agreement) as check:
        over = np.zeros(count, np.bool_)
        compiled(_end_all)(rules, columns, over)
        compare("is_over", range(count), lambda row: bool(game.is_over(sample.positions[row])), over, check)
    with examination.check("final_score compiled", agreement) as check:
        ends = np.array(sample.ends, np.int64)
        scores = np.zeros(len(ends), np.float64)  # a score that is no whole number must not look like one
        compiled(_score_all)(rules, columns, ends, scores)
        compare("final_score", sample.ends, lambda row: game.final_score(sample.positions[row]), scores, check)
    with examination.check("hash_key compiled", agreement) as check:
        keys = np.zeros(count, np.uint64)
        compiled(_hash_all)(rules, columns, keys)
        compare("hash_key", range(count), lambda row: np.uint64(game.hash_key(sample.positions[row])), keys, check)
    if game.count_moves is None:
        examination.skip("count_moves compiled", agreement, "the game has no count_moves")
    else:
        with examination.check("count_moves compiled", agreement) as check:
            counts = np.zeros(count, np.int64)
            compiled(_count_all)(rules, columns, counts)
            compare("count_moves", range(count), lambda row: len(sample.legal[row]), counts, check)
    if game.transform is None:
        examination.skip("transform compiled", agreement, "the game has no symmetries")
        return
    with examination.check("transform compiled", agreement) as check:
        for symmetry in range(game.symmetry_count):
            images = game.empty_columns(count)
            compiled(_transform_all)(rules, columns, np.int64(symmetry), images)
            for row in range(0, count, max(1, count // _SYMMETRY_SAMPLE)):
                wanted = game.transform(sample.positions[row], symmetry)
                check.expect(
                    same(position_at(images, row), wanted),
                    f"symmetry {symmetry}: plain rules give {wanted}, compiled {position_at(images, row)}, "
                    f"{_where(game, sample, row)}",
                )
