"""Weights in files, coefficients from functions and tables, and ``glem fit likelihood --terms``."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from glem.core.errors import BadInputError
from glem.core.tuning.coefficients import blocks_of_table
from glem.core.tuning.terms import Terms
from tests.core.cli.terminal import Terminal

TAPERED = Terms({"tempo": (), "pawn": (3,), "square": (2, 2)}, is_tapered=True)
VALUES = {"tempo": [10, 5], "pawn": [[1, 2, 3], [4, 5, 6]], "square": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]}


def test_weights_go_to_json_and_back(tmp_path: Path):
    weights = TAPERED.weights_of(VALUES, "here")
    assert weights.shape == (8, 2)
    assert weights[:, 0].tolist() == [10, 1, 2, 3, 1, 2, 3, 4]
    TAPERED.write(tmp_path / "w.json", weights)
    assert json.loads((tmp_path / "w.json").read_text()) == VALUES
    again, is_whole = TAPERED.read(tmp_path / "w.json")
    assert is_whole
    assert np.array_equal(again, weights)
    for text in ('{"tempo": 1e400}', '{"tempo": 1, "tempo": 2}', "NaN", "[" * 100_000, f'{{"tempo": {"9" * 400}}}'):
        (tmp_path / "w.json").write_text(text)
        with pytest.raises(BadInputError, match=r"w\.json: damaged"):
            TAPERED.read(tmp_path / "w.json")
    assert TAPERED.names() == [
        *("tempo", "pawn[0]", "pawn[1]", "pawn[2]"),
        *("square[0][0]", "square[0][1]", "square[1][0]", "square[1][1]"),
    ]


def test_arrays_of_c_and_rust_and_by_template(tmp_path: Path):
    weights = TAPERED.weights_of(VALUES, "here")
    TAPERED.write(tmp_path / "w.h", weights)
    text = re.sub(r"\s+", " ", (tmp_path / "w.h").read_text())
    assert "static const int TEMPO[2] = {10, 5};" in text
    assert "static const int PAWN[2][3] = { {1, 2, 3}, {4, 5, 6}};" in text
    TAPERED.write(tmp_path / "w.rs", weights + 0.25, digits=2)
    text = re.sub(r"\s+", " ", (tmp_path / "w.rs").read_text())
    assert "pub const PAWN: [[f64; 3]; 2] = [ [1.25, 2.25, 3.25], [4.25, 5.25, 6.25]];" in text
    TAPERED.write(tmp_path / "w.txt", weights, template="let {name}{dimensions} = {values}")
    assert (tmp_path / "w.txt").read_text().startswith("let tempo[2] = {10, 5}\n")
    with pytest.raises(BadInputError, match="or by --template"):
        TAPERED.write(tmp_path / "w.txt", weights)


@pytest.mark.parametrize(
    "template",
    [
        *("{name.__class__}", "{name.foo} {values}", "{values[0]}", "{name!r} {values}", "{0} {values}", "{} {values}"),
        *("{values:>99999999999}", "{values:{values}}", "{nonsense} {values}", "{values", "}{values}", "{NAME}"),
        "{values} \udcff",
    ],
)
def test_templates_hold_plain_names_alone(template: str, terminal: Terminal, folder: Path):
    with pytest.raises(BadInputError, match=r"--template .*\{values\}"):
        TAPERED.write(folder / "w.txt", TAPERED.weights_of(VALUES, "here"), template=template)
    # Said before the function of the terms, which fails, is asked for anything.
    fails = terminal.fails(
        "fit", "likelihood", "lines.epd", "--terms", "mine.py:fails", "-o", "w.txt", "--template", template
    )
    assert "--template" in fails
    assert not Path("w.txt").exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({**VALUES, "knight": 3}, "has knight, which is no term"),
        ({"tempo": [1, 2], "pawn": VALUES["pawn"]}, "has no square"),
        ({**VALUES, "tempo": 3}, "tempo must be 2 numbers, middlegame and endgame, it is a number"),
        ({**VALUES, "pawn": [[1, 2], [3, 4]]}, "pawn must be 2 x 3 numbers"),
        ({**VALUES, "pawn": "many"}, "pawn must be"),
        ({**VALUES, "tempo": [1, float("nan")]}, r"not within 1e\+12 of 0"),
        ({**VALUES, "tempo": [1, 10**400]}, "tempo must be 2 numbers.* it is "),
        ({**VALUES, "tempo": [1, "-1"]}, r'it is \[1, "-1"\]'),
        ({**VALUES, "tempo": "-1"}, 'it is "-1"'),
        ({**VALUES, "tempo": [1, True]}, r"it is \[1, true\]"),
        ({**VALUES, "tempo": [1, None]}, r"it is \[1, null\]"),
        ({**VALUES, "tempo": [1, 1e300]}, "not within"),
    ],
)
def test_weights_that_do_not_fit(values: dict[str, Any], words: str):
    with pytest.raises(BadInputError, match=words):
        TAPERED.weights_of(values, "here")


def test_terms_are_named_by_patterns():
    assert TAPERED.matching(["p*", "tempo"]).tolist() == [True] * 4 + [False] * 4
    with pytest.raises(BadInputError, match="there is no term 'knights'"):
        TAPERED.matching(["knights"])


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    random = np.random.default_rng(1)
    material, king = random.integers(-3, 4, 900), random.normal(0, 1, 900)
    chance = 1 / (1 + np.exp(-(material + 0.5 * king)))
    result = np.where(random.random(900) < 0.2, 0.5, (random.random(900) < chance).astype(float))
    return {
        "result": result,
        "phase": random.random(900),
        "game": np.arange(900) // 3,
        "material": material,
        "king": king,
    }


def written(columns: dict[str, Any], path: Path) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **columns)
    elif path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        pyarrow.csv.write_csv(pa.table(columns), path)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_tables_hold_the_same(suffix: str, columns: dict[str, Any], tmp_path: Path):
    ((terms, block),) = blocks_of_table(written(columns, tmp_path / f"t{suffix}"), held_out=0.2, seed=0)
    assert terms == Terms({"material": (), "king": ()}, is_tapered=True)
    assert block.result.tolist() == (2 * columns["result"] - 1).tolist()
    assert block.game.tolist() == columns["game"].tolist()
    assert np.allclose(block.phase, columns["phase"])
    assert np.allclose(block.values[block.columns == 1], columns["king"])
    assert 0 < block.held_out.mean() < 0.5
    assert all(len(set(block.held_out[block.game == game])) == 1 for game in range(300))


def test_archives_may_hold_one_matrix(columns: dict[str, Any], tmp_path: Path):
    dense = np.stack([columns["material"], columns["king"]], axis=1)
    path = tmp_path / "t.npz"
    np.savez(path, result=columns["result"], coefficients=dense, names=np.array(["material", "king"]))
    ((terms, block),) = blocks_of_table(path, held_out=0, seed=0)
    assert terms == Terms({"material": (), "king": ()}, is_tapered=False)
    assert block.game.tolist() == list(range(900))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"result": None}, "no column 'result'"),
        ({"result": np.full(900, 0.7)}, "row 1 has the result '0.7'"),
        ({"result": np.array(["1"] * 898 + ["", "x"])}, "row 899 has the result ''; expected 1-0"),
        ({"game": pa.array([1] * 800 + [None] * 100)}, "row 801 has the game 'nan'; expected a whole number"),
        ({"game": np.append(np.arange(899.0), 1.5)}, "row 900 has the game '1.5'"),
        ({"game": np.full(900, np.inf)}, "row 1 has the game 'inf'"),
        ({"game": np.full(900, 1e20)}, r"row 1 has the game '1e\+20'"),
        ({"game": np.array(["1"] * 3 + ["g4"] * 897)}, "row 4 has the game 'g4'"),
        ({"phase": np.full(900, 2.0)}, "phase must be"),
        ({"king": np.full(900, np.nan)}, "king is not finite"),
        ({"king": np.array(["x"] * 900)}, "king must be numbers"),
    ],
)
def test_damaged_tables(change: dict[str, Any], words: str, columns: dict[str, Any], tmp_path: Path):
    kept = {name: column for name, column in {**columns, **change}.items() if column is not None}
    with pytest.raises(BadInputError, match=words):
        list(blocks_of_table(written(kept, tmp_path / "t.parquet"), held_out=0, seed=0))
    (tmp_path / "no.npz").write_bytes(b"PK\x03\x04nothing")
    with pytest.raises(BadInputError, match=r"no\.npz"):
        list(blocks_of_table(tmp_path / "no.npz", held_out=0, seed=0))


@pytest.mark.parametrize("cell", ["", "1.5", "nan", "1e20"])
def test_rows_that_follow_another_kind_of_cells_are_named(cell: str, tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("result,game,king\n" + "1,7,2\n" * 200_000 + f"0.5,{cell or 8},1.5\n" + f"0.5,{cell},1\n")
    with pytest.raises(BadInputError, match=f"row 20000[12] has the game '{cell}'; expected a whole number"):
        list(blocks_of_table(path, held_out=0, seed=0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game": np.arange(300)}, r"game has the shape \(300,\), but result \(900,\)"),
        ({"game": np.arange(901)}, r"game has the shape \(901,\), but result"),
        ({"game": np.array(3)}, r"game has the shape \(\), but result"),
        ({"game": np.ones((900, 1))}, r"game has the shape \(900, 1\), but result"),
        ({"coefficients": np.ones((900, 2)), "names": np.array(["a"])}, r"coefficients .*\(900, 2\), names \(1,\)"),
    ],
)
def test_archives_of_other_lengths(change: dict[str, Any], words: str, columns: dict[str, Any], tmp_path: Path):
    with pytest.raises(BadInputError, match=words):
        list(blocks_of_table(written({**columns, **change}, tmp_path / "t.npz"), held_out=0, seed=0))


def test_results_in_words_are_draws_where_nobody_loses(tmp_path: Path):
    (tmp_path / "t.csv").write_text("result,king\n1-0,2\n1/2-1/2,1\n")
    ((_, block),) = blocks_of_table(tmp_path / "t.csv", held_out=0, seed=0)
    assert block.result.tolist() == [1, 0]


FUNCTION = """
import numpy as np

def coefficients(p):
    own = np.where(p.turn == 0, p.white, ~p.white)
    def more(board):
        return np.bitwise_count(board & own).astype(int) - np.bitwise_count(board & ~own).astype(int)
    return {"pawn": more(p.pawns), "pieces": np.stack([more(p.knights), more(p.rooks)], axis=1)}

def fails(p):
    raise KeyError("nothing")

def wrong(p):
    return {"pawn": np.zeros(3)}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FUNCTION)
    Path("first.json").write_text('{"pawn": 100, "pieces": [300, 500]}')
    board = "4k3/pppp4/8/8/8/8/{}/4K3 {} - - 0 1 [{}]\n"
    sides = [("PPPPPP2", "w", 1.0), ("PP6", "w", 0.0), ("PPPP4", "b", 0.5), ("PP2N3", "w", 1.0), ("PPP2R2", "b", 0.5)]
    sides += [("PPPPPP2", "w", 0.5), ("PP6", "w", 0.5), ("PPPP4", "b", 1.0), ("PP2N3", "w", 0.5), ("PPP2R2", "b", 1.0)]
    Path("lines.epd").write_text("".join(board.format(*side) for side in sides * 30))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_command_fits_a_function(terminal: Terminal):
    fitting = terminal.of("fit", "likelihood", "lines.epd", "--terms", "mine.py:coefficients", "--any-position")
    told = fitting.json("--weights", "first.json", "-o", "tuned.json")
    assert told["fitted"]["after"] > told["fitted"]["before"]
    tuned = json.loads(Path("tuned.json").read_text())
    assert tuned.keys() == {"pawn", "pieces"}
    assert tuned["pieces"] != [300, 500]
    assert isinstance(tuned["pawn"], int)
    assert "Weights that changed most" in fitting("--objective", "logistic", "-o", "w.rs")
    assert "pub const PAWN: f64 = " in Path("w.rs").read_text()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("lines.epd --terms mine.py:coefficients -o t.npz", "weights are written as .json"),
        ("lines.epd --terms mine.py:nothing -o t.json", "mine.py has no 'nothing'"),
        ("lines.epd --terms mine.py:fails --any-position -o t.json", "failed on 300"),
        ("lines.epd --terms mine.py:wrong --any-position -o t.json", "pawn must be numbers for"),
        ("--terms mine.py:coefficients -o t.json", "a function needs positions"),
        ("lines.epd --terms t.csv -o t.json", "a table has the results"),
        ("--terms nothing.csv -o t.json", "nothing.csv"),
        ("lines.epd --terms mine.py:coefficients --hold-term x --any-position -o t.json", "there is no term 'x'"),
        ("lines.epd --terms mine.py:coefficients --prior default -o t.json", "--prior does nothing with --terms"),
        ("lines.epd --objective logistic -o t.npz", "--objective goes with --terms"),
    ],
)
def test_the_command_explains(terminal: Terminal, words: str, problem: str):
    assert problem in terminal.fails("fit", "likelihood", *words.split())
