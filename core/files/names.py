"""Names that tell files apart, for what keeps where games and positions come from."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path


def distinct_names(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Give each file its name, with as many of its folders before it as other files of the same name make necessary."""
    given = [Path(path) for path in paths]
    parts = dict.fromkeys(given, 1)

    def name(path: Path) -> str:
        return "/".join(path.parts[-parts[path] :])

    while True:
        counts = Counter(map(name, parts))
        equal = [path for path in parts if counts[name(path)] > 1 and parts[path] < len(path.parts)]
        if not equal:
            return [name(path) for path in given]
        for path in equal:
            parts[path] += 1
