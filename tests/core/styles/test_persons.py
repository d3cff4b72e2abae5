"""Whose games these are: names in all spellings, duplicates, opponents and events left out."""

from pathlib import Path

import numpy as np
import pytest

from glem.core.errors import BadInputError
from glem.core.game.records import GameRecords
from glem.core.positions.people import is_meant, near_names
from glem.core.positions.reading import read_records
from glem.core.styles.persons import PersonGames, between, person_of
from glem.games.chess import CHESS
from tests.core.styles.small_games import DRIFTER, PUSHER, TAKER, small_game


def records_of(path: Path, text: str) -> list[GameRecords]:
    path.write_text(text)
    return list(read_records(CHESS, path))


@pytest.fixture
def games(path: Path) -> list[GameRecords]:
    text = small_game(TAKER, PUSHER, 1, Date="1999.??.??", WhiteElo="2500")
    text += text
    text += small_game("Taker,T", DRIFTER, 2, Date="2001.05.01", Event="Rapid cup", WhiteElo="2510")
    text += small_game(DRIFTER, "Takerson, Bo", 3)
    text += small_game(DRIFTER, "TAKER, TOM", 4, Date="????.??.??")
    text += small_game(TAKER, "Taker, T.", 5)
    return records_of(path, text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.pgn"


@pytest.mark.parametrize(
    ("wanted", "name", "meant"),
    [
        ("Kasparov", "Kasparov, Gary", True),
        ("kasparov", "KASPAROV,G", True),
        ("Kasparov", "Kasparova, Nona", False),
        ("Kasparov", "Kasimdzhanov, Rustam", False),
        ("*sparov*", "Kasparova, Nona", True),
        ("Tastet Marc", "Tastet Marc", True),
        ("Tastet", "Tastet Marc", True),
        ("Kasparov", "Garry Kasparov", True),
        ("Gary", "Kasparov, Gary", False),
        ("", "", True),
        ("Kasparov", "", False),
        ("Tastet*", "Tastet Marc", True),
    ],
)
def test_who_is_meant(wanted: str, name: str, meant: bool) -> None:
    assert is_meant([wanted])(name) is meant


def test_near_names_are_those_that_begin_alike_or_are_spelled_nearly_so() -> None:
    names = ["Kasparov, Gary", "Kasparova, Nona", "Kaspaorv, G", "Karpov, Anatoly", "Kramnik,V"]
    assert near_names(names, ["Kasparov"]) == ["Kaspaorv, G", "Kasparova, Nona"]


def test_all_spellings_are_caught_and_told(games: list[GameRecords]) -> None:
    person = person_of(CHESS, games, ["Taker"])
    assert len(person) == 3
    assert person.side.tolist() == [1, 1, -1]
    assert person.caught == {"Taker, Tom": 3, "Taker,T": 1, "TAKER, TOM": 1, "Taker, T.": 1}
    assert person.near == {"Takerson, Bo": 1}
    assert person.left_out == {"both sides": 1, "duplicates": 1}
    assert person.years().tolist() == [1999, 2001, 0]
    assert person.ratings().tolist() == [2500, 2510, -1]
    told = "\n".join(person.told())
    assert "3 games, of Taker, Tom (3)" in told
    assert "not taken, though spelled alike: Takerson, Bo (1)" in told
    assert "duplicates (1)" in told


def sides(person: PersonGames) -> list[int]:
    return np.asarray(person.side).tolist()


def test_opponents_and_events_are_left_out(games: list[GameRecords]) -> None:
    person = person_of(CHESS, games, ["Taker"], without=["Pusher"], without_events=["*rapid*"])
    assert sides(person) == [-1]
    assert person.left_out == {"opponents": 2, "both sides": 1, "events": 1}
    mutual = between(person_of(CHESS, games, ["Taker"]), "Pusher")
    assert sides(mutual) == [1]
    assert sides(between(person_of(CHESS, games, ["Pusher"]), "Taker")) == [-1]
    with pytest.raises(BadInputError, match="no games between 'Taker' and 'Nobody'"):
        between(person_of(CHESS, games, ["Taker"]), "Nobody")


def test_nobody_is_told_with_the_names_that_are_near(games: list[GameRecords]) -> None:
    with pytest.raises(BadInputError, match=r"no games of 'Takre' in games.pgn; names like it: .*Taker, Tom \(3\)"):
        person_of(CHESS, games, ["Takre"])
    with pytest.raises(BadInputError, match=r"no games of 'Pusher' in games.pgn \(opponents \(2\) left out\)"):
        person_of(CHESS, games, ["Pusher"], without=["Taker"])
