"""Openings from files of all kinds, and by choice."""

from pathlib import Path

import pytest

from glem.core.errors import BadInputError
from glem.core.evaluation.integers.recomputing import evaluator_of
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.features.learning import Learning
from glem.core.game.game import Game, load_game
from glem.core.players.spec import parse_player
from glem.core.search.results import Limits
from glem.core.search.searcher import Searcher
from glem.core.tasks.tasks import Workers
from glem.core.tournament.opening_choice import OpeningJudge, choose_openings
from glem.core.tournament.openings import Opening, canonical_position, distinct_openings, read_openings, write_openings
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import linear_evaluation
from tests.core.game.countdown_game import COUNTDOWN

BOARD = "-" * 18 + "-" * 8 + "-OX-----" + "-XO" + "-" * 27 + " X"


def opening(game: Game, text: str) -> Opening:
    return Opening(tuple(game.parse_move(text[place : place + 2]) for place in range(0, len(text), 2)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "openings.txt"


def test_lines_of_moves_and_positions(othello: Game, path: Path) -> None:
    path.write_text("\nf5d6c4\nf5f6e6f4\n")
    assert read_openings(othello, path) == [opening(othello, "f5d6c4"), opening(othello, "f5f6e6f4")]
    assert read_openings(othello, path, plies=2) == [opening(othello, "f5d6"), opening(othello, "f5f6")]
    # Openings that lead to the same position are one.
    path.write_text("f5\nd3\nc4\nf5d6\n")
    assert read_openings(othello, path) == [opening(othello, "f5"), opening(othello, "f5d6")]
    # A game without formats.
    path.write_text("# comment\ntake1 take2\n\n5 stones\n")
    assert read_openings(COUNTDOWN, path) == [Opening((0, 1)), Opening(start="5 stones")]
    assert read_openings(COUNTDOWN, path, plies=1) == [Opening((0,)), Opening(start="5 stones")]
    path.write_text(f"{BOARD}; C4:+0;\n")
    (found,) = read_openings(othello, path.rename(path.with_suffix(".obf")))
    assert found == Opening(start=BOARD)
    assert found.positions(othello) == [othello.parse_position(BOARD)]


def test_a_draw_of_some_openings_depends_on_the_seed(othello: Game, path: Path) -> None:
    everything = choose_openings(othello, plies=6, count=60, seed=3)
    path.write_text("".join("".join(map(othello.format_move, one.moves)) + "\n" for one in everything))
    draws = [read_openings(othello, path, count=10, seed=seed) for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert [one for one in everything if one in draws[0]] == draws[0]
    with pytest.raises(BadInputError, match="60 distinct openings, 61 are wanted"):
        read_openings(othello, path, count=61)
    # Lines that are not drawn are not looked at: books have hundreds of thousands.
    path.write_text("take1\nnonsense\ntake2\ntake3\n")
    told: list[str] = []
    for seed in range(20):
        read_openings(COUNTDOWN, path, count=1, seed=seed, tell=told.append)
    assert 0 < len(told) < 20
    assert {text.partition(";")[0] for text in told} == {"left out 1 of 4 openings"}


def test_openings_survive_text_and_files(othello: Game, path: Path) -> None:
    for known in (Opening(), opening(othello, "f5d6"), Opening(start=BOARD)):
        assert Opening.from_json(othello, known.to_json(othello)) == known
    for openings in (
        choose_openings(othello, plies=9, count=40),
        [Opening(start="-" * 27 + "OX------XO" + "-" * 27 + " X")],
    ):
        write_openings(othello, openings, path)
        assert read_openings(othello, path) == openings
    write_openings(othello, [Opening()], path)
    (found,) = read_openings(othello, path)
    assert found.positions(othello) == [othello.initial_position]
    write_openings(COUNTDOWN, [Opening((0, 1)), Opening(start="5 stones")], path)
    assert read_openings(COUNTDOWN, path) == [Opening((0, 1)), Opening(start="5 stones")]
    with pytest.raises(BadInputError, match="cannot be written"):
        write_openings(COUNTDOWN, [Opening((0,), start="5 stones")], path)


@pytest.mark.parametrize(
    ("game", "text", "plies", "message"),
    [
        ("othello", "f5d6\nf5f5\n", 2, "openings.txt:2: .*f5"),
        ("othello", "f5d6\nf5 hello\n", 2, "openings.txt:2: "),
        ("othello", "", 2, "no openings|neither"),
        ("othello", "\n\n", 2, "no openings|no games"),
        ("othello", "f5d6\nf5\n", 2, "openings.txt:2: the game has 1 move, but openings need 2"),
        ("", "take1\ntake9\n", None, r"openings.txt:2: neither a position .* nor moves \('take9' is no move\)"),
        ("", "take3 take3 take3\n", None, "openings.txt:1: the game is over after the opening"),
        ("", "take3 take3 take3 take1\n", None, "openings.txt:1: move 4, take1, is illegal"),
        ("", "0 stones\n", None, "openings.txt:1: the game is over"),
        ("", "\n", None, "no openings"),
        ("", "take1\n", 2, "has 1 move, but openings need 2"),
    ],
)
def test_bad_files_name_their_line(path: Path, game: str, text: str, plies: int | None, message: str) -> None:
    path.write_text(text)
    with pytest.raises(BadInputError, match=message):
        read_openings(load_game(game) if game else COUNTDOWN, path, plies=plies)


def test_bad_openings_are_left_out_and_told(othello: Game, path: Path) -> None:
    told: list[str] = []
    for text, good, first in (
        ("f5d6\nf5f5\nf5f6\n", 2, rf"{path}:2: move 2, f5, is illegal"),
        ("f5 d6\nd3\nnonsense\nf5 f6\n", 2, rf"{path}:3"),
    ):
        path.write_text(text)
        assert len(read_openings(othello, path, plies=2, tell=told.append)) == good
        assert told[-1].startswith(f"left out {len(text.split(chr(10))) - 1 - good} of ")
        assert f"openings; the first: {first}" in told[-1]
        with pytest.raises(BadInputError, match=first):
            read_openings(othello, path, plies=2)
    path.write_text("f5\nd3\n")
    with pytest.raises(BadInputError, match=r"no openings; .*openings\.txt:1: the game has 1 move,"):
        read_openings(othello, path, plies=2, tell=told.append)
    assert len(told) == 2


def test_one_bad_opening_of_a_file_does_not_stop_a_command(path: Path, terminal: Terminal) -> None:
    path.write_text("f5 d6\nd3\nnonsense\nf5 f6\n")
    openings = ("--openings", path, "--workers", 1)
    match = ("match", "othello", "greedy,evaluation=mobility", "random", *openings, "--opening-plies", 2)
    assert terminal.json(*match)["openings"] == 2
    assert f"openings; the first: {path}:" in terminal.error
    terminal("generate", "othello", "--player", "random", *openings, "--games", 2, "-o", path.parent / "games")
    assert f"openings; the first: {path}:" in terminal.error


def test_bad_arguments(othello: Game, tmp_path: Path, path: Path) -> None:
    with pytest.raises(BadInputError, match=r"missing\.txt: no such file"):
        read_openings(othello, tmp_path / "missing.txt")
    path.write_text("f5\n")
    with pytest.raises(BadInputError, match=r"no format 'pgn' of openings; known: wthor, .*lines"):
        read_openings(othello, path, format="pgn")
    for text, window, message in (
        ("random", 0.4, "'random' does not search"),
        ("model.npz,seconds=1", 0.4, "by the clock"),
        ("model.npz,depth=2", 0.0, "window"),
    ):
        with pytest.raises(BadInputError, match=message):
            OpeningJudge(parse_player(text), window)
    with pytest.raises(BadInputError, match="count"):
        choose_openings(othello, plies=4, count=0)


def test_random_openings_differ_modulo_symmetry(othello: Game) -> None:
    openings = choose_openings(othello, plies=5, count=50, seed=1)
    assert all(len(one.moves) == 5 for one in openings)
    assert list(distinct_openings(othello, openings)) == openings
    images = {canonical_position(othello, one.positions(othello)[-1]) for one in openings}
    assert len(images) == 50
    assert choose_openings(othello, plies=5, count=50, seed=1) == openings
    assert choose_openings(othello, plies=5, count=50, seed=2) != openings
    assert len(choose_openings(othello, plies=2, count=3)) == 3
    with pytest.raises(BadInputError, match=r"found 3 different openings of 2 plies .* 4 are wanted"):
        choose_openings(othello, plies=2, count=4)


def test_near_even_openings_are_the_same_however_they_are_chosen(othello: Game, mobility: str, tmp_path: Path) -> None:
    judge = OpeningJudge(parse_player(f"{mobility},depth=3"), 2.0)
    record = tmp_path / "openings.jsonl"
    chosen = choose_openings(othello, plies=6, count=8, judge=judge, seed=2)
    assert choose_openings(othello, plies=6, count=8, judge=judge, seed=2, workers=Workers(2), record=record) == chosen
    searched = Searcher(othello, evaluator_of(LinearEvaluation.load(mobility)))
    near = [
        one
        for one in choose_openings(othello, plies=6, count=60, seed=2)
        if abs(searched.search(one.positions(othello)[-1], Limits(depth=3)).value) <= 2
    ]
    assert near[:8] == chosen
    lines = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(lines[:5]) + lines[5][:7])
    assert choose_openings(othello, plies=6, count=8, judge=judge, seed=2, record=record) == chosen
    again = record.read_bytes()
    assert choose_openings(othello, plies=6, count=8, judge=judge, seed=2, record=record) == chosen
    assert record.read_bytes() == again
    with pytest.raises(BadInputError, match="other settings"):
        choose_openings(othello, plies=6, count=8, judge=judge, seed=3, record=record)


def test_a_window_that_nothing_fits_is_given_up(
    othello: Game, othello_learning: Learning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glem.core.tournament.opening_choice._MOST_JUDGED", 20)
    path = tmp_path / "mobility.npz"
    linear_evaluation(othello_learning, mobility=1.0).save(path)
    judge = OpeningJudge(parse_player(f"{path},depth=1"), 0.001)
    with pytest.raises(BadInputError, match=r"21 openings judged, 0 of them within 0\.001 of even, 1 are wanted"):
        choose_openings(othello, plies=6, count=1, judge=judge)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count"), [("xot-small.txt", 3623), ("positions.edax", 1000)], ids=["lines", "positions"]
)
def test_real_opening_files(othello: Game, shared: Path, name: str, count: int) -> None:
    openings = read_openings(othello, shared / "othello" / "openings" / name)
    assert len(openings) <= count
    assert len(openings) > 0.8 * count
    assert len(read_openings(othello, shared / "othello" / "openings" / name, count=100, seed=1)) == 100
