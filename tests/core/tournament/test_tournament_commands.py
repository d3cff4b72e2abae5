"""``glem match`` as a user runs it."""

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from glem.core.game.game import load_game
from glem.core.players.player import MoveChoice
from glem.core.positions.reading import read_records
from glem.core.positions.writing import write_games
from glem.core.tournament.games import End, PlayedGame
from glem.core.tournament.openings import Opening
from glem.core.tournament.tournament import read_games
from glem.core.tournament.transcripts import records_of_games
from tests.core.cli.terminal import Terminal

QUICK = ("othello", "greedy,evaluation=mobility", "random")


def test_a_match_prints_tables_and_continues(terminal: Terminal, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    command = ("match", *QUICK, "-o", record, "--opening-count", "5", "--workers", "1")
    text = terminal(*command)
    for word in ("10 games", "W-D-L", "nodes/move", "greedy,evaluation=mobility - random", "Elo", "significant"):
        assert word in text
    before = record.read_bytes()
    assert terminal(*command) == text
    assert record.read_bytes() == before
    assert "other settings" in terminal(*command, "--forfeit", status=2)


def test_a_tournament_in_json_and_its_transcripts(terminal: Terminal, tmp_path: Path) -> None:
    record, transcripts = tmp_path / "record.jsonl", tmp_path / "games.txt"
    command = ("match", *QUICK, "name=other,kind=random,seed=1", "-o", record, "--transcripts", transcripts)
    figures = json.loads(terminal(*command, "--opening-count", "2", "--workers", "1", "--json"))
    assert figures["games"] == 12
    assert len(figures["pairings"]) == 3
    assert sum(totals["games"] for totals in figures["players"].values()) == 24
    lines = transcripts.read_text().splitlines()
    _, _, games = read_games(record)
    assert [int(line.split()[-1]) for line in lines] == [game.score for game in games]
    # The game's own readers understand them, scores included.
    assert "from 12 games" in terminal("positions", transcripts, "-o", tmp_path / "positions.parquet")


@pytest.mark.parametrize(("game", "name"), [("connect_four", "games.txt"), ("othello", "some.games.gz")])
def test_games_of_any_game_are_read_again_and_are_openings(
    terminal: Terminal, tmp_path: Path, game: str, name: str
) -> None:
    record, written = tmp_path / "record.jsonl", tmp_path / name
    command = ("match", game, "name=one,kind=random,seed=1", "name=two,kind=random,seed=2", "--workers", "1")
    opened = ("--opening-count", "6", "--opening-plies", "4")
    printed = terminal(*command, *opened, "-o", record, "--transcripts", written)
    assert "0 - 1/2 - 1 - 3/2 - 2 points" in printed
    loaded, _, played = read_games(record)
    games = sorted(played, key=lambda one: one.number)
    [found] = read_records(loaded, written)
    assert found.score.tolist() == [one.score for one in games]
    for place, one in enumerate(games):
        moves = [*one.opening.moves, *(choice.move for choice in one.moves)]
        assert found.moves_of(place).tolist() == [move for move in moves if move != loaded.pass_move]
    assert "from 12 games" in terminal("positions", written, "-o", tmp_path / "positions.parquet")
    again = ("-o", tmp_path / "again.jsonl", "--openings", written, "--json")
    assert json.loads(terminal(*command, *again, "--opening-plies", "4"))["games"] == 12
    assert "the game is over after the opening; take fewer plies" in terminal(*command, *again, status=2)


def test_what_is_no_whole_game_is_written_as_such(tmp_path: Path) -> None:
    connect_four, path = load_game("connect_four"), tmp_path / "some.txt"
    start = connect_four.play(connect_four.initial_position, 3)
    moves = tuple(MoveChoice(move) for move in (3, 3, 2))
    openings = (Opening((0,)), Opening((0,)), Opening((0,), connect_four.format_position(start)))
    ends = (End.ADJUDICATED, End.TIME, End.ADJUDICATED)
    games = [
        PlayedGame(number, ("one", "two"), opening, moves, None if end is End.TIME else 1, 1, end, (0, 0))
        for number, (opening, end) in enumerate(zip(openings, ends, strict=True))
    ]
    write_games(connect_four, path, records_of_games(connect_four, games))
    [found] = read_records(connect_four, path)
    assert len(found) == 2
    assert np.isnan(found.score).all()
    assert found.theoretical_score.tolist()[0] == 1
    assert found.theoretical_ply.tolist() == [4, -1]
    assert path.read_text().splitlines()[-1].startswith(f"# begins at {openings[2].start}: 1 4 4 3\t")


@pytest.mark.parametrize("end", [End.DRAWN, End.REPETITION])
def test_a_claimed_draw_is_written_as_a_final_score_not_as_an_exact_one(tmp_path: Path, end: End) -> None:
    chess, path = load_game("chess"), tmp_path / "some.games"
    moves = (MoveChoice(chess.parse_move("e2e4")),)
    played = PlayedGame(0, ("one", "two"), Opening(()), moves, 0, 0, end, (0, 0))
    write_games(chess, path, records_of_games(chess, [played]))
    [found] = read_records(chess, path)
    assert found.score.tolist() == [0]
    assert np.isnan(found.theoretical_score).all()


def test_limits_for_all_players_a_clock_and_adjudication(terminal: Terminal, mobility: str, tmp_path: Path) -> None:
    command = ("match", "othello", f"name=a,evaluation={mobility}", f"name=b,evaluation={mobility},depth=2")
    command = (*command, "--opening-count", 1, "--workers", 1, "--adjudicate", 4)
    for limit, figure, least, most in (("nodes=300", "nodes_per_move", 250, 310), ("clock=0.6", "mean_depth", 1, 60)):
        record = tmp_path / f"{figure}.jsonl"
        assert least < terminal.json(*command, "--limit", limit, "-o", record)["players"]["a"][figure] < most
    # A game on the clock may go another way each time, and be over sooner.
    assert {game.end for game in read_games(tmp_path / "nodes_per_move.jsonl")[2]} == {End.ADJUDICATED}


def test_near_even_openings_and_a_sequential_test(terminal: Terminal, mobility: str, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    openings = f"--judge {mobility},depth=3 --even-within 1.5 --opening-plies 10 --opening-count 30".split()
    test = ["--sprt", "0,100", "--alpha", "0.1", "--beta", "0.1"]
    command = ("match", *QUICK, "-o", record, *openings, *test, "--workers", "1")
    text = terminal(*command)
    assert "SPRT: H1" in text
    assert (tmp_path / "record.jsonl.openings").exists()
    assert terminal(*command) == text


@pytest.mark.parametrize(
    ("plan", "lengths", "count"),
    [("random:4", {4}, 5), ("random:2-9", set(range(2, 10)), 5), ("all:3", {3}, 5), ("all:2", {2}, 3)],
)
def test_openings_are_planned_as_those_of_generated_games(
    plan: str, lengths: set[int], count: int, terminal: Terminal, tmp_path: Path
) -> None:
    saved = tmp_path / "saved.txt"
    chosen = ("--openings", plan, "--seed", 3, *(("--opening-count", 5) if count == 5 else ()))
    found = terminal.json("match", "othello", "random", "random,name=b", *chosen, "--save-openings", saved)
    assert found["openings"] == count
    openings = [line.split() for line in saved.read_text().splitlines() if line[:1].isalpha()]
    assert len({tuple(each) for each in openings}) == count
    assert {len(each) for each in openings} <= lengths
    assert len({len(each) for each in openings}) > 1 or len(lengths) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("match", *QUICK, "--openings", "random:4", "--opening-plies", "4"), "random:4 says how long they are"),
        (("match", *QUICK, "--openings", "random:x"), "must be like 8"),
        (("match", *QUICK, "--openings", "all:1", "--opening-count", "2"), "found 1 different opening of 1 ply"),
        (("match", *QUICK, "--openings", "all:1", "--judge", "random"), "give one of them"),
        (("match", "othello", "missing.npz,depth=3", "random"), "'missing.npz': no such file"),
        (("match", "othello", "random", "random", "--openings", "missing.txt"), "two players are called 'random'"),
        (("match", "othello", "random,speed=3", "random"), "unknown option 'speed'"),
        (("match", *QUICK, "--sprt", "5"), "--sprt must be two Elo differences"),
        (("match", *QUICK, "--sprt", "5,0"), "elo0 < elo1"),
        (("match", *QUICK, "--limit", "speed=5"), "unknown option 'speed'"),
        (("match", *QUICK, "--limit", "depth=4,solve=10"), "--limit must be limits alone"),
        (("match", *QUICK, "--transcripts", "games.txt"), "name one with -o"),
        (("match", *QUICK, "--openings", "missing.txt"), "missing.txt: no such file"),
        (("match", *QUICK, "--openings", "x", "--judge", "random"), "give one of them"),
        (("match", *QUICK, "--judge", "random"), "does not search"),
        (
            ("match", *QUICK, "--opening-plies", "1", "--opening-count", "2"),
            "of 1 ply before the end of the game, 2 are wanted",
        ),
        (("match", *QUICK, "-o", "no-folder/record"), "does not exist"),
        (("match", "go", *QUICK[1:]), "no game 'go'"),
        (("match", "othello", "random"), "two players or more"),
    ],
)
def test_bad_input_is_one_clear_line(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    error = terminal(*arguments, "--workers", "1", status=2)
    assert message in error
    assert error.count("\n") == 1


@pytest.fixture
def taken_port() -> Iterator[None]:
    """The port that dask's schedulers try first belongs to another program."""
    with socket.socket() as other:
        with contextlib.suppress(OSError):
            other.bind(("", 8787))
            other.listen()
        yield


@pytest.mark.usefixtures("taken_port")
def test_dask_as_an_option(terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A stranger's file in the current folder is run by none of dask's processes.
    (tmp_path / "signal.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w').close()\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    figures = [
        json.loads(terminal("match", *QUICK, "--opening-count", "4", *where, "--json"))
        for where in (("--workers", "1"), ("--workers", "2", "--dask", "local"))
    ]
    assert figures[0]["pairings"] == figures[1]["pairings"]
    assert not (tmp_path / "run").exists()
