"""The machine's clock (:mod:`glem.core.machine.clock`), known to compiled code."""

from glem.core.compiling.forwarding import compiled_as
from glem.core.machine.clock import monotonic_nanoseconds, read_clock

__all__ = ["monotonic_nanoseconds"]

compiled_as(read_clock)(monotonic_nanoseconds)
