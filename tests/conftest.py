"""Fixtures that several folders of tests share."""

import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from glem.core.features.learning import Learning, load_learning
from glem.core.game.game import Game, load_game
from glem.core.players.engine import Engine
from glem.core.players.spec import PlayerSpec
from glem.core.search.results import Limits
from glem.core.tasks import progress
from tests.core.cli.terminal import Terminal
from tests.core.evaluation.linear_evaluations import mobility_evaluation

# A machine that is busy, or compiles, makes no example wrong.
settings.register_profile("glem", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("glem")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A script's background ignores Ctrl-C, and so would all that the tests start there.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# On a slow machine, commands would write of their progress among what the tests read.
progress._FIRST_SECONDS = 3600.0

SHARED = Path(__file__).resolve().parents[1].parent / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: of several processes none is left with one when the others have ended."""
    slow = {item.path for item in items for marker in item.iter_markers() if marker.name in {"slow", "repeats"}}
    items.sort(key=lambda item: item.path not in slow)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Keep bytes out of a test's name: an archive's hold the time, and two processes must collect equal names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a file in one process, which makes the fixtures of its module and compiles its games.

    Only what starts commands, for minutes, is dealt out test by test.
    """
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return nodeid if path.endswith("/test_kills.py") else path

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the real data sets; the test is skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the data sets are not beside the checkout ({SHARED.name}/data is missing)")
    return SHARED / "data"


@pytest.fixture(scope="session")
def othello() -> Game:
    """The registered Othello game."""
    return load_game("othello")


@pytest.fixture(scope="session")
def othello_learning() -> Learning:
    """What the Othello plugin gives to learning."""
    return load_learning("othello")


@pytest.fixture(scope="session")
def mobility(othello_learning: Learning, tmp_path_factory: pytest.TempPathFactory) -> str:
    """File of an evaluation of Othello: own moves less the opponent's."""
    path = tmp_path_factory.mktemp("evaluations") / "mobility.npz"
    mobility_evaluation(othello_learning).save(path)
    return str(path)


@pytest.fixture(scope="session")
def searching(mobility: str) -> PlayerSpec:
    """A player of Othello who searches three plies for mobility."""
    return PlayerSpec("mobility", evaluation=mobility, limits=Limits(depth=3), table_mb=1)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The clocks that engines are asked to choose by."""
    seen: list[Any] = []
    choose = Engine.choose

    def noting(engine: Engine, *, clock: Any = None, **others: Any) -> Any:
        seen.append(clock)
        return choose(engine, clock=clock, **others)

    monkeypatch.setattr(Engine, "choose", noting)
    return seen


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Runs commands and keeps what they print."""
    return Terminal(capsys, monkeypatch)
