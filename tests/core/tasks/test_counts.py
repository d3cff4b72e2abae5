"""Counts and intervals in sentences."""

import math

import pytest

from glem.core.tasks.counts import counted, interval_text


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "position", "0 positions"),
        (1, "position", "1 position"),
        (1_200, "different position", "1,200 different positions"),
        (2, "ply", "2 plies"),
        (2, "play", "2 plays"),
        (3, "match", "3 matches"),
    ],
)
def test_one_is_singular(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_an_interval_that_does_not_exist_is_told_in_words() -> None:
    assert interval_text(-0.1, 0.25, 2) == "-0.10 to +0.25"
    assert interval_text(math.nan, math.nan, 2) == "no interval"
    assert interval_text(-math.inf, 0.25, 2) == "no interval"
