"""How much memory a process may take."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from glem.core.machine import memory

GIGABYTE = 1 << 30


@pytest.mark.parametrize(
    ("group", "limits", "expected"),
    [
        ("0::/", {"memory.max": "1073741824\n"}, GIGABYTE),
        ("0::/", {"memory.max": "max\n"}, 64 * GIGABYTE),
        ("0::/job/step", {"job/step/memory.max": "max", "job/memory.max": "2147483648"}, 2 * GIGABYTE),
        # A container's own group is the root that it sees, whatever the machine outside calls it.
        ("0::/docker/3f", {"memory.max": "1073741824"}, GIGABYTE),
        ("4:memory:/job\n0::/", {"memory/job/memory.limit_in_bytes": "1073741824"}, GIGABYTE),
        ("4:cpu,memory:/a", {"memory/memory.limit_in_bytes": "9223372036854771712"}, 64 * GIGABYTE),
        ("3:cpuset:/job", {"job/memory.max": "1"}, 64 * GIGABYTE),
        ("", {}, 64 * GIGABYTE),
    ],
)
def test_memory_is_that_of_the_least_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str, limits: dict[str, str], expected: int
) -> None:
    for name, text in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "own").write_text(f"{group}\n" if group else "")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=64 * GIGABYTE))
    held = SimpleNamespace(rss=GIGABYTE, shared=GIGABYTE // 4)
    monkeypatch.setattr(psutil, "Process", lambda: SimpleNamespace(memory_info=lambda: held))
    assert memory.memory_limit() == expected
    assert memory.memory_left() == expected - GIGABYTE * 3 // 4
