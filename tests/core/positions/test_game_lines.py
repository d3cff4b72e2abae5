import gzip
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve

from glem.core.errors import BadInputError
from glem.core.game.game import Game, load_game
from glem.core.positions.labels import LabelCounts, label_records
from glem.core.positions.reading import read_records
from glem.core.positions.writing import write_games
from tests.oracles.replay import random_game, records_of, replay_game

HEADER = "# glem games 1 othello\n"


@pytest.mark.parametrize("name", ["some.games", "some.games.gz", "some.games.xz"])
def test_what_is_written_is_read(othello: Game, tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(1)
    # With written passes, which the file leaves out.
    games = [[step.move for step in replay_game(othello, random_game(othello, rng)).steps[:-1]] for _ in range(20)]
    written = records_of([*games, [othello.parse_move(name) for name in ("f5", "d6", "c3")]])
    written = evolve(
        written,
        theoretical_score=np.where(np.arange(21) % 2, 4.0, np.nan).astype(np.float32),
        theoretical_ply=np.where(np.arange(21) % 2, 36, -1).astype(np.int16),
    )
    write_games(othello, tmp_path / name, written)
    [found] = read_records(othello, tmp_path / name)
    passes = written.moves == othello.pass_move
    assert passes.any()
    assert np.array_equal(found.moves, written.moves[~passes])
    assert np.array_equal(found.theoretical_score, written.theoretical_score, equal_nan=True)
    assert np.array_equal(found.theoretical_ply, written.theoretical_ply)
    assert np.isnan(found.score).tolist() == [False] * 20 + [True]
    again = tmp_path / f"again-{name}"
    write_games(othello, again, found)
    [twice] = read_records(othello, again)
    assert np.array_equal(twice.score, found.score, equal_nan=True)
    write_games(othello, tmp_path / name, twice)
    assert again.read_bytes() == (tmp_path / name).read_bytes()


def test_games_that_were_drawn_by_claim_or_given_up_keep_their_scores(tmp_path: Path) -> None:
    chess, path = load_game("chess"), tmp_path / "some.games"
    written = "# glem games 1 chess\n" + "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8\t0\t\t\ne2e4\t\t\t\ne2e4\t-1\t\t\n"
    path.write_text(written)
    [found] = read_records(chess, path)
    assert np.array_equal(found.score, [0, np.nan, -1], equal_nan=True)
    write_games(chess, path, found)
    assert path.read_text() == written
    counts = LabelCounts()
    [labelled] = label_records(chess, [found], counts=counts)
    assert (counts.unfinished, counts.without_label) == (1, 2)
    assert labelled.record.tolist() == [1] * 9 + [3] * 2
    assert labelled.label.tolist() == [0] * 9 + [-1, 1]


def test_chunks_and_skipped_lines(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "some.games"
    path.write_text(HEADER + "\n# a remark\nf5 d6\t\t\t\nf5 f6\t\t\t\nf5 f4\t\t\t\n")
    chunks = list(read_records(othello, path, chunk_games=2))
    assert [len(chunk) for chunk in chunks] == [0, 1, 2]
    assert np.concatenate([chunk.extra["number"] for chunk in chunks]).tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f5 d6", ":2: it has 1 fields between tabs, expected 4"),
        ("f5 d9\t\t\t", ":2: 'd9' is no square"),
        ("f5 f5\t\t\t", ":2: move 2, f5, is illegal"),
        ("f5 d6\tx\t\t", ":2: its score must be a whole number from -64 to 64, got 'x'"),
        ("f5 d6\t1_0\t\t", ":2: its score must be .*, got '1_0'"),
        ("f5 d6\t65\t\t", ":2: its score must be .*, got '65'"),
        ("f5 d6\tnan\t\t", ":2: its score must be .*, got 'nan'"),
        ("f5 d6\t\t99\t1", ":2: its exact score must be a whole number from -64 to 64, got '99'"),
        ("f5 d6\t\t\t1", ":2: its exact score must be .*, got ''"),
        ("f5 d6\t\t3\t", ":2: the number of moves before its exact score must be .* from 0 to 2, got ''"),
        ("f5 d6\t\t3\t-5", "got '-5'"),
        ("f5 d6\t\t3\t-99999", "got '-99999'"),
        ("f5 d6\t\t3\t1_0", "got '1_0'"),
        ("f5 d6\t\t3\t 1", "got ' 1'"),
        ("f5 d6\t\t3\t7", "got '7'"),
    ],
)
def test_bad_lines_are_named_or_skipped(othello: Game, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.games"
    path.write_text(f"{HEADER}{line}\nf5 d6\t\t\t\n")
    with pytest.raises(BadInputError, match=message):
        list(read_records(othello, path))
    [found] = read_records(othello, path, skip_bad=True)
    assert (len(found), found.skipped) == (1, 1)


def test_a_score_that_the_moves_contradict_is_bad(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "bad.games"
    write_games(othello, path, records_of([random_game(othello, np.random.default_rng(1))]))
    path.write_text(path.read_text().replace("\t\t\t", "\t1\t\t"))
    with pytest.raises(BadInputError, match="the moves end at"):
        list(read_records(othello, path))


def test_other_games_and_other_files_are_refused(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "other.games"
    for text in ("# glem games 1 chess\n", "f5d6c3\n"):
        path.write_text(text)
        with pytest.raises(BadInputError, match="expected '# glem games 1 othello'"):
            list(read_records(othello, path))


def test_content_tells_the_format_where_the_name_does_not(othello: Game, tmp_path: Path) -> None:
    path = tmp_path / "games.log.gz"
    path.write_bytes(gzip.compress((HEADER + "f5 d6\t\t\t\n").encode()))
    [found] = read_records(othello, path)
    assert len(found) == 1


def test_players_are_kept_where_they_are_known(tmp_path: Path) -> None:
    path = tmp_path / "named.games"
    path.write_text("# glem games 1 connect_four\n4 4\t1\t\t\tAnn Lee\tBo\n4 3\t-1\t\t\n4 2\t0\t\t\t\tAnn Lee\n")
    game = load_game("connect_four")
    (records,) = read_records(game, path)
    assert [records.name("first_player", number) for number in range(3)] == ["Ann Lee", "", ""]
    assert [records.name("second_player", number) for number in range(3)] == ["Bo", "", "Ann Lee"]
    again = path.with_name("again.games")
    write_games(game, again, records)
    assert again.read_text() == path.read_text()
    path.write_text("# glem games 1 connect_four\n4 4\t1\t\t\tAnn\n")
    with pytest.raises(BadInputError, match=":2: it has 5 fields between tabs, expected 4, or 6 with players"):
        list(read_records(game, path))
