"""Every reader of files, with a good file for it and a naive reading to compare with."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import math
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs
import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import define

from glem.core.archives import ArchiveFormat
from glem.core.chunked_work import claim_folder
from glem.core.configurations import ConfigurationSet, RelationTable
from glem.core.errors import BadInputError
from glem.core.evaluation import LinearEvaluation
from glem.core.experiments.power import _kept
from glem.core.experiments.strength import read_ratings
from glem.core.fitting import FitResult, PhaseWeights
from glem.core.fitting.fitters import FileCheckpoint
from glem.core.fitting.links import IDENTITY
from glem.core.game import load_game
from glem.core.game_lines import write_games
from glem.core.grading.changes import read_candidates
from glem.core.grading.learning import Verdict
from glem.core.grading.score_files import ScoreFileScorer
from glem.core.journal import Journal, read_journal
from glem.core.learning import load_learning
from glem.core.mining.checkpoint import MiningCheckpoint
from glem.core.mining.mined import Part
from glem.core.position_files import _KEY
from glem.core.positions import PositionSet
from glem.core.record_files import open_bounded, open_packed
from glem.core.records import read_records, read_scored_positions
from glem.core.result_evaluation import ResultEvaluation, load_any_evaluation
from glem.core.search.probcut import ProbCut
from glem.core.search.selectivity import CHECKS
from glem.core.tournament.openings import read_openings
from glem.core.tournament.tournament import read_games, run_tournament
from glem.core.training_files import load_weights, save_weights
from tests.core import mutations
from tests.core.grading.random_games import random_records
from tests.core.linear_evaluations import mobility_evaluation
from tests.core.mutations import Mutation
from tests.core.tournament.tournament_examples import QUICK, quick_tournament
from tests.oracles import othello_rules, wthor
from tests.oracles.pgn import SCORES, plain_games

PGN = b"""[Event "A"]\n[White "=B"]\n[Black "[red]C"]\n[Result "1-0"]\n
1. e4 {[%eval 0.3]} e5 2. Qh5 (2. Nf3 Nc6) Nc6 3. Bc4 Nf6?? $4 4. Qxf7# 1-0\n
[Event "D"]\n[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"]\n[SetUp "1"]\n[Result "1/2-1/2"]\n
1. a8=Q+ Kd7 2. Qb7+ ; a comment\nKe6 3. O-O 1/2-1/2\n
[Event "E"]\n[Result "*"]\n\n1. d4 d5 2. c4 e6 {x} 3. Nc3 *\n""".replace(b" 3. O-O", b"")
FENS = b"""# openings\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 3\n4k3/P7/8/8/8/8/8/4K3 w - - 0 1\n"""
OBF = b"""---------------------------OX------XO--------------------------- X; D3:+4; C4:-2;
---------------------------OX------XO--------------------------- O; E3:+0;\n"""
POSITIONS = b"""--XXXXX--OOOXX-O-OOOXXOX-OXOXXOXOXXXOXOXOXXXXOXO-XXOOOXX-OOOOXX- O 18
---------------------------OX------XO--------------------------- X -3\n"""


@define(frozen=True)
class Reader:
    """A reader, a good file, how it is damaged, and whether what was read of a file's content is right.

    None stands for a file that only the naive reader finds wrong.
    """

    name: str
    suffix: str
    content: bytes
    read: Callable[[Path], Any]
    change: Mutation
    right: Callable[[bytes, Any], bool | None]


# ---------------------------------------------------------------------------------------- naive readings


@lru_cache(None)
def _is_legal(moves: tuple[int, ...]) -> bool:
    board = othello_rules.board_of(1 << 28 | 1 << 35, 1 << 27 | 1 << 36)
    for move in moves:
        if not othello_rules.turned_discs(board, move) and move < 64:
            board = othello_rules.play(board, othello_rules.PASS)
        if not othello_rules.turned_discs(board, move):
            return False
        board = othello_rules.play(board, move)
    return True


def _squares(text: str) -> tuple[int, ...]:
    found = re.findall(r"[a-h][1-8]", text.lower())
    return tuple(8 * (int(row) - 1) + ord(column) - ord("a") for column, row in found)


def _number(text: str | None) -> float:
    return float(np.float32(text)) if text else math.nan


def _same(found: Any, expected: Any) -> bool:
    """Equal, not-a-number too."""
    return bool(repr(found) == repr(expected))


def _read_games(game: Any) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        games = []
        for part in read_records(game, path):
            for number in range(len(part)):
                moves = tuple(move for move in part.moves_of(number).tolist() if move != game.pass_move)
                games.append((moves, float(part.extra.get("stored_score", part.score)[number])))
        return games

    return read


def _lines(content: bytes) -> list[str]:
    text = content.removeprefix(b"\xef\xbb\xbf").decode("ascii", "replace")
    return [line.rstrip("\r") for line in text.split("\n")]


def _right_games(content: bytes, found: Any) -> bool:
    lines = [line.split("\t") for line in _lines(content)[1:] if line and not line.startswith("#")]
    expected = [(_squares(moves), _number(score)) for moves, score, *_ in lines]
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def _right_lines(pattern: str) -> Callable[[bytes, Any], bool]:
    def right(content: bytes, found: Any) -> bool:
        matches = [re.fullmatch(pattern, line) for line in _lines(content) if line.strip(" \t\r,;")]
        if not all(matches):
            return False
        expected = [(_squares(match[1]), _number(match[2])) for match in matches if match]
        return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)

    return right


_BLANKS = r"[ \t\r,;]*"
_SCORE = r"([+-]?(?:\d+\.?\d*|\.\d+))?"
_TRANSCRIPT = rf"{_BLANKS}((?:(?:[a-hA-H][1-8]|--|p[as]|P[AaSs]){_BLANKS})+){_SCORE}{_BLANKS}"
_BOOK = rf"{_BLANKS}((?:[+-](?:[a-hA-H][1-8]|--|p[as]|P[AaSs]))+)(?::{_BLANKS}{_SCORE}.*)?"


def _right_table(content: bytes, found: Any) -> bool:
    header, *rows = _lines(content)
    mark = max(",;\t", key=header.count)
    names = [name.strip(' \t\r"').lower() for name in header.split(mark)]
    moves = next(place for place, name in enumerate(names) if name in ("game_moves", "moves", "transcript", "game"))
    scores = [place for place, name in enumerate(names) if name in ("winner", "score", "result", "black_score")]
    expected = []
    for row in rows:
        fields = [field.strip('"\r').strip(" \t\r,;") for field in row.split(mark)] + [""] * 9
        if row.strip(" \t\r,;"):
            expected.append((_squares(fields[moves]), _number(fields[scores[0]] if scores else "")))
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def _right_wthor(content: bytes, found: Any) -> bool:
    records = struct.iter_unpack("<3H2B60s", content[16:])
    expected = [
        (tuple(byte // 10 * 8 + byte % 10 - 9 for byte in moves if byte), float(2 * discs - 64))
        for *_, discs, _, moves in records
    ]
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def _right_pgn(content: bytes, found: Any) -> bool | None:
    games = list(plain_games(content.removeprefix(b"\xef\xbb\xbf")))
    # python-chess breaks a game at a tag that it cannot read.
    if any(game.errors for game in games) or len(games) != len(found):
        return None
    return _same(found, [(tuple(game.moves), SCORES.get(game.result, math.nan)) for game in games])


def _read_scored(path: Path) -> Any:
    return [
        (int(own), int(opponent), float(label))
        for part in read_scored_positions(load_game("othello"), path)
        for own, opponent, label in zip(*part.positions, part.label, strict=True)
    ]


def _board(text: str) -> tuple[int, int, str]:
    """Own and opponent's discs of a position, and what stands behind it."""
    text = text.lstrip(" \t\r,;")
    rest = text[64:].lstrip(" \t\r,;")
    white = bool(rest) and rest[0] in "OoWw"
    discs = [sum(1 << at for at in range(64) if text[at] in kinds) for kinds in ("Xx*Bb#", "OoWw0")]
    rest = rest[1:] if rest and rest[0] in "Xx*BbOoWw#" else rest
    return (discs[1], discs[0], rest) if white else (discs[0], discs[1], rest)


def _right_positions(content: bytes, found: Any) -> bool:
    expected = []
    for line in _lines(content):
        if line.strip(" \t\r,;"):
            own, opponent, rest = _board(line)
            expected.append((own, opponent, _number(rest.strip(" \t\r,;"))))
    return _same(found, expected)


def _right_obf(content: bytes, found: Any) -> bool:
    expected = []
    for line in _lines(content):
        if line.strip() and not line.lstrip().startswith("%"):
            board, *entries = line.split(";")
            own, opponent, _ = _board("".join(board.split()))
            scores = [float(entry.split(":")[1]) for entry in entries if entry.strip()]
            if scores:
                expected.append((own, opponent, float(np.float32(max(scores)))))
    return _same(found, expected)


def _read_scores(path: Path) -> Any:
    scorer = ScoreFileScorer(load_game("othello"), "scores", str(path))
    return [(key, score.value) for key, score in scorer._scores.items()]


def _right_scores(content: bytes, found: Any) -> bool:
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
    header = [name.strip().lower() for name in next(rows)]
    places = {name: header.index(name) for name in ("game", "ply", "score", "file") if name in header}
    expected = {}
    for row in rows:
        if any(field.strip() for field in row):
            game, ply, score, *file = (row[place].strip() if place < len(row) else "" for place in places.values())
            value = float(score) if score else math.nan
            expected.setdefault((file[0] if file else "", int(game), int(ply)), value)
    return _same(found, list(expected.items()))


def _read_starts(path: Path) -> Any:
    return [opening.start for opening in read_openings(load_game("chess"), path)]


def _right_starts(content: bytes, found: Any) -> bool:
    boards = []
    for line in _lines(content):
        text = line.strip()
        if text and text[0] not in "#%":
            board = chess.Board(None)
            board.set_epd(" ".join(text.split()[:4]))
            boards.append(board)
    starts = {(board.board_fen(), board.turn) for board in map(chess.Board, found)}
    return starts <= {(board.board_fen(), board.turn) for board in boards}


def _read_moves(path: Path) -> Any:
    return [opening.moves for opening in read_openings(load_game("othello"), path)]


def _right_moves(content: bytes, found: Any) -> bool:
    lines = [_squares(line) for line in _lines(content) if line.strip() and line.strip()[0] not in "#%"]
    return all(tuple(move for move in moves if move < 64) in lines and _is_legal(moves) for moves in found)


def _read_columns(path: Path) -> Any:
    found = PositionSet.read(path)
    return {"sources": found.sources, **{name: column.tolist() for name, column in found.columns().items()}}


def _right_columns(content: bytes, found: Any) -> bool:
    table = pq.read_table(pa.BufferReader(content))
    header = json.loads(table.schema.metadata[_KEY])
    return _same(
        found,
        {"sources": tuple(header["sources"]), **{name: table[name].to_pylist() for name in found if name != "sources"}},
    )


def _arrays(content: bytes) -> dict[str, Any]:
    # Not the whole by numpy, to which the first bytes tell what a file is; zipfile looks at the last ones.
    with zipfile.ZipFile(io.BytesIO(content)) as stored:
        return {name.removesuffix(".npy"): np.load(io.BytesIO(stored.read(name))) for name in stored.namelist()}


def _right_arrays(content: bytes, found: Any) -> bool:
    """The arrays of the file, as they were read; those of no weights may have any shape."""
    arrays = _arrays(content)
    return all(
        arrays[name].size == array.size and bool(np.array_equal(arrays[name].ravel(), array.ravel(), equal_nan=True))
        for name, array in found.items()
    )


def _linear(evaluation: LinearEvaluation, prefix: str = "") -> dict[str, Any]:
    names = ("bias", "linear_weights")
    return {f"{prefix}{name}": getattr(evaluation, name) for name in names}


def _read_evaluation(path: Path) -> Any:
    found = load_any_evaluation(path)
    if isinstance(found, ResultEvaluation):
        return {**_linear(found.value, "value_"), **_linear(found.drawishness, "drawishness_")}
    return _linear(found)


def _right_journal(content: bytes, found: Any) -> bool:
    lines = content.split(b"\n")
    expected = [json.loads(line) for line in lines[1 : 1 + len(found)]]
    # The last line alone may be torn.
    return found == expected and all(not line.strip() for line in lines[2 + len(found) :])


def _right_unpacked(unpack: Callable[[bytes], bytes]) -> Callable[[bytes, Any], bool]:
    return lambda content, found: unpack(content) == found


def _read_packed(path: Path) -> bytes:
    with open_bounded(path, max_bytes=1 << 26) as file:
        return b"".join(iter(lambda: file.read(1 << 16), b""))


def _unpacked_by_zstandard(content: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())


def _never(_content: bytes, _found: Any) -> bool:
    return False


# ------------------------------------------------------------------------------------------- the readers


def readers(folder: Path) -> Iterator[Reader]:
    """All readers, one after the other; good files are written into a folder."""
    yield from _text_readers(folder)
    yield from _learned_readers(folder)
    yield from _work_readers(folder)


def _text_readers(folder: Path) -> Iterator[Reader]:
    othello, chess_game = load_game("othello"), load_game("chess")
    texts, of_bytes = mutations.fields_changed, mutations.bytes_changed
    records = random_records(othello, 3)
    lines = [records.moves_of(number).tolist() for number in range(len(records))]
    discs = [int(score + 64) // 2 for score in records.score]
    files = wthor.games_file([wthor.game_record(moves, count) for moves, count in zip(lines, discs, strict=True)])
    yield Reader("WTHOR", ".wtb", files, _read_games(othello), of_bytes, _right_wthor)
    names = [" ".join(othello.format_move(move) for move in moves) for moves in lines]
    transcripts = "".join(f"{name} {score:g}\n" for name, score in zip(names, records.score, strict=True)).encode()
    yield Reader("transcripts", ".txt", transcripts, _read_games(othello), texts, _right_lines(_TRANSCRIPT))
    yield Reader("opening moves", ".txt", b"f5 d6 c3\nf5 f6\n", _read_moves, texts, _right_moves)
    book = b"+f5-d6+c3-d3+c4:\n+f5-f6+e6-f4: +04 10\n".replace(b" +04 10", b"")
    yield Reader("logbook", ".gam", book, _read_games(othello), texts, _right_lines(_BOOK))
    table = "name,game_moves,winner\n=x,f5d6c3,\n" + "".join(
        f"@y,{name.replace(' ', '')},{score:g}\n" for name, score in zip(names, records.score, strict=True)
    )
    yield Reader("games in CSV", ".csv", table.encode(), _read_games(othello), texts, _right_table)
    write_games(othello, folder / "good.games", records)
    games = (folder / "good.games").read_bytes()
    yield Reader("games", ".games", games, _read_games(othello), texts, _right_games)
    yield Reader("PGN", ".pgn", PGN, _read_games(chess_game), texts, _right_pgn)
    yield Reader("FEN list", ".epd", FENS, _read_starts, texts, _right_starts)
    yield Reader("OBF", ".obf", OBF, _read_scored, texts, _right_obf)
    yield Reader("scored positions", ".txt", POSITIONS, _read_scored, texts, _right_positions)
    scores = b"file,game,ply,score\n=a,1,0,0.5\n-b,1,1,-3\n,2,7,\n"
    yield Reader("score file", ".csv", scores, _read_scores, texts, _right_scores)
    packed = gzip.compress(games, mtime=0)
    yield Reader("gzip", ".gz", packed, _read_packed, of_bytes, _right_unpacked(gzip.decompress))
    yield Reader("xz", ".xz", lzma.compress(games), _read_packed, of_bytes, _right_unpacked(lzma.decompress))
    with open_packed(folder / "good.zst") as file:
        file.write(games)
    whole = (folder / "good.zst").read_bytes()
    yield Reader("Zstandard", ".zst", whole, _read_packed, of_bytes, _right_unpacked(_unpacked_by_zstandard))
    yield Reader(
        "scores in .csv.gz",
        ".csv.gz",
        gzip.compress(scores, mtime=0),
        _read_scores,
        of_bytes,
        lambda content, found: _right_scores(gzip.decompress(content), found),
    )


def _learned_readers(folder: Path) -> Iterator[Reader]:
    learning = load_learning("othello")
    arrays = mutations.arrays_changed
    path = folder / "good.parquet"
    assert learning.sample is not None
    learning.sample().select(slice(0, 40)).write(path)
    yield Reader("positions", ".parquet", path.read_bytes(), _read_columns, mutations.table_changed, _right_columns)
    path = folder / "good.npz"
    value = mobility_evaluation(learning, logistic=True)
    value.save(path)
    yield Reader("evaluation", ".npz", path.read_bytes(), _read_evaluation, arrays, _right_arrays)
    ResultEvaluation(value, value, scale=1.5, provenance={"made": "by hand"}).save(path)
    yield Reader("result evaluation", ".npz", path.read_bytes(), _read_evaluation, arrays, _right_arrays)
    relations = [(feature, 0) for feature in range(6)] + [(6, 1), (6, 2)]
    table = RelationTable(*np.array(relations).T)
    ConfigurationSet.from_relations(table, [[0, 1], [1, 2, 3], [7]], [3, 2, 1], 10).save(path)
    yield Reader("configurations", ".npz", path.read_bytes(), _read_configurations, arrays, _right_arrays)
    shape = (3, 4, CHECKS)
    depths = np.tile(np.array([[-1], [-1], [0], [1]]), (1, CHECKS))
    ProbCut(
        "othello",
        ("a", "b", "c"),
        "discs",
        depths,
        np.ones(shape),
        np.zeros(shape),
        np.ones(shape),
        np.ones(shape, int),
    ).save(path)
    yield Reader("probcut", ".npz", path.read_bytes(), _read_probcut, arrays, _right_arrays)
    changes = b"# changes\nscale mobility 1.2\ndrop corners in phase 3\ntwo: scale a 2; drop b\n"
    yield Reader(
        "changes",
        ".txt",
        changes,
        read_candidates,
        mutations.fields_changed,
        lambda content, found: (
            [change.text for change in found]
            == [text for line in content.decode().splitlines() if (text := line.partition("#")[0].strip())]
        ),
    )
    ratings = json.dumps({"ratings": [{"name": "a", "elo": 3.5}, {"name": "=b", "elo": -3.5}, {"name": "c", "elo": 0}]})
    yield Reader(
        "ratings",
        ".json",
        ratings.encode(),
        read_ratings,
        mutations.json_changed,
        lambda content, found: found == {str(entry["name"]): entry["elo"] for entry in json.loads(content)["ratings"]},
    )


def _read_configurations(path: Path) -> Any:
    found = ConfigurationSet.load(path)
    table = {"table_features": found.table.features, "table_values": found.table.values}
    return {**table, "relations": found.relations, "sizes": found.sizes, "match_counts": found.match_counts}


def _read_probcut(path: Path) -> Any:
    found = ProbCut.load(path)
    return {name: getattr(found, name) for name in ("check_depths", "slopes", "offsets", "deviations", "counts")}


def _work_readers(folder: Path) -> Iterator[Reader]:
    arrays, lines = mutations.arrays_changed, mutations.json_lines_changed
    FileCheckpoint(folder / "fit.npz", "f").save({"parameters": np.arange(5.0), "norm": np.array(2.0)})
    yield Reader(
        "fit checkpoint",
        ".npz",
        (folder / "fit.npz").read_bytes(),
        lambda path: FileCheckpoint(path, "f").load(),
        arrays,
        _right_arrays,
    )
    result = FitResult("descent", True, "done", np.arange(3.0), np.arange(3.0), 2, 5, 10.0)
    ones = np.ones((2, 3))
    save_weights(PhaseWeights(ones[:, 0], ones, ones, ones, ones, IDENTITY, (result, result)), folder / "w.npz")
    yield Reader("fitted weights", ".npz", (folder / "w.npz").read_bytes(), _read_weights, arrays, _right_arrays)
    results = ArchiveFormat("glem results", version=1, required=(), optional=None, packed=False)
    results.write(folder / "r.npz", {}, {"label": np.arange(4.0)})
    yield Reader(
        "results of tasks",
        ".npz",
        (folder / "r.npz").read_bytes(),
        lambda path: results.read(path)[1],
        arrays,
        _right_arrays,
    )
    settings = {"minimum": 3, "sizes": [1, 2], "data": "x"}
    search = folder / "search"
    MiningCheckpoint(search, settings, ()).store(
        0, Part(np.arange(3, dtype=np.uint16), np.ones(3, np.uint8), np.ones(3, np.uint32))
    )
    yield Reader(
        "mining part", ".npz", (search / "part-00000.npz").read_bytes(), _read_part(settings), arrays, _right_arrays
    )
    header = (search / "run.json").read_bytes()
    yield Reader(
        "run.json",
        ".json",
        header,
        _read_run(settings),
        mutations.json_changed,
        lambda content, found: json.loads(content) == json.loads(header),
    )
    (folder / "claimed").mkdir()
    claim_folder(folder / "claimed", settings)
    mark = (folder / "claimed" / "work.json").read_bytes()
    yield Reader(
        "work.json", ".json", mark, _read_mark(settings), mutations.json_changed, lambda content, found: content == mark
    )
    record = folder / "record.jsonl"
    run_tournament(quick_tournament(load_game("othello"), *QUICK[:2], pairs=1), record)
    yield Reader("tournament", ".jsonl", record.read_bytes(), _read_tournament, lines, _right_journal)
    verdict = Verdict(1, "a", "scale a 2", "b", *(0.5,) * 7, True, 1.0, None, 10, 3, 0.1)  # type: ignore[arg-type]
    for kind, written, parse in (
        (
            "power experiment",
            {"name": "a", "limit": None, "value": [0.5, "nan"], "drawishness": None, "seconds": 0.1},
            _values,
        ),
        ("learning", attrs.asdict(verdict), lambda found: attrs.asdict(Verdict.from_json(found))),
    ):
        path = folder / f"{kind}.jsonl"
        with Journal(path, kind, {"a": 1}) as journal:
            journal.append(written)
            journal.append(written)
        yield Reader(
            f"journal of {kind}", ".jsonl", path.read_bytes(), _read_records(kind, parse), lines, _right_journal
        )


def _values(found: Any) -> Any:
    (name, limit), values = _kept(found, 2)
    return {"name": name, "limit": limit, **values.as_record()}


def _read_records(kind: str, parse: Callable[[Any], Any]) -> Callable[[Path], Any]:
    return lambda path: list(read_journal(path, kind, parse)[1])


def _read_tournament(path: Path) -> Any:
    game, _, games = read_games(path)
    return [json.loads(json.dumps(played.to_json(game))) for played in games]


def _read_weights(path: Path) -> Any:
    found = load_weights(path, IDENTITY)
    return {name: getattr(found, name) for name in ("bias", "patterns", "configurations", "linear", "match_counts")}


def _beside(path: Path, name: str) -> Path:
    """Folder that holds a copy of a file under another name."""
    folder = path.with_name(f"{path.name}.work")
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(path.read_bytes())
    return folder


def _read_part(settings: Any) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        part = MiningCheckpoint(_beside(path, "part-00000.npz").with_name("parts"), settings, ())
        part.folder = path.with_name(f"{path.name}.work")
        found = part.load(0)
        if found is None:
            raise BadInputError(f"{path}: searched again")
        return {name: getattr(found, name) for name in ("relation", "depth", "matches")}

    return read


def _read_run(settings: Any) -> Callable[[Path], Any]:
    return lambda path: MiningCheckpoint(_beside(path, "run.json"), settings, ())


def _read_mark(settings: Any) -> Callable[[Path], Any]:
    return lambda path: claim_folder(_beside(path, "work.json"), settings)
