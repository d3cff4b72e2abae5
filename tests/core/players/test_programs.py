"""Programs that are spoken to in lines as players, the well-behaved and the others."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glem.core.errors import BadInputError, GlemError
from glem.core.game.game import load_game
from glem.core.game.protocols import PlayerFailureError
from glem.core.machine.programs import processor_seconds
from glem.core.players.making import make_player
from glem.core.players.player import MoveChoice
from glem.core.players.programs import LinePlayer, ProgramStartError
from glem.core.players.spec import parse_player
from glem.core.search.results import Clock
from glem.core.tournament.games import End, GameTask, PlayedGame, play_game
from glem.core.tournament.opening_choice import choose_openings
from glem.core.tournament.openings import Opening
from glem.core.tournament.tournament import Tournament, run_tournament
from tests.killed_programs import is_alive, program_at_work, wait_for_end

FAKE = Path(__file__).parents[2] / "fake_line_program.py"
OTHELLO = load_game("othello")
F5 = OTHELLO.parse_move("f5")
PROTOCOLS = ("gtp", "nboard")

Made = Callable[..., LinePlayer]


def text(protocol: str, mode: str, notes: Path, **options: object) -> str:
    program = f"{protocol}:{sys.executable} -S {FAKE} {protocol} '{mode}' '{notes}'"
    limit = ["depth=2"] if protocol == "nboard" else []
    return ",".join([program, *limit, *(f"{name}={value}" for name, value in {"name": mode, **options}.items())])


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    players: list[LinePlayer] = []

    def make(protocol: str, mode: str, **options: object) -> LinePlayer:
        player = make_player(OTHELLO, parse_player(text(protocol, mode, tmp_path / "notes", **options)))
        assert isinstance(player, LinePlayer)
        players.append(player)
        return player

    yield make
    for player in players:
        player.close()


def first_move(player: LinePlayer, clock: Clock | None = None) -> MoveChoice:
    return player.choose(OTHELLO.initial_position, [], clock)


@pytest.mark.parametrize(
    ("player_text", "said"),
    [
        ("gtp:no-such-program", "no such program"),
        (f"gtp:{sys.executable},depth=2", "GTP has no word for depth="),
        (f"gtp:{sys.executable},Hash=2", "unknown option 'Hash'; known: folder, timeout"),
        (f"gtp:{sys.executable},timeout=soon", "timeout must be seconds"),
        (f"gtp:{sys.executable},folder=nowhere", "folder 'nowhere' is none"),
        (f"nboard:{sys.executable},depth=2,nodes=3", "NBoard has no word for nodes="),
        (f"nboard:{sys.executable},clock=3", "no depth"),
    ],
)
def test_texts_without_sense(player_text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_player(player_text).resolved(OTHELLO)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mode", ["mute", "leaves"])
def test_programs_that_speak_something_else(made: Made, protocol: str, mode: str) -> None:
    with pytest.raises(ProgramStartError, match="does it speak"):
        made(protocol, mode, timeout=1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_is_asked_in_its_folder(made: Made, protocol: str, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    choice = first_move(made(protocol, "good", folder=folder), Clock(3.5, 0.5))
    assert (choice.move, choice.failures, choice.score) == (F5, 0, 1.5 if protocol == "nboard" else None)
    assert (tmp_path / "notes").read_text().split()[1:] == [str(folder)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_crash_is_made_good_once(made: Made, protocol: str) -> None:
    choice = first_move(made(protocol, "crash once"))
    assert (choice.move, choice.failures) == (F5, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("mode", "failures", "said"),
    [
        ("crash", 2, "ended by itself|failed"),
        ("hang", 1, "no answer in 1 s"),
        ("illegal", 2, "chose 'a1', which is illegal"),
        ("garbage", 2, "illegal|nonsense"),
        ("flood", 2, "printed more than 16 MiB|nonsense"),
        ("endless line", 2, "printed more than 16 MiB"),
    ],
)
def test_failures(made: Made, protocol: str, mode: str, failures: int, said: str) -> None:
    player = made(protocol, mode, timeout=1 if mode == "hang" else 30)
    with pytest.raises(PlayerFailureError, match=said) as raised:
        first_move(player)
    assert raised.value.failures == failures
    assert player.process is None


def test_a_resignation_is_no_failure_and_loses(made: Made) -> None:
    with pytest.raises(PlayerFailureError, match="resigned") as raised:
        first_move(made("gtp", "resign"))
    assert raised.value.failures == 0


def test_gtp_tells_no_first_position_and_fails_where_moves_are_refused(made: Made) -> None:
    after = OTHELLO.play(OTHELLO.initial_position, F5)
    with pytest.raises(PlayerFailureError, match="begins elsewhere"):
        made("gtp", "good").choose(after, [], None)
    with pytest.raises(PlayerFailureError, match="refuses 'play b f5': illegal move"):
        made("gtp", "refuses").choose(after, [OTHELLO.initial_position], None)


@pytest.mark.parametrize(
    ("mode", "score"), [("blanks", 1.5), ("blanks and strokes", 1.5), ("no evaluation", None), ("good", 1.5)]
)
def test_moves_are_divided_by_strokes_or_blanks(made: Made, mode: str, score: float | None) -> None:
    choice = first_move(made("nboard", mode))
    assert (choice.move, choice.score, choice.failures) == (F5, score, 0)


def test_an_answer_that_is_no_move_is_shown(made: Made) -> None:
    with pytest.raises(PlayerFailureError, match=r"answered nonsense: '=== resign 1\.5'"):
        first_move(made("nboard", "word"))


def test_a_program_that_knows_no_passes_is_told_none(made: Made) -> None:
    positions = [OTHELLO.initial_position]
    for move in ["c4", "c3", "e6", "b4", "a4", "a5", "c2", "a3", "--"]:
        assert OTHELLO.parse_move(move) in OTHELLO.list_legal_moves(positions[-1])
        positions.append(OTHELLO.play(positions[-1], OTHELLO.parse_move(move)))
    with pytest.raises(PlayerFailureError, match="chose 'f5', which is illegal"):
        made("gtp", "no passes").choose(positions[-1], positions[:-1], None)


@pytest.mark.parametrize(
    ("protocol", "mode", "said"),
    [
        ("gtp", "crash", "^game 0: crash: engine .* ended by itself; without a move of its own no game counts$"),
        ("nboard", "word", "^game 0: word: engine .* answered nonsense: '=== resign 1.5'; without a move"),
        ("gtp", "illegal", "^game 0: illegal: engine .* chose 'a1', which is illegal in .*; without a move"),
    ],
)
def test_a_program_that_gives_no_move_ends_the_match(tmp_path: Path, protocol: str, mode: str, said: str) -> None:
    players = (parse_player("random"), parse_player(text(protocol, mode, tmp_path / "notes")))
    with pytest.raises(GlemError, match=said):
        run_tournament(Tournament(OTHELLO, players, (Opening(),)))


def test_a_failure_after_a_move_costs_the_game(tmp_path: Path) -> None:
    players = (parse_player(text("gtp", "crash later", tmp_path / "notes")), parse_player("random"))
    played = play_game(GameTask(OTHELLO, 0, Opening(), *players))
    assert (played.end, played.result, played.failures) == (End.FAILURE, -1, (2, 0))
    assert "ended by itself" in played.problem
    assert PlayedGame.from_json(OTHELLO, played.to_json(OTHELLO)).problem == played.problem


def test_a_program_that_fails_in_all_games_ends_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []

    def failed(task: GameTask) -> PlayedGame:
        numbers.append(task.number)
        names, result = (task.first.name, task.second.name), 1 if task.second.name == "bad" else -1
        moves = (MoveChoice(F5),) * 3
        return PlayedGame(task.number, names, task.opening, moves, None, result, End.FAILURE, (0, 0), (1, 1), "it died")

    monkeypatch.setattr("glem.core.tournament.tournament.play_game", failed)
    players = (parse_player("random"), parse_player("random,name=bad"))
    tournament = Tournament(OTHELLO, players, tuple(choose_openings(OTHELLO, plies=1, count=1)) * 20)
    with pytest.raises(
        GlemError, match="the program of bad has lost 10 games by failures and ended none; the last: it died"
    ):
        run_tournament(tournament)
    assert len(numbers) == 10


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_close_ends_the_process(made: Made, protocol: str) -> None:
    for mode in ("good", "hang"):
        player = made(protocol, mode)
        process = player.process
        assert process is not None
        assert is_alive(process)
        player.close()
        wait_for_end(process)


_KEEPER = """
import sys, threading, time
from glem.core.game.game import load_game
from glem.core.players.making import make_player
from glem.core.players.spec import parse_player
game = load_game("othello")
player = make_player(game, parse_player(sys.argv[1]))
threading.Thread(target=player.choose, args=(game.initial_position, [], None)).start()
print(player.process, flush=True)
time.sleep(100)
"""


def test_a_kill_leaves_nothing_behind(tmp_path: Path) -> None:
    with program_at_work(_KEEPER, text("gtp", "hang", tmp_path / "notes")) as line:
        process = int(line)
        assert is_alive(process)
    wait_for_end(process)


@pytest.mark.parametrize(
    ("game", "protocol"), [("othello", "gtp"), ("othello", "nboard"), ("connect_four", "gtp"), ("chess", "gtp")]
)
def test_glems_own_engine_as_the_program(game: str, protocol: str) -> None:
    rules = load_game(game)
    spec = parse_player(
        f"{protocol}:{sys.executable} -m glem engine {game} --protocol {protocol} --player random"
        + (",depth=1" if protocol == "nboard" else "")
    )
    own = parse_player("random,seed=3,name=own")
    for first, second in ((spec, own), (own, spec)):
        played = play_game(GameTask(rules, 0, Opening(), first, second))
        assert played.failures == (0, 0)
        assert played.end != End.FAILURE
        assert PlayedGame.from_json(rules, played.to_json(rules)).to_json(rules) == played.to_json(rules)


@pytest.mark.parametrize("mode", ["busy", "busy child"])
def test_processor_time_is_the_programs_and_its_childrens(made: Made, mode: str) -> None:
    player = made("gtp", mode)
    spent = first_move(player).processor_seconds
    assert spent is not None
    # Ticks are a hundredth of a second.
    assert spent >= 0.18
    assert player.process is not None
    told = processor_seconds(player.process)
    assert told is not None
    assert told >= spent
    # From move to move, not from the start.
    player.new_game()
    again = first_move(player).processor_seconds
    assert again is not None
    assert again < 2 * spent


def test_processor_time_of_unknown_processes_is_none() -> None:
    assert processor_seconds(2**30) is None


def test_processor_time_goes_into_records_and_standings() -> None:
    players = tuple(map(parse_player, ("random,name=one", "greedy,evaluation=mobility,name=other")))
    totals = run_tournament(Tournament(OTHELLO, players, (Opening(),))).standings.totals["other"]
    assert totals.processor_moves == totals.moves
    assert totals.processor_seconds > 0
    assert totals.to_json()["processor_seconds_per_move"] == totals.processor_seconds / totals.moves
