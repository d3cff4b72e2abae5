"""Machine code is made once per kernel, not once per function that a kernel calls.

numba optimizes and assembles each function as soon as it is called for, wraps it for Python, and does it all over again
for the code that calls it, at each layer. Functions that compiled code calls are only translated here; the kernel that
Python calls links what it reaches, directly or not, and is optimized and assembled as one module.

That goes deeper into numba than its interface: :mod:`glem.core.compiling.kernels` imports this module only with
versions of numba that it is known to fit.

What several kernels link, the functions of a game above all, is kept on disk as LLVM's code (:func:`keep_translation`),
and processes that need the same at the same time wait for the first of them.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from typing import Any

from llvmlite import binding as llvm
from llvmlite.binding import newpassmanagers
from numba.core import bytecode, compiler, typeinfer
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import NativeLowering, NopythonTypeInference

from glem.core.compiling.dispatcher import KernelCache, KernelDispatcher
from glem.core.machine.programs import after_fork


def _number_functions_anew() -> None:
    """Begin numba's count of functions anywhere: by nothing else do the names of two closures of one function differ.

    Code that another process has kept would else bear the names of other code here, and be called in its place.
    """
    bytecode.FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))


_number_functions_anew()
after_fork(_number_functions_anew)


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A function on its way into a kernel: neither linked nor optimized as a whole nor assembled.

    What it calls is linked when the kernel is, once, not anew at each layer of callers.
    """

    def finalize(self) -> None:
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._dynamic_globals.extend(library._dynamic_globals)
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = llvm.Linkage.linkonce_odr
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Make what numba's own libraries link: the function with all that it reaches."""
        return _linked(self, self._final_module.clone())

    def _optimize_functions(self, module: Any) -> None:
        # Little: the kernel's passes do the rest. What is dead goes, or addresses that nobody reads forbid a cache.
        module.data_layout = self._codegen._data_layout
        passes = newpassmanagers.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_dead_code_elimination_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, self._codegen._pass_builder())

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """See numba's CodeLibrary; there is no object code."""
        self._ensure_finalized()
        return (self.name, "translated", self._get_module_for_linking().as_bitcode())

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> _InnerLibrary:
        """Library that :meth:`serialize_using_object_code` wrote."""
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_dynamic_globals()
        library._finalized = True
        return library


def _reached(library: Any) -> list[Any]:
    """Libraries whose code a library calls, directly or not, those of callers first, as LLVM's linker takes them."""
    ordered: list[Any] = []
    seen = {library}

    def visit(caller: Any) -> None:
        for called in caller._linking_libraries:
            if called not in seen:
                seen.add(called)
                visit(called)
                ordered.append(called)

    visit(library)
    return ordered[::-1]


def _linked(library: Any, module: Any) -> Any:
    """Link all that a library reaches into a module."""
    for each in _reached(library):
        is_inner = isinstance(each, _InnerLibrary)
        module.link_in(each._final_module if is_inner else each._get_module_for_linking(), preserve=True)
    return module


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A kernel with all that it reaches, optimized as a whole program."""

    calls_by_name = False
    """Whether functions in it call each other in a circle, which numba resolves by name."""

    def finalize(self) -> None:
        """See numba's CodeLibrary."""
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)  # theirs have those of what they call
        _linked(self, self._final_module)
        self._linking_libraries.clear()
        super().finalize()

    def _optimize_final_module(self) -> None:
        module = self._final_module
        by_name = {
            variable.name.removeprefix(RuntimeLinker.PREFIX)
            for variable in module.global_variables
            if variable.name.startswith(RuntimeLinker.PREFIX)
        }
        self.calls_by_name = bool(by_name)
        # Nobody else calls them: so LLVM may carry constants into them and drop those that it has inlined everywhere.
        # The names of numba's runtime mean something to its passes.
        for function in module.functions:
            if (
                function.linkage == llvm.Linkage.linkonce_odr
                and not function.is_declaration
                and not function.name.startswith("NRT_")
            ):
                function.linkage = llvm.Linkage.weak_odr if function.name in by_name else llvm.Linkage.internal
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """See numba's CodeLibrary; nobody links a kernel, so that its names stand for the bitcode."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if _is_visible(each)]
        stubs = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return (self.name, "object", (self._get_compiled_object(), llvm.parse_assembly(stubs).as_bitcode()))


def _is_visible(function: Any) -> bool:
    return not function.is_declaration and function.linkage not in (llvm.Linkage.internal, llvm.Linkage.private)


class _Inferer(typeinfer.TypeInferer):
    """Finds out once what a recursive function returns; numba infers all its types anew for each call of itself."""

    _returned: Any = None

    def return_types_from_partial(self) -> Any:
        """See numba's; what it gives must be the same for all calls."""
        if self._returned is None:
            self._returned = super().return_types_from_partial()  # type: ignore[no-untyped-call]
        return self._returned

    def unify(self, raise_errors: bool = True) -> Any:
        """See numba's."""
        found: Any = super().unify(raise_errors=raise_errors)  # type: ignore[no-untyped-call]
        if self._returned is not None and found[1] != self._returned:
            raise TypingError(f"a recursive function returns {self._returned} and {found[1]}")
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(NopythonTypeInference):  # type: ignore[misc]
    """Type inference by :class:`_Inferer`."""

    _name = "inference_with_recursion"

    def run_pass(self, state: Any) -> bool:
        numbas: Any = typeinfer.TypeInferer
        typeinfer.TypeInferer = _Inferer  # type: ignore[misc]
        try:
            return bool(super().run_pass(state))
        finally:
            typeinfer.TypeInferer = numbas  # type: ignore[misc]


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):  # type: ignore[misc]
    """Lowering into a library that is optimized as a whole program."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowering that ends with a library to link."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = _InnerLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        state["cr"] = lowered._replace(cfunc=_name_for_numba())
        context.insert_user_function(state["cr"].cfunc, lowered.fndesc, [state.library])
        return True


class _LinkingCompiler(compiler.CompilerBase):  # type: ignore[misc]
    """numba's compiler with another last step."""

    lowering: type[NativeLowering]

    def define_pipelines(self) -> list[Any]:
        builder = compiler.DefaultPassBuilder
        passes = compiler.PassManager(self.lowering._name)
        for each in (
            builder.define_untyped_pipeline(self.state),
            builder.define_typed_pipeline(self.state),
            builder.define_nopython_lowering_pipeline(self.state),
        ):
            others = {NativeLowering: self.lowering, NopythonTypeInference: _TypeInference}
            passes.passes.extend((others.get(chosen, chosen), why) for chosen, why in each.passes)
        passes.finalize()
        return [passes]


class _InnerCompiler(_LinkingCompiler):
    """numba's compiler for functions that only compiled code calls."""

    lowering = _InnerLowering


class _KernelCompiler(_LinkingCompiler):
    """numba's compiler for functions that Python calls."""

    lowering = _KernelLowering


_INNER_OPTIONS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

OVERLOAD_OPTIONS: dict[str, Any] = {**_INNER_OPTIONS, "pipeline_class": _InnerCompiler}
"""Options of numba's jit for functions that only compiled code calls."""


def _name_for_numba() -> Any:
    """Make what numba knows a function by: the built-in function that calls it, or any that is like no other."""
    return [].append


class _TranslationCache(KernelCache):
    """Translated functions on disk."""

    def rebuilt(self, target_context: Any, parts: tuple[Any, ...]) -> Any:
        (name, _, bitcode), descriptor, environment, signature, *_, annotation, reload_init, environments = parts
        return compiler.compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=_name_for_numba(),
            type_annotation=annotation,
            signature=signature,
            objectmode=False,
            lifted=(),
            fndesc=descriptor,
            library=_InnerLibrary.from_bitcode(target_context.codegen(), name, bitcode),
            environment=environment,
            reload_init=reload_init,
            referenced_envs=environments,
        )


class _LinkedKernelCache(KernelCache):
    """Linked kernels on disk."""

    def can_keep(self, result: Any) -> bool:
        """Not what calls by name, which crashes where it is read from disk, in numba's own way too."""
        return not result.library.calls_by_name and super().can_keep(result)


class _InnerDispatcher(KernelDispatcher):
    """What compiled code links of a function."""

    purpose = "-linked"
    cache_class = _TranslationCache


class LinkingDispatcher(KernelDispatcher):
    """A function that both Python and compiled code may call: Python calls machine code, compiled code links it.

    The parameters are those of :class:`~glem.core.compiling.dispatcher.KernelDispatcher`.
    """

    purpose = "-whole"
    cache_class = _LinkedKernelCache

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], folder_of: Any) -> None:
        super().__init__(function, options, folder_of, pipeline_class=_KernelCompiler)
        inner_options = {**options, **_INNER_OPTIONS}
        self._inner = _InnerDispatcher(function, inner_options, folder_of, pipeline_class=_InnerCompiler)

    @property
    def is_compiling(self) -> bool:
        """Whether a specialization is being compiled: numba takes a call of such a function for a recursion."""
        return bool(self._compiling_counter) or bool(self._inner.is_compiling)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba's Dispatcher: typing of a call in compiled code."""
        self._inner.keeps_translation = self.keeps_translation
        return self._inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """See numba's Dispatcher: what a call in compiled code calls."""
        return self._inner.get_overload(sig)
