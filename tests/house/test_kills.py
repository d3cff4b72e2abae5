"""Kill commands at random moments and see that rerunning them ends as if nothing had happened; run by hand.

    python -m tests.house.kills --kills 200 --seed 1
    python -m tests.house.kills --kills 20 --only discover --only grade

Each command runs once undisturbed. Then it is killed, with its workers, at random moments of such a run, up to four
times in a row, given again until it ends by itself, and its outputs are compared. The table counts kills, runs after a
kill that were refused, ends with outputs that are not equal (lost or wrong), journals with a piece twice (doubled), and
files beside the outputs that an undisturbed run does not leave (left behind).
"""

import math
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import attrs
import click
import numpy as np

from glem.core.features.learning import load_learning
from glem.core.game.game import load_game
from glem.core.positions.files import write_positions
from glem.core.positions.writing import write_games
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.labelling.labelling_examples import some_positions
from tests.core.positions.test_game_tree import random_games
from tests.house.golden import canonical
from tests.killed_programs import end_command_when

_SAMPLE = "{data}/sample.parquet"
_LABELLER = "{data}/mobility.npz,table=1"
_COMMANDS = {
    "positions": "positions {data}/many.games --game othello --split 0.2 --unseen --merge --jobs 1 -o p.parquet",
    "discover": f"discover {_SAMPLE} --sample 4000 --maximum-size 2 --keep 60 --gain 2 --iterations 8 --smoothing 0 "
    "--jobs 1 -o found",
    "fit": f"fit {_SAMPLE} --iterations 40 --validation 0 --jobs 1 -o f.npz",
    "improve": "improve {data}/mobility.npz {data}/few.parquet --by depth=2,solve=6,table=1 --workers 2 -o i.npz",
    "improve --keep": "improve {data}/mobility.npz {data}/few.parquet --by depth=2,table=1 --workers 1 --keep -o i.npz",
    "label": f"label {{data}}/few.parquet --by {_LABELLER},depth=3 --merge --workers 2 -o l.parquet",
    "relabel": f"relabel {{data}}/some.games --game othello --workers 1 --outcomes 6 --threshold 4 -o r.parquet "
    f"--by {_LABELLER},depth=2 --again {_LABELLER},depth=3",
    "grade --keep": "grade chess {data}/games.pgn --evaluation 'uci:{python} {data}/engine.py,nodes=1' --select all "
    "--skip-moves 2 --keep kept --write-positions w.csv --resamples 200 --workers 2 --jobs 1",
    "learn": "learn othello {data}/many.games --baseline {data}/mobility.npz --changes {data}/changes.txt "
    "--skip-moves 4 --resamples 10000 --any-increase --jobs 1 --log l.jsonl -o e.npz",
    "match": f"match {_LABELLER},depth=3 {_LABELLER},depth=2,name=other --opening-count 16 --workers 2 "
    "-o m.jsonl --transcripts t.txt --save-openings o.games",
    "generate": f"generate othello --games 40 --games-per-file 4 --player {_LABELLER},depth=3 --workers 2 -o games",
}
_ENGINE = """
import sys, time, zlib
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name slow\\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        place = line
    elif words[:1] == ["go"]:
        time.sleep(0.001)
        print(f"info depth 1 nodes 1 score cp {zlib.crc32(place.encode()) % 600 - 300}\\nbestmove (none)", flush=True)
    elif words[:1] == ["quit"]:
        break
"""


def _write_data(data: Path) -> None:
    """Write inputs that make each command work for some seconds."""
    import chess.pgn

    othello, learning = load_game("othello"), load_learning("othello")
    assert learning.sample is not None
    sample = learning.sample()
    sample.select(sample.record < 150).write(data / "sample.parquet")
    write_positions(data / "few.parquet", some_positions(othello, 1500))
    mobility_evaluation(learning).save(data / "mobility.npz")
    for name, count in (("some", 60), ("many", 3000)):
        records = random_games(othello, count, 3, choices=60)
        unknown = np.full(len(records), np.nan, np.float32)
        write_games(othello, data / f"{name}.games", attrs.evolve(records, theoretical_score=unknown))
    scales = "\n".join(f"scale mobility {1 + step / 10:.1f}" for step in range(8))
    (data / "changes.txt").write_text(f"{scales}\n")
    (data / "engine.py").write_text(_ENGINE)
    generator = random.Random(1)
    with (data / "games.pgn").open("w") as file:
        for _ in range(24):
            node = game = chess.pgn.Game()
            game.headers["Result"] = generator.choice(["1-0", "0-1", "1/2-1/2"])
            board = game.board()
            for _ in range(60):
                if board.is_game_over():
                    break
                move = generator.choice(list(board.legal_moves))
                node = node.add_variation(move)
                board.push(move)
            print(game, end="\n\n", file=file)


def _run(command: str, data: Path, folder: Path, seconds: float = math.inf) -> tuple[int, str]:
    """Run a command in a folder, killed after some seconds; give its exit status and its errors."""
    words = shlex.split(command.format(data=data, python=sys.executable))
    end = time.monotonic() + seconds
    return end_command_when(words, lambda: time.monotonic() >= end, folder=folder)


def _form(path: Path) -> str:
    """What must be equal: everything but the time that it took."""
    return canonical(path)[0]


def _files(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in folder.rglob("*")}


def _equal(folder: Path, reference: Path) -> bool:
    try:
        return all(path.is_dir() or _form(path) == _form(folder / name) for name, path in _files(reference).items())
    except (OSError, ValueError):
        return False


def _doubled(folder: Path) -> bool:
    journals = [_form(path).splitlines() for path in folder.glob("*.jsonl")]
    return any(len(set(lines)) < len(lines) for lines in journals)


def _try_once(
    command: str, data: Path, folder: Path, reference: Path, length: float, generator: random.Random
) -> tuple[Counter[str], str]:
    """Kill a command one to four times in a row, then let it end."""
    found: Counter[str] = Counter()
    trouble = ""
    for number in range(generator.randint(1, 4) + 1, 0, -1):
        # The beginning, in which nothing but imports happens, is of little interest.
        seconds = math.inf if number == 1 else length * generator.uniform(0.2, 1.05)
        status, errors = _run(command, data, folder, seconds)
        if status == -signal.SIGKILL:
            found["kills"] += 1
            # Workers end with their parent, a moment later.
            time.sleep(0.2)
            continue
        if status:
            found["refused"] += 1
            trouble = errors.strip()
        break
    if not _equal(folder, reference):
        found["lost"] += 1
        trouble = trouble or f"other outputs in {folder}"
    found["doubled"] += _doubled(folder)
    behind = sorted(_files(folder).keys() - _files(reference).keys())
    found["left behind"] += len(behind)
    return found, trouble or ", ".join(behind)


@click.command()
@click.option("--kills", default=200, show_default=True, help="Kills in all, spread over the commands.")
@click.option("--seed", default=1, show_default=True, help="Of the moments.")
@click.option("--only", multiple=True, type=click.Choice(list(_COMMANDS)), help="Only this command; may be repeated.")
def main(kills: int, seed: int, only: tuple[str, ...]) -> None:
    """Kill commands, rerun them, and count what is wrong; the status is 1 if anything is."""
    columns = ("kills", "refused", "lost", "doubled", "left behind")
    chosen = only or tuple(_COMMANDS)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="glem-kills-") as temporary:
        data = Path(temporary) / "data"
        data.mkdir()
        _write_data(data)
        click.echo(f"{'command':16}{'seconds':>12}" + "".join(f"{name:>12}" for name in columns))
        for place, name in enumerate(chosen):
            generator = random.Random(f"{seed} {name}")
            lengths = []
            reference = Path(temporary) / "reference"
            # Once for the caches of compiled kernels, once for the clock.
            for _ in range(2):
                shutil.rmtree(reference, ignore_errors=True)
                reference.mkdir()
                began = time.monotonic()
                status, errors = _run(_COMMANDS[name], data, reference)
                lengths.append(time.monotonic() - began)
                if status:
                    raise click.ClickException(f"{name}: {errors}")
            found: Counter[str] = Counter()
            troubles = []
            while found["kills"] < (kills - total["kills"]) / (len(chosen) - place):
                folder = Path(temporary) / "killed"
                folder.mkdir()
                counts, trouble = _try_once(_COMMANDS[name], data, folder, reference, lengths[-1], generator)
                found.update(counts)
                troubles += [trouble] if trouble else []
                shutil.rmtree(folder)
            total.update(found)
            click.echo(f"{name:16}{lengths[-1]:>12.1f}" + "".join(f"{found[column]:>12}" for column in columns))
            for trouble in troubles[:3]:
                click.echo(f"    {trouble}")
    click.echo(f"{'all':28}" + "".join(f"{total[column]:>12}" for column in columns))
    sys.exit(any(total[column] for column in columns[1:]))


if __name__ == "__main__":
    main()
