"""WTHOR files: the real database, and every kind of damage."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError
from glem.core.game.game import Game, load_game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records
from tests.games.othello.record_files import PACKINGS, fails, games_of, packed_by_name, read_all
from tests.oracles.replay import random_game, replay_game
from tests.oracles.wthor import game_record, games_file, names_file

OTHELLO = load_game("othello")
PLAYERS = ("Tamenori Hideshi", "Brightwell Graham", "Fèvre Nicolas")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0\x1f\xf3\xffa" + bytes(200)


def discs_of(moves: list[int]) -> int:
    """Black's final disc count, the empty squares counted for the winner."""
    return (replay_game(OTHELLO, moves).final_score + 64) // 2


@pytest.fixture(scope="module")
def games() -> list[list[int]]:
    random = np.random.default_rng(2)
    return [random_game(OTHELLO, random) for _ in range(12)]


@pytest.fixture(scope="module")
def file_records(games: list[list[int]]) -> list[bytes]:
    return [
        game_record(moves, discs_of(moves), theoretical=30 + place, ids=(place % 2, place % 3, (place + 1) % 3))
        for place, moves in enumerate(games)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "WTH.JOU").write_bytes(names_file(PLAYERS, 20))
    (tmp_path / "wth.trn").write_bytes(names_file(("Worlds 1999", "Paris Open"), 26))
    return tmp_path


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("chunk_games", [1, 5, 100])
def test_games_and_names(
    folder: Path, games: list[list[int]], file_records: list[bytes], packing: str, chunk_games: int
) -> None:
    path = folder / f"WTH_1999.wtb{packing}"
    packed_by_name(path, games_file(file_records))
    records = read_all(path, chunk_games=chunk_games)
    assert games_of(records) == games
    assert records.score.tolist() == [replay_game(OTHELLO, moves).final_score for moves in games]
    assert records.extra["stored_score"].tolist() == records.score.tolist()
    assert records.extra["number"].tolist() == list(range(1, len(games) + 1))
    assert set(records.extra["year"].tolist()) == {1999}
    assert records.theoretical_score.tolist() == [2 * (30 + place) - 64 for place in range(len(games))]
    assert set(records.theoretical_ply.tolist()) == {36}
    players = records.names["black_player"]
    assert players == PLAYERS
    assert [players[index] for index in records.extra["white_player"][:3]] == [PLAYERS[1], PLAYERS[2], PLAYERS[0]]
    assert records.names["tournament"][records.extra["tournament"][1]] == "Paris Open"
    assert records.source == path.name


def test_names_and_depth_are_optional(tmp_path: Path, games: list[list[int]], file_records: list[bytes]) -> None:
    path = tmp_path / "a.wtb"
    path.write_bytes(games_file(file_records, depth=0))
    records = read_all(path)
    assert games_of(records) == games
    assert records.names == {}
    assert records.extra["black_player"].tolist() == [place % 3 for place in range(len(games))]
    assert np.isnan(records.theoretical_score).all()
    assert set(records.theoretical_ply.tolist()) == {-1}


def test_unfinished_and_short_games(tmp_path: Path, games: list[list[int]]) -> None:
    path = tmp_path / "a.wtb"
    path.write_bytes(games_file([game_record(games[0][:40], 50), game_record(games[0][:30], 50, theoretical=64)]))
    records = read_all(path)
    assert np.isnan(records.score).all()
    assert records.extra["stored_score"].tolist() == [36, 36]
    assert records.theoretical_ply.tolist() == [36, -1]
    np.testing.assert_array_equal(records.theoretical_score, [0, np.nan])


def replaced(record: bytes, place: int, value: int) -> bytes:
    return record[:place] + bytes([value]) + record[place + 1 :]


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        (8 + 10, 99, r"record 2: move 11 is byte 99, expected 10 \* row \+ column"),
        (8 + 10, 11, r"record 2: move \d+, \w\d, is illegal"),
        (8 + 10, 0, "record 2: there is a move behind move 11, which is missing"),
        (8, 0, "record 2: there is a move behind move 1, which is missing"),
        (6, 65, "record 2: black's disc count is 65, expected at most 64"),
        (7, 200, "record 2: black's theoretical disc count is 200"),
        (3, 7, r"record 2: the black player number is \d+, expected at most 2"),
        (1, 1, r"record 2: the tournament number is \d+, expected at most 1"),
    ],
)
def test_a_bad_record(
    folder: Path, games: list[list[int]], file_records: list[bytes], place: int, value: int, text: str
) -> None:
    path = folder / "a.wtb"
    path.write_bytes(games_file([file_records[0], replaced(file_records[1], place, value), *file_records[2:]]))
    fails(path, text)
    records = read_all(path, skip_bad=True)
    assert games_of(records) == [games[0], *games[2:]]
    assert records.extra["number"].tolist() == [1, *range(3, len(games) + 1)]
    assert records.skipped == 1
    assert str(path) in records.problems[0]


def test_a_contradicting_score_and_a_record_of_zeros(
    folder: Path, games: list[list[int]], file_records: list[bytes]
) -> None:
    path = folder / "a.wtb"
    wrong = game_record(games[1], (discs_of(games[1]) + 5) % 64)
    for second, text in (
        (wrong, r"a\.wtb: record 2: the score is given as [+-]\d+, but the moves end at [+-]?\d+"),
        (bytes(68), "record 2: it has no moves"),
    ):
        path.write_bytes(games_file([file_records[0], second]))
        fails(path, text)
        assert games_of(read_all(path, skip_bad=True)) == games[:1]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "0 bytes are no WTHOR file"),
        (b"short", "5 bytes are no WTHOR file"),
        (PNG, "byte 12, the board size, is 73, expected 8"),
        (games_file([])[:12] + b"\x0a\0\x18\0", "the board size, is 10"),
        (games_file([])[:12] + b"\x08\1\x18\0", "the kind of records, is 1"),
        (games_file([])[:12] + b"\x08\0\x3d\0", "is 61, expected at most 60"),
        (names_file(PLAYERS, 20), "bytes 8-9 announce 3 names"),
        (games_file([], count=5), "announces 5 game records, the file holds 0"),
    ],
)
def test_what_is_no_file_of_games(folder: Path, content: bytes, text: str) -> None:
    path = folder / "a.wtb"
    path.write_bytes(content)
    fails(path, text)
    records = read_all(path, skip_bad=True)
    assert (len(records), records.skipped, len(records.problems)) == (0, 1, 1)


@pytest.mark.parametrize(
    ("count", "end", "text", "whole"),
    [
        (3, None, "announces 3 game records, the file holds more", 12),
        (12, 16 + 68 + 20, "announces 12 game records, the file holds 1", 1),
        (12, -1, "announces 12 game records, the file holds 11", 11),
        (12, 15, "no WTHOR file", 0),
    ],
)
def test_a_header_that_announces_too_few_or_too_many(
    folder: Path, games: list[list[int]], file_records: list[bytes], count: int, end: int | None, text: str, whole: int
) -> None:
    path = folder / "a.wtb"
    path.write_bytes(games_file(file_records, count=count)[:end])
    fails(path, text)
    records = read_all(path, skip_bad=True, chunk_games=5)
    assert games_of(records) == games[:whole]
    assert records.skipped == 1


@pytest.mark.parametrize("kind", ["WTH.JOU", "wth.trn"])
def test_wrong_names(folder: Path, games: list[list[int]], file_records: list[bytes], kind: str) -> None:
    path, names = folder / "a.wtb", folder / kind
    path.write_bytes(games_file(file_records))
    for content in (b"", PNG, names.read_bytes()[:-1], names.read_bytes() + b"x", games_file(file_records)):
        names.write_bytes(content)
        fails(path, str(names))
        records = read_all(path, skip_bad=True)
        assert games_of(records) == games
        assert records.names == {}
        assert records.skipped == 1
    (folder / "WTH.JOU").write_bytes(names_file(PLAYERS[:2], 20))
    if kind == "WTH.JOU":
        fails(path, "record 2: the white player number is 2, expected at most 1")


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_flip(
    tmp_path_factory: pytest.TempPathFactory, games: list[list[int]], file_records: list[bytes], data: st.DataObject
) -> None:
    content = bytearray(games_file(file_records))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("flip") / "a.wtb"
    path.write_bytes(content)
    records = read_all(path, skip_bad=True)
    for number, moves, score in zip(records.extra.get("number", []), games_of(records), records.score, strict=True):
        original = games[number - 1]
        # A zeroed last move makes a game that stops early; it has no score. No other game can come out.
        assert moves == original or (moves == original[: len(moves)] and np.isnan(score))
    try:
        assert len(read_all(path)) == len(games)
    except BadInputError as error:
        assert records.skipped > 0
        assert "\n" not in str(error)
    else:
        assert records.skipped == 0


@pytest.mark.shared
def test_the_whole_database(shared: Path, othello: Game) -> None:
    files = sorted((shared / "othello" / "wthor").glob("*.wtb"))
    records = GameRecords.concatenate([chunk for file in files for chunk in read_records(othello, file)])
    assert len(records) == 137_548
    assert records.skipped == 0
    unfinished = np.isnan(records.score)
    assert unfinished.sum() == 413
    assert np.array_equal(records.score[~unfinished], records.extra["stored_score"][~unfinished])
    assert np.unique(records.extra["year"][unfinished])[[0, -1]].tolist() == [1981, 2000]
    assert records.lengths[unfinished].min() == 25
    assert np.median(records.lengths[unfinished]) == 47
    assert (records.theoretical_ply == -1).sum() == 34
    # The file has 32 more, in games that end before 24 empty squares and so have no theoretical score here.
    assert (records.extra["stored_score"] == records.theoretical_score).sum() == 17_250
    years, counts = np.unique(records.extra["year"], return_counts=True)
    assert dict(zip(years.tolist(), counts.tolist(), strict=True))[1990] == 2986
    assert len(records.names["black_player"]) == len(records.names["white_player"]) == 4448
    assert len(records.names["tournament"]) == 492
