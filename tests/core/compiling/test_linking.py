"""Kernels that link what they call: one module, whatever the way to a function."""

import itertools
import os
import pickle
import subprocess
import sys
from functools import reduce
from operator import add, and_, eq, lshift, lt, mul, sub, truediv
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.compiler import run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import TypingError
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.registry import cpu_target
from numba.core.typed_passes import IRLegalization
from numba.experimental.jitclass.decorators import jitclass
from numba.extending import overload

from glem.core.compiling.code_digest import plain
from glem.core.compiling.kernels import LINKS, compiled, kept, kernel
from glem.core.search.negascout import negascout
from glem.games.chess.rules.generation import legal_moves

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
    imports = f"from glem.core.compiling.kernels import LINKS, compiled\nfrom {__name__} import {names}\n"
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


@pytest.mark.repeats  # .ci/run has a step without linking
@pytest.mark.parametrize(
    ("before", "linking"), [("", "0"), ("numba.version_info = numba.version_info._replace(short=(9, 9))\n", "1")]
)
def test_without_linking_numba_itself_compiles_the_same_and_keeps_it(before: str, linking: str, tmp_path: Path) -> None:
    program = (
        f"{before}BEGIN\nboth, one = compiled(fibonacci_of_both), compiled(tripled_and_one)\n"
        "print(LINKS, both(np.int64(12), np.int64(13)), one(np.int64(5)))\n"
        "print(*(sum(each.stats.cache_hits.values()) for each in (both, one)))\n"
    )
    # What is linked finds its way into no other kernel: numba itself could not link it.
    assert in_processes(tmp_path, "BEGIN\nprint(compiled(tripled)(np.int64(5)))\n", GLEM_LINKING="1") == [["15"]]
    assert in_processes(tmp_path, program, program, GLEM_LINKING=linking) == [
        ["False", "377", "16", "0", "0"],
        ["False", "377", "16", "1", "1"],
    ]


def test_nothing_is_kept_where_numba_has_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLEM_CACHE_DIR", str(tmp_path))
    monkeypatch.delattr("numba.core.caching.IndexDataCacheFile._save_data")

    def halved(value: Any) -> Any:
        return value // TWO

    assert compiled(halved)(np.int64(9)) == 4
    assert not list(tmp_path.rglob("*.nb[ci]"))


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


@pytest.mark.filterwarnings("ignore:Cannot cache compiled function")  # by numba's own dispatcher
def test_functions_of_numbas_own_call_kernels_and_the_other_way_round() -> None:
    value = np.int64(5)
    both = plain(mixed)(5) + plain(mixed)(6)
    assert (mixed_twice(value), of_a_user(value), of_a_user_of_it(value)) == (both, both + 2, 2 * both + 2)
    assert least_mixed(np.arange(5)) == min(range(5), key=lambda each: plain(mixed)(each) + plain(mixed)(each + 1))


@pytest.mark.filterwarnings("ignore:Code running in object mode", "ignore:Cannot cache compiled function")
def test_a_kernel_may_call_python() -> None:
    assert through_python(np.int64(5)) == 12


def test_an_overload_is_compiled_for_each_way_to_divide() -> None:
    assert unit(ONE) == 1
    assert quotient_of_a_user(np.int64(5), ONE) == 5
    assert quotient_without_errors(np.int64(5), np.int64(0)) == 0


@linking  # numba's own dispatcher keeps it on disk, and crashes where it is read
def test_functions_that_call_each_other() -> None:
    assert [compiled(parity)(value) for value in range(5)] == [0, 1, 0, 1, 0]


@linking
@pytest.mark.parametrize("function", [fibonacci, of_both_kinds, negascout, legal_moves, plain(sum_of)])
def test_leaner_functions_say_what_numbas_do(function: Any) -> None:
    from glem.core.compiling.linking import _leaner_numba

    found = run_frontend(function)
    statements = [statement for block in found.blocks.values() for statement in block.body]
    variables = [[each.name for each in statement.list_vars()] for statement in statements]
    lifetime = VariableLifetime(found.blocks)
    with global_compiler_lock, _leaner_numba():
        assert variables == [[each.name for each in statement.list_vars()] for statement in statements]
        PostProcessor(found).run()
    assert found.variable_lifetime.deadmaps == lifetime.deadmaps


@linking
def test_calls_of_numbers_are_typed_as_by_numba() -> None:
    from glem.core.compiling.linking import _leaner_numba

    context = cpu_target.typing_context
    context.refresh()  # type: ignore[no-untyped-call]
    numbers = (types.int64, types.uint64, types.uint8, types.int32, types.float32, types.float64, types.boolean)
    calls = [
        *((operation, pair) for operation in (add, sub, mul, truediv, and_, lshift, lt, eq)
          for pair in itertools.product(numbers, (*numbers, types.literal(3)))),
        *((types.NumberClass(kind), (other,)) for kind in numbers for other in numbers),
    ]  # fmt: skip

    def typed(function: Any, arguments: Any) -> Any:
        known = context.resolve_value_type(function) if callable(function) else function
        try:
            found = context.resolve_function_type(known, arguments, {})
        except TypingError:
            return None
        # The second is asked when an operator is translated, also with a list.
        return found, callable(function) and known.get_call_type(context, [*arguments], {})

    expected = [typed(*call) for call in calls]
    with global_compiler_lock, _leaner_numba():
        assert [typed(*call) for call in calls] == expected
        assert [typed(*call) for call in calls] == expected
    assert sum(each is not None for each in expected) > len(calls) // 2


def reduced(values: Any) -> Any:
    return reduce(lambda one, other: one + other, values)


def closed_over(value: Any) -> Any:
    def added(other: Any) -> Any:
        return value + other

    return added(value) * value


def arrays_made(value: Any) -> Any:
    return np.array([value + each for each in range(3)]).sum() + np.array([value, value])[1]


def array_expression(values: Any) -> Any:
    return (values * 2 + values)[1]


def of_a_record(records: Any) -> Any:
    return records[0]["second"]


@linking
@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (plain(mixed), 5),
        (arrays_made, 5),
        (array_expression, np.arange(3)),
        (closed_over, 5),
        (of_a_record, np.array([(1, 2.5)], [("first", np.int64), ("second", np.float64)])),
        (reduced, np.arange(4)),
    ],
)
def test_what_numba_inlines_and_rewrites_is_inlined_and_rewritten(
    function: Any, argument: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from glem.core.compiling.linking import _leaner_numba

    lowered: list[list[str]] = []
    legalize = IRLegalization.run_pass

    def noting(self: Any, state: Any) -> bool:
        if state.func_id.func is function:
            # Not their text: what is inlined has names and labels that differ each time.
            values = [
                (each, getattr(each, "value", None)) for block in state.func_ir.blocks.values() for each in block.body
            ]
            lowered.append([f"{type(each).__name__} {getattr(value, 'op', type(value))}" for each, value in values])
        return bool(legalize(self, state))

    monkeypatch.setattr(IRLegalization, "run_pass", noting)
    with global_compiler_lock, _leaner_numba():
        assert numba.njit(function)(argument) == function(argument)
    assert numba.njit(function)(argument) == function(argument)
    own, others = lowered
    assert own == others


@kernel
def sum_of_views(parts: Any, value: Any) -> Any:
    total = value
    for place in range(value):
        kept = (value, (parts[0][place:], place))
        total += kept[1][0].sum() + kept[1][1]
    return total


link = numba.deferred_type()


class _Link:
    def __init__(self, value: Any, following: Any) -> None:
        self.value = value
        self.next = following


Link: Any = jitclass([("value", types.int64), ("next", numba.optional(link))])(_Link)
link.define(Link.class_type.instance_type)


@kernel
def sum_of_links(count: Any) -> Any:
    first = Link(0, None)
    for value in range(1, count):
        first = Link(value, first)
    total = 0
    while True:
        total += first.value
        following = first.next
        if following is None:
            return total
        first = following


def test_memory_is_counted_where_its_type_is_deferred() -> None:
    assert sum_of_links(5) == 10


def test_memory_is_counted_where_it_lies_in_tuples() -> None:
    values = np.arange(5)
    before = sys.getrefcount(values)
    assert sum_of_views((values, 7), 3) == plain(sum_of_views)((values, 7), 3)
    assert sys.getrefcount(values) == before
