"""``glem style`` on small games of players with a taste, and on what it cannot use."""

from pathlib import Path

import pytest

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.named import load_evaluation
from glem.core.styles.telling import coefficients_of
from glem.games.chess import CHESS
from tests.core.cli.terminal import Terminal
from tests.core.styles.small_games import PUSHER, TAKER, write_small_games

FEW = ("--features", "material", "--features", "pseudo_mobility", "--features", "pawns_d4_e4", "--features", "castled")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_small_games(tmp_path_factory.mktemp("games") / "small.pgn"))


@pytest.fixture
def learned(games: str, tmp_path: Path, terminal: Terminal) -> list[str]:
    files = []
    for name in (TAKER, PUSHER):
        files.append(str(tmp_path / f"{name.partition(',')[0].lower()}.npz"))
        without = ("--without-player", "Pusher" if name == TAKER else "Taker")
        terminal("style", "learn", games, "--of-player", name, *without, "-o", files[-1], *FEW, "--no-search")
    return files


def test_a_style_is_learned_told_played_and_graded(
    games: str, learned: list[str], tmp_path: Path, terminal: Terminal
) -> None:
    page = tmp_path / "page.html"
    words = ("style", "learn", games, "--of-player", "taker", "-o", learned[0], *FEW, "--no-search", "--periods", "2")
    printed = terminal(*words, "--among", learned[1], "--report", str(page))
    assert "taker: 50 games, of Taker, Tom (50)" in printed
    assert "Drift" in printed
    assert "moves foretold" in printed
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    found = terminal.json(*words, "--without-event", "rapid*")
    assert found["left_out"] == {"events": 10}
    assert found["games"] == 36
    own, chance = found["predictions"]
    assert own["log_likelihood"][0] > chance["log_likelihood"][0] + 0.1
    style = load_evaluation(learned[0])
    assert isinstance(style, LinearEvaluation)
    assert style.learning.feature_set == "style"
    assert style.provenance["names"] == "Taker, Tom"
    assert style.provenance["years"] == "2000-2003"
    assert coefficients_of(style)["material"][0] > 0.15
    assert "material" in terminal("show", learned[0], CHESS.format_position(CHESS.initial_position))
    assert "depth 1 (complete)" in terminal("search", "chess", "--evaluation", learned[0], "--depth", "1")
    assert terminal.json("grade", "chess", games, "--evaluation", learned[0])


def test_styles_are_compared(games: str, learned: list[str], tmp_path: Path, terminal: Terminal) -> None:
    page = tmp_path / "two.html"
    printed = terminal("style", "compare", *learned, "--positions", games, "--report", str(page), "--plies", "20-30")
    assert "Where taker and pusher differ most" in printed
    assert page.exists()
    found = terminal.json("style", "compare", *learned, "--among", learned[1])
    first = next(each for each in found["features"] if each["name"] == "material")
    assert first["weights"][0] > first["weights"][1]
    assert first["share"] == 1.0


def test_moves_are_given_to_their_player(games: str, learned: list[str], terminal: Terminal) -> None:
    styles = ("--style", learned[0], "--style", learned[1])
    for number, name in enumerate((TAKER, PUSHER)):
        found = terminal.json("style", "classify", games, *styles, "--of-player", name)
        assert found["together"]["style"] == found["styles"][number]
        assert found["together"]["told"]
    printed = terminal("style", "classify", games, *styles)
    assert "cannot tell" in printed
    assert "sides of games" in printed


def test_temporal_differences_are_learned_too(games: str, tmp_path: Path, terminal: Terminal) -> None:
    file = str(tmp_path / "td.npz")
    words = (
        "style",
        "learn",
        games,
        "--of-player",
        "Taker",
        "-o",
        file,
        *FEW,
        "--no-search",
        "--learner",
        "differences",
    )
    terminal(*words, "--td", "momentum=0.5", "--td", "least-rate=0.5")
    style = LinearEvaluation.load(file)
    names = [style.learning.features[at].name for at in style.linear]
    weights = dict(zip(names, style.linear_weights[0].tolist(), strict=True))
    assert weights["material"] == pytest.approx(25 * 0.00575646, rel=1e-5)
    assert weights["castled"] != weights["pseudo_mobility"]
    assert "no constant 'speed'" in terminal.fails(*words, "--td", "speed=1")
    assert "NAME=VALUE with a number" in terminal.fails(*words, "--td", "momentum=much")
    assert "'expansion' is none of the features" in terminal.fails(*words, "--fixed", "expansion=2")


def test_two_and_three_players_are_guessed(games: str, tmp_path: Path, terminal: Terminal) -> None:
    folder, page = str(tmp_path / "two"), tmp_path / "two.html"
    words = ("experiment", "styles", games, *FEW, "--no-search", "--training-games", "30")
    two = ("--of-player", "Taker", "--of-player", "Pusher", "--repetitions", "2", "--controls", "1", "--workers", "1")
    found = terminal.json(*words, *two, "--plies", "2-69", "-o", folder, "--report", str(page))
    assert found["mutual"] == 10
    assert page.exists()
    again = terminal.json(*words, *two, "--plies", "2-69", "-o", folder)
    assert again == found
    many = ("--of-player", "Taker", "--of-player", "Pusher", "--of-player", "Drifter", "--test-games", "15")
    assert "no games of 'Taker'" in terminal.fails(*words, *many, "-o", str(tmp_path / "none"))


def test_what_cannot_be_is_told(games: str, learned: list[str], tmp_path: Path, terminal: Terminal) -> None:
    output = ("-o", str(tmp_path / "x.npz"))
    assert "--of-player says whose style" in terminal.fails("style", "learn", games, *output)
    said = terminal.fails("style", "learn", games, "--of-player", "Takar", *output)
    assert "no games of 'Takar'" in said
    assert "Taker, Tom (50)" in said
    learn = ("style", "learn", games, "--of-player", "Taker", *output)
    assert "no feature set 'taste'" in terminal.fails(*learn, "--feature-set", "taste")
    assert "no atomic feature 'taste'" in terminal.fails(*learn, "--features", "taste")
    assert "no quiescence 'loud'" in terminal.fails(*learn, "--quiescence", "loud")
    assert "searches nothing" in terminal.fails(*learn, "--no-search", "--depth", "2")
    assert "the prior has other features" in terminal.fails(*learn, "--prior", "default")
    assert "two times or more" in terminal.fails("style", "classify", games, "--style", learned[0])
    styles = ("--style", learned[0], "--style", learned[1])
    assert "need --of-player" in terminal.fails("style", "classify", games, *styles, "--without-player", "x")
    assert "no moves to tell by" in terminal.fails("style", "classify", games, *styles, "--plies", "200-300")
    assert "two players or more" in terminal.fails(
        "experiment", "styles", games, "--of-player", "Taker", "-o", str(tmp_path / "f")
    )
    assert not (tmp_path / "x.npz").exists()


def test_options_that_would_do_nothing_are_refused(games: str, tmp_path: Path, terminal: Terminal) -> None:
    learn = ("style", "learn", games, "--of-player", "Taker", "-o", str(tmp_path / "x.npz"), "--learner", "differences")
    for option in (("--prior", "default"), ("--periods", "2"), ("--among", "y.npz"), ("--report", str(tmp_path / "p"))):
        assert "go with --learner choice" in terminal.fails(*learn, *option)
    two = ("experiment", "styles", games, "--of-player", "Taker", "--of-player", "Pusher", "-o", str(tmp_path / "f"))
    assert "there is no --prior" in terminal.fails(*two, "--prior", "default")
    assert "goes with two players" in terminal.fails(*two, "--of-player", "Drifter", "--report", str(tmp_path / "p"))
    assert not (tmp_path / "f").exists()
