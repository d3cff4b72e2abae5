"""Kernels that link what they call: one module, whatever the way to a function."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.extending import overload

from glem.core.compiling.code_digest import plain
from glem.core.compiling.kernels import LINKS, compiled, kept, kernel
from tests.system import not_on_windows

linking = pytest.mark.skipif(not LINKS, reason="numba's own dispatcher links nothing (GLEM_LINKING, or its version)")

ONE, TWO = np.int64(1), np.int64(2)


def fibonacci(n: Any) -> Any:
    if n < TWO:
        return n
    return fibonacci(n - ONE) + fibonacci(n - TWO)


def fibonacci_of_both(first: Any, second: Any) -> Any:
    return fibonacci(first) + fibonacci(second)


def chosen(kind: Any, value: Any) -> Any:
    return value if kind == 0 else value * value


def of_both_kinds(value: Any) -> Any:
    return chosen(0, value) + chosen(1, value)


@kept
def tripled(value: Any) -> Any:
    return value + value + value


def tripled_and_one(value: Any) -> Any:
    return tripled(value) + ONE


def tripled_and_two(value: Any) -> Any:
    return tripled(value) + TWO


@kernel
def sum_of(values: Any) -> Any:
    total = 0.0
    for value in values:
        total += value
    return total


@kernel
def mean_of(values: Any) -> Any:
    return sum_of(values) / len(values)


def inner_of(function: Any) -> Any:
    """What compiled code links of it."""
    twin: Any = compiled(function)
    return twin._inner


def test_a_recursive_function_is_called_from_python_and_from_compiled_code() -> None:
    assert compiled(fibonacci)(np.int64(20)) == fibonacci(20)
    assert compiled(fibonacci_of_both)(np.int64(12), np.int64(13)) == fibonacci_of_both(12, 13)


def test_kernels_call_kernels_and_keep_their_plain_functions() -> None:
    values = np.arange(5.0)
    assert mean_of(values) == plain(mean_of)(values) == 2.0
    assert sum_of(values) == plain(sum_of)(values) == 10.0


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(mean_of)) is mean_of
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(compiled(fibonacci))


@linking
def test_literal_arguments_share_one_specialization_without_machine_code_of_its_own() -> None:
    # Where the kernel is on disk, what it calls is not compiled for it.
    whole: Any = compiled(of_both_kinds)
    whole.get_call_template((numba.int64,), {})
    assert whole(np.int64(3)) == 3 + 9
    assert len(inner_of(chosen).overloads) == 1
    twin: Any = compiled(chosen)
    assert not twin.overloads
    # Python may call it nevertheless.
    assert twin(np.int64(1), np.int64(4)) == 16


def in_processes(folder: Path, *programs: str, **environment: str) -> list[list[str]]:
    """Words that programs print which share a cache folder, one process after the other."""
    begin = "import numpy as np\nimport numba\n"
    names = "fibonacci_of_both, tripled, tripled_and_one, tripled_and_two"
    imports = f"from glem.core.compiling.kernels import LINKS, compiled; from {__name__} import {names}\n"
    return [
        subprocess.check_output(
            [sys.executable, "-c", begin + program.replace("BEGIN\n", imports)],
            env={**os.environ, "GLEM_CACHE_DIR": str(folder), **environment},
            cwd=Path(__file__).parents[3],
            text=True,
        ).split()
        for program in programs
    ]


@linking
@pytest.mark.repeats  # two more processes: test_cache reads what another process kept
def test_a_kept_translation_is_read_by_the_next_kernel(tmp_path: Path) -> None:
    programs = [
        f"BEGIN\nprint(compiled({name})(np.int64(5)), sum(compiled(tripled)._inner.stats.cache_hits.values()))\n"
        for name in ("tripled_and_one", "tripled_and_two", "tripled_and_two")
    ]
    # The last finds a whole kernel and needs no parts.
    assert in_processes(tmp_path, *programs) == [["16", "0"], ["17", "1"], ["17", "0"]]


@not_on_windows
@linking
def test_no_two_processes_number_functions_alike(tmp_path: Path) -> None:
    # By these numbers alone do the names of closures of one function differ, and what is kept is linked by its names.
    program = (
        "BEGIN\nimport os, sys\nfrom numba.core.bytecode import FunctionIdentity\n"
        "if os.fork() == 0: print(next(FunctionIdentity._unique_ids)); sys.stdout.flush(); os._exit(0)\n"
        "os.wait(); print(next(FunctionIdentity._unique_ids))\n"
    )
    numbers = [int(word) for words in in_processes(tmp_path, program, program) for word in words]
    assert len(numbers) == 4
    assert min(abs(one - other) for place, one in enumerate(numbers) for other in numbers[:place]) > 1_000_000


@pytest.mark.parametrize(
    ("before", "linking", "says", "keeps"),
    [
        pytest.param("", "0", False, True, marks=pytest.mark.repeats),  # .ci/run has a step without linking
        ("numba.version_info = numba.version_info._replace(short=(9, 9))", "1", True, True),
        ("import numba.core.typed_passes as part; del part.NopythonTypeInference", "1", True, True),
        ("import numba.core.registry as part; part.Other = part.__dict__.pop('CPUDispatcher')", "0", True, False),
    ],
)
def test_without_linking_numba_compiles_the_same_and_one_line_says_so(
    before: str, linking: str, says: bool, keeps: bool, tmp_path: Path
) -> None:
    program = (
        f"{before}\nimport warnings\nwith warnings.catch_warnings(record=True) as caught:\n    BEGIN\n"
        "both, one = compiled(fibonacci_of_both), compiled(tripled_and_one)\n"
        "print(LINKS, both(np.int64(12), np.int64(13)), one(np.int64(5)))\n"
        "print(*(sum(each.stats.cache_hits.values()) for each in (both, one)))\n"
        "print(*(str(each.message).startswith(f'numba {numba.__version__}: ') for each in caught))\n"
    )
    # What is linked finds its way into no other kernel: numba itself could not link it.
    assert in_processes(tmp_path, "BEGIN\nprint(compiled(tripled)(np.int64(5)))\n", GLEM_LINKING="1") == [["15"]]
    line, hits = ["True"] * says, "1" if keeps else "0"
    assert in_processes(tmp_path, program, program, GLEM_LINKING=linking) == [
        ["False", "377", "16", each, each, *line] for each in ("0", hits)
    ]


@linking
def test_a_translation_alone_is_no_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))

    def doubled(value: Any) -> Any:
        return value + value

    twin: Any = compiled(doubled)
    twin.get_call_template((numba.int64,), {})
    assert inner_of(doubled).overloads
    assert not twin.overloads
    assert twin(np.int64(4)) == 8
    assert twin.overloads


@kernel
def mixed(value: Any) -> Any:
    found = value
    for place in range(value):
        found = found * 31 ^ (found >> 3) + place
    return found


@kernel
def mixed_twice(value: Any) -> Any:
    return mixed(value) + mixed(value + 1)


@numba.njit  # type: ignore[untyped-decorator]
def of_a_user(value: Any) -> Any:
    return mixed_twice(value) + 2


@kernel
def of_a_user_of_it(value: Any) -> Any:
    return of_a_user(value) + mixed_twice(value)


@kernel
def least_mixed(values: Any) -> Any:
    return sorted([value for value in values], key=mixed_twice)[0]  # noqa: C416 # numba sorts no array


@kernel
def through_python(value: Any) -> Any:
    with numba.objmode(found="int64"):
        found = value + 1
        if found > 3:
            found = found * 2
    return found


def quotient(dividend: Any, divisor: Any) -> Any:
    return dividend // divisor


@overload(quotient)
def _quotient(dividend: Any, divisor: Any) -> Any:
    def implementation(dividend: Any, divisor: Any) -> Any:
        return dividend // divisor

    return implementation


@kernel
def unit(value: Any) -> Any:
    return quotient(value, value)


@numba.njit  # type: ignore[untyped-decorator]
def quotient_of_a_user(dividend: Any, divisor: Any) -> Any:
    return quotient(dividend, divisor)


@kernel
def quotient_without_errors(dividend: Any, divisor: Any) -> Any:
    return quotient(dividend, divisor)


def is_even(value: int) -> bool:
    return True if value == 0 else is_odd(value - 1)


def is_odd(value: int) -> bool:
    return False if value == 0 else is_even(value - 1)


def parity(value: int) -> int:
    return 0 if is_even(value) else 1


def test_functions_of_numbas_own_call_kernels_and_the_other_way_round() -> None:
    value = np.int64(5)
    both = plain(mixed)(5) + plain(mixed)(6)
    assert (mixed_twice(value), of_a_user(value), of_a_user_of_it(value)) == (both, both + 2, 2 * both + 2)
    assert least_mixed(np.arange(5)) == min(range(5), key=lambda each: plain(mixed)(each) + plain(mixed)(each + 1))


@pytest.mark.filterwarnings("ignore:Code running in object mode")
def test_a_kernel_may_call_python() -> None:
    assert through_python(np.int64(5)) == 12


def test_an_overload_is_compiled_for_each_way_to_divide() -> None:
    assert unit(ONE) == 1
    assert quotient_of_a_user(np.int64(5), ONE) == 5
    assert quotient_without_errors(np.int64(5), np.int64(0)) == 0


@linking  # numba's own dispatcher keeps it on disk, and crashes where it is read
def test_functions_that_call_each_other() -> None:
    assert [compiled(parity)(value) for value in range(5)] == [0, 1, 0, 1, 0]


@kernel
def sum_of_views(parts: Any, value: Any) -> Any:
    total = value
    for place in range(value):
        kept = (value, (parts[0][place:], place))
        total += kept[1][0].sum() + kept[1][1]
    return total


def test_memory_is_counted_where_it_lies_in_tuples() -> None:
    values = np.arange(5)
    before = sys.getrefcount(values)
    assert sum_of_views((values, 7), 3) == plain(sum_of_views)((values, 7), 3)
    assert sys.getrefcount(values) == before
