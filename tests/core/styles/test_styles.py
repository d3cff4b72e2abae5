"""Styles with and without a prior, what they foretell, whose moves some are, and where two differ."""

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import asdict, evolve
from numpy.typing import NDArray

from glem.core.compiling.columns import rows_of
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_value
from glem.core.features.learning import load_learning
from glem.core.game.records import GameRecords
from glem.core.positions.replay import Replay
from glem.core.search.quiet import LeafSearch
from glem.core.styles.choice_model import chances_of
from glem.core.styles.chosen_moves import SCORE, ChosenMoves, own_moves
from glem.core.styles.persons import PersonGames
from glem.core.styles.styles import (
    Style,
    StyleSettings,
    fit_moves,
    learn_style,
    learning_of_styles,
    predict,
    style_features,
)
from glem.core.styles.telling import (
    coefficients_of,
    compare_tastes,
    evaluated_moves,
    log_likelihoods,
    of_like_strength,
    telling_positions,
    verdict,
)
from glem.core.styles.temporal_difference import TemporalDifference
from glem.core.styles.two_players import METHODS, Repetition, hit_rows, hit_table, ratio_interval, repeat, repeat_all
from glem.core.styles.who_is_it import (
    CHOICE_MODEL,
    EQUAL,
    Learned,
    Study,
    UnseenGames,
    accuracies,
    accuracy_table,
    ask,
    confusion,
    learn_player,
)
from glem.core.tasks.tasks import Workers
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.core.styles.test_chosen_moves import NAMES, USUAL, games_of, weights_of
from tests.othello import LEARNING

STATIC = StyleSettings(NAMES, (8, 59), -1)
LEAVES = StyleSettings(NAMES, (8, 59))


@cache
def played_by(which: int, games: int, seed: int) -> Replay:
    return games_of((weights_of(which), USUAL), games, seed)


def rows_in(played: Replay) -> NDArray[np.int64]:
    return own_moves(played, np.ones(len(played.status), np.int8), STATIC.plies)


@cache
def style_of(which: int, seed: int, games: int = 400) -> Style:
    played = played_by(which, games, seed)
    return learn_style(LEARNING, played, rows_in(played), STATIC)


def test_names_of_features_and_groups() -> None:
    chess = learning_of_styles("chess")
    assert chess is load_learning("chess", "style")
    assert learning_of_styles("chess", "") is load_learning("chess")
    assert len(style_features(chess)) == 140
    assert len(style_features(chess, ["formations", "material"])) == 7
    with pytest.raises(BadInputError, match="chess has no atomic feature 'taste'"):
        style_features(chess, ["taste"])
    with pytest.raises(BadInputError, match="plies must be a range"):
        StyleSettings(("material",), (9, 8))
    with pytest.raises(BadInputError, match="leeway of a style must be positive"):
        StyleSettings(("material",), leeway=0.0)


def test_a_style_on_top_of_an_evaluation_is_a_multiple_of_it_and_what_features_add() -> None:
    prior = load_value("default", LEARNING.game)
    played = played_by(1, 60, 1)
    style = learn_style(LEARNING, played, rows_in(played), evolve(LEAVES, leeway=1.0), prior=prior)
    assert style.model.names == (SCORE, *NAMES)
    evaluation = style.evaluation({"player": "one"})
    assert evaluation.provenance["player"] == "one"
    # Values of positions are those of the model.
    first = rows_of(played.positions, np.flatnonzero(played.ply == 20)[:20])
    scores = LeafSearch(prior).leaves(first)[2]
    items = [LEARNING.features.index(name) for name in NAMES]
    expected = style.model.weights[0] * scores + LEARNING.features.values(first)[:, items] @ style.model.weights[1:]
    np.testing.assert_allclose(evaluation.sums(first), expected, rtol=0.02, atol=0.3)
    known = coefficients_of(evaluation)
    for name, weight, error in zip(NAMES, style.model.weights[1:], style.model.cautious_errors()[1:], strict=True):
        assert known[name] == pytest.approx((weight, error), rel=1e-5)
    with pytest.raises(BadInputError, match="the prior has other features"):
        learn_style(load_learning("chess"), played, rows_in(played), LEAVES, prior=prior)


def test_styles_are_saved_with_their_errors(tmp_path: Path) -> None:
    style = style_of(1, 10)
    style.evaluation({"player": "one"}).save(tmp_path / "one.npz")
    loaded = LinearEvaluation.load(tmp_path / "one.npz")
    known = coefficients_of(loaded)
    for name, weight, error in zip(NAMES, style.model.weights, style.model.cautious_errors(), strict=True):
        assert known[name] == pytest.approx((weight, error), rel=1e-5)


def test_the_own_style_foretells_more() -> None:
    played = played_by(1, 100, 15)
    moves = ChosenMoves.of(LEARNING, NAMES, played, rows_in(played))
    own, other = (predict(str(which), moves, style_of(which, 10 * which).model.weights) for which in (1, 2))
    mean, low, high = own.per_move(other)
    assert 0 < low < mean < high
    chance = predict("chance", moves, np.zeros(len(NAMES)))
    sizes = np.diff(moves.choices.starts)
    assert chance.per_move()[0] == pytest.approx(-np.log(sizes).mean())
    assert chance.share_of_best()[0] == pytest.approx((1 / sizes).mean())
    assert own.share_of_best()[0] > 2 * chance.share_of_best()[0]
    assert own.moves.sum() == len(sizes)


def test_whose_moves_these_are() -> None:
    styles = [style_of(which, 10 * which).evaluation({}) for which in (1, 2)]
    for which in (1, 2):
        played = played_by(which, 100, 10 * which + 5)
        moves = evaluated_moves(styles, played, rows_in(played))
        likelihoods = log_likelihoods(moves)
        found = verdict(likelihoods, moves.choices.game)
        assert found.style == which - 1
        assert found.is_told
        assert found.moves == len(moves.rows)
        few = verdict(likelihoods[:4], np.arange(4))
        assert not few.is_told
    alike = [style_of(1, 10).evaluation({}), style_of(1, 11).evaluation({})]
    played = played_by(1, 100, 25)
    moves = evaluated_moves(alike, played, rows_in(played))
    assert abs(verdict(log_likelihoods(moves), moves.choices.game).difference) < 0.004


def test_features_and_positions_in_which_two_styles_differ() -> None:
    one, two = (style_of(which, 10 * which).evaluation({}) for which in (1, 2))
    tastes = compare_tastes(one, two, [two, two, one])
    assert [abs(taste.score) for taste in tastes] == sorted((abs(taste.score) for taste in tastes), reverse=True)
    first = tastes[0]
    difference = weights_of(1) - weights_of(2)
    assert np.sign(first.weights[0] - first.weights[1]) == np.sign(difference[NAMES.index(first.name)])
    assert first.share in (0.0, 2 / 3)
    played = played_by(1, 60, 5)
    moves = evaluated_moves([one, two], played, rows_in(played))
    places = telling_positions(moves, played, 5)
    assert len({place.game for place in places}) == 5
    for place in places:
        assert place.chances[0][0] >= place.chances[0][1]
        assert place.chances[1][1] >= place.chances[1][0]
        legal = LEARNING.game.list_legal_moves(place.position)
        assert {place.played, *place.wanted} <= set(legal)
    naive = []
    odds = [chances_of(moves.choices, own)[0] for own in np.eye(2)]
    for begin, end in zip(moves.choices.starts[:-1], moves.choices.starts[1:], strict=True):
        p, q = odds[0][begin:end], odds[1][begin:end]
        naive.append(
            sum((a * np.log2(2 * a / (a + b)) + b * np.log2(2 * b / (a + b))) / 2 for a, b in zip(p, q, strict=True))
        )
    assert places[0].divergence <= max(naive) + 1e-9
    assert [place.divergence for place in places] == sorted((place.divergence for place in places), reverse=True)
    assert all(place.wanted[0] != place.wanted[1] for place in places)
    assert min(abs(places[0].divergence - value) for value in naive) < 1e-9


def test_choices_of_some_games() -> None:
    moves = style_of(1, 10).moves
    chosen = np.arange(400) % 3 == 0
    some = moves.of_games(chosen)
    assert set(some.choices.game.tolist()) == set(np.flatnonzero(chosen).tolist())
    again = ChosenMoves.of(LEARNING, NAMES, played_by(1, 400, 10), some.rows)
    np.testing.assert_array_equal(again.choices.features, some.choices.features)
    np.testing.assert_array_equal(again.choices.chosen, some.choices.chosen)
    np.testing.assert_array_equal(again.moves, some.moves)
    assert np.abs(fit_moves(some).weights - fit_moves(moves).weights).max() < 1


def person(which: int, games: int, seed: int, score: float = 0.0) -> PersonGames:
    """Games of a player with known weights, whose results say nothing."""
    played = played_by(which, games, seed)
    moves = played.move[played.move >= 0]
    offsets = played.offsets - np.arange(games + 1)
    records = GameRecords.from_moves(moves, offsets, np.full(games, score, np.float32))
    return PersonGames(f"player {which}", records, np.ones(games, np.int8), {}, {}, {})


def task(seed: int = 0, *, permuted: bool = False, score: float = 0.0) -> Repetition:
    players = person(1, 150, 41, score), person(3, 150, 42, score)
    mutual = person(1, 40, 43, score)
    begin = np.ones(len(NAMES))
    how = TemporalDifference(scale=0.05, positive=False)
    return Repetition(
        "othello", "", players, mutual, STATIC, how, begin, np.zeros(len(NAMES), bool), 120, seed, permuted
    )


def test_two_players_are_told_apart_and_scrambled_results_change_nothing() -> None:
    outcome, scrambled = repeat(task()), repeat(task(score=33.0))
    np.testing.assert_equal(asdict(outcome), asdict(scrambled))
    assert outcome.weights.shape == (2, len(NAMES))
    assert outcome.choice.shape == (2, 1 + len(NAMES))
    assert outcome.course.shape == (2, 120)
    # The mutual games are the first player's against the usual one, so that only its side tells.
    first = hit_rows([outcome], METHODS[1], (8, 59))[0]
    assert first[0] > 0.7
    plies = outcome.ply[0][outcome.ply[0] >= 0]
    assert set((plies % 2).tolist()) == {0}
    hits = outcome.hits(METHODS[0], (8, 59))
    errors = outcome.errors[0]
    for game in range(3):
        own = (outcome.game[0] == game) & ~np.isnan(errors[0])
        assert hits[0, game] == (errors[0, own].sum() < errors[1, own].sum())
    table, rows = hit_table(("one", "two"), [outcome], [repeat(task(permuted=True))])
    assert "h(one, two)" in table.header
    assert len(rows) == 12


def drawn_hits(generator: np.random.Generator, repetitions: int, games: int) -> NDArray[np.float64]:
    """Hits whose chance is .4 on the average over all training games and all mutual games."""
    centre = generator.normal(0, 0.12, (repetitions, 1)) + generator.normal(0, 0.12, games) + 0.4
    return (generator.random((repetitions, games)) < centre).astype(float)


@pytest.mark.parametrize("repetitions", [2, 5, 16])
def test_intervals_of_hits_hold_for_other_training_games_and_other_mutual_games(repetitions: int) -> None:
    generator = np.random.default_rng(repetitions)
    found = [ratio_interval(drawn_hits(generator, repetitions, 60)) for _ in range(1000)]
    assert 0.91 < np.mean([low <= 0.4 <= high for _, low, high in found]) <= 0.99


def test_intervals_of_hits_are_those_of_resampled_repetitions_and_games() -> None:
    generator = np.random.default_rng(1)
    hits = drawn_hits(generator, 40, 120)
    draws = [hits[generator.choice(40, 40)][:, generator.choice(120, 120)].mean() for _ in range(4000)]
    _, low, high = ratio_interval(hits)
    np.testing.assert_allclose([low, high], np.percentile(draws, [2.5, 97.5]), atol=0.01)
    # Sixteen repetitions that go from .03 to .9 are no .356 (.340 to .372).
    apart = np.repeat(np.linspace(0.03, 0.9, 16)[:, None], 40, axis=1) > np.linspace(0, 1, 40)
    _, low, high = ratio_interval(apart.astype(float))
    assert high - low > 0.25
    assert np.isnan(ratio_interval(hits[:1])[1:]).all()
    assert ratio_interval(np.ones((3, 9))) == (1.0, 1.0, 1.0)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-30]),
    "changed": lambda path: path.write_bytes(path.read_bytes()[:200] + b"?" + path.read_bytes()[201:]),
    "without checksum": lambda path: np.savez(path, allow_pickle=True, **changed_arrays(path)),
    "of another": lambda path: shutil.copy(next(one for one in sibling_parts(path) if one != path), path),
}


def sibling_parts(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*".join(re.split(r"\d+", path.name))))


def changed_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path) as arrays:
        return {name: array[::-1] if name in {"likelihoods", "choice"} else array for name, array in arrays.items()}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_repetitions_are_done_again(damage: Callable[[Path], object], tmp_path: Path) -> None:
    short = task()._replace(games=12)
    whole = repeat_all(short, 2, False, tmp_path, Workers(1))
    damage(tmp_path / "repetition-000.npz")
    for _ in range(2):
        for one, other in zip(whole, repeat_all(short, 2, False, tmp_path, Workers(1)), strict=True):
            np.testing.assert_equal(asdict(one), asdict(other))
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("part", ["player-00.npz", "player-00.parts.npz"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_players_are_learned_again(damage: Callable[[Path], object], part: str, tmp_path: Path) -> None:
    for number in range(2):
        numbers = np.arange(2.0) + number
        evaluation = linear_evaluation(LEARNING, mobility=1.0 + number)
        Learned(evaluation, numbers, numbers, numbers, numbers, 7).save(tmp_path, number)
        assert Learned.load(tmp_path, number) is not None
    damage(tmp_path / part)
    assert Learned.load(tmp_path, 0) is None
    assert Learned.load(tmp_path, 1) is not None


def test_many_players_are_guessed(tmp_path: Path) -> None:
    persons = [person(which, 240, 50 + which) for which in (1, 2, 3)]
    begin = np.ones(len(NAMES))
    how = TemporalDifference(scale=0.05, positive=False)
    study = Study(LEARNING, STATIC, 160, 80, 4, None, NAMES[:2], begin, np.zeros(len(NAMES), bool), how, 0)
    training, test = study.divided(persons[0])
    assert (len(training), len(test)) == (160, 80)
    pool = study.pooled(persons, 40)
    learned = []
    for number, each in enumerate(persons):
        assert Learned.load(tmp_path, number) is None
        learn_player(study, each, pool).save(tmp_path, number)
        known = Learned.load(tmp_path, number)
        assert known is not None
        assert known.games == 160
        learned.append(known)
    asked = [ask(study, each, number, learned, pool) for number, each in enumerate(persons)]
    unseen = UnseenGames.together([games for games, _ in asked])
    found = {(each.method, each.games, each.matched): each for each in accuracies(unseen, 3)}
    assert found[CHOICE_MODEL, 1, False].low > 0.45
    assert found[CHOICE_MODEL, 20, False].share > 0.75
    assert found[EQUAL, 5, False].share == pytest.approx(1 / 3)
    assert found[CHOICE_MODEL, 1, True].used <= found[CHOICE_MODEL, 1, False].used
    table = accuracy_table(list(found.values()), 3)
    assert "by chance 33.3%" in table.title.lower()
    np.testing.assert_allclose(confusion(unseen, 3, CHOICE_MODEL).sum(axis=1), 1)
    own = asked[0][1][0]
    assert own.per_move(asked[0][1][1])[0] > 0


def test_matched_openings_are_the_same_for_all() -> None:
    generator = np.random.default_rng(1)
    player, opening = generator.integers(3, size=300), generator.integers(8, size=300)
    opening[player == 0] %= 4
    unseen = UnseenGames(player, opening, {"nothing": np.zeros((300, 3))})
    weights = unseen.matched(3)
    for each in range(8):
        sums = [weights[(player == own) & (opening == each)].sum() for own in range(3)]
        assert np.ptp(sums) < 1e-9
        assert (each < 4) == (sums[0] > 0)
    # What knows the opening alone guesses by chance.
    scores: Any = np.stack([np.bincount(opening[player == own], minlength=8)[opening] for own in range(3)], axis=1)
    known = UnseenGames(player, opening, {"opening": scores.astype(float)})
    found = {(each.games, each.matched): each for each in accuracies(known, 3, (1,))}
    assert found[1, True].share == pytest.approx(1 / 3)
    assert found[1, False].share > 0.4


def test_what_games_hardly_have_is_not_taken_for_exact() -> None:
    choices = style_of(1, 10).moves.choices
    rare = np.zeros((len(choices.features), 1), np.int16)
    rare[choices.starts[:3]] = 1
    moves = evolve(
        style_of(1, 10).moves,
        names=(*NAMES, "rare"),
        choices=choices._replace(features=np.concatenate([choices.features, rare], axis=1)),
    )
    model = fit_moves(moves)
    assert model.errors()[-1] < 0.7 < model.cautious_errors()[-1] < 1.01
    np.testing.assert_allclose(model.cautious_errors()[:-1], model.errors()[:-1], rtol=0.35)


def test_comparable_are_those_of_like_rating() -> None:
    own = style_of(1, 10).evaluation({"rating": "2700"})
    others = [style_of(2, 20).evaluation(told) for told in ({"rating": "2650"}, {"rating": "2500"}, {})]
    assert of_like_strength(own, others) == [others[0], others[2]]
    assert of_like_strength(others[2], others) == others
