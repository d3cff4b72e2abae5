# numba's own annotations are partial and differ from release to release: for the type checkers it is untyped,
# but for what is declared here.
from typing import Any

def __getattr__(name: str) -> Any: ...
