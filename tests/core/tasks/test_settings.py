"""What messages say of settings that differ."""

from __future__ import annotations

import json

from glem.core.tasks.settings import described_differences, text_differences


def test_leaves_are_named_by_their_paths():
    found = {"players": [{"depth": 4}, {"depth": 2}], "seed": 1, "same": "x"}
    wanted = {"players": [{"depth": 3}, {"depth": 2}], "seed": 1, "same": "x", "window": 0.5}
    assert described_differences(found, wanted) == "players[0].depth: 4, not 3; window: nothing, not 0.5"


def test_equal_settings_have_none():
    assert described_differences({"a": [1, "b", None]}, {"a": [1, "b", None]}) == ""


def test_lists_of_other_lengths_are_shown_whole_and_shortened():
    text = described_differences({"names": ["player"] * 20}, {"names": []})
    assert text.startswith('names: ["player", "player"')
    assert text.endswith("..., not []")


def test_many_differences_are_counted():
    text = described_differences({str(name): 0 for name in range(8)}, {str(name): 1 for name in range(8)})
    assert text.count("0, not 1") == 5
    assert text.endswith("and 3 more")


def test_texts_are_compared_as_json():
    assert text_differences(json.dumps({"depth": 4}), {"depth": (1, 2)}) == "depth: 4, not [1, 2]"
    assert text_differences("no json", {"depth": 4}) == ""
    assert text_differences("[" * 100_000, {}) == ""
