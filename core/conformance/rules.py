"""Checks of a game: its facts, its plain rules, and whether the compiled rules agree with them."""

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from glem.core.conformance.compiled_rules import COMPILED
from glem.core.conformance.notation import NOTATION
from glem.core.conformance.playouts import (
    FIRST_PLIES,
    GUARD_ROWS,
    Sample,
    check_position,
    list_moves,
    move_text,
    play_sample,
    same,
    show,
)
from glem.core.conformance.report import BrokenPromise, CheckResult, ConformanceReport, NotApplicable, Suite
from glem.core.conformance.searching import SEARCHING
from glem.core.errors import INTERFACE_VERSION
from glem.core.game.declarations import is_whole
from glem.core.game.game import Game
from glem.core.tasks.counts import counted
from glem.core.tasks.progress import SILENT, Progress

_RULES = Suite()

_SIBLINGS = 4
_SYMMETRY_SAMPLE = 60
_HASH_WINDOW_BITS = 16
_SHOWN_MOVES = 6
_COUNTED_POSITIONS = 1000
_KEY_SAMPLE = 1000
_SUCCESSOR_SAMPLE = 200
_NOT_SHOWN = (
    "not shown: whether these are the rules that you mean. Compare perft with published counts, replay a known game, "
    "and read one (glem check --show-game)"
)
_CHANCE = "different results for the same position: chance, or a global that changes"


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

    Returns
    -------
    ConformanceReport
        One result per promise; ``report.require()`` raises when one is broken.

    Raises
    ------
    BadInputError
        There are no games to play.
    """
    sample = Sample(game, seed=seed, games=games)
    suites = (_RULES, NOTATION, SEARCHING) if plain else (_RULES, NOTATION, SEARCHING, COMPILED)
    report = ConformanceReport(game.title).examine(
        [step for suite in suites for step in suite.of(game, sample)], progress
    )
    if report.passed:
        report.note(_NOT_SHOWN)
    return report


@_RULES.promise("facts", "the game's description is complete and consistent")
def _check_facts(check: CheckResult, game: Game, sample: Sample) -> None:
    check.cases += 1  # the declaration itself, which the constructor has looked at
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
        name = getattr(function, "__qualname__", repr(function))
        check.expect("<" not in name, f"{operation} is {name}, expected a function of a module")


@_RULES.step
def _check_playouts(report: ConformanceReport, game: Game, sample: Sample) -> None:
    """Play the random games."""
    report.run(
        "play",
        "legal moves are in range, without repetition and inside their room, there are none exactly when the game is "
        "over, play gives positions of one type, games end within max_plies",
        lambda check: play_sample(sample, check),
    )
    if not sample.positions:
        # What asks for no moves can be examined on it all the same.
        sample.doubt = "play is broken from the first position on"
        sample.add(game.initial_position, [], None, (), over=False)


@_RULES.promise("repeatable", "the rules depend on the position alone and change nothing")
def _check_repeatable(check: CheckResult, game: Game, sample: Sample) -> None:
    sample.rely()

    def doubt(text: str) -> None:
        check.fail(text)
        sample.doubt = f"the rules give {_CHANCE}"

    position, repeated = game.initial_position, True
    for row, _ in sample.rows(check):
        # The same games once more: a hidden state has moved on since.
        fresh = not sample.history[row]
        if not fresh and not repeated:
            # What follows on another position is no new failure.
            continue
        position = game.initial_position if fresh else position
        legal = list_moves(game, position)
        repeated = legal == sample.legal[row]
        check.cases += 1
        if not repeated:
            first, now = _moves_text(game, sample.legal[row]), _moves_text(game, legal)
            doubt(f"legal_moves gives {_CHANCE}: {first}, then {now}")
        # Another start and other numbers in the buffer than when the game was played.
        shifted = np.zeros(2 * game.max_moves + GUARD_ROWS, np.int32)
        count = game.legal_moves(position, shifted, 0)
        check.cases += 1
        if [int(move) for move in shifted[:count]] != legal:
            check.fail(
                f"legal_moves depends on start or on what is in the buffer: {legal} from {GUARD_ROWS} on, "
                f"{shifted[:count]} from 0 on"
            )
        if game.count_moves is not None:
            counted = game.count_moves(position)
            check.expect(counted == len(legal), f"count_moves gives {counted}, there are {len(legal)}")
        over = bool(game.is_over(position))
        check.cases += 1
        if over != sample.over[row]:
            doubt(f"is_over gives {_CHANCE}: {not over}, then {over}")
        move = sample.played[row]
        if move is None or move not in legal:
            continue
        for other in legal[:_SIBLINGS]:
            game.play(position, other)
        following = game.play(position, move)
        again = game.play(position, move)
        # The last game may have been broken off behind this row.
        played = row + 1 < len(sample.positions) and bool(sample.history[row + 1])
        before = sample.positions[row + 1] if played else following
        check.cases += repeated
        if repeated and not (same(before, following) and same(following, again)):
            repeated = False
            other = again if same(before, following) else before
            doubt(f"play of {move_text(game, move)} gives {_CHANCE}: {_two_texts(game, other, following)}")
        position = following


def _two_texts(game: Game, one: Any, other: Any) -> str:
    texts = show(game, one), show(game, other)
    # A text may leave out what differs.
    return " and ".join(texts) if texts[0] != texts[1] else f"{one} and {other}"


@_RULES.promise("scores", "final scores are whole numbers within score_bounds, negated for the other side")
def _check_scores(check: CheckResult, game: Game, sample: Sample) -> None:
    low, high = game.score_bounds
    if sample.broken_off and not any(sample.over[row] for row in sample.ends):
        raise NotApplicable("not looked at: play is broken before a game has ended")
    for _, position in sample.rows(check, sample.ends):
        score = game.final_score(position)
        if not is_whole(score):
            raise BrokenPromise(f"final_score is {score!r}, expected a whole number")
        again = game.final_score(position)
        check.expect(again == score, f"final_score is {score}, then {again}")
        check.expect(low <= score <= high, f"final_score {score} is outside score_bounds {low}..{high}")
        if game.pass_move is not None:
            # A pass changes only who is to move, so it tells what the end is worth to the other side.
            other = game.play(position, game.pass_move)
            check.expect(bool(game.is_over(other)), "the game is not over for the other side")
            negated = game.final_score(other)
            check.expect(negated == -score, f"final_score is {score}, for the other side {negated}")


@_RULES.promise("invariants", "what the game says of every position holds")
def _check_invariants(check: CheckResult, game: Game, sample: Sample) -> None:
    if not game.invariants:
        raise NotApplicable("the game declares none")
    broken: set[str] = set()
    for row, position in sample.rows(check):
        if not sample.history[row]:
            broken.clear()
        for sentence, holds in game.invariants.items():
            held = sentence in broken or bool(holds(position))
            check.expect(held, f"it does not hold that {sentence}")
            # What a move breaks stays broken for the rest of the game.
            broken.update([] if held else [sentence])


@_RULES.step
def _note_course(report: ConformanceReport, game: Game, sample: Sample) -> None:
    """Note how the games went: no promise tells an illegal move or a wrong sign from the rules, their author does."""
    if sample.broken_off or sample.doubt:
        return
    ends = sample.ends
    scores = []
    with contextlib.suppress(Exception):  # what it raises is a failure of the check of scores
        scores = [int(game.final_score(sample.positions[row])) for row in ends]
    plies = [len(sample.history[row]) for row in ends]
    if scores:
        winners = Counter((count + (score < 0)) % 2 for count, score in zip(plies, scores, strict=True) if score)
        won, lost = (sum(sign * score > 0 for score in scores) for sign in (-1, 1))
        report.note(
            f"{counted(len(scores), 'random game')}: the first player won {winners[0]}, the second {winners[1]}, "
            f"{counted(scores.count(0), 'draw')}; who moved last won {won} and lost {lost}"
        )
    choices = [len(moves) for moves in sample.legal if moves]
    if choices:
        counts = ", ".join(map(str, _first_counts(game)))
        report.note(
            f"{_range(plies, 'plies a game')}, {_range(choices, 'moves a position')}"
            + (f"; perft from the start {counts}" if counts else "")
        )
    never = sorted(set(range(game.move_count)) - {move for moves in sample.legal for move in moves})
    if 0 < len(never) <= _SHOWN_MOVES:
        which = ", the forced pass among them" if game.pass_move in never else ""
        report.note(f"never legal in these games: {_moves_text(game, never)}{which}")
    with contextlib.suppress(Exception):  # what it raises is a failure of another check
        _note_equal_successors(report, game, sample)


def _note_equal_successors(report: ConformanceReport, game: Game, sample: Sample) -> None:
    """Note moves of one result: one of them may be no move of the game."""
    found: list[tuple[int, list[int]]] = []
    rows = sample.some(_SUCCESSOR_SAMPLE)
    for row in rows:
        by_result: dict[tuple[Any, ...], list[int]] = {}
        for move in sample.legal[row]:
            by_result.setdefault(tuple(game.play(sample.positions[row], move)), []).append(move)
        found += [(row, moves) for moves in by_result.values() if len(moves) > 1][:1]
    if found:
        row, moves = found[0]
        report.note(
            f"several legal moves lead to one position in {len(found)} of {counted(len(rows), 'position')}, as "
            f"{_moves_text(game, moves)} in {show(game, sample.positions[row])}: are all of them moves?"
        )


def _range(counts: Sequence[int], what: str) -> str:
    return f"{min(counts)} to {max(counts)} {what} (mean {sum(counts) / len(counts):.1f})"


def _first_counts(game: Game) -> list[int]:
    """Count the sequences of 1, 2, ... plies, as far as that is soon done and no game ends."""
    counts: list[int] = []
    level = [game.initial_position]
    with contextlib.suppress(Exception):  # random games do not reach every position
        while len(counts) < FIRST_PLIES:
            moves = [game.list_legal_moves(position) for position in level]
            if not all(moves):
                break
            counts.append(sum(map(len, moves)))
            if counts[-1] > _COUNTED_POSITIONS:
                break
            level = [
                game.play(position, move) for position, listed in zip(level, moves, strict=True) for move in listed
            ]
    return counts


@_RULES.promise(
    "hash", "hash_key is a 64-bit number, equal for equal positions, different and well scattered for others"
)
def _check_hash(check: CheckResult, game: Game, sample: Sample) -> None:
    keys: dict[int, int] = {}
    known: dict[tuple[Any, ...], int] = {}
    for row, position in sample.rows(check):
        given: Any = game.hash_key(position)
        if not is_whole(given):
            raise BrokenPromise(f"hash_key gives {given!r}, expected a np.uint64")
        key = int(given)
        if not 0 <= key < 1 << 64:
            raise BrokenPromise(f"hash_key gives {key}, expected 0 to 2^64 - 1")
        content = tuple(value.item() for value in position)
        first_key = known.setdefault(content, key)
        check.expect(
            first_key == key and int(game.hash_key(position)) == key,
            f"hash_key gives one position {first_key:#x} and {key:#x}",
        )
        twin = keys.setdefault(key, row)
        other = sample.positions[twin]
        check.cases += 1
        if not same(other, position) and not _differ_in_counter(game, other, position):
            both = f"{sample.place(row)}\nand {sample.place(twin)}{_counter_advice(position, other)}"
            check.place = partial(str, both)
            check.fail(f"hash_key {key:#x} stands for two positions")
    if not sample.doubt:
        _check_key_sees_fields(check, game, sample)
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


def _check_key_sees_fields(check: CheckResult, game: Game, sample: Sample) -> None:
    """Exchange one field at a time by values of other positions: the key must differ wherever the rules do.

    Two whole positions of one key hardly meet in random games. Only what the game reads as it writes it is a position:
    a field that the others determine need not be in the key.
    """
    generator = random.Random(sample.seed)  # noqa: S311 - no secret depends on it
    blind: set[str] = set()
    values = [list(dict.fromkeys(column)) for column in zip(*sample.positions, strict=True)]
    for _, position in sample.rows(check, sample.some(_KEY_SAMPLE)):
        key = game.hash_key(position)
        for name, value, seen in zip(position._fields, position, values, strict=True):
            exchanged = position._replace(**{name: generator.choice(seen)})
            if name in blind or same(exchanged, position):
                continue
            check.cases += 1
            if game.hash_key(exchanged) != key:
                continue
            with contextlib.suppress(Exception):  # nothing promises an answer to what is no position
                text = game.format_position(exchanged)
                # Reading it gives what other fields keep of this one, a key for example.
                other = game.parse_position(text)
                if game.format_position(other) != text or game.hash_key(other) != key:
                    continue
                difference = "" if _differ_in_counter(game, position, other) else _difference(game, position, other)
                if difference:
                    blind.add(name)
                    check.fail(
                        f"hash_key leaves out {name!r}: with {getattr(other, name)} in place of {value}, {difference}, "
                        f"but the key stays {int(key):#x}{_counter_advice(position, other)}"
                    )


def _difference(game: Game, one: Any, other: Any) -> str:
    """Say what the rules make different of two positions; empty if nothing."""
    moves = list_moves(game, one)
    if moves != list_moves(game, other):
        return "other moves are legal"
    if not moves:
        return "the final score differs" if game.final_score(one) != game.final_score(other) else ""
    differing = (move for move in moves if not same(game.play(one, move), game.play(other, move)))
    return next((f"{move_text(game, move)} leads elsewhere" for move in differing), "")


def _differ_in_counter(game: Game, one: Any, other: Any) -> bool:
    """Whether two positions differ only in the field that counts the plies since the last move that stays."""
    count = game.search_functions.get("reversible_plies")
    pairs = [(first, second) for first, second in zip(one, other, strict=True) if first != second]
    if count is None or len(pairs) != 1:
        return False
    first, second = (value.item() for value in pairs[0])
    return bool(first - second == int(count(one)) - int(count(other)))


def _counter_advice(one: Any, other: Any) -> str:
    """Tell what to do where two positions of one key differ in a single field, which may be a counter."""
    fields = [name for name, first, second in zip(one._fields, one, other, strict=True) if first != second]
    if len(fields) != 1 or len(one) == 1:
        return ""
    return (
        f"\nThey differ in {fields[0]!r} alone: if it counts the plies since a move that cannot be taken back, let the "
        "search function reversible_plies return it; else it belongs in hash_key"
    )


@_RULES.promise("symmetries", "the symmetries form a group and keep legal moves, play, ends and final scores")
def _check_symmetries(check: CheckResult, game: Game, sample: Sample) -> None:
    sample.rely()
    if game.transform is None or game.transform_move is None:
        raise NotApplicable("the game has none")
    symmetries = range(game.symmetry_count)
    rows = sorted({*sample.some(_SYMMETRY_SAMPLE), *sample.ends[:_SYMMETRY_SAMPLE]})
    products = {pair: set(symmetries) for pair in itertools.product(symmetries, symmetries)}
    for row, position in sample.rows(check, rows):
        images = [game.transform(position, symmetry) for symmetry in symmetries]
        for symmetry, image in enumerate(images):
            check_position(game, image, f"transform by symmetry {symmetry}")
        check.expect(same(images[0], position), "symmetry 0 is not the identity")
        for first, second in products:
            twice = game.transform(images[first], second)
            products[first, second] &= {third for third in symmetries if same(images[third], twice)}
            check.expect(
                products[first, second],
                f"symmetry {first}, then {second}, is none of the {game.symmetry_count} symmetries on the "
                "positions up to this one",
            )
            products[first, second] = products[first, second] or set(symmetries)
        for symmetry, image in enumerate(images):
            _check_image(game, sample, row, symmetry, image, check)


def _check_image(game: Game, sample: Sample, row: int, symmetry: int, image: Any, check: CheckResult) -> None:
    assert game.transform is not None
    assert game.transform_move is not None
    moves = {move: game.transform_move(move, symmetry) for move in sample.legal[row]}
    image_moves = list_moves(game, image)
    wrong, missing = Counter(moves.values()) - Counter(image_moves), Counter(image_moves) - Counter(moves.values())
    check.cases += 1
    if wrong or missing:
        makers = [move for move, image_move in moves.items() if image_move in wrong]
        check.fail(
            f"under symmetry {symmetry}, the legal moves {_moves_text(game, makers)} become "
            f"{_moves_text(game, [moves[move] for move in makers])}, and no legal move becomes "
            f"{_moves_text(game, sorted(missing))}, legal in the image"
            if makers
            else f"under symmetry {symmetry}, no legal move becomes {_moves_text(game, sorted(missing))}, legal in the "
            "image"
        )
    played = sample.played[row]
    if played is None:
        check.expect(
            game.final_score(image) == game.final_score(sample.positions[row]),
            f"under symmetry {symmetry}, the final score changes",
        )
    # A rare move of the opening, such as a swap, is seldom played at random: all moves of the first game's first plies.
    for move in sample.legal[row] if row < FIRST_PLIES else () if played is None else (played,):
        if moves[move] not in image_moves:
            continue
        expected = game.transform(game.play(sample.positions[row], move), symmetry)
        check.expect(
            same(game.play(image, moves[move]), expected),
            f"under symmetry {symmetry}, {move_text(game, move)} becomes {move_text(game, moves[move])}, but playing "
            "and transforming do not commute",
        )


def _moves_text(game: Game, moves: Sequence[int]) -> str:
    """Texts of some moves, the first few of many; numbers out of range as they are."""
    shown = [move_text(game, move) if 0 <= move < game.move_count else str(move) for move in moves[:_SHOWN_MOVES]]
    more = len(moves) - len(shown)
    return (" ".join(shown) or "none") + (f" and {more} more" if more else "")
