"""How Sphinx builds the site: ``sphinx-build -W -b html docs OUT``, with the extra ``docs`` installed."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

_DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(_DOCS), str(_DOCS.parent / ".packages")]  # the checkout, whatever is installed

project = "glem"
author = "the authors of glem"
version = release = version_of("pyglem")
html_title = f"glem {version}"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_click",
    "reference_pages",  # beside this file
]
exclude_patterns = ["_build"]
suppress_warnings = ["ref.python"]  # an annotation may name what several games have: Position

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

add_module_names = False
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
autosummary_generate = False
maximum_signature_line_length = 100
numpydoc_show_class_members = False
python_use_unqualified_type_names = True
