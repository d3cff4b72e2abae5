"""Bit tricks in both worlds, compiled twins, and what a failed compilation says."""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glem.core.compiling import kernels
from glem.core.compiling.code_digest import plain
from glem.core.compiling.failures import UncompilableError
from glem.core.compiling.kernels import compiled, inlined, leading_zeros, mix, pdep, pext, popcount, trailing_zeros
from glem.core.errors import PluginError
from glem.core.machine.cache_folder import MachineCodeWarning
from tests.system import not_on_windows

words = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 1 << 63, 2**64 - 1])


def _counts(word: Any) -> Any:
    return popcount(word), leading_zeros(word), trailing_zeros(word)


def _gathered_and_scattered(word: Any, mask: Any) -> Any:
    return pext(word, mask), pdep(word, mask)


def _mixed(word: Any) -> Any:
    return mix(word)


@settings(deadline=None)  # the first example compiles
@given(words)
def test_bit_counts(number):
    text = f"{number:064b}"
    expected = text.count("1"), 64 - len(text.lstrip("0")), 64 - len(text.rstrip("0"))
    assert _counts(np.uint64(number)) == compiled(_counts)(np.uint64(number)) == expected


@settings(deadline=None)  # the first example compiles
@given(words, words)
def test_gather_and_scatter(number, mask):
    places = [place for place in range(64) if mask >> place & 1]
    gathered = sum((number >> place & 1) << k for k, place in enumerate(places))
    scattered = sum((number >> k & 1) << place for k, place in enumerate(places))
    for function in (_gathered_and_scattered, compiled(_gathered_and_scattered)):
        assert function(np.uint64(number), np.uint64(mask)) == (gathered, scattered)


@settings(deadline=None)  # the first example compiles
@given(words)
def test_mix_is_one_to_one_and_the_same_in_both_worlds(number):
    mixed = mix(np.uint64(number))
    assert compiled(_mixed)(np.uint64(number)) == mixed
    # Undone step by step: the inverses of an odd factor and of a shift by half a word or more.
    word = int(mixed)
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        restored = word
        for _ in range(64 // shift + 1):
            restored = word ^ (restored >> shift)
        word = restored * pow(factor, -1, 1 << 64) % (1 << 64)
    assert word == number


def _half(number: int) -> int:
    return number // 2


def _steps(number: int) -> int:
    return 0 if number <= 0 else 1 + _steps(_half(number))


@inlined
def _double(number: Any) -> Any:
    return 2 * number


def _quadruple(number: Any) -> Any:
    return _double(_double(number))


def test_a_twin_compiles_what_the_function_names_and_itself():
    twin: Any = compiled(_steps)
    assert twin(np.int64(1000)) == _steps(1000) == 10
    assert compiled(_steps) is twin
    assert compiled(twin) is twin
    assert plain(twin).__code__ is _steps.__code__
    assert plain(_steps) is _steps
    assert len(twin.signatures) == 1
    assert compiled(_quadruple)(np.int64(3)) == 12


def test_threads_that_ask_for_one_twin_get_one():
    def _fresh(number: int) -> int:
        return _half(number) + 1

    with ThreadPoolExecutor(8) as executor:
        twins = list(executor.map(lambda _: compiled(_fresh), range(32)))
        results = list(executor.map(lambda number: twins[number](np.int64(number)), range(32)))
    assert len({id(twin) for twin in twins}) == 1
    assert results == [number // 2 + 1 for number in range(32)]


def test_functions_typed_at_a_prompt_compile_without_a_cache():
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed(number):\n    return number + 1\n", namespace)
    assert compiled(namespace["typed"])(np.int64(1)) == 2


def _adds_text(number: int) -> Any:
    return str(number) + 1  # type: ignore[operator]


def _calls_one_that_adds_text(number: int) -> Any:
    return _adds_text(number)


def _opens_a_file(number: int) -> int:
    with open("nowhere"):  # noqa: PTH123 - never called
        return number


def _names_nothing(number: int) -> Any:
    return number + not_there  # type: ignore[name-defined]  # noqa: F821


def _shifts_again(cells: np.uint32, count: int) -> Any:
    return cells if count == 0 else _shifts_again(cells << np.uint32(1), count - 1)


def _begins_at_32_bits(count: int) -> Any:
    return _shifts_again(np.uint32(1), count)


def _never_returns(number: int) -> Any:
    return _never_returns(number - 1)


def _has_a_function_inside(number: int) -> int:
    def inner(count: int) -> int:
        return 0 if count == 0 else inner(count - 1)

    return inner(number)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (_begins_at_32_bits, r"_shifts_again cannot be compiled: it is a recursion.*\(uint64, .*test_kernels.py:\d+\)"),
        (_never_returns, r"_never_returns cannot be compiled: .* its recursion.*test_kernels.py:\d+\)"),
        (_has_a_function_inside, r"_has_a_function_inside cannot be compiled: .*test_kernels.py:\d+\)"),
        (_adds_text, r"_adds_text cannot be compiled: numba knows no add\(unicode_type.*test_kernels.py:\d+\)"),
        (_calls_one_that_adds_text, r"^_adds_text cannot be compiled: numba knows no add"),
        (_opens_a_file, "_opens_a_file cannot be compiled: Unsupported context manager"),
        (_names_nothing, "_names_nothing cannot be compiled: .*'not_there' is not defined"),
    ],
)
def test_a_failed_compilation_names_the_function_and_the_reason(function, text):
    with pytest.raises(UncompilableError, match=text) as caught:
        compiled(function)(np.int64(1))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, PluginError)
    assert caught.value.__cause__ is not None  # numba's own account, for the author


def test_the_cache_folder_follows_the_environment(tmp_path, monkeypatch):
    for name in ("GLEM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kernels.cache_folder() == tmp_path / ".cache" / "glem" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert kernels.cache_folder() == tmp_path / "xdg" / "glem" / "kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert kernels.cache_folder() == tmp_path / "numba"
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path / "glem"))
    assert kernels.cache_folder() == tmp_path / "glem"


def test_bits_are_gathered_and_scattered_where_no_instruction_does(tmp_path):
    program = """
import numpy as np
from glem.core.compiling.kernels import HAS_FAST_PEXT, kernel, pdep, pext

@kernel
def both(word, mask):
    return pext(word, mask), pdep(word, mask)

assert not HAS_FAST_PEXT
for word, mask in np.random.default_rng(1).integers(0, 1 << 64, (100, 2), np.uint64):
    assert both(word, mask) == (pext(word, mask), pdep(word, mask))
"""
    environment = os.environ | {"GLEM_NO_PEXT": "1", "GLEM_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_without_a_home_the_cache_folder_is_a_private_one_or_the_one_that_is_named(tmp_path, monkeypatch):
    for name in ("GLEM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    folder = kernels.cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert kernels.cache_folder() == tmp_path / "xdg" / "glem" / "kernels"


@not_on_windows
def test_an_unwritable_cache_folder_gives_way_to_a_private_one(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = kernels.cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    # Cached code is unpickled: a folder that others may write, or a link, is not trusted.
    folder.chmod(0o777)
    assert kernels.cache_folder() is None
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert kernels.cache_folder() is None


@not_on_windows
@pytest.mark.parametrize("variable", ["GLEM_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("others", ["own it", "may write to it", "own a link to it", "may write above it"])
def test_a_cache_folder_that_others_may_change_is_left_alone(tmp_path, monkeypatch, variable, others):
    for name in ("GLEM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / "above" / "folder"
    folder.mkdir(parents=True)
    chosen = tmp_path / "above" / "link" if others == "own a link to it" else folder
    if others == "own a link to it":
        chosen.symlink_to(folder)
    owned = {chosen} if others.startswith("own") else set()
    (folder if others == "may write to it" else folder.parent).chmod(0o777 if "write" in others else 0o755)
    lstat = Path.lstat

    def lstat_of_others(path):
        found = lstat(path)
        return os.stat_result((*found[:4], 12345, *found[5:])) if path in owned else found

    monkeypatch.setattr(Path, "lstat", lstat_of_others)
    monkeypatch.setenv(variable, str(chosen))
    before = sorted(tmp_path.rglob("*"))
    with pytest.warns(MachineCodeWarning, match="above.*(belongs to user 12345|everybody may write)"):
        found = kernels.cache_folder()
    assert found is not None
    assert found.parent == tmp_path
    assert sorted(path for path in tmp_path.rglob("*") if path != found) == before
    # Said once, also to the processes that this one starts.
    assert kernels.cache_folder() == found == Path(os.environ["GLEM_CACHE_DIR"])


@not_on_windows
def test_a_cache_folder_below_a_sticky_one_is_trusted(tmp_path, monkeypatch):
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path / "own"))
    assert kernels.cache_folder() == tmp_path / "own"
    (tmp_path / "own").chmod(0o1777)
    with pytest.warns(MachineCodeWarning, match="everybody may write"):
        assert kernels.cache_folder() != tmp_path / "own"


def test_old_entries_are_removed_and_nothing_else(tmp_path):
    for name in ("steps-0123456789abcdef", "steps-0123456789abcdef-nopext", "other", "steps-0123"):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "new-0123456789abcdef").mkdir()
    kernels._remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new-0123456789abcdef", "other", "steps-0123"]
