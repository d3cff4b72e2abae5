"""Changes written as text, and Algorithm 3: which candidates are accepted, what the log says, what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.discovery.game_positions import Games
from glem.core.errors import BadInputError
from glem.core.evaluation.named import load_evaluation
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.files.digests import file_digest
from glem.core.fitting.likelihood import prior_of
from glem.core.grading.changes import apply_changes, check_candidates, parse_candidate, read_candidates
from glem.core.grading.learning import Candidate, LearningRule, deciding_games, learn
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions, keys_digest
from glem.core.positions.selection.selection import PAPER_RULE
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.grading.random_games import random_pgn
from tests.othello import LEARNING, sample_of_games


@pytest.fixture(scope="module")
def baseline() -> ResultEvaluation:
    """Mobility, with a drawishness for a game that is hardly ever drawn."""
    value = prior_of(mobility_evaluation(LEARNING, logistic=True)).value
    return ResultEvaluation.with_constant_drawishness(value, 0.1)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("learning") / "games.parquet"
    write_positions(path, sample_of_games(1500))
    return path


@pytest.fixture(scope="module")
def games(file: Path) -> Positions:
    return Positions.concatenate(list(Games(LEARNING.game, [file]).positions(PAPER_RULE)), renumber=False)


def changed(text: str, evaluation: ResultEvaluation) -> ResultEvaluation:
    return apply_changes(parse_candidate(text, "here:1"), evaluation, None)


def test_verbs_change_what_they_say(baseline: ResultEvaluation) -> None:
    before = baseline.value.linear_weights
    assert changed("scale mobility 2", baseline).value.linear_weights[:, 0] == pytest.approx(2 * before[:, 0])
    assert changed("shift mobility -0.02", baseline).value.linear_weights[:, 0] == pytest.approx(before[:, 0] - 0.02)
    assert changed("set mobility +0.3", baseline).value.linear_weights[:, 0] == pytest.approx(0.3)
    dropped = changed("drop mobility", baseline).value
    assert (dropped.linear, dropped.linear_weights.shape[1]) == (baseline.value.linear[1:], 1)
    both = changed("scale *mobility 3", baseline).value.linear_weights
    assert both == pytest.approx(3 * before)
    assert changed("shift bias 0.5", baseline).value.bias == pytest.approx(baseline.value.bias + 0.5)
    drawn = changed("drawishness add mobility 0.1", baseline)
    assert drawn.value is baseline.value
    assert drawn.drawishness.linear == baseline.value.linear[:1]
    assert drawn.drawishness.linear_weights == pytest.approx(0.1)


def test_phases_are_named_by_number_or_name(baseline: ResultEvaluation) -> None:
    names = baseline.learning.phases.names
    before = baseline.value.linear_weights[:, 0]
    one = changed("set mobility 9 in phase 3", baseline).value.linear_weights[:, 0]
    assert np.flatnonzero(one != before).tolist() == [3]
    several = changed("drop mobility in phases 2-5; shift bias 1 in phase 0", baseline).value
    assert np.flatnonzero(several.linear_weights[:, 0] == 0).tolist() == [2, 3, 4, 5]
    assert np.flatnonzero(several.bias).tolist() == [0]
    named = changed(f"scale mobility 2 in phase {names[1]}", baseline).value.linear_weights[:, 0]
    assert np.flatnonzero(named != before).tolist() == [1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scale mobility", "should be: scale FEATURE NUMBER"),
        ("scale mobility x", "'x' in 'scale mobility x' is no number"),
        ("scale mobility inf", "not finite"),
        ("enlarge mobility 2", "begins with none of scale, shift, set, add, drop, fit"),
        ("scale mobilty 2", "did you mean mobility"),
        ("scale nothing* 2", "no such feature"),
        ("add mobilty 2", "did you mean mobility"),
        ("add mobility 2", "is in the evaluation already"),
        ("drawishness scale mobility 2", "the evaluation has it not"),
        ("set mobility 1 in phase 13", "no phase '13'"),
        ("set mobility 1 in phases 5-2", "run backwards"),
        ("drop bias", "the bias is always there"),
        ("name:", "no change"),
        ("fit mobility", "no games to fit to"),
        ("fit mobility in phase 2", "in all phases"),
        ("drawishness", "begins with none"),
    ],
)
def test_wrong_changes_are_explained_with_their_place(baseline: ResultEvaluation, text: str, words: str) -> None:
    with pytest.raises(BadInputError, match=words.replace("*", r"\*")) as found:
        changed(text, baseline)
    assert "here:1" in str(found.value)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("scale mobility 2\nadd mobility 0.1\n", "here:2: mobility is in the evaluation already"),
        ("scale mobility 2\nscale mobilty 2\n", "here:2: .*did you mean mobility"),
        ("set mobility 2 in phase 99\n", "here:1: no phase '99'"),
        ("drawishness scale corners 2\n", "here:1: 'corners'"),
        ("scale corners 2\nadd corners 2\n", "here:1: 'corners'"),
        ("drop mobility\nadd mobility 0.1\nscale mobility 2\n", ""),
        ("fit corners\nscale corners 2\ndrop corners\n", ""),
        ("drop mobility\nscale mobility 2\n", ""),
    ],
)
def test_lines_that_nothing_leads_to_are_refused_at_once(baseline: ResultEvaluation, lines: str, words: str) -> None:
    found = [parse_candidate(line, f"here:{number}") for number, line in enumerate(lines.splitlines(), 1)]
    if words:
        with pytest.raises(BadInputError, match=words):
            check_candidates(found, baseline)
    else:
        check_candidates(found, baseline)


def test_the_example_of_the_documentation_runs_as_it_stands(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = Path(__file__).parents[3] / "docs" / "how-to" / "learn-from-games.md"
    blocks = re.findall(r"```(\w+)\n(.*?)```", page.read_text(), re.DOTALL)
    changes = next(text for _, text in blocks if text.startswith("# changes.txt"))
    command = next(text for _, text in blocks if text.startswith("glem improve"))
    monkeypatch.chdir(tmp_path)
    Path("changes.txt").write_text(changes)
    Path("games.pgn").write_text("".join(random_pgn(number) for number in range(60)))
    terminal(*command.split()[1:], "--resamples", 100)
    tried = [json.loads(line) for line in Path("learning.jsonl").read_text().splitlines()[1:]]
    assert [one["text"] for one in tried] == [line for line in changes.splitlines() if not line.startswith("#")]
    assert Path("learned.npz").exists()


def test_a_file_of_changes_names_its_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "changes.txt"
    path.write_text("# what to try\n\nbetter: scale mobility 1.2; drop bias  # two\nshift mobility 0.1\n")
    first, second = read_candidates(path)
    assert (first.name, len(first.changes)) == ("better", 2)
    assert (second.name, second.place) == ("shift mobility 0.1", f"{path}:4")
    path.write_text("scale mobility 1.2\nscale\n")
    with pytest.raises(BadInputError, match=r"changes\.txt:2"):
        read_candidates(path)
    path.write_text("# nothing\n")
    with pytest.raises(BadInputError, match="no changes"):
        read_candidates(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInputError, match="UTF-8"):
        read_candidates(path)
    with pytest.raises(BadInputError, match="No such file"):
        read_candidates(tmp_path / "missing.txt")


def candidates(*texts: str) -> list[Candidate]:
    def candidate(text: str) -> Candidate:
        change = parse_candidate(text, "here:1")
        return Candidate(change.name, change.text, lambda best: apply_changes(change, prior_of(best), None))

    return [candidate(text) for text in texts]


TEXTS = ("scale opponent_mobility 1.2", "worse: scale mobility 0.1", "same: scale *mobility 2")


def test_better_is_accepted_worse_and_equal_are_not(baseline: ResultEvaluation, games: Positions) -> None:
    worse = changed("scale mobility 0.2", baseline)
    run = learn(worse, candidates("scale mobility 5", *TEXTS[1:]), games, rule=LearningRule(resamples=1000))
    better, back, same = run.verdicts
    assert better.accepted
    assert better.low > 0
    assert better.p_value < 0.05
    assert better.difference == pytest.approx(np.log(better.grade / better.baseline_grade))
    assert not back.accepted
    assert back.difference == pytest.approx(-better.difference, rel=0.5)
    assert back.baseline == "scale mobility 5"
    # Twice the weights are half the scale: nothing changes.
    assert not same.accepted
    assert abs(same.difference) < 1e-6
    assert run.baseline == "scale mobility 5"
    assert run.grade == better.grade
    assert better.recalibrated is not None
    assert better.recalibrated == pytest.approx(better.grade, abs=0.01)
    assert better.recalibrated_text.startswith("+")
    assert attrs.evolve(better, recalibrated=0.1).recalibrated_text.endswith(", better scaled, not better ordered")
    assert attrs.evolve(better, recalibrated=None).recalibrated_text == ""


def test_the_rule_of_the_paper_takes_any_increase(baseline: ResultEvaluation, games: Positions) -> None:
    tiny = candidates("scale mobility 1.002", "scale mobility 0.998")
    strict = learn(baseline, tiny, games, rule=LearningRule(level=1e-6, resamples=200))
    assert strict.accepted == 0
    loose = learn(baseline, tiny, games, rule=LearningRule(any_increase=True, resamples=200))
    assert [verdict.accepted for verdict in loose.verdicts] == [verdict.difference > 0 for verdict in loose.verdicts]
    assert loose.accepted == 1


def test_an_interrupted_run_continues_with_its_log(
    baseline: ResultEvaluation, games: Positions, tmp_path: Path
) -> None:
    worse = changed("scale mobility 0.2", baseline)
    texts = ("scale mobility 5", *TEXTS)
    rule = LearningRule(resamples=200)
    whole = learn(worse, candidates(*texts), games, rule=rule)
    log = tmp_path / "learning.jsonl"

    def interrupt(_: Any) -> ResultEvaluation:
        raise KeyboardInterrupt

    broken = candidates(*texts)
    broken[2] = Candidate(broken[2].name, broken[2].text, interrupt)
    with pytest.raises(KeyboardInterrupt):
        learn(worse, broken, games, rule=rule, log=log)
    assert len(log.read_text().splitlines()) == 3
    # The death of the writer leaves a torn line.
    with log.open("a") as torn:
        torn.write('{"number": 3, "na')
    told = []
    again = learn(worse, candidates(*texts), games, rule=rule, log=log, said=told.append)
    assert [verdict.number for verdict in told] == [3, 4]

    def facts(run: Any) -> list[tuple[str, float, bool]]:
        return [(verdict.name, round(verdict.difference, 7), verdict.accepted) for verdict in run.verdicts]

    assert facts(again) == facts(whole)
    header, *lines = (json.loads(line) for line in log.read_text().splitlines())
    assert header["settings"]["deciding_digest"] == keys_digest(games.game_key)
    assert [line["name"] for line in lines] == [verdict.name for verdict in whole.verdicts]
    with pytest.raises(BadInputError, match="candidate 2 was"):
        learn(worse, candidates(texts[0], "other: scale mobility 1.1"), games, rule=rule, log=log)
    with pytest.raises(BadInputError, match="other settings"):
        learn(worse, candidates(*texts), games, rule=LearningRule(resamples=300), log=log)


def test_games_that_tuned_do_not_decide(file: Path, games: Positions) -> None:
    game = LEARNING.game

    def parts() -> Any:
        return Games(game, [file]).positions(PAPER_RULE)

    tuning, deciding = Positions.concatenate(list(parts()), renumber=False).split_by_game(0.3, 5)
    assert not np.isin(deciding.game_key, tuning.game_key).any()
    assert deciding.game_count + tuning.game_count == games.game_count
    assert 0.2 < deciding.game_count / games.game_count < 0.4
    with pytest.raises(BadInputError, match="are tuning games as well"):
        deciding_games(parts(), tuned=tuning.game_key)
    left, left_out = deciding_games(parts(), tuned=tuning.game_key, leave_out=True)
    assert keys_digest(left.game_key) == keys_digest(deciding.game_key)
    assert left_out == tuning.game_count
    with pytest.raises(BadInputError, match="all games"):
        deciding_games(parts(), tuned=games.game_key, leave_out=True)
    with pytest.raises(BadInputError, match="no position"):
        deciding_games([])


def test_the_command_learns_and_writes(
    terminal: Terminal, baseline: ResultEvaluation, games: Positions, file: Path, tmp_path: Path
) -> None:
    start, better = tmp_path / "start.npz", tmp_path / "better.npz"
    changed("scale mobility 0.2", baseline).save(start)
    baseline.save(better)
    changes = tmp_path / "changes.txt"
    changes.write_text("scale mobility 0.9\nfitted: fit mobility bias; drawishness fit mobility bias\n")
    begin = ("improve", "othello", file, "--start", start)
    options = (*begin, "--candidate", better, "--changes", changes, "--resamples", 200, "--jobs", 1)
    log, output = tmp_path / "log.jsonl", tmp_path / "learned.npz"
    found = terminal.json(*options, "--held-out", 0.5, "--log", log, "-o", output)
    assert [verdict["name"] for verdict in found["verdicts"]] == ["better", "scale mobility 0.9", "fitted"]
    assert found["verdicts"][0]["verdict"] == "accepted"
    assert found["tuning_games"] > 500
    assert found["tuning_digest"] != found["deciding_digest"]
    assert isinstance(load_evaluation(output), ResultEvaluation)
    fitting = tmp_path / "fitting.txt"
    fitting.write_text("fit mobility bias\n")
    fitted = terminal(*begin, "--changes", fitting, "--held-out", 0.5, "-o", tmp_path / "fitted.npz")
    assert "1 of 1 accepted" in fitted
    provenance = load_evaluation(tmp_path / "fitted.npz").provenance
    assert provenance["changed by learn"] == "fit mobility bias"
    assert provenance[FITTED_FILES].split() == [file_digest(file), file.name]
    again = terminal(*options, "--held-out", 0.5, "--log", log)
    assert "3 scale" not in again
    assert "of 3 accepted" in again
    lines = [json.loads(line) for line in log.read_text().splitlines()][1:]
    assert [line["digest"] for line in lines] == [file_digest(better), "", ""]
    baseline.save(better.with_name("kept.npz"))
    changed("scale mobility 0.5", baseline).save(better)
    error = terminal.fails(*options, "--held-out", 0.5, "--log", log)
    assert "is another file now than when it was tried" in error
    better.with_name("kept.npz").replace(better)
    for words, more in (
        ("are tuning games as well", ("--tuning", file)),
        ("give one", ("--tuning", file, "--held-out", 0.5)),
        ("changes.txt:2: there are no games to fit to", ()),
    ):
        assert words in terminal.fails(*options, *more)
