"""Reading PGN: against python-chess on whole and on damaged games, and what becomes of files as people have them."""

import gzip
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glem.core.compiling.columns import position_at
from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.core.positions.replay import ILLEGAL, replay
from glem.games.chess import CHESS
from glem.games.chess.boards import from_board
from glem.games.chess.pgn import reading as pgn
from tests.oracles.pgn import SCORES, plain_games

TAGS = '[Event "Test"]\n[White "Ann"]\n[Black "Bob"]\n'
FOOL = "1. f3 e5 2. g4 Qh4# 0-1\n"
LONG = """[Event "Wch U16"]
[Result "1-0"]

1.e4 c5 2.c3 Nf6 3.e5 Nd5 4.d4 Nc6 5.Nf3 cxd4 6.cxd4 e6 7.a3 d6 8.Bd3 Qa5+
9.Bd2 Qb6 10.Nc3 Nxc3 11.Bxc3 dxe5 12.dxe5 Be7 13.O-O Bd7 14.Nd2 Qc7 15.Qg4 O-O-O
16.Rfc1 Kb8 17.Qc4 Rc8 18.b4 f6 19.Nf3 Qb6 20.Qe4 f5 21.Qe1 a6 22.Rab1 g5
23.Nd2 Nd4 24.Qe3 Rxc3 25.Rxc3 f4 26.Qe1 g4 27.Ne4 Bc6 28.Nc5 Ka7 29.a4 Bf3
30.a5 Qd8 31.Bc4 Bxc5 32.bxc5 Qh4 33.gxf3 gxf3 34.Kh1 Rg8 35.Qe4 Rg7 36.Qxd4 Qg5
37.c6+ Kb8 38.c7+ Rxc7 39.Rg1 Qh5 40.Rg8+ Rc8 41.Qd6+ Ka7  1-0
"""
# En passant, castling, promotions, pieces told apart by file, by rank and by a pin.
RARE = """[Event "Rare moves"]
[FEN "r3k2r/1P4pp/8/3pP3/1N3N2/2n3n1/1p4PP/R3K2R w KQkq d6 0 30"]
[SetUp "1"]

30. exd6 b1=R+ 31. Rxb1 Nge2 32. Nfd3 {the pawn, too} (32. Kxe2 Nxe2 (32... O-O)) Nc1 33. O-O N3a2 34. Na6
$6 Ne2+ 35. Kf2 Nac1 36. Rbxc1 O-O+ 37. Kxe2 Rac8 38. Rc2 Rfd8 39. Rfc1 h6 40. bxc8=N?! Kf7 41. Nb6 Rf8 *
"""
FISCHER = """[Event "Chess960"]
[Variant "fischerandom"]
[FEN "brkbrnqn/pppppppp/8/8/8/8/PPPPPPPP/BRKBRNQN w EBeb - 0 1"]
[Result "1-0"]

1. Ne3 Nhg6 2. a4 Ne5 3. Ng4 b6 4. a5 g5 5. Qf1 d5
6. axb6 Nd3+ 7. cxd3 c6 8. e4 e6 9. Nf6 d4 10. Bc2 Be7 11. O-O-O O-O-O 12. Kb1 h5 1-0
"""


def read(content: str | bytes, path: Path) -> GameRecords:
    """All good games of a file."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    parts = list(read_records(CHESS, path, format="pgn", skip_bad=True))
    return GameRecords.concatenate(parts, initial_position=CHESS.initial_position)


def check(content: str | bytes, path: Path) -> GameRecords:
    """Moves, result and last position of every game are those of python-chess."""
    records = read(content, path)
    plain = list(plain_games(path.read_bytes()))
    assert len(records) == len(plain)
    assert not records.problems
    reached = replay(CHESS, records)
    for index, game in enumerate(plain):
        assert not game.errors
        assert records.moves_of(index).tolist() == game.moves
        score = np.float32(SCORES.get(game.result, np.nan))
        assert np.array_equal(records.score[index], score, equal_nan=True)
        assert reached.status[index] != ILLEGAL
        assert position_at(reached.positions, reached.last[index]) == from_board(game.board)
    return records


def test_moves_of_all_kinds(path: Path) -> None:
    records = check(f"{RARE}\n{TAGS}\n{FOOL}\n{LONG}\n{FISCHER}", path)
    assert records.lengths.tolist() == [24, 4, 82, 24]
    assert records.starts is not None
    assert records.start_of(1) == CHESS.initial_position


def test_a_game_that_black_begins(path: Path) -> None:
    fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    records = check(f'[FEN "{fen}"]\n\n1... e5 2. Nf3 1-0\n\n{TAGS}\n1. d4 0-1\n', path)
    assert records.start_side is not None
    assert records.start_side.tolist() == [-1, 1]
    labelled = positions_of_records(CHESS, [records], label="result")
    # White won the first game, from Black's view -1, although the board shows no end.
    assert labelled.label.tolist() == [-1, 1, -1, -1, 1]


@pytest.mark.parametrize(
    ("content", "lengths"),
    [
        (b"\xef\xbb\xbf" + (TAGS + "\n" + FOOL).encode(), [4]),
        ((TAGS + "\n" + FOOL + "\n" + LONG).replace("\n", "\r\n").encode(), [4, 82]),
        (TAGS.replace("Ann", "J\xf6rg").encode("latin-1") + b"\n" + FOOL.encode(), [4]),
        (TAGS + "\n1. f3 (1. e4 e5 (1... c5 {a } ( b) 2. Nf3) 2. f4) e5 2. g4 Qh4# 0-1", [4]),
        (TAGS + "\n1. f3 {; no } e5 ; a line { 2. e4\n2. g4 ;) \nQh4# 0-1 {done\nindeed}", [4]),
        (TAGS + "\n1. f3 $1 e5!? 2. g4?? $4 $139 Qh4# $1 0-1", [4]),
        (TAGS + "%escaped 1. e4 [ {\n\n1. f3\n% d4 {\ne5 2. g4 Qh4# 0-1", [4]),
        (TAGS + "\n1. f3 e5 2. g4 Qh4# *", [4]),
        (TAGS + "\n\n\n1. f3 e5\n\n2. g4 Qh4# 0-1\n\n\n\n" + TAGS + "\n" + FOOL, [4, 4]),
        (TAGS + FOOL + TAGS + FOOL, [4, 4]),
        (TAGS + FOOL.strip() + " " + TAGS + FOOL, [4, 4]),
        (FOOL + FOOL, [4, 4]),
        ("1 f3 e5 2 g4 e.p. Novelty +- Qh4++ mate 0-1", [4]),
        ("1. f2f3 e7-e5 2. g2-g4 Qd8h4 0-1", [4]),
        ("1. e4 d5 2. e4xd5 Qxd5 3. Ng1f3 Qd5-d8 4. 0-0 *", []),
        ("1. e4 e5 2. Nf3 Nf6 3. Bc4 Be7 4. 0-0 0-0 *", [8]),
        (TAGS + "1. f3 e5 \0\0 2. g4 Qh4# 0-1\n", [4]),
        (TAGS + "\n1. f3 e5 2. g4 Qh4#\n\n" + TAGS + "\n" + FOOL, [4, 4]),
        (TAGS + "torn \0 line\n[Result " + '"1-0"]\n\n' + FOOL, [4]),
        ("some words\n\n" + TAGS + "\n" + FOOL, [4]),
        (TAGS + "\n{before} 1. f3 e5 2. g4 Qh4# 0-1 {after}\n{between}\n\n" + TAGS + "\n" + FOOL, [4, 4]),
        ('[Event "The "Big" [one]"] [White "A"]\n' + FOOL, [4]),
        ("1. f3 e5 2. g4 Qh4# 0-1\r\r1. f3 e5 1-0\r", [4, 2]),
        (TAGS + "\n1-0\n", [0]),
    ],
)
def test_files_as_people_have_them(path: Path, content: str | bytes, lengths: list[int]) -> None:
    assert read(content, path).lengths.tolist() == lengths


@pytest.mark.parametrize("first", ["e4", "Pe4"])
@pytest.mark.parametrize(("plies", "kept"), [(150, 151), (151, 150), (158, 150), (300, 150)])
def test_games_played_on_after_75_moves_are_read_up_to_there(path: Path, first: str, plies: int, kept: int) -> None:
    shuffle = ("Nf6", "Nf3", "Ng8", "Ng1")
    moves = [first, *(f"{shuffle[ply % 4]} {{+{ply}.5/9}}" for ply in range(plies))]
    content = f'[Result "1-0"]\n\n{" ".join(moves)} 1-0\n\n{FOOL}'
    records = read(content, path)
    assert records.lengths.tolist() == [kept, 4]
    assert records.score.tolist() == [1, -1]
    (game, _) = plain_games(path.read_bytes().replace(b"Pe4", b"e4"))
    assert records.moves_of(0).tolist() == game.moves[:kept]
    assert np.isfinite(records.move_columns["comment_score"]).tolist() == [False] + [True] * (kept - 1) + [False] * 4
    assert [count for text, count in records.remarks.items() if text.startswith("played on after 75 moves")] == (
        [] if kept > plies else [1]
    )
    # The result is the one that it was played for, but where the rule ended it.
    labelled = positions_of_records(CHESS, [records], label="result")
    assert labelled.label[0] == (0 if kept > plies else 1)


def test_wrong_moves_after_75_moves_are_wrong(path: Path) -> None:
    moves = " ".join(["e4", *(["Nf6", "Nf3", "Ng8", "Ng1"] * 39), "Qxe4", "1-0"])
    assert "half-move 158, 'Qxe4', is illegal" in read(moves, path).problems[0]


@pytest.mark.parametrize(
    ("marker", "score"),
    [
        ("1/2", 0),
        ("1/2 - 1/2", 0),
        ("1/2-1/2", 0),
        ("\u00bd-\u00bd", 0),
        ("\u00bd", 0),
        ("\u00bd \u2013 \u00bd", 0),
        ("O-1", -1),
        ("1-O", 1),
        ("1 - 0", 1),
        ("0\u20131", -1),
    ],
)
def test_results_as_people_write_them(path: Path, marker: str, score: int) -> None:
    moves = "1. e4 e5 2. Nf3 Nc6"
    untagged = read(f"{moves} {marker}\n", path)
    assert (untagged.lengths.tolist(), untagged.score.tolist()) == ([4], [score])
    assert not untagged.remarks
    followed = read(f"{moves} {marker}\n\n{TAGS}\n{FOOL}", path)
    assert followed.score.tolist() == [score, -1]
    tagged = read(f'[Event "a"]\n[Result "{marker}"]\n\n{moves} *\n', path)
    assert tagged.score.tolist() == [score]
    latin = read(f"{moves} {marker}\n".encode("latin-1", "ignore"), path)
    assert latin.score.tolist() == [score] or "\u2013" in marker
    # What python-chess has to read is understood as well.
    spelt = read(f"1. e2e4 e7e5 2. g1f3 b8c6 {marker}\n\n{TAGS}\n{FOOL}", path)
    assert spelt.lengths.tolist() == [4, 4]
    assert spelt.score.tolist() == [score, -1]


@pytest.mark.parametrize("marker", ["11/2-1/2", "1'2-1/2", "2-1"])
def test_what_only_ends_like_a_loss_is_none(path: Path, marker: str) -> None:
    records = read(f"{TAGS}\n{FOOL}\n\n1. e4 e5 {marker}\n\n{TAGS}\n{FOOL}", path)
    assert -1 not in records.score[records.lengths == 2].tolist()


def test_a_letter_that_ends_like_a_half_is_no_result(path: Path) -> None:
    records = read(f"{TAGS}\n1. e4 \u017d\u017darko e5 2. Nf3 1-0\n", path)
    assert (records.lengths.tolist(), records.score.tolist()) == ([3], [1])


def test_the_last_game_may_have_its_result_in_a_tag_alone(path: Path) -> None:
    first, last = f"{TAGS}\n{FOOL}\n", '[Event "b"]\n[Result "{}"]\n\n1. e4 e5 2. Nf3'
    for result, score in (("1-0", 1), ("0-1", -1), ("1/2-1/2", 0)):
        records = read(first + last.format(result), path)
        assert records.lengths.tolist() == [4, 3]
        assert records.score.tolist() == [-1, score]
        assert records.remarks == {"ended by the end of the file, with their result in a tag alone": 1}
    for text in (last.format("*"), last.format("1-0 or so"), '[Event "b"]\n[Result "1-0"]\n\n', "1. e4 e5"):
        records = read(first + text, path)
        assert len(records) == 1
        assert "expected 1-0, 0-1, 1/2-1/2 or * behind its moves, or a result in its tags" in records.problems[0]


def test_a_brace_within_braces_is_told_where_moves_do_not_follow(path: Path) -> None:
    nested = f"{TAGS}\n1. e4 {{best is {{1. d4}} d4}} e5 *\n"
    [problem] = read(nested, path).problems
    assert problem.endswith(
        "half-move 2, 'd4', is illegal (behind a brace within braces: a comment ends at the first closing one)"
    )
    assert read(nested.replace("d4} e5", "here} e5"), path).lengths.tolist() == [2]
    [problem] = read(f"{TAGS}\n1. e4 {{a}} Qh5 *\n", path).problems
    assert problem.endswith("half-move 2, 'Qh5', is illegal")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(path: Path, encoding: str) -> None:
    path.write_bytes(f"{TAGS}\n{FOOL}".encode(encoding))
    with pytest.raises(BadInputError, match="is text in UTF-16; save it as UTF-8"):
        list(read_records(CHESS, path))
    path.rename(path.with_suffix(".txt"))
    with pytest.raises(BadInputError, match="is text in UTF-16; save it as UTF-8"):
        list(read_records(CHESS, path.with_suffix(".txt")))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (TAGS + "\n1. f3 e5 2. g4\nQh5 0-1\n", ":6: game 1: half-move 4, 'Qh5', is illegal"),
        (TAGS + "\n1. e4 d5 2. Nf3 d4 3. Nc3 d3 4. Nd5 Nf6 5. N5d4 *", "half-move 9, 'N5d4', is illegal"),
        (TAGS + "\n1. Nf3 a6 2. d4 a5 3. Nd2 *", "half-move 5, 'Nd2', is ambiguous"),
        (TAGS + "\n1. e4 Sf6 2. e5 *", "'Sf6' is no move"),
        (TAGS + "\n1. e4 -- 2. d4 *", "'--' is no move of chess but a null move"),
        (TAGS + "\n1. e4 0000 2. d4 *", "'0000' is no move of chess"),
        (TAGS + "\n1. e4 e5 1-0 2. Nf3\n", "'Nf3' stands behind the result"),
        (TAGS + "\n1. e4 e5 1-0\n2. Nf3 Nc6\n", "'Nf3' stands behind the result"),
        (TAGS + "\n1. e4 {e5 1-0\n\n" + TAGS + "\n" + FOOL, "a comment begins that has no end"),
        (TAGS + "\n1. e4 (e5 1-0\n\n" + TAGS + "\n" + FOOL, "a variation has no end"),
        (TAGS + "\n" + FOOL + "\n" + TAGS + "\n1. e4 e5 2. N", ":11: game 2: the file ends within the game"),
        (TAGS + "\n" + FOOL + "\n" + TAGS, "game 2: the file ends within the game"),
        (TAGS + TAGS + FOOL, "game 1: there are no moves, and no result"),
        ('[Variant "Atomic"]\n\n' + FOOL, "'Atomic' is another game"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n' + FOOL, "cannot be played: .*no white king"),
        ('[FEN "rubbish"]\n\n' + FOOL, "begins in no position"),
        ('[FEN "7k/8/8/8/8/8/R7/K7 w - - 150 99"]\n\n1. Ra3 Kg8 2. Ra4 1-0', "'Ra3', comes after the end of the game"),
        ("Dear diary,\n\ntoday I lost.\n", "game 1: the file ends within the game"),
    ],
)
def test_bad_games_are_told_and_counted(path: Path, content: str, problem: str) -> None:
    records = read(content, path)
    assert records.skipped == 1
    with pytest.raises(BadInputError, match=problem) as caught:
        list(read_records(CHESS, path, format="pgn"))
    assert str(caught.value).startswith(str(path))
    assert records.problems == (str(caught.value),)


def test_files_without_games(path: Path) -> None:
    for content in (b"", b"\n\n", b"\xef\xbb\xbf", b"% nothing\n"):
        records = read(content, path)
        assert (len(records), records.skipped) == (0, 1)
        assert "no games; expected PGN" in records.problems[0]


def test_tags(path: Path) -> None:
    records = read(
        b'[Event "A"]\n[White "J\xf6rg"]\n[WhiteElo "2700"]\n[BlackElo "?"]\n[Date "1997.05.??"]\n[Result "1-0"]\n'
        b"\n1. e4 0-1\n"
        b'\n[Black "\xc3\x85sa \\"B\\""]\n[BlackElo "2100"]\n[Date "????.??.??"]\n[Result "*"]\n\n1. e4 0-1\n',
        path,
    )
    assert [records.names["white"][0], records.names["black"][0]] == ["J\xf6rg", '\xc5sa "B"']
    columns: dict[str, Any] = {name: records.extra[name].tolist() for name in records.extra}
    assert (columns["white"], columns["black"], columns["event"]) == ([0, -1], [-1, 0], [0, -1])
    assert (columns["white_rating"], columns["black_rating"]) == ([2700, -1], [-1, 2100])
    assert columns["date"] == [19970500, -1]
    # The tag goes before the result behind the moves, as long as it tells one.
    assert records.score.tolist() == [1, -1]


def test_scores_in_comments(path: Path) -> None:
    texts = {
        "{+0.31/14 3s}": (1, 0.31, 0),
        "{ -12.5/20 }": (1, -12.5, 0),
        "{0.00/31 48s}": (1, 0, 0),
        "{-M5/33 2s}": (1, -np.inf, 5),
        "{ [%clk 0:01:00] [%eval 0.17,22] }": (2, 0.17, 0),
        "{[%eval #-3]}": (2, -np.inf, 3),
        "{d=26, pv=e4 e5, wv=-0.34, R50=50,}": (3, -0.34, 0),
        "{wv=M12,}": (3, np.inf, 12),
        "{ev=0.25, wv=-0.25,}": (3, -0.25, 0),
        "{ ev=-12,d=1 }": (4, -12, 0),
        "{ev=#7}": (4, np.inf, 7),
        "{+0,31/15 1,2s}": (1, 0.31, 0),
        "{-0,5}": (1, -0.5, 0),
        "{12,25/20}": (1, 12.25, 0),
        "{-12,d=5}": (1, -12, 0),
        "{ev=-0,25, d=3}": (4, -0.25, 0),
        "{[%eval 17,22]}": (2, 17, 0),
        "{(e7e5) -0.20/14 1}": (1, -0.20, 0),
        "{ (Nf3 Nc6) +M5/14 1}": (1, np.inf, 5),
        "{(e7e5}": (0, np.nan, 0),
        "{\u22120.31/14}": (1, -0.31, 0),
        "{\u20130.31/14}": (1, -0.31, 0),
        "{[%ce 31]}": (5, 31, 0),
        "{[%ce -31][%eval -0.31]}": (2, -0.31, 0),
        "{[%ce  +7] [%clk 0:01]}": (5, 7, 0),
        "{[%cet 31]}": (0, np.nan, 0),
        "{1. e4 would be better}": (0, np.nan, 0),
        "{12 minutes} {+0.5}": (1, 0.5, 0),
        "{book}": (0, np.nan, 0),
        "(1. d4 {+9.9/9})": (0, np.nan, 0),
        "{+ better}": (0, np.nan, 0),
    }
    content = "".join(f"{TAGS}\n1. a3 {text} a6 {{+7/7}} *\n\n" for text in texts) + LONG
    records = read(content, path)
    first = records.offsets[:-2]
    for number, (text, (kind, score, mate)) in enumerate(texts.items()):
        place = first[number]
        found = [records.move_columns[f"comment_{name}"][place] for name in ("kind", "score", "mate")]
        assert np.array_equal(found, [kind, np.float32(score), mate], equal_nan=True), text
        assert records.move_columns["book"][place] == (text == "{book}")
    assert np.isnan(records.move_columns["comment_score"][first[-1] + 2 :]).all()


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_games_that_blocks_cut(path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "_BLOCK", block)
    content = "\n".join([TAGS + "\n" + FOOL, LONG, "{a comment}\n", RARE, FISCHER.strip()])
    if block < 64:
        content = content[:300] + "1-0\n\n1. e4 1-0"
    path.write_text(content.replace("\n", "\r\n"), newline="")
    packed = path.with_suffix(".pgn.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for source in (path, packed):
        parts = list(read_records(CHESS, source, chunk_games=3, skip_bad=True))
        found = GameRecords.concatenate(parts, initial_position=CHESS.initial_position)
        monkeypatch.setattr(pgn, "_BLOCK", 1 << 20)
        expected = GameRecords.concatenate(
            list(read_records(CHESS, path, skip_bad=True)), initial_position=CHESS.initial_position
        )
        monkeypatch.setattr(pgn, "_BLOCK", block)
        assert found.moves.tolist() == expected.moves.tolist()
        assert found.offsets.tolist() == expected.offsets.tolist()
        assert found.extra["number"].tolist() == expected.extra["number"].tolist()


def test_a_game_without_end_is_passed_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "_BLOCK", 1 << 10)
    monkeypatch.setattr(pgn, "_LONGEST_GAME", 1 << 12)
    content = TAGS + "\n" + FOOL + "\n" + "x" * 20_000 + "\n" + TAGS + "\n" + FOOL + TAGS + "1. e5 *\n"
    records = read(content, path)
    assert records.extra["number"].tolist() == [1, 3]
    assert [problem.split(": ", 1)[1] for problem in records.problems] == [
        "game 2: it does not end within 4,096 bytes; is this a PGN file?",
        "game 4: half-move 1, 'e5', is illegal",
    ]
    assert records.problems[1].startswith(f"{path}:16:")


def test_damaged_games_against_python_chess(path: Path) -> None:
    """What both read without complaint they read alike."""
    chance = random.Random(6)
    pieces = [*" \n(){};%x#8-\0\xff", "", "$3", "!?", "O-O", "e4", "Nf3", "12.", "=Q", "0-0"]
    alike = 0
    for number in range(400):
        content = LONG if number % 2 else RARE
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = chance.randrange(content.index("\n\n") + 2, len(content))
            cut = chance.choice((0, 0, 1, 2))
            content = content[:at] + chance.choice(pieces) + content[at + cut :]
        records = read(content.encode("latin-1"), path)
        plain = list(plain_games(path.read_bytes()))
        if not records.skipped and not any(game.errors for game in plain) and len(plain) == 1:
            alike += 1
            assert [records.moves_of(game).tolist() for game in range(len(records))] == [plain[0].moves], content
    assert alike > 100


def test_recognizes() -> None:
    assert pgn.recognizes(b'\n[Event "x"]\n')
    assert pgn.recognizes(b"% remark\n1. Nf3 d5 2. c4")
    assert not pgn.recognizes(b"f5d6c3\n")
    assert not pgn.recognizes(b"\0\x01")


@pytest.mark.shared
def test_games_of_the_collections(shared: Any, path: Path) -> None:
    """The beginnings of collections of every kind."""
    import lzma

    for name in ("players/anand", "players/nimzowitsch", "engines/tcec-chess960", "engines/tcec-seasons-01-14"):
        with lzma.open(shared / "chess" / f"{name}.pgn.xz") as file:
            content = file.read(1 << 18)
        check(content[: content.rindex(b"\n[Event ")], path)
    for name in ("kasparov-deep-blue-1997", "stockfish-learning", "nepomniachtchi-liren-game1"):
        check((shared / "chess" / "samples" / f"{name}.pgn").read_bytes(), path)
