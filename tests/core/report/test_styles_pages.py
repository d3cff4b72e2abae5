"""The pages of styles: well-formed, with the right names and numbers, and without what data lack."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree as Tree

import numpy as np

from glem.core.evaluation.linear import LinearEvaluation
from glem.core.report.pages.styles import render_comparison, render_style, render_two_players
from glem.core.styles.choice_model import ChoiceModel
from glem.core.styles.styles import Foretelling, evaluation_of, learning_of_styles
from glem.core.styles.telling import TellingPosition, compare_tastes
from glem.core.styles.two_players import METHODS, START_MOVES, Outcome, hit_rows

CHOSEN = ("material", "complex_a1_c3", "complex_d4_e5", "pawns_c4_d4", "pawns_e4_f4", "pawns_a2_b3")
VALUES = (2.5, 0.25, -0.75, 0.9, -1.2, 0.01)


def style_of(
    values: tuple[float, ...] = VALUES, names: tuple[str, ...] = CHOSEN, game: str = "chess"
) -> LinearEvaluation:
    errors = np.full(len(values), 0.1)
    model = ChoiceModel(names, np.array(values), np.diag(errors**2), np.diag(errors**2), 100, 10, -90.0, -120.0)
    return evaluation_of(learning_of_styles(game), model, {})


def sections_of(text: str) -> Mapping[str, str]:
    """Text of each section of a page, all of which are well-formed."""
    found = {}
    for name, inside in re.findall(r'<section id="([^"]+)">(.*?)</section>', text, re.DOTALL):
        tree = Tree.fromstring("<section>" + inside.replace("<wbr>", "") + "</section>")
        found[name] = " ".join(tree.itertext())
    return found


def portrait(style: LinearEvaluation, periods: list[tuple[str, LinearEvaluation]], **given: object) -> str:
    settings = {"told": [], "predictions": [], "shares": {}, "name": "Ann", "game_title": "Chess"}
    return render_style(style, periods=periods, **{**settings, **given})  # type: ignore[arg-type]


def test_a_portrait_shows_all_that_it_is_given() -> None:
    moves = np.array([10, 20, 10])
    predictions = [
        Foretelling("Ann's own", np.array([-10.0, -20.0, -12.0]), np.array([5, 9, 6]), moves),
        Foretelling("<all>", np.array([-12.0, -25.0, -13.0]), np.array([4, 8, 5]), moves),
    ]
    later = style_of((2.5, 0.25, -0.75, 0.9, 1.2, 0.01))
    periods = [("1984-1990", style_of()), ("1991-2005", later)]
    given = {"told": ["12 games & more"], "predictions": predictions, "shares": {"material": 0.62}}
    text = portrait(style_of(), periods, **given)
    assert text == portrait(style_of(), periods, **given)
    found = sections_of(text)
    assert set(found) == {"games", "predictions", "features", "complexes", "pairs", "drift"}
    lead = re.search(r"What Ann cares for [^<]*", text)
    assert lead and "_" not in lead[0]
    assert "<dd>50.0%</dd>" in text and "of the moves foretold by &lt;all&gt;" in text
    assert "12 games & more" in found["games"]
    assert (
        "−1.050 (" in found["predictions"] and "0.200 (" in found["predictions"] and "50.0% (" in found["predictions"]
    )
    assert "<all>" in found["predictions"] and "40 moves of 3 games" in found["predictions"]
    assert "+2.50 ± 0.10" in found["features"] and "62%" in found["features"]
    assert found["features"].index("material") < found["features"].index("pawns_e4_f4")
    assert "♟" in found["features"] and text.count('class="board"') > 8
    assert "+0.25" in found["complexes"] and "−0.75" in found["complexes"]
    assert "2 pairs of 3" in found["pairs"] and "pawns_e4_f4: −1.20 ± 0.10" in found["pairs"]
    assert re.search(r"pawns_e4_f4\s+−1\.20 ± 0\.10\s+\+1\.20 ± 0\.10\s+\+17", found["drift"])


def test_a_portrait_leaves_out_what_it_lacks() -> None:
    names = ("mobility", "corner_moves")
    found = sections_of(portrait(style_of((1.0, -2.0), names, "othello"), [("all", style_of())]))
    assert set(found) == {"features"}
    assert "players below" not in found["features"] and "−2.00 ± 0.10" in found["features"]


def test_squares_of_a_pair_lie_from_the_players_own_side() -> None:
    text = portrait(style_of(), [])
    line = re.search(r"<line ([^>]*)><title>pawns_c4_d4", text)
    assert line and 'x1="50" y1="90" x2="70" y2="90"' in line[1] and "--positive" in line[1]
    assert "<title>pawns_a2_b3" not in text


def test_a_comparison_tells_tastes_and_positions() -> None:
    first, second = style_of(), style_of((2.5, 0.25, 0.75, 0.9, -1.2, 0.01))
    game = first.learning.game
    start = game.initial_position
    wanted = game.parse_move("e2e4"), game.parse_move("d2d4")
    positions = [TellingPosition(start, 3, 0, wanted[1], wanted, ((0.71, 0.1), (0.2, 0.65)), 0.43)]
    tastes = compare_tastes(first, second, [first, second])
    names = ("Ann", "Bob & Co")
    text = render_comparison(first, second, names=names, tastes=tastes, positions=positions, game_title="Chess")
    found = sections_of(text)
    assert set(found) == {"tastes", "positions"}
    assert found["tastes"].index("complex_d4_e5") < found["tastes"].index("material")
    assert "−0.75 ± 0.10" in found["tastes"] and "−10.6" in found["tastes"] and "Bob & Co" in found["tastes"]
    assert "Ann: e4 71%, d4 10%" in found["positions"] and "Bob & Co: e4 20%, d4 65%" in found["positions"]
    assert "Played: d4" in found["positions"] and "Game 3, after 0 plies" in found["positions"]
    assert "♜" in found["positions"]
    summary = re.search(r"Bob &amp; Co values more: ([^.]*)\.", text)
    assert summary and "_" not in summary[1]
    bare = render_comparison(first, second, names=names, tastes=[], positions=[], game_title="Chess")
    assert not sections_of(bare)


def test_a_position_of_a_game_without_pieces_is_drawn() -> None:
    style = style_of((1.0, -2.0), ("mobility", "corner_moves"), "othello")
    game = style.learning.game
    moves = game.list_legal_moves(game.initial_position)
    told = TellingPosition(game.initial_position, 0, 0, moves[2], (moves[0], moves[1]), ((0.7, 0.1), (0.2, 0.6)), 0.4)
    names = ("Ann", "Bob")
    text = render_comparison(style, style, names=names, tastes=[], positions=[told], game_title="Othello")
    assert text.count('class="disc own"') == text.count('class="disc opponent"') == 2
    assert "Played: f5" in sections_of(text)["positions"]


def outcome(seed: int, *, apart: float = 0.05, games: int = 40) -> Outcome:
    generator = np.random.default_rng(seed)
    ply = np.stack([np.tile(np.arange(side, 70, 2), games) for side in range(2)])
    game = np.repeat(np.arange(games)[None], 2, axis=0).repeat(35, axis=1)
    errors = generator.normal(0, 0.1, (2, 2, ply.shape[1])) + apart * (1 - np.eye(2))[:, :, None]
    weights = np.stack([np.arange(12.0), np.arange(12.0)[::-1]]) + generator.normal(0, 0.01, (2, 12))
    course = np.abs(generator.normal(size=(2, 80)))
    course[1, 70:] = np.nan
    return Outcome(weights, course, errors, -errors[:, ::-1], game, ply, weights)


def test_the_page_of_two_players() -> None:
    names, features = ("Ann", "Bob"), [f"feature {place}" for place in range(12)]
    outcomes, permuted = [outcome(1), outcome(2)], [outcome(3, apart=0.0), outcome(4, apart=0.0)]
    settings = {"settings_text": "Depth 2.\n\nSeed 1.", "game_title": "Chess", "features": features}
    text = render_two_players(names, outcomes, permuted, **settings)  # type: ignore[arg-type]
    assert text == render_two_players(names, outcomes, permuted, **settings)  # type: ignore[arg-type]
    found = sections_of(text)
    assert set(found) == {"settings", "course", "weights", "hits-1", "hits-2"}
    assert "50 games" in found["course"] and "2 repetitions" in found["course"]
    assert re.search(r"feature 11 \+11\.0 [+−]0\.0\S+ \+1[01]\.\d+ ± 0\.0", found["weights"])
    for key, method in enumerate(METHODS, 1):
        for each, title in ((outcomes, f"By {method} "), (permuted, f"By {method}, permuted")):
            (mean, low, high), _ = hit_rows(each, method, (2 * (START_MOVES[3] - 1), 69))
            assert f"{START_MOVES[3]} {mean:.3f} ({low:.3f} to {high:.3f})" in found[f"hits-{key}"]
            assert title in found[f"hits-{key}"]
    without = sections_of(render_two_players(names, outcomes, [], settings_text="", game_title="Chess"))
    assert set(without) == {"course", "weights", "hits-1", "hits-2"} and "permuted" not in without["hits-1"]
    assert not sections_of(render_two_players(names, [], [], settings_text="", game_title="Chess"))
