"""Small files of every kind as a version of glem wrote them, and what was in them: ``older/VERSION``.

    python -m tests.house.older_files        # writes those of this version, at its release

Connect Four's are the smallest. ``test_older_files.py`` reads those of every version.
"""

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import glem
from glem.core.configurations.mining.generation import mine
from glem.core.features.learning import load_learning
from glem.core.positions.files import read_positions

FOLDER = Path(__file__).with_name("older")
POSITIONS, CONTENTS = "positions.parquet", "contents.json"
EVALUATED = 50
"""Positions of which every evaluation's value is kept."""

_COMMANDS = """
generate connect_four --games 400 --player random --workers 1 -o games
positions games/games-000000.games games/games-000001.games -o positions.parquet
fit positions.parquet --patterns lines.txt -o linear.npz
fit quadratic positions.parquet --patterns none -o quadratic.npz
fit fisher positions.parquet --patterns none -o fisher.npz
fit network positions.parquet --patterns lines.txt --hidden 4 -o network.npz
fit likelihood connect_four games/games-000000.games games/games-000001.games --prior linear.npz -o drawishness.npz
fit positions.parquet --patterns lines.txt --configurations mined.npz -o configurations.npz
grade calibrate connect_four games/games-000000.games games/games-000001.games --evaluation linear.npz
 -o calibration.json
match connect_four linear.npz,depth=2 none,depth=2 --openings random:2-4 --opening-count 4 -o match.jsonl
search probcut linear.npz positions.parquet -o probcut.npz
label games/games-000000.games --by linear.npz,depth=2 --choices --per-game 3 -o choices.parquet
""".strip().replace("\n ", " ")
_KEPT = ("*.npz", "*.json", "*.jsonl", "*.parquet", "games/games-000000.games")


def contents(path: Path, positions: Path) -> dict[str, Any]:
    """Give what ``glem show --json`` prints of a file, and of an evaluation the values of some positions."""
    command = [sys.executable, "-m", "glem", "show", path.name, "--json"]
    printed = subprocess.run(command, check=True, cwd=path.parent, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(printed)
    if found["kind"].endswith("evaluation"):
        sample = read_positions(positions).head(EVALUATED)
        found["values"] = np.asarray(glem.load_evaluation(path, "connect_four").predict(sample.positions)).tolist()
    return found


def main() -> None:
    """Write the files of this version; older ones of the same version go."""
    target = FOLDER / glem.__version__
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "lines.txt").write_text("lines: a1 b1 c1 d1\n", encoding="utf-8")
        for command in _COMMANDS.splitlines():
            subprocess.run([sys.executable, "-m", "glem", *shlex.split(command), "-q"], check=True, cwd=folder)
            if "-o positions.parquet" in command:
                features = load_learning("connect_four").features
                values = features.values(read_positions(folder / POSITIONS).positions)
                mined = mine(values, minimum_matches=1000, maximum_size=2, features=range(7))
                mined.flatten().save(folder / "mined.npz", features)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for pattern in _KEPT:
            for path in folder.glob(pattern):
                shutil.copy(path, target)
    kept = sorted(path for path in target.iterdir() if path.name != CONTENTS)
    found = {path.name: contents(path, target / POSITIONS) for path in kept}
    (target / CONTENTS).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
