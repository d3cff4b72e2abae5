import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.tournament.elo import (
    EloEstimate,
    PairCounts,
    binomial_significance,
    elo_estimate,
    elo_of_score,
    moments,
    pairs_significance,
    score_of_elo,
)

pair_counts = st.builds(PairCounts, st.tuples(*[st.integers(0, 400)] * 5))
few_pairs = st.builds(PairCounts, st.tuples(*[st.integers(0, 2)] * 5))

# The figures are those that fastchess's own tests expect: Disservin/fastchess, app/tests/elo_test.cpp (commit
# 2f5e88819ee0). Its pentanomial counts keep the pairs "one win, one loss" and "two draws" apart.
FASTCHESS = [
    (elo_estimate((89, 123, 76)), {"normalized_elo": -20.76, "normalized_error": 40.13, "superiority": 0.1553}),
    (
        elo_estimate((96, 111, 136)),
        {"normalized_elo": 49.77, "normalized_error": 36.77, "elo": 40.70, "error": 30.43, "superiority": 0.9960},
    ),
    (elo_estimate((356, 0, 34)), {"normalized_elo": -508.44, "normalized_error": 34.48}),
    (
        elo_estimate((34, 54, 31 + 32, 64, 75)),
        {"normalized_elo": 57.94, "normalized_error": 28.28, "elo": 55.58, "error": 27.65, "superiority": 1.0},
    ),
    (
        elo_estimate((332, 433, 457 + 41, 333, 334)),
        {"normalized_elo": -9.17, "normalized_error": 10.96, "elo": -8.64, "error": 10.33, "superiority": 0.0505},
    ),
    (
        elo_estimate((7895, 8757, 5485 + 200, 568, 9999)),
        {"normalized_elo": -19.01, "normalized_error": 2.65, "elo": -21.04, "error": 2.95},
    ),
]


def agrees(found: float, printed: float) -> bool:
    """Whether a figure is the printed one, to half a unit of its last place."""
    decimals = 4 if 0 <= printed <= 1 else 2
    return abs(found - printed) <= 0.5001 * 10**-decimals


@pytest.mark.parametrize(("estimate", "expected"), FASTCHESS)
def test_figures_are_those_of_fastchess(estimate: EloEstimate, expected: dict[str, float]) -> None:
    for name, value in expected.items():
        assert agrees(getattr(estimate, name), value), name


@settings(deadline=None)
@given(pair_counts)
def test_second_player_sees_the_opposite(pairs: PairCounts) -> None:
    mine, theirs = elo_estimate(pairs.counts), elo_estimate(pairs.reversed().counts)
    assert mine.elo == pytest.approx(-theirs.elo, nan_ok=True, abs=1e-9)
    assert mine.error == pytest.approx(theirs.error, nan_ok=True)
    assert mine.normalized_elo == pytest.approx(-theirs.normalized_elo, nan_ok=True, abs=1e-9)
    assert mine.superiority == pytest.approx(1 - theirs.superiority)
    assert pairs + pairs.reversed() == (pairs + pairs.reversed()).reversed()


@settings(deadline=None)
@given(st.integers(1, 200), st.integers(0, 200), st.integers(1, 200))
def test_independent_games_make_pairs_with_the_error_of_games(wins: int, draws: int, losses: int) -> None:
    """If the second game of every pair is independent of the first, both ways to count agree."""
    results = (losses, draws, wins)
    counts = [0] * 5
    for first, second in itertools.product(range(3), repeat=2):
        counts[first + second] += results[first] * results[second]
    games = wins + draws + losses
    by_pairs = elo_estimate(counts)
    by_games = elo_estimate((losses * 2 * games, draws * 2 * games, wins * 2 * games))
    assert by_pairs.elo == pytest.approx(by_games.elo, abs=1e-9)
    assert by_pairs.normalized_elo == pytest.approx(by_games.normalized_elo, abs=1e-9)
    assert by_pairs.error == pytest.approx(by_games.error)
    assert by_pairs.superiority == pytest.approx(by_games.superiority)


def test_what_cannot_be_estimated_is_not_a_number() -> None:
    nothing = elo_estimate(PairCounts().counts)
    assert math.isnan(nothing.score)
    assert math.isnan(nothing.elo)
    assert nothing.superiority == 0.5
    all_drawn = elo_estimate((0, 10, 0))
    assert (all_drawn.elo, all_drawn.error, all_drawn.superiority) == (0, 0, 0.5)
    assert math.isnan(all_drawn.normalized_elo)
    all_won = elo_estimate((0, 0, 10))
    assert (all_won.elo, all_won.error, all_won.superiority) == (math.inf, math.inf, 1.0)
    assert elo_estimate((1, 0, 99)).error == math.inf


@settings(deadline=None)
@given(st.floats(-1000, 1000))
def test_score_and_elo_are_inverse(elo: float) -> None:
    assert elo_of_score(score_of_elo(elo)) == pytest.approx(elo, abs=1e-6)


def randomization_test(pairs: PairCounts) -> float:
    """Share of all sign assignments whose sum is at least the observed one, by enumeration."""
    leads = [place - 2 for place, count in enumerate(pairs.counts) for _ in range(count) if place != 2]
    sums = [
        sum(sign * lead for sign, lead in zip(signs, leads, strict=True))
        for signs in itertools.product((1, -1), repeat=len(leads))
    ]
    return sum(value >= sum(leads) for value in sums) / len(sums)


@settings(deadline=None)
@given(few_pairs)
def test_significance_is_that_of_all_sign_assignments(pairs: PairCounts) -> None:
    assert pairs_significance(pairs) == pytest.approx(randomization_test(pairs))


@settings(deadline=None)
@given(pair_counts)
def test_significance_of_many_pairs_is_close_to_the_normal_approximation(pairs: PairCounts) -> None:
    lost, behind, _, ahead, won = pairs.counts
    variance = behind + ahead + 4 * (lost + won)
    if variance < 100:
        return
    # Leads of two points alone come in steps of four, half of which belongs to either side.
    step = 2 if behind + ahead else 4
    lead = ahead - behind + 2 * (won - lost)
    normal = math.erfc((lead - step / 2) / math.sqrt(2 * variance)) / 2
    assert pairs_significance(pairs) == pytest.approx(normal, abs=0.01)


def test_sign_test_where_every_pair_is_decided_twofold() -> None:
    pairs = PairCounts((41, 0, 0, 0, 59))
    # Buro 1995, section 4: above 59 % is significant at 5 % over 100 openings.
    assert pairs_significance(pairs) == pytest.approx(0.0443, abs=5e-5)
    assert binomial_significance(pairs) == pytest.approx(0.0443, abs=5e-5)
    assert binomial_significance(PairCounts((42, 0, 0, 0, 58))) > 0.05


@settings(deadline=None)
@given(pair_counts)
def test_binomial_bound_is_conservative_for_scores_above_one_half(pairs: PairCounts) -> None:
    if pairs.pairs and moments(pairs.counts)[0] > 0.6:
        assert binomial_significance(pairs) >= pairs_significance(pairs) - 1e-12


def test_many_pairs_do_not_overflow() -> None:
    assert pairs_significance(PairCounts((0, 50_000, 0, 50_000, 0))) == pytest.approx(0.5, abs=0.01)
    assert pairs_significance(PairCounts((100_000, 0, 5, 0, 101_000))) < 0.05


def test_counts_are_checked() -> None:
    with pytest.raises(BadInputError, match="five numbers"):
        PairCounts((1, 2, 3, 4, -5))
