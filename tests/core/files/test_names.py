from pathlib import Path

import pytest

from glem.core.files.names import distinct_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], []),
        (["/data/a.gam", "/data/b.gam"], ["a.gam", "b.gam"]),
        (["d1/a.gam", "d2/a.gam", "d2/b.gam"], ["d1/a.gam", "d2/a.gam", "b.gam"]),
        (["x/d/a", "y/d/a", "y/e/a"], ["x/d/a", "y/d/a", "e/a"]),
        (["a", "d/a", "./a"], ["a", "d/a", "a"]),
        (["/a", "a"], ["//a", "a"]),
    ],
)
def test_names_have_as_many_folders_as_tell_them_apart(paths: list[str], names: list[str]) -> None:
    assert distinct_names(paths) == names
    assert distinct_names(map(Path, paths)) == names
