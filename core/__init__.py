"""Game-agnostic learning of evaluation functions; knows no game."""

import sys as _sys

if not hasattr(_sys.modules["glem"], "import_module"):
    # The lemmatizer of that name on the package index replaces one file of the folder that both have.
    raise ImportError(
        "another program called glem is installed in the place of this one, which the package index has as pyglem: "
        "pip uninstall glem, then pip install --force-reinstall pyglem"
    )
