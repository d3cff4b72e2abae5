"""Run glem's commands on real data and compare what they find with what they found before; run by hand.

    python -m tests.house.golden                            # compares; the status is 1 where anything differs
    python -m tests.house.golden --only fit-descent --keep kept
    python -m tests.house.golden --write                    # takes what is found now for right

Each step of `golden.txt` is a command line. They run one after the other in one folder, so that later ones read what
earlier ones wrote. What a step prints and every file that it writes get a digest of a canonical form, without times,
folders, file digests and names of modules: a change that only moves or renames code leaves all of them as they are.
`--keep` keeps the canonical forms, to be compared by `diff -r`, and the files themselves.

The digests hold to the last bit and so for one kind of processor and one set of libraries: write them anew, from a
commit that is trusted, before they are used elsewhere.

Left out, since no two runs agree on it or it says nothing of results:

- seconds, speeds, and what is said on standard error;
- HTML reports: their data are in the JSON that stands beside them or is printed;
- the order of lines in a journal (.jsonl): workers finish in any order;
- work.json in folders .work: by what a command knows after a kill where to go on.
"""

import ast
import hashlib
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow.parquet as pq
from attrs import define

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
STEPS = Path(__file__).with_suffix(".txt")
DIGESTS = Path(__file__).with_suffix(".json")

# The door that stays where it is when the command line's own modules move.
GLEM = [sys.executable, "-m", "glem"]

# What a step reads from standard input.
TYPED = {
    "engine-gtp": "name\nplay black f5\ngenmove white\ngenmove black\nshowboard\nlist_commands\nquit\n",
    "engine-nboard": "nboard 2\nset depth 4\nmove F5\nhint 2\ngo\nping 1\nquit\n",
    "engine-uci": "uci\nisready\nposition startpos moves e2e4 e7e5\ngo depth 5\n"
    "ucinewgame\nsetoption name MultiPV value 2\nposition startpos moves d2d4\ngo nodes 5000\nquit\n",
    "play": "f5\nhint\nc4\nmoves\nundo\nboard\nquit\n",
}

# Small inputs, by their names in the folder.
INPUTS = {
    "othello.changes": "scale mobility 1.2\nshift bias 0.5; scale opponent_mobility 1.1\n"
    "moves: fit mobility opponent_mobility\n",
    "chess.changes": "scale bishop_pair 1.5\nset knight_mobility 0.05 in phase 3\ndrop space\n"
    "drawishness add rook_ending 0.3 in phases 4-6\nmaterial: fit pawns knights bishops rooks queens\n",
    "scorer.py": "def evaluate(positions):\n    return (positions[0] % 9).astype(float)\n",
    "scores.csv": "game,ply,score\n"
    + "".join(f"{game},{ply},{(7 * game + ply) % 13 / 4 - 1.5}\n" for game in range(1, 33) for ply in range(400)),
}

# The first games of large collections: name, file, how many.
SLICES = (
    ("engines.pgn", "chess/engines/tcec-seasons-27-29.pgn.xz", 300),
    ("players.pgn", "chess/players/kasparov.pgn.xz", 500),
    ("raw.pgn", "chess/samples/tcec-match-4-raw.pgn.xz", 32),
)

# Members of JSON that tell of time, place or code, wherever they stand.
LEFT_OUT = {"seconds", "s", "slowest", "seconds_per_move", "by_seconds", "version", "glem", "sha256", "fitter"}
LEFT_OUT |= {"made", "schema", "processor_seconds", "processor_seconds_per_move"}
REPLACED = (
    (re.compile(r"\bglem(\.\w+)+"), "glem"),
    (re.compile(r"\b(py)?glem(>=| )\d+[\d.]*"), "glem"),
    (re.compile(r"\b[0-9a-f]{32,}\b"), "DIGEST"),
    (re.compile(r"\b(nps|time) \d+"), r"\1 TIME"),
    (re.compile(r"(nodestats \d+ |=== \S+/\S+/)\d+\.\d+"), r"\1TIME"),
    # None is written where a move took hardly any time.
    (re.compile(r"\s\d[\d,.]*\s?(ms|s|seconds?|minutes?)\b"), ""),
)


@define(frozen=True)
class Step:
    """A command of the table."""

    name: str
    arguments: str

    def makes(self) -> set[str]:
        """Names, without suffixes, of what it writes: those of its outputs and of what it prints."""
        return {self.name, *(name.split(".")[0] for name in re.findall(r"(?<= -o )\S+", self.arguments))}

    def reads(self) -> set[str]:
        """Names, without suffixes, of all files that its arguments may mean."""
        return set(re.findall(r"[\w-]+(?=\.\w|/)", re.sub(r" -o \S+", "", self.arguments)))


def read_steps() -> list[Step]:
    """Read the table."""
    lines = [line for line in STEPS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    text = re.sub(r"\n +", " ", "\n".join(lines))
    return [Step(*line.split(maxsplit=1)) for line in text.splitlines()]


def chosen_steps(steps: list[Step], only: tuple[str, ...]) -> list[Step]:
    """Take the steps of these names and those that they need, in the order of the table."""
    chosen: list[Step] = []
    needed: set[str] = set()
    for step in reversed(steps):
        if not only or step.name in only or step.makes() & needed:
            chosen.append(step)
            needed |= step.reads()
    return chosen[::-1]


def write_inputs(folder: Path) -> None:
    """Write what the steps read besides the data sets."""
    for name, text in INPUTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, source, count in SLICES:
        games = lzma.decompress((DATA / source).read_bytes()).split(b"\n[Event ")
        (folder / name).write_bytes(b"\n[Event ".join(games[:count]) + b"\n")


def run_step(step: Step, folder: Path) -> dict[str, str]:
    """Run a step; return the canonical form of what it printed and of each file that it wrote."""
    places = {"othello": DATA / "othello", "chess": DATA / "chess", "glem": shlex.join(GLEM)}
    words = [word.format(**places) for word in shlex.split(step.arguments)]
    before = file_states(folder)
    (folder / "typed").write_text(TYPED.get(step.name, ""), encoding="utf-8")
    # This checkout's glem, whichever is installed; without colours and of one width.
    packages = os.pathsep.join(filter(None, (str(ROOT / ".packages"), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": packages, "COLUMNS": "120", "NO_COLOR": "1"}
    with (folder / "typed").open() as typed:
        done = subprocess.run(
            [*GLEM, *words], cwd=folder, env=environment, stdin=typed, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise click.ClickException(f"with status {done.returncode}: {done.stderr[-2000:].strip()}")
    written = [path for path, state in file_states(folder).items() if before.get(path) != state]
    (folder / f"{step.name}.out").write_text(done.stdout, encoding="utf-8")
    forms: dict[str, str] = {}
    for path in (folder / f"{step.name}.out", *sorted(written)):
        name = "printed" if path.suffix == ".out" else path.relative_to(folder).as_posix()
        forms[name] = placeless(canonical(path), folder)
    return forms


def file_states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Map each file of the folder whose content counts to what changes when it is written."""
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in {".html", ".out", ".pyc"} and path.name not in {"typed", "work.json"}
    }


def canonical(path: Path) -> str:
    """Return a file's content as text that says nothing of when and where it came about."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return array_text({name: arrays[name] for name in arrays.files})
    if path.suffix == ".npy":
        return array_text({"values": np.load(path, allow_pickle=False)})
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        columns = {name: table[name].to_numpy() for name in table.column_names}
        metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
        shown = {key: plain_text(value) for key, value in metadata.items() if key.startswith("glem")}
        return array_text(columns) + dumped(shown)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return "\n".join(sorted(plain_text(line, indent=None) for line in text.splitlines()))
    if path.suffix == ".pgn":
        # Lines are broken where the times of the moves have them broken. A forced move has a comment only if it took
        # time, and behind a comment stands the number of the move.
        bare = re.sub(r"\{\s*\}|\d+\.\.\.\s", " ", placeless(text, path.parent))
        return " ".join(bare.split())
    if path.suffix == ".py":
        tree = ast.parse(text)
        tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
        return ast.unparse(tree)
    return plain_text(text)


def array_text(arrays: dict[str, np.ndarray]) -> str:
    """Describe arrays: name, dtype, shape and digest of each, with lines for its rows if these are few."""
    lines: list[str] = []
    for name, given in arrays.items():
        if name == "header":
            lines.append(plain_text(given.tobytes().decode()))
        elif name not in LEFT_OUT:
            array = given.astype(str) if given.dtype.kind == "O" else given
            lines.append(f"{name} {array.dtype} {array.shape} {digest(np.ascontiguousarray(array).tobytes())}")
            if array.dtype.kind == "f" and array.size:
                rows = array if array.ndim > 1 and len(array) < 100 else array[None]
                lines += [
                    f"    {name}[{i}] {root_mean_square(row):.9g} {digest(row.tobytes())}" for i, row in enumerate(rows)
                ]
    return "\n".join([*lines, ""])


def root_mean_square(values: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64)))) if values.size else 0.0


def plain_text(text: str, indent: int | None = 1) -> str:
    """Return JSON without what is left out; other text as it is."""
    try:
        value = untimed(json.loads(text))
    except ValueError:
        return text
    if isinstance(value, dict) and set(value) == {"games"}:
        # What `glem games` lists was no object when the digests were written.
        value = value["games"]
    return dumped(value, indent)


def dumped(value: Any, indent: int | None = 1) -> str:
    """Write a value as JSON, one way only."""
    return json.dumps(value, indent=indent, sort_keys=True)


def untimed(value: Any) -> Any:
    """Take out the members that are left out, and the times of the moves of a game's record."""
    if isinstance(value, dict):
        kept = {name: untimed(each) for name, each in value.items() if name not in LEFT_OUT}
        if isinstance(moves := kept.get("moves"), list):
            # A move of a record: its move, score, depth, nodes, seconds, two more, and processor seconds.
            kept["moves"] = [[*move[:4], *move[5:7]] if isinstance(move, list) else move for move in moves]
        return kept
    return [untimed(each) for each in value] if isinstance(value, list) else value


def placeless(text: str, folder: Path) -> str:
    """Replace folders, times, digests of files, and the names of modules."""
    for place, name in ((folder, "FOLDER"), (DATA, "DATA"), (ROOT, "ROOT"), (Path(sys.executable), "PYTHON")):
        text = text.replace(str(place), name)
    for pattern, replacement in REPLACED:
        text = pattern.sub(replacement, text)
    return text


def digest(content: bytes) -> str:
    """Return a short digest."""
    return hashlib.sha256(content).hexdigest()[:16]


def seconds() -> tuple[float, float]:
    """Return the time of a clock, and the processor time of all commands so far."""
    used = os.times()
    return time.monotonic(), used.children_user + used.children_system


def spent(began: tuple[float, float]) -> str:
    """Tell the time and the processor time since then."""
    wall, processor = (now - then for now, then in zip(seconds(), began, strict=True))
    return f"{wall:6.1f} s{processor:6.1f} s CPU"


def differences(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Tell in a line each which digests of a step differ."""
    return [
        f"{name} {old.get(name, 'absent')} {new.get(name, 'absent')}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


@click.command()
@click.option("--write", is_flag=True, help="Write the digests instead of comparing with them.")
@click.option("--only", multiple=True, metavar="NAME", help="This step and those that it needs; may be repeated.")
@click.option("--keep", type=click.Path(path_type=Path), help="New folder for canonical forms and files.")
@click.option("--list", "listed", is_flag=True, help="List the steps.")
def main(write: bool, only: tuple[str, ...], keep: Path | None, listed: bool) -> None:
    """Run the steps and compare their results with the digests; the status is 1 where anything differs."""
    steps = read_steps()
    if listed:
        return click.echo("\n".join(f"{step.name:20} {step.arguments}" for step in steps))
    if unknown := set(only) - {step.name for step in steps}:
        raise click.BadParameter(f"no steps of the table: {', '.join(sorted(unknown))}", param_hint="--only")
    if not DATA.is_dir():
        return click.echo(f"skipped: the data sets are not beside the checkout ({DATA.parent.name}/data is missing)")
    golden = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    results: dict[str, Any] = {}
    differing = failed = 0
    with ExitStack() as stack:
        kept = keep.resolve() if keep else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="glem-golden-")))
        folder = kept / "files"
        folder.mkdir(parents=True)
        write_inputs(folder)
        for step in chosen_steps(steps, only):
            began = seconds()
            try:
                forms = run_step(step, folder)
            except click.ClickException as error:
                failed += 1
                click.echo(f"{step.name:20}{spent(began)}  FAILED {error.message}")
                continue
            for name, form in forms.items():
                place = kept / "canonical" / step.name / name
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(form, encoding="utf-8")
            results[step.name] = {name: digest(form.encode()) for name, form in forms.items()}
            found = differences(golden.get(step.name, {}), results[step.name])
            differing += bool(found)
            told = "DIFFERS " + "; ".join(found) if found else "equal"
            click.echo(f"{step.name:20}{spent(began)}  {'written' if write else told}")
    if write:
        known = golden | results
        ordered = {step.name: known[step.name] for step in steps if step.name in known}
        DIGESTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    sys.exit(failed > 0 or (differing > 0 and not write))


if __name__ == "__main__":
    main()
