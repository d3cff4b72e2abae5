"""Machine code is made once per kernel, not once per function that a kernel calls.

numba optimizes and assembles each function as soon as it is called for, wraps it for Python, and does it all over again
for the code that calls it, at each layer. Functions that compiled code calls are only translated here; the kernel that
Python calls links what it reaches, directly or not, and is optimized and assembled as one module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import compiler
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

__all__ = ["INNER_OPTIONS", "InnerCompiler", "KernelDispatcher"]


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Functions on their way into a kernel: linked, neither optimized as a whole nor assembled."""

    def finalize(self) -> None:
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowering that ends with a library to link."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = _InnerLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # numba knows a function by the built-in function that would call it: any will do that is like no other.
        lowered = state["cr"]
        state["cr"] = lowered._replace(cfunc=[].append)
        context.insert_user_function(state["cr"].cfunc, lowered.fndesc, [state.library])
        return True


class InnerCompiler(compiler.CompilerBase):  # type: ignore[misc]
    """numba's compiler for functions that only compiled code calls."""

    def define_pipelines(self) -> list[Any]:
        builder = compiler.DefaultPassBuilder
        passes = compiler.PassManager("nopython-inner")
        untyped = builder.define_untyped_pipeline(self.state)
        typed = builder.define_typed_pipeline(self.state)
        lowering = builder.define_nopython_lowering_pipeline(self.state)
        for each in (untyped, typed, lowering):
            passes.passes.extend(
                (_InnerLowering if chosen.__name__ in _LOWERINGS else chosen, why) for chosen, why in each.passes
            )
        passes.finalize()
        return [passes]


_LOWERINGS = {"NativeLowering", "NativeParforLowering"}

INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of numba's jit that go with :class:`InnerCompiler`."""


class KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A function that both Python and compiled code may call: Python calls machine code, compiled code links it."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(py_func=function, targetoptions=options)
        self._inner = CPUDispatcher(
            py_func=function, targetoptions={**options, **INNER_OPTIONS}, pipeline_class=InnerCompiler
        )

    @property
    def is_compiling(self) -> bool:
        """Whether a specialization is being compiled: numba takes a call of such a function for a recursion."""
        return bool(self._compiling_counter) or bool(self._inner.is_compiling)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba's Dispatcher: typing of a call in compiled code."""
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """See numba's Dispatcher: what a call in compiled code calls."""
        return self._inner.get_overload(sig)
