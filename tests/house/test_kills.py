"""Commands that are killed and interrupted at random moments and given again end as if nothing had happened.

Nothing is lost or done twice, and nothing lies about that an undisturbed run does not leave.
"""

import contextlib
import math
import random
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

import attrs
import numpy as np
import pytest

from glem.core.positions.files import write_positions
from glem.core.positions.writing import write_games
from tests.core.grading.random_games import random_pgn
from tests.core.labelling.labelling_examples import some_positions
from tests.core.positions.test_game_tree import random_games
from tests.core.styles.small_games import DRIFTER, small_game, write_small_games
from tests.house.golden import canonical
from tests.killed_programs import KILL, KILLED, end_command_when
from tests.othello import OTHELLO, sample_of_games
from tests.system import IS_WINDOWS

KILLS = 1
# Python ends by the signal itself where Ctrl-C came inside code that was made from text.
STATUSES = {0, *KILLED, 130, -signal.SIGINT}

TELLING_TIMES = {"trained/report.html"}
"""What they tell besides stands in files beside them."""

_SAMPLE = "{data}/sample.parquet"
_LABELLER = "{data}/mobility.npz,table=1"
_FEW = "--features material --features pseudo_mobility --features castled --no-search"
COMMANDS = {
    "positions": "positions othello {data}/many.games --held-out 0.2 --unseen --merge --jobs 1 -o p.parquet",
    "discover": f"discover {_SAMPLE} --sample 4000 --maximum-size 2 --keep 60 --iterations 8 --smoothing 0 "
    "--jobs 1 -o found",
    "fit": f"fit {_SAMPLE} --iterations 40 --held-out 0 --jobs 1 -o f.npz",
    "label": f"label {{data}}/few.parquet --by {_LABELLER},depth=3 --merge --workers 2 -o l.parquet",
    "relabel": f"label by-results othello {{data}}/some.games --workers 1 --outcomes 6 --suspect-above 4 -o r.parquet "
    f"--quick {_LABELLER},depth=2 --again {_LABELLER},depth=3",
    "grade": "grade chess {data}/games.pgn --evaluation 'uci:{python} {data}/engine.py,nodes=1' --select all "
    "--skip-moves 2 --scores kept --write-positions w.csv --resamples 200 --workers 2 --jobs 1",
    "tune-options": "tune-options chess 'uci:{python} {data}/engine.py,nodes=1' {data}/games.pgn --parameter Value "
    "--select all --skip-moves 2 --check-positions 20 --iterations 40 --batch 10 --workers 2 -o spsa",
    "improve": "improve othello {data}/many.games --start {data}/mobility.npz --changes {data}/changes.txt "
    "--skip-moves 4 --resamples 10000 --any-increase --jobs 1 --log l.jsonl -o e.npz",
    "train": "train connect_four --generations 2 --positions 200 --depth 1 --solve 6 --pairs 2 --workers 2 -o trained",
    "match": f"match {_LABELLER},depth=3 {_LABELLER},depth=2,name=other --opening-count 16 --workers 2 "
    "-o m.jsonl --transcripts t.txt --save-openings o.games",
    "tournament": f"match {_LABELLER},depth=2,name=a {_LABELLER},depth=1,name=b {_LABELLER},nodes=300,name=c "
    "--opening-count 6 --workers 2 -o t.jsonl --json",
    "generate": f"generate othello --games 40 --games-per-file 4 --player {_LABELLER},depth=3 --workers 2 -o games",
    "experiment styles": f"experiment styles {{data}}/small.pgn --of-player Taker --of-player Pusher {_FEW} "
    "--plies 2-69 --training-games 30 --repetitions 8 --controls 2 --workers 2 -o two --report t.html --json",
    "experiment styles of many": "experiment styles {data}/small.pgn --of-player Taker --of-player Pusher "
    f"--of-player Third {_FEW} --test-games 15 -o many --json",
    "style classify": "style classify {data}/small.pgn --style {data}/taker.npz --style {data}/pusher.npz --json",
}
_ENGINE = """
import sys, time, zlib
value = ""
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("option name Value type spin default 50 min 0 max 100\\nuciok", flush=True)
    elif words[:1] == ["setoption"]:
        value = line
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        place = line
    elif words[:1] == ["go"]:
        time.sleep(0.001)
        score = zlib.crc32((place + value).encode()) % 600 - 300
        print(f"info depth 1 nodes 1 score cp {score}\\nbestmove (none)", flush=True)
    elif words[:1] == ["quit"]:
        break
"""


@pytest.fixture(scope="module")
def data(mobility: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs that make each command work for some seconds."""
    data = tmp_path_factory.mktemp("data")
    write_positions(data / "sample.parquet", sample_of_games(150))
    write_positions(data / "few.parquet", some_positions(OTHELLO, 1500))
    shutil.copy(mobility, data / "mobility.npz")
    for name, count in (("some", 60), ("many", 3000)):
        records = random_games(OTHELLO, count, 3, choices=60)
        unknown = np.full(len(records), np.nan, np.float32)
        write_games(OTHELLO, data / f"{name}.games", attrs.evolve(records, theoretical_score=unknown))
    scales = "\n".join(f"scale mobility {1 + step / 10:.1f}" for step in range(8))
    (data / "changes.txt").write_text(f"{scales}\n")
    (data / "engine.py").write_text(_ENGINE)
    (data / "games.pgn").write_text("".join(map(random_pgn, range(24))))
    small = write_small_games(data / "small.pgn")
    third = "".join(small_game("Third, Tim", DRIFTER, seed) for seed in range(900, 930))
    small.write_text(small.read_text() + third)
    for player in ("taker", "pusher"):
        words = f"style learn {small} --of-player {player} {_FEW} -o {data}/{player}.npz"
        assert end_command_when(words.split(), bool)[0] == 0
    return data


class Watch:
    """Counts the states that a folder goes through; true from the last one on."""

    def __init__(self, folder: Path, last: float = math.inf) -> None:
        self.folder = folder
        self.last = last
        self.states: set[frozenset[tuple[Path, int]]] = set()

    def __call__(self) -> bool:
        # Files may go while they are looked at.
        with contextlib.suppress(FileNotFoundError):
            self.states.add(frozenset((path, path.stat().st_size) for path in self.folder.rglob("*")))
        return len(self.states) >= self.last


def forms(folder: Path) -> dict[str, str]:
    """What must be equal of each file: everything but the time that it took."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: canonical(path) for name, path in files.items() if name not in TELLING_TIMES}


@pytest.mark.repeats  # resuming: the tests of each work interrupt it within the process
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_continues(name: str, data: Path, tmp_path: Path) -> None:
    words = shlex.split(COMMANDS[name].format(data=data, python=sys.executable))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    watch = Watch(whole)
    status, errors = end_command_when(words, watch, folder=whole)
    assert status == 0, errors
    assert "glem: notice" not in errors  # by which commands say that an option has another name
    generator = random.Random(name)
    for last in [*(2 + 0.8 * generator.random() * len(watch.states) for _ in range(KILLS)), math.inf]:
        by = KILL if IS_WINDOWS else generator.choice([KILL, signal.SIGINT])
        status, errors = end_command_when(words, Watch(killed, last), by, folder=killed)
        assert status in STATUSES, errors
        if status == 0:
            break
        # Workers end with their parent, a moment later.
        time.sleep(0.2)
    assert status == 0
    assert forms(killed) == forms(whole)
    for journal in killed.glob("*.jsonl"):
        lines = canonical(journal).splitlines()
        assert len(set(lines)) == len(lines)
