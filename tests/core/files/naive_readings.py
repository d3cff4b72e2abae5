"""Readings of files as anyone would write them down, to compare glem's readers with."""

import csv
import io
import json
import math
import re
import struct
import unicodedata
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.files.packed import open_bounded
from glem.core.game.game import load_game
from glem.core.grading.scorers.score_files import ScoreFileScorer
from glem.core.positions.files import _KEY, read_positions
from glem.core.positions.reading import read_records, read_scored_positions
from glem.core.tournament.openings import read_openings
from tests.oracles import othello_rules
from tests.oracles.pgn import SCORES, plain_games


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


def read_game_records(game: Any) -> Callable[[Path], Any]:
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


def right_games(content: bytes, found: Any) -> bool:
    lines = [line.split("\t") for line in _lines(content)[1:] if line and not line.startswith("#")]
    expected = [(_squares(moves), _number(score)) for moves, score, *_ in lines]
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def right_lines(pattern: str) -> Callable[[bytes, Any], bool]:
    def right(content: bytes, found: Any) -> bool:
        matches = [re.fullmatch(pattern, line) for line in _lines(content) if line.strip(" \t\r,;")]
        if not all(matches):
            return False
        expected = [(_squares(match[1]), _number(match[2])) for match in matches if match]
        return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)

    return right


def right_transcripts(content: bytes, found: Any) -> bool:
    """Lines of moves and a score, or the same squares in legal games, however they are written."""
    return right_lines(TRANSCRIPT)(content, found) or _has_squares(content, found)


def _has_squares(content: bytes, found: Any) -> bool:
    text = unicodedata.normalize("NFKC", content.decode("utf-8", "replace"))
    squares = _squares(re.sub(r"[#%][^\n\r]*", "", text))
    return squares == tuple(move for moves, _ in found for move in moves) and all(
        _is_legal(moves) for moves, _ in found
    )


_BLANKS = r"[ \t\r,;]*"
_SCORE = r"([+-]?(?:\d+\.?\d*|\.\d+))?"
TRANSCRIPT = rf"{_BLANKS}((?:(?:[a-hA-H][1-8]|--|p[as]|P[AaSs]){_BLANKS})+){_SCORE}{_BLANKS}"
BOOK = rf"{_BLANKS}((?:[+-](?:[a-hA-H][1-8]|--|p[as]|P[AaSs]))+)(?::{_BLANKS}{_SCORE}.*|{_BLANKS})"


def right_table(content: bytes, found: Any) -> bool:
    header, *rows = _lines(content)
    mark = max(",;\t", key=header.count)
    names = [name.strip(' \t\r"').lower() for name in header.split(mark)]
    moves = next(place for place, name in enumerate(names) if name in ("game_moves", "moves", "transcript", "game"))
    scores = [place for place, name in enumerate(names) if name in ("winner", "score", "result", "black_score")]
    expected = []
    for row in rows:
        fields = [field.strip('"\r').strip(" \t\r,;") for field in row.split(mark)] + [""] * 9
        if row.strip(" \t\r,;"):
            expected.append((_squares(fields[moves]), fields[scores[0]] if scores else ""))
    if not all(re.fullmatch(_SCORE, score) for _, score in expected):
        return [moves for moves, _ in expected] == [moves for moves, _ in found]
    expected = [(moves, _number(score)) for moves, score in expected]
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def right_wthor(content: bytes, found: Any) -> bool:
    records = struct.iter_unpack("<3H2B60s", content[16:])
    expected = [
        (tuple(byte // 10 * 8 + byte % 10 - 9 for byte in moves if byte), float(2 * discs - 64))
        for *_, discs, _, moves in records
    ]
    return _same(found, expected) and all(_is_legal(moves) for moves, _ in expected)


def right_pgn(content: bytes, found: Any) -> bool | None:
    # glem knows this result, python-chess does not.
    text = re.sub(rb"(?<=\s)1/2(?=\s|$)", b"1/2-1/2", content.removeprefix(b"\xef\xbb\xbf"))
    try:
        games = list(plain_games(text))
    except ValueError:
        # A mark of thousands of digits.
        return None
    # python-chess breaks a game at a tag that it cannot read.
    if any(game.errors for game in games) or len(games) != len(found):
        return None
    return _same(found, [(tuple(game.moves), SCORES.get(game.result, math.nan)) for game in games])


def read_scored(path: Path) -> Any:
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


def right_positions(content: bytes, found: Any) -> bool:
    expected = []
    for line in _lines(content):
        text = line.strip(" \t\r,;")
        if text and text[0] != "%":
            own, opponent, rest = _board(text)
            expected.append((own, opponent, _number(re.sub(r"\s[#%].*", "", rest).strip(" \t\r,;"))))
    return _same(found, expected)


def right_obf(content: bytes, found: Any) -> bool:
    expected = []
    for line in _lines(content):
        text = line.strip(" \t\r,")
        if text and not text.startswith("%"):
            own, opponent, rest = _board(text)
            scores = [float(score) for score in re.findall(r"[:\s]\s*([+-]?[\d.]+)", rest)] or [
                _number(rest.strip("; "))
            ]
            if not math.isnan(max(scores)):
                expected.append((own, opponent, float(np.float32(max(scores)))))
    return _same(found, expected)


def read_scores(path: Path) -> Any:
    scorer = ScoreFileScorer(load_game("othello"), "scores", str(path))
    names = {number: name for name, number in scorer._files.items()}
    keys = ((names[key >> 48], key >> 16 & 0xFFFFFFFF, key & 0xFFFF) for key in scorer._scores.key.tolist())
    return sorted(zip(keys, scorer._scores.value.tolist(), strict=True), key=lambda entry: entry[0])


def right_scores(content: bytes, found: Any) -> bool:
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace"), newline=""))
    header = [name.strip().lower() for name in next(row for row in rows if row)]
    places = {name: header.index(name) for name in ("game", "ply", "score", "file") if name in header}
    expected = {}
    for row in rows:
        if any(field.strip() for field in row):
            game, ply, score, *file = (row[place].strip() if place < len(row) else "" for place in places.values())
            value = float(score) if score else math.nan
            expected.setdefault((file[0] if file else "", int(game), int(ply)), value)
    return _same(found, sorted(expected.items(), key=lambda entry: entry[0]))


def read_starts(path: Path) -> Any:
    return [opening.start for opening in read_openings(load_game("chess"), path)]


def right_starts(content: bytes, found: Any) -> bool:
    boards = []
    for line in _lines(content):
        text = line.strip()
        if text and text[0] not in "#%":
            board = chess.Board(None)
            board.set_epd(" ".join(text.split()[:4]))
            boards.append(board)
    starts = {(board.board_fen(), board.turn) for board in map(chess.Board, found)}
    return starts <= {(board.board_fen(), board.turn) for board in boards}


def read_moves(path: Path) -> Any:
    return [opening.moves for opening in read_openings(load_game("othello"), path)]


def right_moves(content: bytes, found: Any) -> bool:
    lines = [_squares(line) for line in _lines(content) if line.strip() and line.strip()[0] not in "#%"]
    return all(tuple(move for move in moves if move < 64) in lines and _is_legal(moves) for moves in found)


def read_columns(path: Path) -> Any:
    found = read_positions(path)
    return {"sources": found.sources, **{name: column.tolist() for name, column in found.columns().items()}}


def right_columns(content: bytes, found: Any) -> bool:
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


def right_arrays(content: bytes, found: Any) -> bool:
    """The arrays of the file, as they were read; those of no weights may have any shape."""
    arrays = _arrays(content)
    return all(
        arrays[name].size == array.size and bool(np.array_equal(arrays[name].ravel(), array.ravel(), equal_nan=True))
        for name, array in found.items()
    )


def _linear(evaluation: LinearEvaluation, prefix: str = "") -> dict[str, Any]:
    names = ("bias", "linear_weights")
    return {f"{prefix}{name}": getattr(evaluation, name) for name in names}


def read_evaluation(path: Path) -> Any:
    found = load_evaluation(path)
    if isinstance(found, ResultEvaluation):
        return {**_linear(found.value, "value_"), **_linear(found.drawishness, "drawishness_")}
    return _linear(found)


def right_journal(content: bytes, found: Any) -> bool:
    lines = content.split(b"\n")
    whole = [json.loads(line) for line in lines[1 : 1 + len(found)]]
    # Names that a journal does not know are passed over; of those that it does, some may be left out.
    expected = [
        {name: one.get(name, value if value in ("", None) else "absent") for name, value in read.items()}
        for one, read in zip(whole, found, strict=False)
    ]
    # The last line alone may be torn.
    return found == expected and all(not line.strip() for line in lines[2 + len(found) :])


def right_unpacked(unpack: Callable[[bytes], bytes]) -> Callable[[bytes, Any], bool]:
    return lambda content, found: unpack(content) == found


def read_packed(path: Path) -> bytes:
    with open_bounded(path, max_bytes=1 << 26) as file:
        return b"".join(iter(lambda: file.read(1 << 16), b""))


def unpacked_by_zstandard(content: bytes) -> bytes:
    return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())
