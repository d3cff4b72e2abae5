"""A sample of what ``python -m tests.core.files.fuzz --mutations 10000`` does to every reader of files."""

import os
from pathlib import Path

import pytest

from glem.core.errors import GlemError
from tests.core.files.fuzz import tried
from tests.core.files.fuzzed_readers import readers
from tests.system import not_on_windows

MUTATIONS = 25


@pytest.mark.filterwarnings("ignore:Reading `.npy`")
@pytest.mark.filterwarnings("ignore::glem.core.errors.GlemWarning")
def test_damaged_files_are_refused_or_read_as_a_naive_reader_reads_them(tmp_path: Path) -> None:
    names = []
    for reader in readers(tmp_path):
        outcome = tried(reader, MUTATIONS, tmp_path)
        assert not outcome.tracebacks, (reader.name, outcome.tracebacks[0])
        assert not outcome.different, (reader.name, outcome.different[0])
        assert outcome.refused, f"{reader.name} refuses nothing"
        assert outcome.longest < 20, f"{reader.name} took {outcome.longest:.1f} s"
        names.append(reader.name)
    assert len(names) == len(set(names)) >= 30


@not_on_windows
def test_a_pipe_or_a_device_is_refused_unread(tmp_path: Path) -> None:
    """One would never begin, the other never end."""
    for reader in readers(tmp_path):
        if reader.name in ("work.json", "generations", "given-00"):  # read under a name of their own, in a copy
            continue
        pipe, device = (tmp_path / f"{kind}-{reader.name}{reader.suffix}" for kind in ("pipe", "device"))
        os.mkfifo(pipe)
        device.symlink_to("/dev/zero")
        for path in (pipe, device):
            with pytest.raises(GlemError, match=rf"{path}: is a {path.name.partition('-')[0]}"):
                reader.read(path)
