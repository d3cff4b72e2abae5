"""Machine code is made once per kernel, not once per function that a kernel calls.

numba optimizes and assembles each function as soon as it is called for, wraps it for Python, and does it all over again
for the code that calls it, at each layer. Functions that compiled code calls are only translated here; the kernel that
Python calls links what it reaches, directly or not, and is optimized and assembled as one module.

What several kernels link, the functions of a game above all, is kept on disk as LLVM's code (:func:`keep_translation`),
and processes that need the same at the same time wait for the first of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from llvmlite import binding as llvm
from numba.core import compiler, sigutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

from glem.core.compiling.cache_index import make_index_shareable, one_process

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

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """See numba's CodeLibrary; there is no object code."""
        self._ensure_finalized()
        return (self.name, "translated", self._final_module.as_bitcode())

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> _InnerLibrary:
        """Library that :meth:`serialize_using_object_code` wrote."""
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_dynamic_globals()
        library._finalized = True
        return library


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A kernel with all that it reaches, optimized as a whole program."""

    def _optimize_final_module(self) -> None:
        module = self._final_module
        # Calls back from another function, which numba resolves by name.
        by_name = {
            variable.name.removeprefix(RuntimeLinker.PREFIX)
            for variable in module.global_variables
            if variable.name.startswith(RuntimeLinker.PREFIX)
        }
        # Nobody else calls them: so LLVM may carry constants into them and drop those that it has inlined everywhere.
        # The names of numba's runtime mean something to its passes.
        for function in module.functions:
            if (
                function.linkage == llvm.Linkage.linkonce_odr
                and not function.is_declaration
                and not function.name.startswith("NRT_")
                and function.name not in by_name
            ):
                function.linkage = llvm.Linkage.internal
        super()._optimize_final_module()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """See numba's CodeLibrary; nobody links a kernel, so that its names stand for the bitcode."""
        self._ensure_finalized()
        names = [each.name for each in self._final_module.functions if _is_visible(each)]
        stubs = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return (self.name, "object", (self._get_compiled_object(), llvm.parse_assembly(stubs).as_bitcode()))


def _is_visible(function: Any) -> bool:
    return not function.is_declaration and function.linkage not in (llvm.Linkage.internal, llvm.Linkage.private)


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
            passes.passes.extend(
                (self.lowering if chosen is NativeLowering else chosen, why) for chosen, why in each.passes
            )
        passes.finalize()
        return [passes]


class InnerCompiler(_LinkingCompiler):
    """numba's compiler for functions that only compiled code calls."""

    lowering = _InnerLowering


class _KernelCompiler(_LinkingCompiler):
    """numba's compiler for functions that Python calls."""

    lowering = _KernelLowering


INNER_OPTIONS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of numba's jit that go with :class:`InnerCompiler`."""


def _name_for_numba() -> Any:
    """Make what numba knows a function by: the built-in function that calls it, or any that is like no other."""
    return [].append


def _call(function: Callable[[Any], Any], argument: Any) -> Any:
    return function(argument)


# CPython maps memory for 16 kB of frames and gives it back whenever the depth of calls crosses its end, which in a
# compiler is all the time. A frame that asks for half a megabyte gets a megabyte at once, and those above it the rest.
_with_room = FunctionType(_call.__code__.replace(co_stacksize=1 << 16), {}, "_with_room")


# ------------------------------------------------------------------------------------------------ kept on disk


class _TranslationCacheImplementation(CompileResultCacheImpl):  # type: ignore[misc]
    """How translated functions are read."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, _, bitcode), descriptor, environment, signature, *_, annotation, reload_init, environments = payload
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


class _TranslationCache(FunctionCache):  # type: ignore[misc]
    """Translated functions on disk."""

    _impl_class = _TranslationCacheImplementation


class _OneAtATime(CPUDispatcher):  # type: ignore[misc]
    """A dispatcher whose specializations are made by one process, while others that share its cache wait for them."""

    def prepare_cache(self) -> None:
        """Do what is to be done before anything is compiled."""

    def is_made(self, sig: Any) -> bool:
        """Whether a specialization is here or on disk."""
        arguments, _ = sigutils.normalize_signature(sig)
        if tuple(arguments) in self.overloads:
            return True
        self.prepare_cache()
        if not isinstance(self._cache, FunctionCache):
            return False
        return self._cache._index_key(sig, self.targetctx.codegen()) in self._cache._cache_file._load_index()

    def compile(self, sig: Any) -> Any:
        """See numba's Dispatcher."""
        if self.is_made(sig) or not isinstance(self._cache, FunctionCache):
            return super().compile(sig)
        key = self._cache._index_key(sig, self.targetctx.codegen())
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        with one_process(Path(self._cache.cache_path) / f"making-{name}"):
            return super().compile(sig)


class _InnerDispatcher(_OneAtATime):
    """What compiled code links of a function."""

    prepare: Callable[[], None]

    def prepare_cache(self) -> None:
        self.prepare()


class KernelDispatcher(_OneAtATime):
    """A function that both Python and compiled code may call: Python calls machine code, compiled code links it.

    Parameters
    ----------
    function
        The plain function.
    options
        Of numba's jit.
    find_cache
        Called with this dispatcher and ``translation`` before the first compilation for Python (false) or for other
        compiled code (true); to call :meth:`keep` in turn.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], find_cache: Callable[..., None] | None = None
    ) -> None:
        super().__init__(py_func=function, targetoptions=options, pipeline_class=_KernelCompiler)
        self._inner = _InnerDispatcher(
            py_func=function, targetoptions={**options, **INNER_OPTIONS}, pipeline_class=InnerCompiler
        )
        self._inner.prepare = self._prepare_translations
        self._find_cache = find_cache
        self._prepared: set[bool] = set()
        self.keeps_translation = False
        """Whether what compiled code links is kept on disk."""

    def compile(self, sig: Any) -> Any:
        """See numba's Dispatcher."""
        return _with_room(super().compile, sig)

    def prepare_cache(self) -> None:
        """Look for the machine code that is kept."""
        self._prepare(translation=False)

    def _prepare_translations(self) -> None:
        if self.keeps_translation:
            self._prepare(translation=True)

    def _prepare(self, *, translation: bool) -> None:
        if self._find_cache is not None and translation not in self._prepared:
            self._prepared.add(translation)
            self._find_cache(self, translation=translation)

    def keep(self, *, translation: bool) -> None:
        """Keep machine code, or what compiled code links, in the folder that numba is set to.

        Raises
        ------
        RuntimeError
            The function has no file.
        """
        if translation:
            self._inner._cache = make_index_shareable(_TranslationCache(self.py_func))
        else:
            self._cache = make_index_shareable(FunctionCache(self.py_func))

    def __reduce__(self) -> str:
        # By its name, as a function: numba would make another one of the function's code.
        return str(self.py_func.__qualname__)

    @property
    def is_compiling(self) -> bool:
        """Whether a specialization is being compiled: numba takes a call of such a function for a recursion."""
        return bool(self._compiling_counter) or bool(self._inner.is_compiling)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """See numba's Dispatcher: typing of a call in compiled code.

        A literal argument does not make a specialization of its own: each would be typed and translated anew, with all
        that it calls, and LLVM knows the constant where it matters.
        """
        return self._inner.get_call_template(tuple(types.unliteral(each) for each in args), kws)

    def get_overload(self, sig: Any) -> Any:
        """See numba's Dispatcher: what a call in compiled code calls."""
        return self._inner.get_overload(sig)
