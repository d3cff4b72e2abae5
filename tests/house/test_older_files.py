"""Files of every earlier version are read, and hold what they held."""

import json
from typing import Any

import pytest

from tests.house.older_files import CONTENTS, FOLDER, POSITIONS, contents

FILES = sorted(path for path in FOLDER.glob("*/*") if path.name != CONTENTS)


def holds(found: Any, expected: Any) -> bool:
    """Whether all that was there is there; within a version of its schema, JSON may get further members."""
    if isinstance(expected, dict):
        return all(name in found and holds(found[name], member) for name, member in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(holds, found, expected))
    return bool(found == (pytest.approx(expected, rel=1e-5, abs=1e-5) if isinstance(expected, float) else expected))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_older_files_hold_what_they_held(path: Any) -> None:
    expected = json.loads((path.parent / CONTENTS).read_text(encoding="utf-8"))[path.name]
    assert holds(contents(path, path.parent / POSITIONS), expected)
