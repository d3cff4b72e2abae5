# Machinery of the compiler, of which numba says no types.
from typing import Any

def __getattr__(name: str) -> Any: ...
