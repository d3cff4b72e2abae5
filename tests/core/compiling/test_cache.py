"""The on-disk cache of machine code, from process to process: never stale, shared where nothing changed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from glem.core.compiling import kernels

BOARD = """
import numpy as np

MOST = 3

def most_taken(stones):
    return min(np.int64(stones), np.int64(MOST))
"""

RULES = """
import numpy as np
from typing import NamedTuple

from glem.core.game.game import Game
from glem.core.compiling.kernels import mix, pdep, pext
from nim.board import most_taken
from nim.tables import TABLE

class Position(NamedTuple):
    stones: np.uint8

def legal_moves(position, moves, start):
    count = most_taken(position.stones)
    for taken in range(count):
        moves[start + taken] = taken
    return count

def play(position, move):
    return Position(np.uint8(np.int64(position.stones) - np.int64(move) - np.int64(1)))

def is_over(position):
    return position.stones == np.uint8(0)

def final_score(position):
    return TABLE[np.int64(position.stones)]

def hash_key(position):
    bits = pdep(mix(np.uint64(position.stones)), np.uint64(0xF0F0F0F0F0F0F0F0))
    return mix(pext(bits, np.uint64(0xFF00FF00FF00FF00)))

NIM = Game(
    name="nim", title="Nim", initial_position=Position(np.uint8(9)), legal_moves=legal_moves, play=play,
    is_over=is_over, final_score=final_score, hash_key=hash_key, max_moves=9, move_count=9, max_plies=9,
    score_bounds=(-9, 9), format_position=str, parse_position=str, format_move=str, parse_move=int,
)
"""

TABLES = """
import pathlib
import numpy as np

TABLE = np.loadtxt(pathlib.Path(__file__).with_name("table.txt"), dtype=np.int64)
"""

PROGRAM = """
import numpy as np
from glem.core.game import perft as module
from glem.core.compiling import kernels
from glem.core.game.game import final_score, hash_key
from glem.core.compiling.kernels import compiled
from nim.rules import NIM

def score(rules, position):
    return final_score(rules, position)

def key(rules, position):
    return hash_key(rules, position)

{before}
position = NIM.initial_position
over = type(position)(np.uint8(0))
print(module.perft(NIM, 4), compiled(score)(NIM.rules, over), compiled(key)(NIM.rules, position))
"""


class Plugin:
    """A plugin package in a temporary folder, run in processes of its own with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.write("__init__", "")
        self.write("board", BOARD)
        self.write("rules", RULES)
        self.write("tables", TABLES)
        self.table("-1 0 0")

    def write(self, module: str, text: str) -> None:
        path = self.folder / "nim" / f"{module}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        # Bytecode files know a source by its second and size, too coarse for a test that edits at once.
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)

    def table(self, text: str) -> None:
        (self.folder / "nim" / "table.txt").write_text(text)

    def start(self, before: str = "", **environment: str) -> subprocess.Popen[str]:
        program = self.folder / "program.py"
        program.write_text(PROGRAM.replace("{before}", before))
        return self.start_program(program, **environment)

    def start_program(self, program: Path, **environment: str) -> subprocess.Popen[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GLEM_", "NUMBA_"))}
        inherited["GLEM_LINKING"] = os.environ.get("GLEM_LINKING", "1")
        return subprocess.Popen(
            [sys.executable, str(program)],
            env={**inherited, "PYTHONPATH": str(self.folder), "GLEM_CACHE_DIR": str(self.cache), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, before: str = "", **environment: str) -> tuple[str, ...]:
        """Perft 4, the score of the end and the key of the start."""
        return self.words_of(self.start(before, **environment))

    def run_program(self, program: Path) -> tuple[str, ...]:
        return self.words_of(self.start_program(program))

    def words_of(self, process: subprocess.Popen[str]) -> tuple[str, ...]:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return tuple(output.split())

    def machine_code(self) -> set[str]:
        return {str(path.relative_to(self.cache)) for path in self.cache.rglob("*.nbc")}


@pytest.fixture
def plugin(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path)


def test_edited_rules_are_compiled_anew_and_nothing_else_is(plugin: Plugin):
    before = plugin.run()
    assert before[:2] == ("66", "-1")
    # In the rules, in a file that they reach, in a table that they read, and all of them back again.
    plugin.write("rules", RULES.replace("np.uint8(9)", "np.uint8(3)"))
    assert plugin.run()[0] == "0"
    plugin.write("rules", RULES)
    plugin.write("board", BOARD.replace("MOST = 3", "MOST = 2"))
    plugin.table("-7 0 0")
    assert plugin.run()[:2] == ("16", "-7")
    plugin.write("board", BOARD)
    plugin.table("-1 0 0")
    written = plugin.machine_code()
    assert plugin.run() == before
    assert plugin.machine_code() == written != set()


def test_no_game_is_imported_for_the_machine_code_of_another(plugin: Plugin):
    expected = plugin.run()
    program = plugin.folder / "other.py"
    program.write_text(
        "import sys\nfrom glem.core.compiling import kernels\nfrom glem.core.game import perft\n"
        "from glem.core.game.game import load_game\n"
        "count = kernels.compiled(perft._count_leaves)\n"
        "print(perft.perft(load_game('connect_four'), 4), sum(count.stats.cache_hits.values()))\n"
        "print(*sorted({'chess', 'nim', 'glem.games.chess', 'glem.games.othello'} & set(sys.modules)))\n"
    )
    plugin.write("rules", "raise RuntimeError('a mistake')")
    found = [plugin.run_program(program) for _ in range(2)]
    assert found == [("2401", "0"), ("2401", "1")]
    plugin.write("rules", RULES)
    written = plugin.machine_code()
    assert (plugin.run(), plugin.machine_code()) == (expected, written)


@pytest.mark.repeats  # two more processes: edits are seen above
def test_an_edit_between_import_and_compilation_spoils_nothing(plugin: Plugin):
    # This process compiles what it has imported; the next one must not take that for the new source's code.
    edit = (
        "import pathlib, nim.board\n"
        "path = pathlib.Path(nim.board.__file__)\n"
        "path.write_text(path.read_text().replace('MOST = 3', 'MOST = 2'))\n"
    )
    assert plugin.run(edit)[0] == "66"
    shutil.rmtree(plugin.folder / "nim" / "__pycache__", ignore_errors=True)
    assert plugin.run()[0] == "16"


@pytest.mark.repeats  # two more processes: test_dispatcher has the waiting
def test_two_processes_at_once_on_an_empty_cache(plugin: Plugin):
    processes = [plugin.start() for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][0].startswith("66 -1 ")


@pytest.mark.repeats  # three more processes: a folder of its own after an edit is above
def test_choices_that_numba_does_not_know_have_folders_of_their_own(plugin: Plugin):
    before = (
        "def beyond(values, place):\n    return values[place]\n"
        "try:\n    compiled(beyond)(np.zeros(3, np.int64), np.int64(3 << 20 if CHECKED else 0))\n"
        "except IndexError:\n    print('caught')"
    )
    expected = plugin.run(before.replace("CHECKED", "0"))
    written = plugin.machine_code()
    assert plugin.run(GLEM_NO_PEXT="1") == expected
    assert plugin.run(before.replace("CHECKED", "1"), NUMBA_BOUNDSCHECK="1") == ("caught", *expected)
    added = {name.split("/")[0] for name in plugin.machine_code() - written}
    assert any(name.endswith("-boundscheck") for name in added)
    if kernels.HAS_FAST_PEXT:
        assert any(name.endswith("-nopext") for name in added)
    assert all(name.endswith(("-boundscheck", "-nopext")) for name in added)


@pytest.mark.repeats  # two more processes: which folder is chosen, and when none, is in test_kernels
def test_without_a_writable_folder_every_process_compiles(plugin: Plugin):
    in_the_way = plugin.folder / "file"
    in_the_way.write_text("")
    # A temporary folder is still there at first, then not even that.
    spare = plugin.folder / "temporary"
    spare.mkdir()
    found = plugin.run(GLEM_CACHE_DIR=str(in_the_way / "cache"), TMPDIR=str(spare))
    assert found[:2] == ("66", "-1")
    assert list(spare.rglob("*.nbc"))
    nothing = "from glem.core.machine import cache_folder; cache_folder._temporary_cache_folder = lambda: None"
    assert plugin.run(nothing, GLEM_CACHE_DIR=str(in_the_way / "cache")) == found
    assert not plugin.cache.exists()


def test_without_the_compiler_the_plain_functions_run(plugin: Plugin):
    assert plugin.run(NUMBA_DISABLE_JIT="1") == plugin.run()
