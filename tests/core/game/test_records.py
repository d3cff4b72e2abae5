"""Game records in columns, and the choice of a format."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.records import GameRecords
from glem.core.positions.reading import read_records, read_scored_positions

GAMES = ("f5d6c3d3", "f5f6", "d3c5")


def some_records(**columns: object) -> GameRecords:
    return GameRecords.from_moves(
        np.array([1, 2, 3, 4, 5], np.uint8), np.array([0, 2, 2, 5]), np.array([4, np.nan, -2], np.float32), **columns
    )


def test_select() -> None:
    records = some_records(extra={"year": np.array([1, 2, 3])}, names={"year": ("a", "b", "c", "d")}, skipped=2)
    for chosen in (np.array([2, 0]), np.array([True, False, True]), slice(None, None, -2)):
        part = records.select(chosen)
        order = np.arange(3)[chosen]
        assert [part.moves_of(game).tolist() for game in range(len(part))] == [
            records.moves_of(game).tolist() for game in order
        ]
        assert part.extra["year"].tolist() == (order + 1).tolist()
        assert part.skipped == 2
    assert len(records.select(np.zeros(3, bool))) == 0


def test_concatenate() -> None:
    first = some_records(extra={"year": np.array([7, 8, 9], np.uint16)}, source="a", problems=("p",), skipped=1)
    second = some_records(extra={"rank": np.ones(3, np.float32)}, source="b")
    both = GameRecords.concatenate([first, second.select(slice(1, 3)), GameRecords.empty(source="a", skipped=4)])
    assert [both.moves_of(game).tolist() for game in range(len(both))] == [[1, 2], [], [3, 4, 5], [], [3, 4, 5]]
    assert both.extra["year"].tolist() == [7, 8, 9, -1, -1]
    assert np.array_equal(both.extra["rank"], [np.nan] * 3 + [1, 1], equal_nan=True)
    assert (both.source, both.problems, both.skipped) == ("a, b", ("p",), 5)
    assert len(GameRecords.concatenate([])) == 0


def test_concatenate_unites_names() -> None:
    first = some_records(extra={"player": np.array([0, 1, 1])}, names={"player": ("Ada", "Bea")})
    second = some_records(extra={"player": np.array([1, 0, 2])}, names={"player": ("Bea", "Cay", "Ada")})
    without = some_records()
    both = GameRecords.concatenate([first, second, without])
    names = [both.names["player"][index] for index in both.extra["player"][:6]]
    assert names == ["Ada", "Bea", "Bea", "Cay", "Bea", "Ada"]
    assert both.extra["player"][6:].tolist() == [-1, -1, -1]
    assert GameRecords.concatenate([first, first]).names == first.names


def test_games_that_begin_elsewhere(othello: Game) -> None:
    elsewhere = othello.empty_columns(3)
    elsewhere.own[:] = [1, 2, 3]
    first = some_records(starts=elsewhere, start_side=np.array([1, -1, -1], np.int8))
    part = first.select(np.array([2, 0]))
    assert part.starts.own.tolist() == [3, 1]
    assert part.start_side is not None
    assert part.start_side.tolist() == [-1, 1]
    assert part.start_of(0).own == 3
    assert some_records().start_of(0) is None
    with pytest.raises(BadInputError, match="in which position the others begin"):
        GameRecords.concatenate([part, some_records()])
    both = GameRecords.concatenate([part, some_records()], initial_position=othello.initial_position)
    assert both.starts.own.tolist() == [3, 1, *[int(othello.initial_position.own)] * 3]
    assert both.starts.own.dtype == np.uint64
    assert both.start_side is not None
    assert both.start_side.tolist() == [-1, 1, 1, 1, 1]
    assert GameRecords.concatenate([part, GameRecords.empty()]).starts.own.tolist() == [3, 1]
    assert GameRecords.concatenate([some_records()]).starts is None


def test_columns_of_moves() -> None:
    first = some_records(move_columns={"book": np.array([True] * 2 + [False] * 3)})
    second = some_records(move_columns={"comment": np.arange(5, dtype=np.float32)})
    assert first.select(np.array([2, 0])).move_columns["book"].tolist() == [False, False, False, True, True]
    both = GameRecords.concatenate([first, second])
    assert both.move_columns["book"].tolist() == [True, True, *[False] * 8]
    assert np.array_equal(both.move_columns["comment"], [np.nan] * 5 + [0, 1, 2, 3, 4], equal_nan=True)


@pytest.mark.parametrize(
    ("offsets", "columns", "text"),
    [
        ([0, 2, 1, 5], {}, "offsets"),
        ([0, 2, 4], {}, "offsets"),
        ([1, 5], {}, "offsets"),
        ([0, 5], {"extra": {"year": np.zeros(2)}}, "'year' of game records has 2 values for 1"),
        ([0, 5], {"names": {"year": ("a",)}}, "no such column"),
        ([0, 5], {"move_columns": {"book": np.zeros(4)}}, "'book' of game records has 4 values for 5 moves"),
        ([0, 5], {"start_side": np.ones(1, np.int8)}, "both the positions that games begin in"),
    ],
)
def test_columns_that_do_not_fit(offsets: list[int], columns: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInputError, match=text):
        GameRecords.from_moves(np.zeros(5, np.uint8), np.array(offsets), **columns)


@pytest.mark.parametrize(
    ("name", "content", "records"),
    [
        ("games.txt", "f5d6c3d3\nf5f6\nd3c5\n", GAMES),
        ("games", "F5 D6 C3 D3\n\nf5f6\nd3c5", GAMES),
        ("games.txt", "+f5-d6+c3-d3: +0 10\n+f5-f6\n+d3-c5:\n", GAMES),
        ("games.csv", "id;moves\n1;f5d6c3d3\n2;f5f6\n3;d3c5\n", GAMES),
        ("games.data", "game_id,game_moves,winner\n1,f5d6c3d3,0\n2,f5f6,0\n3,d3c5,0\n", GAMES),
    ],
)
def test_formats_are_told_by_suffix_and_content(
    othello: Game, tmp_path: Path, name: str, content: str, records: tuple[str, ...]
) -> None:
    path = tmp_path / name
    path.write_text(content)
    for chunk_games in (1, 2, 100):
        found = GameRecords.concatenate(list(read_records(othello, path, chunk_games=chunk_games)))
        texts = ["".join(othello.format_move(int(move)) for move in found.moves_of(game)) for game in range(len(found))]
        assert tuple(texts) == records
        assert np.isnan(found.score).all()


def test_bad_arguments(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("f5d6\n")
    with pytest.raises(BadInputError, match="no format 'pgn'; known here: wthor, logbook"):
        read_records(othello, path, format="pgn", skip_bad=True)
    with pytest.raises(BadInputError, match="at least 1 record"):
        read_records(othello, path, chunk_games=0)
    with pytest.raises(BadInputError, match="must be positive"):
        read_records(othello, path, max_bytes=0)
    for read in (read_records, read_scored_positions):
        with pytest.raises(BadInputError, match="absent: no such file"):
            read(othello, tmp_path / "absent", skip_bad=True)


@pytest.mark.parametrize(("text", "told"), [("", "is empty"), ("\n \n", "holds nothing but blanks")])
def test_a_file_with_nothing_in_it(othello: Game, tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(BadInputError, match=f"notes: {told}$"):
        list(read_records(othello, path))


def test_a_file_of_no_known_format(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("Dear diary\n")
    with pytest.raises(BadInputError, match="neither its name nor its first line"):
        list(read_records(othello, path))
    (chunk,) = read_records(othello, path, skip_bad=True)
    assert (len(chunk), chunk.skipped, len(chunk.problems)) == (0, 1, 1)
    (positions,) = read_scored_positions(othello, path, skip_bad=True)
    assert (len(positions.label), len(positions.problems)) == (0, 1)


def test_the_size_limit_reaches_the_reader(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_text("f5d6\n" * 1000)
    with pytest.raises(BadInputError, match="limit of 4,000 bytes"):
        list(read_records(othello, path, max_bytes=4000))
