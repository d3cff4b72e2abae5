import json
import shlex
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from attrs import evolve

from glem.core.cli.game_choice import choose_game
from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.machine.large_arrays import is_in_file
from glem.core.positions.files import (
    PositionFiles,
    PositionWriter,
    keep_unseen,
    merge_file,
    read_header,
    read_positions,
    stream_positions,
    write_positions,
)
from glem.core.positions.positions import Positions
from tests.core.positions.test_positions import assert_same, random_set

KEY = b"glem.positions"


def rewritten(path: Path, change: Any) -> Path:
    """Write a changed copy of a file's table; ``change`` maps a table to a table."""
    target = path.with_name("changed.parquet")
    pq.write_table(change(pq.read_table(path)), target)
    return target


def with_header(table: pa.Table, **changes: Any) -> pa.Table:
    header = {**json.loads(table.schema.metadata[KEY]), **changes}
    return table.replace_schema_metadata({KEY: json.dumps(header).encode()})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "positions.parquet"


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_what_is_read_equals_what_was_written(othello: Game, path: Path, count: int) -> None:
    some = random_set(othello, count, 1)
    write_positions(path, some)
    assert_same(read_positions(path), some)
    merged = some.merge_duplicates(keep_spread=True)
    write_positions(path, merged)
    assert_same(read_positions(path, othello), merged)


@pytest.mark.parametrize("chunk", [1, 7, 100, 5000])
def test_streaming_gives_the_same_in_chunks(othello: Game, path: Path, chunk: int) -> None:
    some = random_set(othello, 230, 2)
    write_positions(path, some)
    chunks = list(stream_positions(path, chunk))
    assert max(len(part) for part in chunks) <= chunk
    assert_same(Positions.concatenate(chunks, renumber=False), some)


def test_parts_are_appended_and_sources_united(othello: Game, path: Path) -> None:
    parts = [random_set(othello, 10, seed, source=source) for seed, source in ((3, "a"), (4, "b"), (5, "a"))]
    with PositionWriter(path, othello, "score") as writer:
        for part in parts:
            writer.append(part)
        assert not path.exists()
    assert writer.count == 30
    assert_same(read_positions(path), Positions.concatenate(parts, renumber=False))
    header = read_header(path)
    assert (header.game, header.label_kind, header.count, header.sources) == ("othello", "score", 30, ("a", "b"))
    assert header.score_bounds == (-64, 64)


def test_an_interrupted_writer_leaves_the_old_file(othello: Game, path: Path) -> None:
    old = random_set(othello, 5, 6)
    write_positions(path, old)
    with pytest.raises(KeyboardInterrupt), PositionWriter(path, othello, "score") as writer:
        writer.append(random_set(othello, 50, 7))
        raise KeyboardInterrupt
    assert_same(read_positions(path), old)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_parts_of_another_kind_are_refused(othello: Game, path: Path) -> None:
    some = random_set(othello, 5, 8)
    with PositionWriter(path, othello, "score") as writer:
        writer.append(some)
        with pytest.raises(BadInputError, match="with 'score' labels, not othello with 'result'"):
            writer.append(evolve(some, label_kind="result"))
        with pytest.raises(BadInputError, match="some parts have a label spread"):
            writer.append(some.merge_duplicates(keep_spread=True))


def test_files_that_are_missing_or_hold_something_else(path: Path) -> None:
    with pytest.raises(BadInputError, match=r"positions\.parquet: cannot be read: No such file"):
        read_positions(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(BadInputError, match=r"positions\.parquet: damaged, or no Parquet file of positions"):
        read_positions(path)
    pq.write_table(pa.table({"a": [1, 2]}), path)
    with pytest.raises(BadInputError, match="glem did not write it"):
        read_positions(path)


@pytest.mark.parametrize(
    "write",
    [
        lambda path: pd.read_parquet(path).to_parquet(path),
        lambda path: pd.read_parquet(path).query("ply > -9").to_parquet(path),
        lambda path: pl.read_parquet(path).write_parquet(path),
        lambda path: pq.write_table(pq.read_table(path).replace_schema_metadata(None), path),
    ],
)
def test_a_file_that_another_program_wrote_again_says_what_restores_it(othello: Game, path: Path, write: Any) -> None:
    some = random_set(othello, 20, 9)
    write_positions(path, some)
    write(path)
    for read in (read_header, lambda path: choose_game(None, files=[path]), lambda path: read_header(path, othello)):
        with pytest.raises(BadInputError, match=r"positions\.parquet is .* python -c ") as caught:
            read(path)
        assert "\n" not in str(caught.value)
    exec(shlex.split(str(caught.value).partition(": python -c ")[2])[0])
    found = read_positions(path)
    assert found.label_kind == "result"
    assert_same(evolve(found, label_kind=some.label_kind, sources=some.sources), some)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: with_header(table, version=2), "format version 2, this glem reads 1"),
        (lambda table: with_header(table, game="no such game"), "no game 'no such game'"),
        (lambda table: with_header(table, game=3), "a name is no text"),
        (lambda table: with_header(table, sources=7), "TypeError"),
        (lambda table: with_header(table, sources="abc"), "a name is no text"),
        (lambda table: table.append_column("weight", table["weight"]), "two columns have one name"),
        (lambda table: with_header(table, score=None), "no header of positions"),
        (lambda table: with_header(table, score={"view": "black", "bounds": [-64, 64]}), "the view 'black'"),
        (lambda table: with_header(table, score={"view": "side to move", "bounds": [-1, 1]}), "run from -1 to 1"),
        (lambda table: with_header(table, sources=[]), "names source 0 of 0"),
        (lambda table: table.replace_schema_metadata({KEY: b"{"}), "no header of positions"),
        (lambda table: table.replace_schema_metadata({KEY: b"[" * 100_000}), "no header of positions"),
        (lambda table: table.drop_columns(["label"]), "column 'label' should be float, it is missing"),
        (lambda table: table.append_column("more", [list(range(20))]), "unknown column 'more'"),
        (
            lambda table: table.set_column(2, "label", [table["label"].cast(pa.float64())]),
            "column 'label' should be float, it is double",
        ),
        (
            lambda table: table.set_column(2, "label", pa.array([None] * 20, pa.float32())),
            "column 'label' has missing values",
        ),
        (
            lambda table: table.set_column(2, "label", pa.array([np.inf] * 20, pa.float32())),
            "from row 0 on: label of position 0 is inf",
        ),
    ],
)
def test_damaged_headers_and_columns(othello: Game, path: Path, change: Any, message: str) -> None:
    write_positions(path, random_set(othello, 20, 9))
    with pytest.raises(Exception, match=message) as raised:
        read_positions(rewritten(path, change))
    assert "\n" not in str(raised.value)
    assert type(raised.value).__module__ == "glem.core.errors"


def test_more_positions_than_memory_has_room_for_lie_in_files(
    path: Path, othello: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glem.core.machine.large_arrays.PIECE", 1000)
    # The second has a spread, which is left out.
    first, second = random_set(othello, 5000, 12), random_set(othello, 3000, 13)
    second = evolve(second, label_spread=np.ones(3000, np.float32))
    other = path.with_name("other.parquet")
    write_positions(path, first)
    write_positions(other, second)
    whole = PositionFiles.of([path, other]).read()
    monkeypatch.setattr("glem.core.machine.large_arrays.memory_left", lambda: 1 << 12)
    monkeypatch.setattr("glem.core.machine.large_arrays._LEAST", 0)
    found = PositionFiles.of([path, other]).read()
    assert all(is_in_file(column) for column in found.columns().values())
    assert not any(is_in_file(column) for column in whole.columns().values())
    assert_same(found, whole)
    assert_same(whole, Positions.concatenate([first, second]))
    mask = found.held_out_mask(0.4, 3)
    np.testing.assert_array_equal(mask, whole.held_out_mask(0.4, 3))
    for rows in (mask, np.flatnonzero(mask)[::-1], slice(10, 5000), np.arange(3)):
        assert_same(found.select(rows), whole.select(rows))
    assert is_in_file(found.select(mask).label)


def test_a_file_is_merged_in_parts_as_at_once(othello: Game, path: Path) -> None:
    some = random_set(othello, 600, 13, distinct=150)
    write_positions(path, some)
    parts, whole = path.with_name("parts.parquet"), path.with_name("whole.parquet")
    assert merge_file(path, whole, keep_spread=True) == merge_file(
        path, parts, keep_spread=True, positions_in_memory=100
    )
    expected, found = read_positions(whole), read_positions(parts)
    assert_same(expected, some.merge_duplicates(keep_spread=True))
    order = [np.lexsort((one.positions.opponent, one.positions.own)) for one in (expected, found)]
    assert_same(found.select(order[1]), expected.select(order[0]))
    merge_file(path, path)
    assert len(read_positions(path)) == len(expected)
    assert len(expected) < 200 < len(some)
    assert {file.stem for file in path.parent.iterdir()} == {"parts", "positions", "whole"}


def test_unseen_positions_are_kept(othello: Game, path: Path) -> None:
    some, training = random_set(othello, 200, 14, distinct=60), random_set(othello, 40, 15, distinct=60)
    training_path = path.with_name("training.parquet")
    write_positions(path, some)
    write_positions(training_path, training)
    expected = some.without(training)
    assert keep_unseen(path, path, training=training_path) == len(expected)
    assert_same(read_positions(path), expected)
    write_positions(training_path, Positions.empty(othello))
    assert keep_unseen(path, path, training=training_path) == len(expected)


def test_chunks_must_hold_something(othello: Game, path: Path) -> None:
    write_positions(path, Positions.empty(othello))
    with pytest.raises(BadInputError, match="at least one position, got 0"):
        list(stream_positions(path, 0))
    assert [len(part) for part in stream_positions(path, 5)] == [0]


def test_merging_holds_what_is_different(othello: Game, path: Path) -> None:
    """One position that is most of a file does not fill memory, wherever it is dealt to."""
    some = random_set(othello, 20_000, 13, distinct=20)
    peaks = []
    for copies in (20, 80):
        with PositionWriter(path, othello, some.label_kind) as writer:
            for _ in range(copies):
                writer.append(some)
        tracemalloc.start()
        try:
            assert merge_file(path, path.with_name("merged.parquet"), positions_in_memory=1 << 17) <= 20
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.6 * peaks[0]
