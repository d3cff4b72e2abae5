"""UCI engines as players and as scorers, the well-behaved and the others."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess
import chess.engine
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.errors import BadInputError, GlemError
from glem.core.evaluation.named import load_value
from glem.core.evaluation.result_distribution import result_distribution
from glem.core.game.game import load_game
from glem.core.game.protocols import PlayerFailureError
from glem.core.grading.scorers.scorers import scorer_of
from glem.core.grading.scorers.searching import ExternalScorer, value_and_drawishness
from glem.core.labelling.by_search import Origin, SearchLabelling, label_by_search
from glem.core.labelling.corrected import RelabelSettings
from glem.core.players.making import make_player
from glem.core.players.player import MoveChoice
from glem.core.players.programs import Program
from glem.core.players.spec import PlayerSpec, parse_player
from glem.core.players.thinker import Thinker
from glem.core.positions.positions import Positions
from glem.core.search.results import Limits
from glem.core.tournament.openings import Opening
from glem.core.tournament.tournament import Tournament, TournamentResult, run_tournament
from glem.games.chess import CHESS
from glem.games.chess.boards import GameBoard, board_of, from_board, move_number, move_of
from glem.games.chess.notation import parse_move
from glem.games.chess.rules.position import INITIAL_POSITION
from glem.games.chess.uci.external_engine import EngineAnswer, UciEngine
from glem.games.chess.uci.player import UciPlayer
from tests.core.labelling.labelling_examples import some_positions
from tests.killed_programs import is_alive, program_at_work, wait_for_end
from tests.system import not_on_windows

FAKE = Path(__file__).with_name("fake_uci_engine.py")
BEFORE_MATE = tuple(map(parse_move, ("f2f3", "e7e5", "g2g4")))
MATE = parse_move("d8h4")


def command(mode: str, notes: Path | None = None) -> str:
    return f"{sys.executable} -S {FAKE} '{mode}'" + (f" '{notes}'" if notes else "")


def text(mode: str, notes: Path | None = None, **options: object) -> str:
    program = command(mode, notes)
    if mode in {"good", "prepares", "crash once", "lines", "no line"}:
        # It finds legal moves by python-chess.
        program = program.replace(" -S ", " ")
    parts = [f"uci:{program}", "nodes=100"]
    return ",".join([*parts, *(f"{name}={value}" for name, value in {"name": mode, **options}.items())])


@pytest.fixture
def player() -> Iterator[Callable[[str], UciPlayer]]:
    made: list[UciPlayer] = []

    def make(player_text: str) -> UciPlayer:
        made.append(UciPlayer(parse_player(player_text)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_texts_of_programs() -> None:
    spec = parse_player("uci:/usr/games/engine --uci,nodes=1000,Hash=16,Skill Level=3,option.seed=2")
    assert (spec.kind, spec.evaluation, spec.limits.nodes) == ("external", "uci:/usr/games/engine --uci", 1000)
    assert spec.options == (("Hash", "16"), ("Skill Level", "3"), ("option.seed", "2"))
    assert spec.name == "engine --uci,nodes=1000,Hash=16,Skill Level=3,option.seed=2"
    assert PlayerSpec.from_json(spec.to_json()) == spec
    assert parse_player("name=a,evaluation=uci:engine --x=y,depth=2").evaluation == "uci:engine --x=y"


@pytest.mark.parametrize(
    ("player_text", "said"),
    [
        ("uci:engine", "has no limit"),
        ("uci:engine,depth=2,Hash=1,Hash=2", "Hash twice"),
        ("uci:engine,kind=search,depth=2", "of no other kind"),
        ("external,depth=2", "PROTOCOL:PROGRAM"),
        ("uci:no-such-engine,depth=2", "no such program"),
        (f"uci:{FAKE.parent},depth=2", "no such program|cannot be executed"),
        ("uci:'unclosed,depth=2", "No closing quotation"),
        ("xboard:engine,depth=2", r"knows no programs xboard:.*known: gtp:, uci:"),
        (text("good", timeout="soon"), "timeout must be seconds"),
        (text("good", table=3), "option Hash"),
    ],
)
def test_texts_without_sense(player_text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_player(player_text).resolved(CHESS)


@not_on_windows  # which has other rules for what can be executed
@pytest.mark.parametrize(
    "written", ["./engine", "~/engine", "./my engine", "'./my engine' good", "'./a,b/engine'", "sub/../engine"]
)
def test_paths_of_programs_mean_what_they_mean_to_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    for name in ("engine", "my engine", "a,b/engine"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\nexec {sys.executable} {FAKE} good\n")
        path.chmod(0o755)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    spec = parse_player(f"uci:{written},nodes=10").resolved(CHESS)
    assert spec.limits.nodes == 10
    player = make_player(CHESS, spec)
    assert player.choose(CHESS.initial_position, [], None).move in CHESS.list_legal_moves(CHESS.initial_position)
    player.close()


@not_on_windows
def test_a_program_here_that_is_not_on_path_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine").write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    for text, mode, said in (
        ("engine", 0o755, "no such program on PATH; the one here is ./engine"),
        ("./engine", 0o644, "the file cannot be executed"),
        ("~nobody-of-that-name/engine", 0o755, "no such program"),
    ):
        (tmp_path / "engine").chmod(mode)
        with pytest.raises(BadInputError, match=said):
            parse_player(f"uci:{text},nodes=10").resolved(CHESS)


def test_other_games_know_other_programs() -> None:
    with pytest.raises(BadInputError, match="Othello knows no programs uci:"):
        parse_player("uci:engine,depth=2").resolved(load_game("othello"))


def test_options_are_the_engines(player: Callable[[str], UciPlayer]) -> None:
    player(text("score", Hash=4))
    with pytest.raises(BadInputError, match=r"no option 'Hsh'.*Hash, UCI_ShowWDL"):
        player(text("score", Hsh=4))
    with pytest.raises(BadInputError, match="Hash cannot be '1000'"):
        player(text("score", Hash=1000))


def test_options_of_all_types_are_told_as_they_are_announced(tmp_path: Path) -> None:
    given = {"style": "Very Risky", "clear hash": "", "book file": "a b.bin", "contempt": "-5", "UCI_SHOWWDL": "True"}
    engine = UciEngine(Program([sys.executable, str(FAKE), "options", str(tmp_path / "notes")], None, None, given))
    try:
        engine.start()
        assert [
            (option.name, option.kind, option.default, option.least, option.most) for option in engine.announced
        ] == [
            ("Hash", "spin", 16, 1, 64),
            ("UCI_ShowWDL", "check", 0, None, None),
            ("Clear Hash", "button", None, None, None),
            ("Style", "combo", None, None, None),
            ("Book File", "string", None, None, None),
            ("Contempt", "spin", 0, -100, 100),
        ]
        engine.configure({"Contempt": "0"})
        engine.think(chess.Board(), Limits(nodes=1), seconds=30)
        for name, value, said in (
            ("Style", "Risky", "it is one of: Solid, Very Risky"),
            ("Contempt", "101", "it is a whole number from -100 to 100"),
            ("Contempt", "1.5", "it is a whole number"),
            ("UCI_ShowWDL", "1", "it is true or false"),
            ("Book File", "a\nquit", "it has more than one line"),
            ("UCI_Chess960", "true", "it is not for users to set"),
        ):
            with pytest.raises(BadInputError, match=f"option {name} cannot be .*: {said}"):
                engine.configure({name: value})
            assert engine.process is None
            engine = UciEngine(engine.program)
            engine.start()
    finally:
        engine.close()
    assert (tmp_path / "notes").read_text().splitlines()[:7] == [
        "setoption name Style value Very Risky",
        "setoption name Clear Hash",
        "setoption name Book File value a b.bin",
        "setoption name Contempt value -5",
        "setoption name UCI_ShowWDL value true",
        "setoption name Contempt value 0",
        "position startpos",
    ]


def test_engines_are_told_when_a_game_is_of_chess960(tmp_path: Path) -> None:
    engine = UciEngine(Program([sys.executable, str(FAKE), "options", str(tmp_path / "notes")], None, None, {}))
    shuffled = chess.Board.from_chess960_pos(0)
    try:
        for board in (shuffled, shuffled, chess.Board()):
            engine.think(board, Limits(nodes=1), game="one", seconds=30)
    finally:
        engine.close()
    position = f"position fen {shuffled.fen(shredder=True)}"
    assert (tmp_path / "notes").read_text().splitlines() == [
        "setoption name UCI_Chess960 value true",
        position,
        position,
        "setoption name UCI_Chess960 value false",
        "position startpos",
    ]


@pytest.mark.parametrize("mode", ["mute", "leaves", "other"])
def test_programs_that_speak_something_else(player: Callable[[str], UciPlayer], mode: str) -> None:
    with pytest.raises(GlemError, match="does it speak UCI"):
        player(text(mode, timeout=1))


def test_engines_that_do_not_get_ready(player: Callable[[str], UciPlayer]) -> None:
    with pytest.raises(GlemError, match="gave no answer in 1 s, asked whether it is ready"):
        player(text("busy", timeout=1))


@settings(max_examples=30)
@given(data=st.data())
def test_games_come_back_from_their_positions(data: st.DataObject) -> None:
    board = chess.Board(data.draw(st.sampled_from((chess.STARTING_FEN, "r3k2r/pPp5/8/8/3pP3/8/8/R3K2R w KQkq - 0 1"))))
    positions = [from_board(board)]
    history = GameBoard()
    for _ in range(data.draw(st.integers(0, 12))):
        legal = list(board.legal_moves)
        if not legal:
            break
        move = data.draw(st.sampled_from(legal))
        number = move_number(board, move)
        again = board.copy()
        again.push(move_of(number))
        board.push(move)
        assert again == board
        positions.append(from_board(board))
        if data.draw(st.booleans()):
            assert history.board(positions[-1], positions[:-1]).move_stack == board.move_stack
    found = history.board(positions[-1], positions[:-1])
    assert found.move_stack == board.move_stack
    assert found.board_fen() == board.board_fen()
    # Another game, and one that goes on elsewhere.
    assert history.board(INITIAL_POSITION, []).move_stack == []
    assert history.board(positions[-1], [INITIAL_POSITION]).turn == board.turn


def test_boards_are_of_chess960_where_they_must_be() -> None:
    assert not board_of(INITIAL_POSITION).chess960
    assert board_of(from_board(chess.Board.from_chess960_pos(0))).chess960


def played(record: Path, *players: str) -> TournamentResult:
    """A match of two players from a position in which White is mated in one move."""
    return run_tournament(Tournament(CHESS, tuple(map(parse_player, players)), (Opening(BEFORE_MATE),)), record)


def test_what_an_engine_prepares_is_no_move_of_its(player: Callable[[str], UciPlayer]) -> None:
    ready = player(text("prepares"))
    assert 0 <= ready.choose(INITIAL_POSITION, [], None).seconds < 0.9


def test_engines_play_a_match(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    totals = played(tmp_path / "games.jsonl", text("good", notes), text("good", name="other")).standings.totals["good"]
    assert (totals.wins, totals.losses, totals.failures, totals.moves, totals.nodes) == (1, 1, 0, 1, 1234)
    # The whole game is told, so that the engine knows of repetitions.
    assert notes.read_text() == "position startpos moves f2f3 e7e5 g2g4\n"


def choice_of(one: UciPlayer) -> MoveChoice:
    previous = Opening(BEFORE_MATE).positions(CHESS)
    return one.choose(previous.pop(), previous, None)


def test_what_a_choice_tells(player: Callable[[str], UciPlayer]) -> None:
    choice = choice_of(player(text("good")))
    # The last score that is no bound.
    assert (choice.move, choice.score, choice.depth, choice.nodes, choice.failures) == (MATE, 0.31, 7, 1234, 0)


@pytest.mark.parametrize("mode", ["capitals", "blanks", "as people write it"])
def test_moves_in_other_spellings_are_understood(player: Callable[[str], UciPlayer], mode: str) -> None:
    assert choice_of(player(text(mode))).move == MATE


def test_a_crash_is_made_good_once(player: Callable[[str], UciPlayer], tmp_path: Path) -> None:
    choice = choice_of(player(text("crash once", tmp_path / "notes")))
    assert (choice.move, choice.failures) == (MATE, 1)


@pytest.mark.parametrize(
    ("mode", "failures", "said"),
    [
        ("crash", 2, "ended by itself"),
        ("hang", 1, "no answer in 1 s"),
        ("illegal", 2, "e2e5.*illegal"),
        ("silent", 2, "no move"),
        ("garbage", 2, "nonsense"),
        ("flood", 2, "printed more than 16 MiB"),
        ("endless line", 2, "printed more than 16 MiB"),
    ],
)
def test_failures(player: Callable[[str], UciPlayer], mode: str, failures: int, said: str) -> None:
    timeout = 1 if mode == "hang" else 30
    one = player(text(mode, timeout=timeout))
    with pytest.raises(PlayerFailureError, match=said) as raised:
        choice_of(one)
    assert raised.value.failures == failures


def test_a_dead_engine_loses_no_game(tmp_path: Path) -> None:
    with pytest.raises(GlemError, match=r"^game 0: crash: engine .* ended by itself; without a move of its own"):
        played(tmp_path / "games.jsonl", text("good"), text("crash"))


def test_an_engine_that_ignores_a_limit_of_nodes_is_stopped() -> None:
    engine = UciEngine(Program([sys.executable, "-S", str(FAKE), "no nodes"], None, None, {}))
    try:
        answer = engine.think(chess.Board(), Limits(nodes=30), game=None, seconds=30)
    finally:
        engine.close()
    assert 30 <= answer.nodes <= 40


_WORDS: dict[str, st.SearchStrategy[str]] = {
    "score": st.builds(
        "{} {}{}{}".format,
        st.sampled_from(["cp", "mate"]),
        st.sampled_from(["", "", "+", "-"]),
        st.integers(0, 10_000),
        st.sampled_from(["", "", " lowerbound", " upperbound"]),
    ),
    "wdl": st.builds("{} {} {}".format, *3 * [st.integers(0, 1000)]),
    "depth": st.integers(0, 99).map(str),
    "nodes": st.integers(0, 10**15).map(str),
    "multipv": st.integers(1, 3).map(str),
    "pv": st.sampled_from(["e2e4", "g1f3 g8f6", "e2e4 e7e5 g1f3"]),
    "seldepth": st.integers(0, 99).map(str),
    "currmove": st.just("e2e4"),
    "currline": st.just("1 e2e4 e7e5"),
    "unheard": st.just("of"),
}


@given(st.data())
def test_what_an_engine_tells_is_what_python_chess_reads(data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from([*_WORDS]), unique=True))
    words = [word for name in names for word in [name, *data.draw(_WORDS[name]).split()]]
    words += data.draw(st.sampled_from([[], ["string", "score", "cp", "999", "upperbound", "nodes", "7"]]))
    blanks = st.sampled_from([" ", "  ", "\t"])
    line = "".join(word + data.draw(blanks) for word in words)
    answer, board = EngineAnswer(), chess.Board()
    answer.add(line)
    told = chess.engine._parse_uci_info(line, board)
    number, score = told.get("multipv", 1), told.get("score")
    centipawns, mate = (None, None) if score is None or number > 1 else (score.relative.score(), score.relative.mate())
    assert (answer.centipawns, answer.mate) == (centipawns, mate)
    assert answer.nodes == (told.get("nodes", 0) if number == 1 else 0)
    assert answer.depth == (told.get("depth", 0) if score is not None and number == 1 else 0)
    is_bound = "lowerbound" in told or "upperbound" in told
    assert answer._is_exact == (score is not None and number == 1 and not is_bound)
    results = told["wdl"].relative if answer._is_exact and "wdl" in told else None
    assert answer.results == (None if results is None else (results.wins, results.draws, results.losses))
    moves = [move.uci() for move in told.get("pv", [])] if score is not None and not is_bound else []
    assert {key: line[2] for key, line in answer.lines.items()} == ({number: moves} if moves else {})


@pytest.mark.parametrize(
    ("told", "moves"),
    [("e2e4 unheard of", "e2e4"), ("E2E4 E7E5", "E2E4 E7E5"), ("Nf3 Nf6 O-O 0000", "Nf3 Nf6 O-O 0000"), ("of", "")],
)
def test_a_line_of_moves_ends_at_a_word_that_is_none(told: str, moves: str) -> None:
    answer = EngineAnswer()
    answer.add(f"score cp 5 pv {told}")
    assert answer.lines == ({1: (5, False, moves.split())} if moves else {})


@pytest.mark.parametrize(
    "bound",
    [
        "score cp 920 wdl 990 10 0 lowerbound",
        "score upperbound cp 31",
        "lowerbound score  cp\t31",
        "score cp 9 lowerbound",
    ],
)
def test_bounds_are_not_kept_where_a_score_is_exact(bound: str) -> None:
    for lines in ((f"depth 3 {bound} pv e2e4", "depth 2 score cp +42 pv d2d4"), ("score mate +5", bound)):
        for order in (lines, lines[::-1]):
            answer = EngineAnswer()
            for line in order:
                answer.add(line)
            assert (answer.centipawns, answer.mate) == ((42, None) if "+42" in str(lines) else (None, 5))


def test_close_ends_the_process() -> None:
    for mode in ("score", "hang"):
        engine = UciEngine(Program([sys.executable, "-S", str(FAKE), mode], None, None, {}))
        engine.start()
        process = engine.process
        assert process is not None
        assert is_alive(process)
        engine.close()
        wait_for_end(process)
        assert engine.process is None


_KEEPER = """
import sys, threading, time
from glem.games.chess.uci.external_engine import EngineAnswer, UciEngine
from glem.core.players.programs import Program
from glem.core.search.results import Limits
from glem.core.machine.programs import OWN_GROUP, guard_group, subprocess
import chess
engine = UciEngine(Program([sys.executable, "-S", sys.argv[1], "hang"], None, None, {}))
engine.start()
deaf = subprocess.Popen([sys.executable, "-S", sys.argv[1], "deaf"], **OWN_GROUP)
guard_group(deaf.pid)
threading.Thread(target=lambda: engine.think(chess.Board(), Limits(), game=None, seconds=100)).start()
print(engine.process, deaf.pid, flush=True)
time.sleep(100)
"""


def test_a_kill_leaves_nothing_behind() -> None:
    """Neither an engine in the middle of a search nor a process that does not look at its input."""
    with program_at_work(_KEEPER, str(FAKE)) as line:
        processes = [int(word) for word in line.split()]
        assert len(processes) == 2
        assert all(map(is_alive, processes))
    for process in processes:
        wait_for_end(process)


def columns(count: int) -> Positions:
    board = chess.Board()
    positions = []
    while len(positions) < count:
        positions.append(from_board(board))
        board.push(list(board.legal_moves)[len(positions) % 7 % board.legal_moves.count()])
        assert not board.is_game_over()
    return Positions.from_positions(CHESS, positions, np.zeros(count))


def test_results_of_an_engine_are_graded_as_they_are() -> None:
    prediction = scorer_of(CHESS, text("score")).predict(columns(3))
    assert (prediction.scale, prediction.unit) == (1.0, "log odds")
    chances = result_distribution(prediction.value, 1.0, prediction.drawishness)
    np.testing.assert_allclose(np.transpose(chances), [[0.3, 0.6, 0.1]] * 3, rtol=1e-12)


def test_scores_without_results_are_pawns() -> None:
    prediction = scorer_of(CHESS, text("score", UCI_ShowWDL="false", depth=2)).predict(columns(2))
    assert prediction.unit == "log odds"  # the fake tells results whether it is asked or not
    prediction = scorer_of(CHESS, text("score only")).predict(columns(2))
    assert (prediction.scale, prediction.drawishness, prediction.unit) == (None, None, "pawns")
    np.testing.assert_array_equal(prediction.value, [-30.0, -30.0])


def labelled(spec: str, positions: Positions, work: Path, **settings: Any) -> Positions:
    return Positions.concatenate([*label_by_search(positions, SearchLabelling(parse_player(spec), **settings), work)])


def test_an_engine_labels_by_expected_results(tmp_path: Path) -> None:
    found = labelled(text("good"), columns(3), tmp_path)
    expected = 2 / (1 + 10 ** (-0.31 / 4)) - 1
    np.testing.assert_allclose(found.label, [expected, -expected] * 3, atol=1e-6)
    assert (found.source % len(Origin)).tolist() == [Origin.GIVEN, Origin.SUCCESSOR] * 3
    with pytest.raises(GlemError, match=r"no label for .*: engine .* ended by itself"):
        labelled(text("crash"), columns(1), tmp_path / "none")
    with pytest.raises(BadInputError, match="shows nothing of its search"):
        labelled(text("score"), columns(1), tmp_path, sampled=1)
    sampler = parse_player("material,depth=2,table=1")
    sampled = labelled(text("good"), columns(3), tmp_path / "sampled", given=False, sampled=2, sample_by=sampler)
    assert (sampled.source % len(Origin)).tolist() == [Origin.SAMPLED, Origin.SUCCESSOR] * 6
    np.testing.assert_allclose(sampled.label, [expected, -expected] * 6, atol=1e-6)
    with pytest.raises(BadInputError, match="does not search"):
        RelabelSettings(parse_player(text("score")), parse_player("default,depth=1"))


def test_successors_by_each_line_of_an_engine(tmp_path: Path) -> None:
    start = Positions.from_positions(CHESS, [from_board(chess.Board())], np.zeros(1))
    first, second, third, *_ = chess.Board().legal_moves
    for quiet, moves, pawns in ((False, (first, second, third), (0.31, 0.2, -30)), (True, (first, third), (0.31, -30))):
        found = labelled(text("lines"), start, tmp_path / str(quiet), only_successors=True, quiet=quiet)
        np.testing.assert_allclose(found.label, 1 - 2 / (1 + 10 ** (-np.array(pawns) / 4)), atol=1e-6)
        for row, move in enumerate(moves):
            board = chess.Board()
            board.push(move)
            assert found[row] == from_board(board)
    found = labelled(text("no line"), start, tmp_path / "none", only_successors=True, quiet=True)
    np.testing.assert_allclose(found.label, [1 - 2 / (1 + 10 ** (-0.31 / 4))], atol=1e-6)


def test_positions_that_call_for_tactics_are_followed_until_they_are_quiet(tmp_path: Path) -> None:
    in_check, can_capture, quiet = "4k3/8/8/8/8/8/3p4/3QK3", "4k3/8/8/3p4/8/8/8/3QK3", "4k3/8/8/8/8/8/8/3QK3"
    boards = [from_board(chess.Board(f"{rows} w - - 0 1")) for rows in (in_check, can_capture, quiet)]
    positions = Positions.from_positions(CHESS, boards, np.zeros(3))
    everything = labelled("material,depth=1,table=1", positions, tmp_path / "all")
    found = labelled("material,depth=1,table=1", positions, tmp_path / "quiet", quiet=True)
    for all_or_quiet in (everything, found):
        assert (all_or_quiet.source % len(Origin)).tolist() == [Origin.GIVEN, Origin.SUCCESSOR] * 3
    for row, followed in enumerate((True, True, False)):
        assert (found[2 * row] == boards[row]) != followed
        assert (found[2 * row] == everything[2 * row + 1]) == followed
        assert found.ply[2 * row] == -1
    with pytest.raises(BadInputError, match="no other is added, none left out"):
        SearchLabelling(parse_player("material,depth=1"), choices=True, quiet=True)
    with pytest.raises(BadInputError, match="Othello does not tell which moves are quiet"):
        labelled("default,depth=1", some_positions(load_game("othello"), 3), tmp_path / "othello", quiet=True)


def test_winning_chances_are_labels_where_results_count(tmp_path: Path) -> None:
    spec = "material,depth=2,table=1"
    found = labelled(spec, columns(4), tmp_path, given=False, sampled=3, even=2, even_within=0.1)
    thinker = Thinker(CHESS, parse_player(spec))
    searched = found.select(np.flatnonzero(found.source % len(Origin) != Origin.SUCCESSOR))
    for row, label in enumerate(searched.label):
        thinker.new_game()
        odds = thinker.judge(searched[row]).score
        assert odds is not None
        assert label == pytest.approx(np.tanh(odds / 2), abs=1e-6)
    even = searched.select(np.flatnonzero(searched.source % len(Origin) == Origin.EVEN))
    chances = load_value("material", CHESS).predict(even.positions)
    assert len(even)
    assert (np.abs(2 * chances - 1) <= 0.1 + 1e-3).all()


@given(parts=st.tuples(*[st.floats(1e-4, 1.0)] * 3))
def test_value_and_drawishness_give_the_results_again(parts: tuple[float, ...]) -> None:
    results = np.array([parts]) / sum(parts)
    value, drawishness = value_and_drawishness(results)
    found = result_distribution(value, 1.0, drawishness)
    np.testing.assert_allclose(np.transpose(found), results, atol=1e-12)


def test_a_run_goes_on_whatever_the_engine_does(tmp_path: Path) -> None:
    scorer = scorer_of(CHESS, text("hang once", tmp_path / "notes", timeout=1))
    assert isinstance(scorer, ExternalScorer)
    prediction = scorer.predict(columns(3))
    assert not np.isnan(prediction.value).any()
    (remark,) = scorer.remarks()
    assert remark.startswith("hang once failed once and was started anew (the last time: engine ")
    assert remark.endswith("gave no answer in 1 s)")


@pytest.mark.parametrize("mode", ["crash", "silent"])
def test_positions_without_a_score(mode: str) -> None:
    scorer = scorer_of(CHESS, text(mode))
    assert isinstance(scorer, ExternalScorer)
    prediction = scorer.predict(columns(2))
    assert np.isnan(prediction.value).all()
    assert scorer.remarks()[-1].startswith(f"{mode} gave no score for 2 positions (the last time: ")


@pytest.mark.parametrize(
    ("mode", "searches", "said"),
    # A position is asked for twice; where the one before it hung, too, once.
    [("crash", 6, "ended by itself"), ("hang", 4, "gave no answer in 1 s")],
)
def test_a_dead_engine_is_told_at_once_and_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: str, searches: int, said: str
) -> None:
    notes = tmp_path / "notes"
    scorer = scorer_of(CHESS, text(mode, notes, timeout=1 if mode == "hang" else 30))
    with pytest.raises(GlemError, match=f"{said}; 3 positions in a row have no score, so it is given up"):
        scorer.predict(columns(50))
    assert len(notes.read_text().splitlines()) == searches
    (message,) = caplog.messages
    assert said in message


def test_engines_need_not_know_chess960(player: Callable[[str], UciPlayer]) -> None:
    position = from_board(chess.Board.from_chess960_pos(0))
    scorer = scorer_of(CHESS, text("score"))
    assert isinstance(scorer, ExternalScorer)
    assert np.isnan(scorer.predict(Positions.from_positions(CHESS, [position], [0.0])).value).all()
    assert scorer.remarks() == ["score gave no score for 1 position (the last time: the engine does not play Chess960)"]
    with pytest.raises(PlayerFailureError, match="does not play Chess960"):
        player(text("good")).choose(position, [], None)


def test_kept_scores_are_not_asked_for_again(tmp_path: Path) -> None:
    notes, kept = tmp_path / "notes", tmp_path / "kept"
    selected = columns(50)
    first = scorer_of(CHESS, text("score", notes), kept=kept).predict(selected)
    assert len(notes.read_text().splitlines()) == 50
    (folder,) = kept.iterdir()
    # As a kill leaves it: a part is missing.
    (folder / "scores-000001.npz").unlink()
    again = scorer_of(CHESS, text("score", notes), kept=kept).predict(selected)
    assert len(notes.read_text().splitlines()) == 70
    np.testing.assert_array_equal(again.value, first.value)


def test_scorers_need_a_limit_of_their_own() -> None:
    with pytest.raises(BadInputError, match="no limit"):
        scorer_of(CHESS, f"uci:{command('score')}")
    with pytest.raises(BadInputError, match="a clock is for games"):
        scorer_of(CHESS, f"uci:{command('score')},clock=10")


@pytest.mark.skipif(shutil.which("stockfish") is None, reason="stockfish is not on the PATH")
def test_stockfish_gives_results() -> None:
    scorer = scorer_of(CHESS, "uci:stockfish,nodes=500,Hash=1")
    one, other = scorer.predict(columns(5)), scorer.predict(columns(5))
    assert one.scale == 1.0
    np.testing.assert_array_equal(one.value, other.value)
