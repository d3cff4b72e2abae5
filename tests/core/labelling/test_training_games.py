from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.game import Game
from glem.core.game.perft import perft
from glem.core.game.records import GameRecords
from glem.core.labelling.training_games import Generated, GenerationSettings, generate
from glem.core.players.spec import parse_player
from glem.core.positions.labels import positions_of_records
from glem.core.positions.reading import read_records
from glem.core.tasks.tasks import Workers
from glem.core.tournament.games import GameTask, play_game
from glem.core.tournament.opening_choice import OpeningPlan, all_openings, random_opening
from glem.core.tournament.openings import Opening, canonical_position
from glem.core.tournament.transcripts import records_of_games
from tests.core.cli.terminal import Terminal
from tests.othello import OTHELLO

RANDOM = GenerationSettings(players=(parse_player("random"),), openings=OpeningPlan("random", 4, 11), games_per_file=5)


def content(found: Generated) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in found.files}


def records_in(game: Game, found: Generated) -> GameRecords:
    return GameRecords.concatenate([part for path in found.files for part in read_records(game, path)])


def test_games_are_complete_and_legal(tmp_path: Path) -> None:
    found = generate(OTHELLO, tmp_path / "g", RANDOM, games=12)
    assert [path.name for path in found.files] == [f"games-00000{file}.games" for file in range(3)]
    assert (found.games, found.made) == (12, 12)
    records = records_in(OTHELLO, found)
    assert len(records) == 12
    assert not np.isnan(records.score).any()
    positions = positions_of_records(OTHELLO, [records])
    assert len(positions) == found.positions


def test_games_depend_on_the_settings_and_their_number_alone(tmp_path: Path) -> None:
    at_once = generate(OTHELLO, tmp_path / "a", RANDOM, games=22)
    in_steps = generate(OTHELLO, tmp_path / "b", RANDOM, games=3)
    in_steps = generate(OTHELLO, tmp_path / "b", RANDOM, games=22)
    assert in_steps.made == 22
    parallel = generate(OTHELLO, tmp_path / "c", RANDOM, games=22, workers=Workers(2))
    assert content(at_once) == content(in_steps) == content(parallel)
    other = generate(OTHELLO, tmp_path / "d", attrs.evolve(RANDOM, seed=1), games=22)
    assert content(other) != content(at_once)
    firsts = [path.read_text().splitlines()[1] for path in at_once.files]
    assert len(set(firsts)) == len(firsts)


def test_missing_files_are_played_again_and_others_kept(tmp_path: Path) -> None:
    first = generate(OTHELLO, tmp_path / "g", RANDOM, games=20)
    before = content(first)
    first.files[1].unlink()
    kept = first.files[2].stat().st_mtime_ns
    again = generate(OTHELLO, tmp_path / "g", RANDOM, games=20)
    assert again.made == 5
    assert content(again) == before
    assert first.files[2].stat().st_mtime_ns == kept
    assert generate(OTHELLO, tmp_path / "g", RANDOM, games=20).made == 0
    with pytest.raises(BadInputError, match="games of other settings"):
        generate(OTHELLO, tmp_path / "g", attrs.evolve(RANDOM, exploration=0.5), games=2)
    (tmp_path / "g" / "generation.json").unlink()
    with pytest.raises(BadInputError, match=r"no generation\.json"):
        generate(OTHELLO, tmp_path / "g", RANDOM, games=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_number_of_positions_takes_the_fewest_files(tmp_path: Path, workers: int) -> None:
    found = generate(OTHELLO, tmp_path / "g", RANDOM, positions=1000, workers=Workers(workers))
    counts = [len(positions_of_records(OTHELLO, read_records(OTHELLO, path))) for path in found.files]
    assert sum(counts) == found.positions >= 1000 > sum(counts[:-1])
    assert sorted((tmp_path / "g").glob("*.games")) == list(found.files)
    more = generate(OTHELLO, tmp_path / "g", RANDOM, positions=1500)
    assert set(more.files) > set(found.files)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exploration": 1.5}, "exploration is 1.5"),
        ({"players": ()}, "one player or two"),
        ({"seed": -1}, "seed is -1"),
        ({"games_per_file": 0}, "games_per_file is 0"),
        ({"players": (parse_player("default,seconds=1"),)}, "by the clock"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        attrs.evolve(RANDOM, **changes)


def test_a_goal_is_needed(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="either how many games"):
        generate(OTHELLO, tmp_path / "g", RANDOM)
    with pytest.raises(BadInputError, match="at least 1"):
        generate(OTHELLO, tmp_path / "g", RANDOM, games=0)


def test_two_players_change_sides(tmp_path: Path) -> None:
    # The first one always explores, so every game but the opening is random on its side only.
    greedy, random = parse_player("greedy,evaluation=mobility"), parse_player("random")
    settings = GenerationSettings(players=(greedy, random), openings=OpeningPlan("random", 2, 2), games_per_file=40)
    records = records_in(OTHELLO, generate(OTHELLO, tmp_path / "g", settings, games=40))
    assert records.score[0::2].mean() > 5
    assert records.score[1::2].mean() < -5


def test_exploration_makes_random_moves() -> None:
    spec = parse_player("greedy,evaluation=mobility")
    opening = Opening()
    games = [
        play_game(GameTask(OTHELLO, number, opening, spec, spec, exploration=chance))
        for chance in (0.0, 1e-9, 1.0)
        for number in (7, 8)
    ]
    moves = [[made.move for made in game.moves] for game in games]
    assert moves[:2] == moves[2:4]
    assert moves[4] != moves[5]
    assert moves[4] not in moves[:4]


def test_command_prints_what_it_made(terminal: Terminal, tmp_path: Path) -> None:
    generated = terminal.of("generate", "othello", "-o", tmp_path, "--player", "random", "--games", 3, "--workers", 1)
    assert "3 games with" in generated()
    assert generated.json()["played"] == 0


def test_records_tell_where_the_exact_score_was_known_first() -> None:
    player = parse_player("greedy,evaluation=mobility")
    opening = random_opening(OTHELLO, OpeningPlan("random", 5, 5), (1,))
    played = play_game(GameTask(OTHELLO, 0, opening, player, player))
    moves = [*played.moves]
    place = next(place for place in range(30, 60) if played.side_of(place) == 1)
    moves[place:] = [attrs.evolve(made, score=4.0, exact=True) for made in moves[place:]]
    records = records_of_games(OTHELLO, [attrs.evolve(played, moves=tuple(moves))])
    before = [*opening.moves, *(made.move for made in moves[:place])]
    assert records.theoretical_ply[0] == sum(move != OTHELLO.pass_move for move in before)
    assert records.theoretical_score[0] == -4.0
    assert OTHELLO.pass_move not in records.moves


def test_openings_at_positions_need_a_format_with_room_for_them(tmp_path: Path) -> None:
    position = OTHELLO.play(OTHELLO.initial_position, OTHELLO.parse_move("f5"))
    (tmp_path / "openings.txt").write_text(f"{OTHELLO.format_position(position).replace(' X', ' O')}\n")
    settings = GenerationSettings(
        players=(parse_player("random"),), openings=OpeningPlan.parse(str(tmp_path / "openings.txt"))
    )
    with pytest.raises(BadInputError, match="glem's own files of games have no room for that"):
        generate(OTHELLO, tmp_path / "own", settings, games=2)
    assert not (tmp_path / "own").exists()
    settings = attrs.evolve(settings, format="ggf", games_per_file=2)
    made = generate(OTHELLO, tmp_path / "ggf", settings, games=4)
    assert [path.name for path in made.files] == ["games-000000.ggf", "games-000001.ggf"]
    before = [path.read_bytes() for path in made.files]
    assert generate(OTHELLO, tmp_path / "ggf", settings, games=4).made == 0
    made.files[1].unlink()
    assert generate(OTHELLO, tmp_path / "ggf", settings, games=4).made == 2
    assert [path.read_bytes() for path in made.files] == before
    with pytest.raises(BadInputError, match="not generated as 'pgn'; known: wthor, ggf, games"):
        generate(OTHELLO, tmp_path / "pgn", attrs.evolve(settings, format="pgn"), games=4)


@pytest.mark.parametrize("plies", [0, 1, 2, 5])
def test_all_openings_are_all(plies: int) -> None:
    found = all_openings(OTHELLO, plies)
    reached = {canonical_position(OTHELLO, opening.positions(OTHELLO)[-1]) for opening in found}
    assert len(reached) == len(found) <= perft(OTHELLO, plies)
    every = [OTHELLO.initial_position]
    for _ in range(plies):
        every = [OTHELLO.play(position, move) for position in every for move in OTHELLO.list_legal_moves(position)]
    assert reached == {canonical_position(OTHELLO, position) for position in every}


def test_listed_openings_are_played_in_order(tmp_path: Path) -> None:
    settings = attrs.evolve(RANDOM, openings=OpeningPlan("all", 3, 3), games_per_file=10)
    records = records_in(OTHELLO, generate(OTHELLO, tmp_path / "g", settings, games=20))
    expected = [opening.moves for opening in all_openings(OTHELLO, 3)]
    for number in range(20):
        assert tuple(records.moves_of(number)[:3]) == expected[number % len(expected)]


def test_players_without_chance_play_no_game_twice(mobility: str, tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("f5 d6\nf5 f6\n")
    settings = GenerationSettings(
        players=(parse_player(f"{mobility},depth=1,solve=4,table=1"),),
        openings=OpeningPlan.parse(str(file)),
        games_per_file=1,
    )
    goals: list[dict[str, Any]] = [{"games": 3}, {"positions": 1000}]
    for goal in goals:
        with pytest.raises(BadInputError, match="2 different"):
            generate(OTHELLO, tmp_path / "g", settings, **goal)
    found = generate(OTHELLO, tmp_path / "g", settings, games=2)
    records = records_in(OTHELLO, found)
    # From where it was known first, the exact score is the result.
    assert (records.theoretical_ply >= 50).all()
    assert np.array_equal(records.theoretical_score, records.score)
    exploring = attrs.evolve(settings, exploration=0.5)
    assert generate(OTHELLO, tmp_path / "h", exploring, games=4).games == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [("random", "must be random:PLIES"), ("all:3-5", "number of plies"), ("random:x", "plies"), ("random:9-4", "rise")],
)
def test_bad_plans_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        OpeningPlan.parse(text)


def test_random_openings_have_the_plies_asked_for() -> None:
    plan = OpeningPlan.parse("random:4-11")
    lengths = {len(random_opening(OTHELLO, plan, (0, number)).moves) for number in range(100)}
    assert lengths == set(range(4, 12))
    assert random_opening(OTHELLO, plan, (0, 1)) == random_opening(OTHELLO, plan, (0, 1))
    with pytest.raises(BadInputError, match="random openings of 200 to 200 plies"):
        random_opening(OTHELLO, OpeningPlan.parse("random:200"), (0, 1))
