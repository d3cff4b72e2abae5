"""Discovery end to end on a small set: results, resuming, bad input."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from glem.core.compiling.kernels import popcount
from glem.core.configurations.configurations import symmetry_classes
from glem.core.discovery.candidates import draw_sample, mine_sample, standardized
from glem.core.discovery.discovery import Discovery, discover
from glem.core.discovery.plan import DiscoveryPlan
from glem.core.discovery.pursuit import choose_configurations
from glem.core.errors import BadInputError
from glem.core.evaluation.linear import LinearEvaluation
from glem.core.evaluation.provenance import FITTED_FILES
from glem.core.features.learning import Phases
from glem.core.fitting.least_squares import FitSettings, Terms, train
from glem.core.fitting.minimizing.conjugate import ConjugateGradient
from glem.core.fitting.packed.design import Design
from glem.core.game.equal_positions import position_keys
from glem.core.patterns.patterns import PatternSet
from glem.core.positions.files import write_positions
from glem.core.positions.positions import Positions
from glem.core.report.data import DiscoveryReport
from glem.core.report.discovered import _cell_moments, write_discovery
from tests.core.cli.terminal import Terminal
from tests.othello import LEARNING, sample_of_games

RESULTS = (
    "complete.npz",
    "configurations.npz",
    "discovery.json",
    "extended.npz",
    "mined.npz",
    "patterns.npz",
    "report.html",
)


class _OftenKept(DiscoveryPlan):
    """A plan whose fits keep their state so often that an interruption finds one."""

    @property
    def fit(self) -> FitSettings:
        return FitSettings(
            ConjugateGradient(iterations=self.iterations, patience=0, refresh_every=3),
            l2=self.l2,
            smoothing=self.smoothing,
        )


PLAN = _OftenKept(sample=10_000, maximum_size=2, keep=200, held_out=0.2, iterations=12, smoothing=0.0)
# What is left is a fit of patterns, and the report.
QUICK = attrs.evolve(PLAN, sample=5_000, keep=0, iterations=2)


def discovered(
    positions: Positions, folder: Path, plan: DiscoveryPlan, **rest: Any
) -> tuple[Discovery, DiscoveryReport]:
    """Discover with all files."""
    with discover(positions, LEARNING, folder, plan, **rest) as found:
        return found, write_discovery(found, folder)


@pytest.fixture(scope="module")
def positions() -> Positions:
    """Positions of 600 games of the sample."""
    return sample_of_games(600)


@pytest.fixture(scope="module")
def finished(positions: Positions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an uninterrupted discovery, in which its results are and nothing else."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    discovered(positions, folder, PLAN)
    assert sorted(path.name for path in folder.iterdir()) == sorted(RESULTS)
    return folder


@pytest.fixture(scope="module")
def report(finished: Path) -> Any:
    """Data of its report."""
    return json.loads((finished / "discovery.json").read_text())


def test_the_report_says_where_positions_come_from_and_what_phases_and_words_are(finished: Path, report: Any) -> None:
    assert "positions of Othello from glem's own shallow self-play." in report["summary"]
    assert "phase: discs on the board" in (finished / "report.html").read_text()
    words = (
        "(discs on the board)",
        "the result of its game",
        "q is the share of chance",
        "Matches",
        "a1 at the top left",
    )
    assert [word for word in words if word not in report["how_to_read"]] == []


def _after_the_middle(position: Any) -> int:
    return 1 if popcount(position.own | position.opponent) > 34 else 0


def test_games_with_few_phases_have_a_map_for_each(positions: Positions) -> None:
    phases = Phases(LEARNING.game, ("early", "late"), _after_the_middle)
    few = positions.select(np.arange(len(positions)) < 1000)
    found, sums = _cell_moments(attrs.evolve(LEARNING, phases=phases), few)
    assert found == ["phase early", "phase late"]
    assert sums.shape == (2, 64, 4)
    # One disc or the other lies on each square of the centre, in every position, and all four count for each.
    assert sums[:, 27, [0, 2]].sum() == 4000
    grid = sums.reshape(2, 8, 8, 4)
    for image in (grid[:, ::-1], grid[:, :, ::-1], grid.swapaxes(1, 2)):
        np.testing.assert_allclose(image, grid)
    # Each disc is seen once by the square on which it lies, and by its images.
    values = LEARNING.features.values(few.positions)[:, [0, 7, 56, 63]]
    assert sums[:, 0, 0].sum() == (values == 1).sum()


def test_maps_go_by_whose_a_value_is_called_and_not_by_its_number(positions: Positions) -> None:
    few = positions.select(np.arange(len(positions)) < 1000)

    def moments(*names: str) -> Any:
        features = tuple(
            feature if feature.cell is None else attrs.evolve(feature, value_names=names)
            for feature in LEARNING.features.features
        )
        learning = attrs.evolve(LEARNING, features=attrs.evolve(LEARNING.features, features=features))
        return _cell_moments(learning, few)[1]

    own_first = moments("empty", "own", "opponent")
    np.testing.assert_array_equal(moments("empty", "opponent's man", "own man"), own_first[..., [2, 3, 0, 1]])
    # All pieces of a side count, of whatever kind.
    both = moments("opponent_man", "own man", "own_king")
    np.testing.assert_array_equal(both[..., 0], own_first[..., 0] + own_first[..., 2])
    assert len(moments("empty", "own man", "own king")) == 0
    assert len(moments("empty", "my_man", "his_man")) == 0


def test_of_images_the_one_nearest_the_top_left_is_shown(report: Any) -> None:
    symmetries = LEARNING.features.symmetries
    assert symmetries is not None
    for item in report["configurations"]:
        cells = [int(cell) for cell in item["cells"]]
        assert cells
        assert sorted(cells) == min(sorted(int(image[cell]) for cell in cells) for image in symmetries)


def test_a_phase_without_positions_has_no_learning_curve_and_no_errors(positions: Positions, tmp_path: Path) -> None:
    late = positions.select((positions.ply >= 20) & (positions.record < 200))
    found, report = discovered(late, tmp_path, PLAN)
    empty = np.flatnonzero(found.assessment.counts == 0)
    assert len(empty)
    names = [LEARNING.phases.names[phase] for phase in empty]
    for training in found.trainings.values():
        assert [training.weights.results[phase] for phase in empty] == [None] * len(empty)
    assert len(report.curves) == len(LEARNING.phases) - len(empty)
    assert not [curve.name for curve in report.curves if curve.name.split(", ")[1] in names]


def test_models_beat_the_baselines_on_held_out_games(report: Any) -> None:
    counts = np.array(report["errors"]["counts"])
    overall = {
        name: float(np.sqrt(np.average(np.square(errors), weights=counts)))
        for name, errors in report["errors"]["models"].items()
    }
    # 200 symmetry classes of pairs are few; the patterns' 100,000 entries see far more.
    assert overall["configurations"] < min(overall["mobility"], 0.85 * overall["constant"])
    assert overall["patterns"] < 0.95 * overall["mobility"]


def test_reported_errors_are_those_of_the_files(finished: Path, report: Any, positions: Positions) -> None:
    _, held_out = positions.split_by_game(PLAN.held_out)
    phases = LEARNING.phases.of(held_out.positions)
    for model in ("configurations", "patterns", "extended", "complete"):
        residual = LinearEvaluation.load(finished / f"{model}.npz").predict(held_out.positions) - held_out.label
        for phase, error in enumerate(report["errors"]["models"][model]):
            assert error == pytest.approx(np.sqrt(np.mean(residual[phases == phase] ** 2)), rel=1e-5)


def test_baselines_are_linear_regressions_by_phase(report: Any, positions: Positions) -> None:
    fitted, held_out = positions.split_by_game(PLAN.held_out)
    parts = [
        (each, LEARNING.features.values(each.positions), LEARNING.phases.of(each.positions))
        for each in (fitted, held_out)
    ]
    assert report["errors"]["baselines"] == [*LEARNING.baselines]
    for name, features in LEARNING.baselines.items():
        places = [LEARNING.features.index(feature) for feature in features]
        for phase, error in enumerate(report["errors"]["models"][name]):
            (columns, label, weight), (others, expected, _) = (
                (
                    np.column_stack([np.ones((own == phase).sum()), values[own == phase][:, places]]),
                    *(each[own == phase].astype(np.float64) for each in (found.label, found.weight)),
                )
                for found, values, own in parts
            )
            root = np.sqrt(weight)
            solution = np.linalg.lstsq(columns * root[:, None], label * root, rcond=1e-10)[0]
            assert error == pytest.approx(np.sqrt(np.mean((others @ solution - expected) ** 2)), rel=1e-4)


def test_the_report_says_what_the_found_patterns_add(finished: Path, report: Any, positions: Positions) -> None:
    _, held_out = positions.split_by_game(PLAN.held_out)
    given, extended = (LinearEvaluation.load(finished / f"{name}.npz") for name in ("patterns", "complete"))
    assert given.patterns is not None and extended.patterns is not None
    first = len(given.patterns.patterns)
    assert extended.patterns.patterns[:first] == given.patterns.patterns
    own, more = np.split(extended.pattern_weights, [given.patterns.weight_count], axis=1)
    unchanged = ~more.any(axis=1)
    assert not unchanged.all()
    np.testing.assert_array_equal(own[unchanged], given.pattern_weights[unchanged])
    added = report["added"]
    found = {item["name"] for item in added["items"] if item["kind"] == "pattern"}
    assert found == {pattern.name.replace("_", " ") for pattern in extended.patterns.patterns[first:]}
    assert any(item["kind"] == "configuration" for item in added["items"]) and extended.configurations is not None
    classes = symmetry_classes(extended.configurations, LEARNING.features.symmetries)
    squares = [(each.predict(held_out.positions) - held_out.label) ** 2 for each in (given, extended)]
    games = np.unique(held_out.game_key, return_inverse=True)[1]
    phases = LEARNING.phases.of(held_out.positions)
    for phase in range(13):
        before, after = (np.sqrt(each[phases == phase].mean()) for each in squares)
        assert added["differences"][phase] == pytest.approx(after - before, abs=1e-5)
    before, after = (np.sqrt(each.mean()) for each in squares)
    assert added["differences"][-1] == pytest.approx(after - before, abs=1e-5)
    # To first order the difference of two roots is a mean; the positions of a game are one draw of it.
    slopes = squares[1] / (2 * after) - squares[0] / (2 * before)
    of_games = np.bincount(games, slopes - slopes.mean()) / len(games)
    assert added["errors"][-1] == pytest.approx(np.sqrt((of_games**2).sum()), rel=0.01)
    what = f"{len(found)} patterns and {classes.max() + 1} configurations"
    told = f"added to these: {added['differences'][-1]:+.3f} ± {added['errors'][-1]:.3f}"
    assert what in report["summary"] and told in report["summary"]
    page = (finished / "report.html").read_text()
    assert "<h2>What was found that adds to the patterns</h2>" in page and f"± {added['errors'][-1]:.3f}" in page


def test_symmetric_configurations_share_their_weights(finished: Path) -> None:
    evaluation = LinearEvaluation.load(finished / "configurations.npz")
    game = LEARNING.game
    assert game.transform is not None
    position = game.parse_position("-" * 18 + "XO----" + "--OX----" + "--XXO---" + "-" * 24 + " X")
    values = [evaluation.evaluate(game.transform(position, symmetry)) for symmetry in range(8)]
    assert values == pytest.approx([values[0]] * 8, abs=1e-4)


class _StopAfter:
    """Progress that breaks the run off after some steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    @contextlib.contextmanager
    def __call__(self, description: str, total: float | None = None) -> Iterator[Any]:
        yield self

    def advance(self, amount: float = 1) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt

    def note(self, text: str) -> None:
        pass


# Whichever part is interrupted, the run folder is the same.
@pytest.mark.parametrize("steps", [150, *(pytest.param(steps, marks=pytest.mark.repeats) for steps in (3, 330))])
def test_an_interrupted_discovery_ends_with_the_same_files(
    finished: Path, positions: Positions, tmp_path: Path, steps: int
) -> None:
    with pytest.raises(KeyboardInterrupt):
        discovered(positions, tmp_path, PLAN, progress=_StopAfter(steps))
    assert (tmp_path / "work").is_dir()
    discovered(positions, tmp_path, PLAN, jobs=2)
    for name in RESULTS:
        assert (tmp_path / name).read_bytes() == (finished / name).read_bytes(), name


def test_work_of_other_settings_is_refused_and_stays(positions: Positions, tmp_path: Path) -> None:
    other = attrs.evolve(PLAN, sample=5_000, maximum_size=1)
    with pytest.raises(KeyboardInterrupt):
        discovered(positions, tmp_path, other, seed=1, progress=_StopAfter(150))
    parts = sorted((tmp_path / "work").rglob("part-*.npz"))
    assert parts
    with pytest.raises(BadInputError, match=r"unfinished work of other settings .*maximum_size: 1, not 2"):
        discovered(positions, tmp_path, PLAN)
    with pytest.raises(BadInputError, match="seed: 1, not 2"):
        discovered(positions, tmp_path, other, seed=2)
    assert sorted((tmp_path / "work").rglob("part-*.npz")) == parts


def test_files_that_no_discovery_has_written_are_left_alone(positions: Positions, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("precious")
    with pytest.raises(BadInputError, match=r"work holds thesis\.txt, .* may not be glem's"):
        discovered(positions, tmp_path, PLAN)
    assert (tmp_path / "work" / "thesis.txt").read_text() == "precious"
    for name in ("report.html", "mined.npz", "discovery.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text('{"title": "precious"}')
        with pytest.raises(BadInputError, match=f"holds {name}, but no discovery.json of glem"):
            discovered(positions, folder, PLAN)
        assert [path.name for path in folder.iterdir()] == [name]


def test_mining_within_patterns_stays_within_them(positions: Positions) -> None:
    sample = draw_sample(positions, 5_000, 3)
    mined = mine_sample(sample, LEARNING, DiscoveryPlan(within="patterns", minimum_matches=100))
    left = standardized(sample.label, LEARNING.phases.of(sample.positions))
    found = choose_configurations(mined, sample, LEARNING, left, 200)
    assert found is not None
    features, patterns = LEARNING.features, LEARNING.pattern_sets["logistello"]
    assert features.symmetries is not None
    regions = [
        {int(image[features.index(name)]) for name in members}
        for members in patterns.values()
        for image in features.symmetries
    ]
    for configuration in range(len(found)):
        squares = {int(found.table.features[relation]) for relation in found.relations_of(configuration)}
        assert any(squares <= region for region in regions)
    assert found.sizes.max() > 2


def test_a_sample_holds_images_of_drawn_positions(positions: Positions) -> None:
    sample = draw_sample(positions, 2_000, 9)
    keys = position_keys(positions.game, positions.positions, symmetries=True)
    assert np.isin(position_keys(sample.game, sample.positions, symmetries=True), keys).all()
    drawn, given = (position_keys(part.game, part.positions, symmetries=False) for part in (sample, positions))
    assert not np.isin(drawn, given).all()


def test_bad_input_is_explained(positions: Positions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInputError, match="at least 1,000"):
        discovered(positions.select(slice(0, 300)), tmp_path, PLAN)
    with pytest.raises(BadInputError, match="no pattern set 'nothing'"):
        discovered(positions, tmp_path, DiscoveryPlan(patterns="nothing"))
    with pytest.raises(BadInputError, match="within is 'nowhere'"):
        DiscoveryPlan(within="nowhere")
    sample = draw_sample(positions, 2_000, 0)
    with pytest.raises(BadInputError, match="all labels are equal"):
        discovered(attrs.evolve(positions, label=np.zeros(len(positions), np.float32)), tmp_path, PLAN)
    monkeypatch.setattr("glem.core.discovery.candidates._LIMIT", 1_000)
    with pytest.raises(BadInputError, match="1,000 configurations or more"):
        mine_sample(sample, LEARNING, DiscoveryPlan())


def with_labels(positions: Positions, label: Any) -> Positions:
    noise = np.random.default_rng(0).normal(0, 10, len(positions))
    return attrs.evolve(positions, label=(label + noise).astype(np.float32))


def test_planted_configurations_are_found_and_confirmed_and_explain_all(positions: Positions, tmp_path: Path) -> None:
    values, names = LEARNING.features.values(positions.positions), LEARNING.features
    symmetries = names.symmetries
    assert symmetries is not None
    label, planted = np.zeros(len(positions)), []
    for worth, members in ((12, (("c3", 1), ("d3", 2))), (-9, (("d2", 1), ("e6", 1))), (9, (("c4", 2), ("f3", 0)))):
        places = [names.index(name) for name, _ in members]
        images = {tuple(sorted((int(image[at]), value) for at, (_, value) in zip(places, members, strict=True)))
                  for image in symmetries}  # fmt: skip
        planted.append(images)
        for image in images:
            label += worth * np.all([values[:, at] == value for at, value in image], axis=0)
    plan = attrs.evolve(PLAN, patterns="none", keep=48, iterations=30, false_discoveries=0.01)
    found, report = discovered(with_labels(positions, label), tmp_path, plan)
    configurations = found.trainings["configurations"].evaluation.configurations
    assert configurations is not None
    table = configurations.table
    kept = {
        tuple(sorted((int(table.features[each]), int(table.values[each])) for each in configurations.relations_of(row)))
        for row in range(len(configurations))
    }
    assert all(images <= kept for images in planted)
    classes, confirmed = symmetry_classes(configurations, symmetries), set()
    for row in np.flatnonzero(found.assessment.q_values["configurations"][classes] <= plan.false_discoveries):
        relations = configurations.relations_of(int(row))
        confirmed.add(tuple(sorted((int(table.features[each]), int(table.values[each])) for each in relations)))
    assert confirmed == set().union(*planted)
    assert ", 3 of them confirmed" in report.summary
    assert (
        report.errors.overall("configurations") < 10.5 < 11 < min(map(report.errors.overall, report.errors.baselines))
    )


def test_few_games_cannot_judge_configurations(positions: Positions, tmp_path: Path) -> None:
    found, _ = discovered(positions.select(positions.record < 100), tmp_path, PLAN)
    assert not {"configurations", "complete"} & set(found.trainings)


def test_chance_adds_nothing_that_makes_worse(positions: Positions, tmp_path: Path) -> None:
    noise = with_labels(positions, 0)
    found, report = discovered(noise, tmp_path, attrs.evolve(PLAN, keep=48))
    errors = {name: report.errors.overall(name) for name in report.errors.models}
    assert max(errors.get("configurations", 0), errors.get("complete", 0)) < 1.01 * errors["constant"]
    assert not any((each <= 0.05).any() for each in found.assessment.q_values.values())
    if not {"extended", "complete"} & set(found.trainings):
        assert "Nothing was found that adds to these patterns." in report.summary


def test_the_command_tells_its_files(positions: Positions, terminal: Terminal, tmp_path: Path) -> None:
    source, folder = tmp_path / "positions.parquet", tmp_path / "found"
    write_positions(source, positions.select(positions.record < 100))
    options = ("--sample", 5000, "--keep", 0, "--iterations", 2, "--smoothing", 0, "--jobs", 1)
    assert terminal.json("discover", source, *options, "-o", folder)["configurations"] == []
    files = LinearEvaluation.load(folder / "patterns.npz").provenance[FITTED_FILES]
    assert files.endswith(" positions.parquet")


@pytest.mark.parametrize("patterns", [None, "none"])
def test_a_discovery_without_configurations_ends_in_a_report(
    positions: Positions, tmp_path: Path, patterns: str | None
) -> None:
    for name, text in {"mined.npz": "of an earlier discovery", "discovery.json": '{"facts": {"glem": "1"}}'}.items():
        (tmp_path / name).write_text(text)
    plan = attrs.evolve(QUICK, patterns=patterns)
    found, report = discovered(positions.select(positions.record < 200), tmp_path, plan)
    # Of so few games, none can judge what is added to patterns.
    models = ["patterns"] if patterns is None else []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["discovery.json", "report.html", *(f"{model}.npz" for model in models)]
    )
    report = json.loads((tmp_path / "discovery.json").read_text())
    assert report["configurations"] == []
    assert len(report["cell_maps"]) == 3
    assert list(found.trainings) == models
    assert set(report["errors"]["models"]) == {*report["errors"]["baselines"], *models}
    assert "configuration" not in report["summary"] and report["facts"]["configurations"].startswith("0 mined")


def test_one_convention_for_merged_positions(positions: Positions, tmp_path: Path) -> None:
    merged = positions.select(positions.record < 200).merge_duplicates()
    assert merged.weight.max() > 50
    found, report = discovered(merged, tmp_path, QUICK)
    _, held_out = merged.split_by_game(QUICK.held_out)
    assessment = found.assessment
    assert assessment.weights.sum() == held_out.weight.sum() > assessment.counts.sum() == len(held_out)
    for model, errors in assessment.errors.items():
        assert report.errors.overall(model) == pytest.approx(errors[-1], rel=1e-9)
    assert f"patterns of logistello reach {report.errors.overall('patterns'):.2f}" in report.summary
    assert "the mining and the maps count it once" in report.facts["weights of positions"]
    page = (tmp_path / "report.html").read_text()
    assert "every position counts with its weight" in page
    assert "<h2>Patterns that were given: the set logistello of Othello</h2>" in page
    assert "<h2>Patterns</h2>" not in page
    assert f"{held_out.weight.sum():,.0f}" in page


def test_phases_that_learn_nothing_are_named_in_the_summary(positions: Positions, tmp_path: Path) -> None:
    noise = attrs.evolve(positions, label=np.random.default_rng(1).permutation(positions.label))
    found, report = discovered(noise, tmp_path, attrs.evolve(QUICK, iterations=10, l2=0.0))
    results = found.trainings["patterns"].weights.results
    kept = [name for name, result in zip(report.phases, results, strict=True) if result and not result.improved]
    assert kept
    assert f"patterns: {', '.join(kept)} has only a linear fit" in report.summary


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_items_in_files_change_nothing(
    positions: Positions, tmp_path: Path, smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = positions.select((positions.ply >= 30) & (positions.record < 100))
    patterns = PatternSet.from_names(LEARNING.features, {"edge": ("a1", "b1", "c1", "d1")})
    terms = Terms(patterns=patterns, linear=LEARNING.linear)
    settings = FitSettings(ConjugateGradient(iterations=6), smoothing=smoothing)
    held_out = late.held_out_mask(0.2, 0)
    # Penalties are chosen with some of the positions, as of many.
    monkeypatch.setattr("glem.core.fitting.least_squares._TRIED_POSITIONS", len(late) // 2)
    together = train(late, LEARNING, terms, settings, held_out=held_out)
    monkeypatch.setattr("glem.core.machine.large_arrays._LARGEST_ITEMS", 0)
    kept: list[set[str]] = []
    build = Design.build

    def seen(*args: Any, folder: Path | None = None, **more: Any) -> Design:
        design = build(*args, folder=folder, **more)
        kept.extend([{path.suffix for path in folder.iterdir()}] if folder else [])
        assert design.is_on_disk == (folder is not None)
        return design

    monkeypatch.setattr(Design, "build", seen)
    for jobs in (1, 2):
        # The second goes on with what the first has left; so does a fit in memory.
        apart = train(late, LEARNING, terms, settings, held_out=held_out, work=tmp_path / "work", jobs=jobs)
        assert apart.penalties == together.penalties
        for name in ("bias", "patterns", "linear", "match_counts"):
            one, other = getattr(apart.weights, name), getattr(together.weights, name)
            np.testing.assert_array_equal(one, other, err_msg=name)
        np.testing.assert_array_equal(apart.phase_weights, together.phase_weights)
    assert kept == [{".bin"}] * 4, "where penalties are chosen, too"
    # A fit in memory goes on with the checkpoints, too: they belong to the same rows.
    monkeypatch.setattr("glem.core.machine.large_arrays._LARGEST_ITEMS", 1 << 30)
    again = train(late, LEARNING, terms, settings, held_out=held_out, work=tmp_path / "work")
    np.testing.assert_array_equal(again.weights.patterns, together.weights.patterns)
    assert not list((tmp_path / "work").rglob("*.bin")), "they go with the fit"
