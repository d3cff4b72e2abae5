"""A sample of what ``python -m tests.core.files.fuzz --mutations 10000`` does to every reader of files."""

from pathlib import Path

import pytest

from tests.core.files.fuzz import tried
from tests.core.files.fuzzed_readers import readers

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
