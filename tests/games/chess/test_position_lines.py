"""Positions with results: FEN against python-chess, on whole and damaged lines, and every custom of telling results."""

import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from glem.core.cli import command_group
from glem.core.cli.game_choice import choose_game
from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError, GlemWarning
from glem.core.game.records import ScoredPositions
from glem.core.positions.reading import ReadingNotes, read_scored_positions, stream_scored
from glem.core.positions.selection.reading import FileSummary, read_selected
from glem.core.positions.selection.selection import SelectionRule
from glem.games.chess import CHESS
from glem.games.chess.notation import parse_position
from tests.oracles.chess_boards import random_game
from tests.oracles.chess_features import material

RESULTS = {"1-0": 1, "1/2-1/2": 0, "0-1": -1}
NUMBERS = {"1-0": "1.0", "1/2-1/2": "0.5", "0-1": "0.0"}
LETTERS = {"1-0": "w", "1/2-1/2": "d", "0-1": "l"}
_AHEAD = 3


@pytest.fixture(scope="module")
def games() -> list[tuple[str, str]]:
    """FENs with the results of games in which the side that is ahead wins."""
    found = []
    for seed in range(40):
        board = chess.Board()
        for board, _ in random_game(seed, 120):
            ahead = material(board, chess.WHITE) - material(board, chess.BLACK)
            result = "1-0" if ahead >= _AHEAD else "0-1" if ahead <= -_AHEAD else random.Random(seed).choice([*RESULTS])
            found.append((board.fen(en_passant="fen"), result))
    random.Random(1).shuffle(found)
    return found


def read(path: Path, name: str | None = None, *, skip_bad: bool = False) -> list[ScoredPositions]:
    return list(read_scored_positions(CHESS, path, format=name, skip_bad=skip_bad))


def check(parts: list[ScoredPositions], games: list[tuple[str, str]]) -> None:
    """Compare what was read with python-chess."""
    assert sum(len(part.label) for part in parts) == len(games)
    given = iter(games)
    for part in parts:
        for row, label in enumerate(part.label):
            fen, result = next(given)
            assert position_at(part.positions, row) == parse_position(fen)
            assert label == RESULTS[result] * (1 if fen.split()[1] == "w" else -1)


def mover_result(fen: str, result: str) -> str:
    return result if fen.split()[1] == "w" else {"1-0": "0-1", "0-1": "1-0"}.get(result, result)


CUSTOMS: dict[str, tuple[Callable[[str, str], str], str]] = {
    "an operation": (lambda fen, result: f'{" ".join(fen.split()[:4])} bm e4; c9 "{result}";', "operation c9"),
    "brackets": (lambda fen, result: f"{fen} [{NUMBERS[result]}] -35", "field 1 behind the FEN, 0 to 1, White's"),
    "bars": (lambda fen, result: f"{fen} | {len(fen)} | {NUMBERS[result]}", "the last field, 0 to 1, White's"),
    "the middle": (lambda fen, result: f"{fen};{len(fen)};{result};{len(fen)}", "field 2 behind the FEN"),
    "a semicolon": (lambda fen, result: f"{fen};{result}", "field 1 behind the FEN"),
    "the end": (lambda fen, result: f"{fen} {NUMBERS[result]}", "field 1 behind the FEN, 0 to 1, White's"),
    "the beginning": (lambda fen, result: f"{result} {fen}", "the field before the FEN"),
    "numbers before": (lambda fen, result: f"{NUMBERS[result]},{fen}", "the field before the FEN, 0 to 1, White's"),
    "minus one": (lambda fen, result: f"{fen} {RESULTS[result]:+d}", "field 1 behind the FEN, -1 to 1, White's"),
    "the mover's": (
        lambda fen, result: f"{fen} [{NUMBERS[mover_result(fen, result)]}]",
        "field 1 behind the FEN, 0 to 1, the mo",
    ),
    "a standard operation of numbers": (
        lambda fen, result: f'{" ".join(fen.split()[:4])} hmvc 0; ce {len(fen) % 2}; c9 "{result}";',
        "operation c9",
    ),
    "no semicolon": (lambda fen, result: f'{" ".join(fen.split()[:4])} hmvc 0 c9 "{result}"', "operation c9"),
    "a constant number before a text": (lambda fen, result: f"{fen} | 1 | {result} | 0.5", "field 2 behind the FEN"),
    "numbers before a text": (lambda fen, result: f"{fen} | {len(fen) % 2} | {result}", "the last field"),
    "a constant number before a number": (lambda fen, result: f"{fen} [1] {NUMBERS[result]}", "the last field, 0 to 1"),
    "letters": (
        lambda fen, result: f"{fen} | {len(fen)} | {LETTERS[result]}",
        "the last field, 0 to 1, White's",
    ),
    "the mover's letters": (
        lambda fen, result: f"{fen};{LETTERS[mover_result(fen, result)].upper()};{len(fen)}",
        "field 1 behind the FEN, 0 to 1, the mover's",
    ),
    "records": (
        lambda fen, result: f"fen {fen}\nmove e2e4\nscore 31\nply 7\nresult {RESULTS[mover_result(fen, result)]}\ne",
        "column result, -1 to 1, the mover's",
    ),
    "people's halves": (lambda fen, result: f'{fen}, "{result.replace("1/2", "½")}"', "field 1 behind the FEN"),
}


@pytest.mark.parametrize("custom", CUSTOMS)
def test_customs_are_found(custom: str, tmp_path: Path, games: list[tuple[str, str]]):
    write, told = CUSTOMS[custom]
    path = tmp_path / "lines.epd"
    beginning = "" if custom == "records" else "# a comment\n\n"
    path.write_text(beginning + "".join(f"{write(fen, result)}\r\n" for fen, result in games), encoding="utf-8")
    parts = read(path)
    check(parts, [(" ".join(fen.split()[:4]) if "operation" in told else fen, result) for fen, result in games])
    assert parts[0].remark.startswith(f"lines.epd: result: {told}")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".csv.gz", ".csv.xz"])
def test_tables(suffix: str, tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / f"table{suffix}"
    if suffix == ".parquet":
        columns = {"label": [1] * len(games), "wdl": [float(NUMBERS[result]) for _, result in games]}
        pq.write_table(pa.table({**columns, "fen": [fen for fen, _ in games]}), path)
    else:
        mark = "\t" if suffix == ".tsv" else ","
        text = f'FEN{mark}wdl{mark}"Result"\n' + "".join(
            f'"{fen}"{mark}{len(fen) % 2}{mark}{result}\n' for fen, result in games
        )
        open_ = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
        with open_(path, "wt") as file:
            file.write(text)
    check(read(path), games)


@pytest.mark.parametrize("chunk", [1, 4, 7, 1000])
def test_records_of_lines_that_blocks_cut(chunk: int, tmp_path: Path, games: list[tuple[str, str]]):
    fen, other = games[0][0], games[1][0]
    records = (f"fen {fen}\nresult 1\ne", "fen nothing\nscore 3\nresult 0\ne", f"fen {fen}\ne", "result 1\ne")
    torn = f"fen {other}\nscore 5\nfen {fen}\n" + "ply 1\n" * 9 + f"result -1\ne\n\nfen {other}\nresult 0.5"
    path = tmp_path / "records.plain"
    path.write_text("\n".join([*records, torn]))
    with pytest.raises(BadInputError, match=r"records\.plain:4: 'nothing' stands where eight ranks"):
        read(path)
    parts = list(read_scored_positions(CHESS, path, skip_bad=True, chunk_positions=chunk))
    assert np.concatenate([part.label for part in parts]).tolist() == [1, -1]
    problems = [problem.split(":", 1)[1] for part in parts for problem in part.problems]
    assert [problem.split(":")[0] for problem in problems] == ["4", "8", "10", "12", "27"]
    assert problems[2] == "10: there is no FEN"
    for name, label in (("positions-mover", 1), ("positions-white", 1 if fen.split()[1] == "w" else -1)):
        assert read(path, name, skip_bad=True)[0].label[0] == label


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_without_a_position_are_bad(suffix: str, tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / f"table{suffix}"
    rows = [*games[:3], ("", "1-0"), ("#", "1-0"), games[3], ("", "")]
    if suffix == ".parquet":
        fens = [fen or None for fen, _ in rows]
        pq.write_table(pa.table({"n": [1] * 7, "fen": fens, "result": [result for _, result in rows]}), path)
    else:
        lines = "".join(f"1,{fen},{result}\n" for fen, result in rows)
        path.write_text(f"n,fen,result\n{lines}\n# nothing\n  \r\n")
    with pytest.raises(BadInputError, match=rf"{path.name}:{4 + (suffix == '.csv')}: there is no FEN"):
        read(path)
    (part,) = read(path, skip_bad=True)
    check([part], games[:4])
    assert len(part.problems) == 3


def test_commands_find_the_game_of_a_table_by_its_columns(tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / "table.parquet"
    columns = {"epd": [fen for fen, _ in games], "outcome": [result for _, result in games]}
    pq.write_table(pa.table(columns), path)
    assert choose_game(None, files=[path]) is CHESS
    done = CliRunner().invoke(command_group, ["evaluate", "default", str(path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["counts"][-1] == len(games)
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(BadInputError, match="name the game"):
        choose_game(None, files=[path])


def test_what_is_left_out_is_counted_and_bounded(tmp_path: Path):
    path = tmp_path / "bad.epd"
    path.write_text("4k3/8/8/8/8/8/8/4K3 w - - 0 1 [0.5]\n" + "nothing\n" * 500)
    notes = ReadingNotes()
    (part,) = stream_scored(CHESS, path, skip_bad=True, notes=notes)
    assert (len(part), notes.skipped, len(notes.problems)) == (1, 500, 100)
    assert notes.texts()[-1].startswith("500 bad records skipped, the first: ")


def test_formats_tell_whose_numbers_are(tmp_path: Path):
    path = tmp_path / "few.txt"
    path.write_text("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1 [1.0]\n")
    for name, expected in (("positions-white", -1), ("positions-mover", 1)):
        (part,) = read(path, name)
        assert part.label.tolist() == [expected]
    for guessed in (None, "positions"):
        with pytest.warns(GlemWarning, match=r"few\.txt: .* taken for White's, theirs in 1 of 1 positions .* --format"):
            (part,) = read(path, guessed)
        assert part.label.tolist() == [-1]
        assert "taken for White's" in part.remark


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{fen} bm Ra8#; dm 1; id "m.001";', "no field of the first lines is a result"),
        ('{fen} id "mate 1-0"; fmvn {bit};', "no field of the first lines is a result"),
        ("{fen} | 1 | 31", "though field 1 behind the FEN is 1 in all of 400 lines: --format positions-white"),
        ("fen,result\n{fen},0.50", "though column result is 0.5 in all of 400 lines: --format positions-white"),
    ],
)
def test_numbers_that_are_no_result(lines: str, problem: str, tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / "constant.csv"
    header, line = lines.rsplit("\n", 1) if "\n" in lines else ("# nothing", lines)
    rows = [line.format(fen=" ".join(fen.split()[:4]), bit=len(fen) % 2) for fen, _ in games[:400]]
    path.write_text("\n".join([header, *rows, ""]))
    with pytest.raises(BadInputError, match=problem):
        read(path)
    (part,) = read_scored_positions(CHESS, path, unscored=True)
    assert np.isnan(part.label).all()
    if "though" in problem:
        assert np.isfinite(read(path, "positions-white")[0].label).all()


@pytest.mark.parametrize("suffix", [".epd", ".csv"])
def test_files_sorted_by_their_results(suffix: str, tmp_path: Path, games: list[tuple[str, str]]):
    ordered = sorted(games, key=lambda game: game[1])
    path = tmp_path / f"sorted{suffix}"
    header = "fen,result\n" if suffix == ".csv" else ""
    path.write_text(header + "".join(f"{fen},{NUMBERS[result]}\n" for fen, result in ordered))
    check(read(path), ordered)


def test_numbers_that_agree_at_chance_are_warned_of(tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / "chance.epd"
    draw = random.Random(3)
    path.write_text("".join(f"{fen} [{draw.choice([0, 1])}]\n" for fen, _ in games))
    with pytest.warns(GlemWarning, match=r"chance\.epd: .* taken for White's, theirs in [0-9,]+ of"):
        read(path)
    read(path, "positions-mover")


@pytest.mark.parametrize("seed", range(4))
def test_damaged_fens_are_what_python_chess_says(seed: int, tmp_path: Path, games: list[tuple[str, str]]):
    draw = random.Random(seed)
    texts = []
    for fen, _ in draw.choices(games, k=3000):
        fields = fen.split()
        for _ in range(draw.randint(1, 3)):
            which = draw.choice([0, 0, 0, 1, 2, 2, 3, 3])
            letters = {0: "12345678/pPnNbBrRqQkK~x", 1: "wbx", 2: "KQkqAHahDd-x", 3: "abcdefgh1346-"}[which]
            text = fields[which]
            place = draw.randrange(len(text))
            fields[which] = text[:place] + draw.choice(letters) + text[place + draw.randint(0, 1) :]
        texts.append(" ".join(fields))
    path = tmp_path / "damaged.epd"
    path.write_text("".join(f"{text};1-0\n" for text in texts))
    (part,) = read(path, skip_bad=True)
    good = []
    for text in texts:
        try:
            good.append(parse_position(text))
        except BadInputError:
            continue
    assert [position_at(part.positions, row) for row in range(len(part.label))] == good
    assert len(part.problems) == len(texts) - len(good) > 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("4k3/8/8/8/8/8/8/4K2 w - - 0 1 [0.5]", "eight ranks"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1 [0.5]", "w or b"),
        ("4k3/8/8/8/8/8/8/4K3 w Z - 0 1 [0.5]", "castling"),
        ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1 [0.5]", "en-passant"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1 [0.5]", "no game of chess"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 [0.7]", "0.7"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "no result"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 [-1]", "-1"),
        ("8", "eight ranks"),
        ("", ""),
    ],
)
def test_bad_lines_are_named(line: str, problem: str, tmp_path: Path):
    path = tmp_path / "bad.epd"
    good = "4k3/8/8/8/8/8/8/4K3 w - - 0 1 [0.5]\n4k3/8/8/8/8/8/8/4KR2 w - - 0 1 [1.0]\n"
    path.write_text(f"{good}{line}\n")
    if not line:
        assert len(read(path)[0].label) == 2
        return
    with pytest.raises(BadInputError, match=rf"bad\.epd:3: .*{problem}"):
        read(path)
    (part,) = read(path, skip_bad=True)
    assert len(part.label) == 2
    assert len(part.problems) == 1


def test_files_without_results(tmp_path: Path):
    path = tmp_path / "openings.epd"
    path.write_text("4k3/8/8/8/8/8/8/4K3 w - - 0 1\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq -\n")
    with pytest.raises(BadInputError, match=r"openings.epd: no field of the first lines is a result"):
        read(path)
    (part,) = read_scored_positions(CHESS, path, unscored=True)
    assert np.isnan(part.label).tolist() == [True, True]


def test_every_position_is_selected_as_a_game_of_its_own(tmp_path: Path, games: list[tuple[str, str]]):
    path = tmp_path / "lines.epd"
    path.write_text("".join(f"{fen} [{NUMBERS[result]}]\n" for fen, result in games))
    read_parts = list(read_selected(CHESS, path, SelectionRule()))
    (summary,) = (part for part in read_parts if isinstance(part, FileSummary))
    parts = [part for part in read_parts if not isinstance(part, FileSummary)]
    assert summary.counts.alone == summary.counts.chosen == summary.games == len(games)
    assert summary.label_kind == "result"
    assert np.concatenate([part.record for part in parts]).tolist() == list(range(len(games)))
