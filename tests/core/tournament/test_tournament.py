"""Whole tournaments: the same games whatever happens on the way."""

import json
import os
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import attrs
import click
import pytest

from glem.core.cli.options import opened_workers
from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.players.spec import parse_player
from glem.core.tasks.tasks import SAFE_PATH, Workers
from glem.core.tournament.elo import PairCounts
from glem.core.tournament.games import PlayedGame
from glem.core.tournament.sprt import Sprt, SprtVerdict
from glem.core.tournament.tournament import TournamentResult, read_games, run_tournament
from tests.core.tournament.tournament_examples import QUICK, killed_once_then_played, quick_tournament
from tests.killed_programs import KILLED, end_command_when


def untimed(game: PlayedGame) -> PlayedGame:
    moves = (attrs.evolve(move, seconds=0.0, processor_seconds=None) for move in game.moves)
    return attrs.evolve(game, moves=tuple(moves))


def games_of(path: Path) -> list[PlayedGame]:
    _, _, games = read_games(path)
    return sorted((untimed(game) for game in games), key=lambda game: game.number)


def untimed_figures(result: TournamentResult) -> dict[str, Any]:
    figures = result.to_json()
    for totals in figures["players"].values():
        for name in [name for name in totals if "seconds" in name or name == "slowest"]:
            del totals[name]
    return figures


@pytest.fixture(scope="module")
def whole(othello: Game, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[PlayedGame], dict[str, Any]]:
    """Games and figures of a tournament that nothing disturbed."""
    record = tmp_path_factory.mktemp("whole") / "record.jsonl"
    result = run_tournament(quick_tournament(othello), record)
    return games_of(record), untimed_figures(result)


def test_everyone_meets_everyone_twice_from_every_opening(whole: Any, othello: Game) -> None:
    games, figures = whole
    tournament = quick_tournament(othello)
    assert [game.number for game in games] == list(range(len(tournament))) == list(range(36))
    met = Counter((game.players, game.opening) for game in games)
    for opening in tournament.openings:
        for one, other in combinations(tournament.names, 2):
            assert met[(one, other), opening] == met[(other, one), opening] == 1
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert first.players == second.players[::-1]
        assert first.opening == second.opening
    assert figures["games"] == figures["games_played"] == figures["games_planned"] == 36


def test_figures_count_every_game_from_the_right_side(whole: Any) -> None:
    games, figures = whole
    for name, totals in figures["players"].items():
        results = [game.result if game.players[0] == name else -game.result for game in games if name in game.players]
        assert (totals["wins"], totals["draws"], totals["losses"]) == tuple(results.count(r) for r in (1, 0, -1))
        moves = sum(game.players[game.side_of(place)] == name for game in games for place in range(len(game.moves)))
        assert totals["moves"] == moves
    for pairing in figures["pairings"]:
        one, other = pairing["players"]
        counts = [0] * 5
        for first, second in zip(games[::2], games[1::2], strict=True):
            if {one, other} == set(first.players):
                as_first, as_second = (first, second) if first.players[0] == one else (second, first)
                counts[2 + as_first.result - as_second.result] += 1
        assert list(pairing["pairs"]) == counts
        assert sum(pairing["pairs"]) == 6
    greedy = figures["players"]["greedy,evaluation=mobility"]
    assert greedy["score"] > 0.5
    assert greedy["nodes_per_move"] > 1


def test_two_workers_or_no_record_change_nothing(whole: Any, othello: Game, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    result = run_tournament(quick_tournament(othello), record, workers=Workers(2))
    assert (games_of(record), untimed_figures(result)) == whole
    assert untimed_figures(run_tournament(quick_tournament(othello))) == whole[1]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.repeats)])
def test_a_killed_tournament_loses_no_game_and_plays_none_twice(
    whole: Any, othello: Game, tmp_path: Path, workers: int
) -> None:
    record = tmp_path / "record.jsonl"
    openings = ("--opening-plies", "4", "--opening-count", "6", "--seed", "1")
    command = ["match", "othello", *QUICK, *openings, "-o", str(record), "--workers", str(workers)]
    for least in (3, 12):
        status, _ = end_command_when(
            command, lambda least=least: record.exists() and record.read_bytes().count(b"\n") > least
        )
        assert status in KILLED
    whole_lines, _, _ = record.read_bytes().rpartition(b"\n")
    before = [line["number"] for line in map(json.loads, whole_lines.splitlines()[1:])]
    assert 12 <= len(before) < 36
    with record.open("ab") as file:
        file.write(b'{"number":35,"players":["ran')
    result = run_tournament(quick_tournament(othello), record, workers=Workers(workers))
    numbers = [line["number"] for line in map(json.loads, record.read_bytes().splitlines()[1:])]
    assert numbers[: len(before)] == before
    assert sorted(numbers) == list(range(36))
    assert (games_of(record), untimed_figures(result)) == whole


@pytest.mark.parametrize("dask", [None, pytest.param("local", marks=pytest.mark.repeats)])
def test_a_worker_that_is_killed_costs_no_game(
    whole: Any, othello: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dask: str | None
) -> None:
    monkeypatch.setattr("glem.core.tournament.tournament.play_game", killed_once_then_played)
    monkeypatch.setenv("GLEM_TEST_MARKER", str(tmp_path / "killed"))
    record = tmp_path / "record.jsonl"
    safe_path = os.environ.get(SAFE_PATH)
    with click.Context(click.Command("match")):
        result = run_tournament(quick_tournament(othello), record, workers=opened_workers(2, dask))
    assert (tmp_path / "killed").exists()
    assert os.environ.get(SAFE_PATH) == safe_path
    assert (games_of(record), untimed_figures(result)) == whole


def test_another_tournament_is_refused(othello: Game, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    run_tournament(quick_tournament(othello, *QUICK[:2], pairs=1), record)
    before = record.read_bytes()
    for other in (
        quick_tournament(othello, *QUICK[:2], pairs=2),
        quick_tournament(othello, QUICK[0], QUICK[2], pairs=1),
        quick_tournament(othello, *QUICK[:2], pairs=1, sprt=Sprt(0, 10)),
    ):
        with pytest.raises(BadInputError, match="belongs to other settings"):
            run_tournament(other, record)
    assert record.read_bytes() == before


def test_a_record_with_impossible_games_is_refused(othello: Game, tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    tournament = quick_tournament(othello, *QUICK[:2], pairs=1)
    run_tournament(tournament, record)
    header, *games = record.read_bytes().splitlines(keepends=True)
    for lines, message in (
        ([games[0], games[0]], r"record.jsonl:3: .*game 0 twice"),
        (
            [games[0].replace(b'"number":0', b'"number":Infinity'), games[1]],
            r"record.jsonl:2: damaged; what follows would be lost",
        ),
        ([games[0].replace(b'"number":0', b'"number":7')], r"record.jsonl:2: .*has game 7"),
        ([games[0].replace(b'"number":0', b'"number":1')], "game 1 of the record is not the tournament's: random - "),
        ([games[0].replace(b'"end":"finished"', b'"end":"bored"')], r"record.jsonl:2: .*no record of a game"),
        ([games[0], re.sub(rb'"score":-?\d+', b'"score":3', games[1])], "record.jsonl:3: its score is given as 3, but"),
    ):
        record.write_bytes(header + b"".join(lines))
        with pytest.raises(BadInputError, match=message):
            run_tournament(tournament, record)


def test_a_sequential_test_stops_at_the_same_pair_whatever_the_workers(othello: Game, tmp_path: Path) -> None:
    sprt = Sprt(0, 100, alpha=0.1, beta=0.1, model="normalized")
    tournament = quick_tournament(othello, QUICK[1], QUICK[0], pairs=60, sprt=sprt)
    records = [tmp_path / f"{workers}.jsonl" for workers in (1, 2)]
    results = [
        run_tournament(tournament, record, workers=Workers(workers)) for workers, record in enumerate(records, 1)
    ]
    one = results[0]
    assert one.sprt is not None
    assert one.sprt.verdict == SprtVerdict.ACCEPT_H1
    assert one.played == one.standings.games < len(tournament)
    # Every pair counts in the order of the openings, none after the decisive one.
    state = sprt.test(PairCounts())
    counts = [0] * 5
    games = games_of(records[0])
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert state.verdict == SprtVerdict.CONTINUE
        counts[2 + first.result - second.result] += 1
        state = sprt.test(PairCounts(tuple(counts)))
    assert state == one.sprt
    figures = [{**untimed_figures(result), "games_played": None} for result in results]
    assert figures[0] == figures[1]
    again = run_tournament(tournament, records[1], workers=Workers(2))
    assert {**untimed_figures(again), "games_played": None} == figures[0]
    assert again.played == results[1].played


@pytest.mark.parametrize(
    ("players", "settings", "message"),
    [
        (QUICK[:1], {}, "two players or more, got 1"),
        ((QUICK[0], QUICK[0]), {}, "two players are called 'random'"),
        (QUICK, {"sprt": Sprt(0, 10)}, "compares two players, got 3"),
        (QUICK, {"openings": ()}, "at least one opening"),
    ],
)
def test_tournaments_that_make_no_sense(
    othello: Game, players: tuple[str, ...], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        attrs.evolve(quick_tournament(othello, *QUICK), players=tuple(map(parse_player, players)), **settings)
