"""The notebooks of the tutorials run, and show what they speak of."""

from pathlib import Path

import pytest

from tests.house.tree import ROOT

SHOWN = {
    "discovery": ("<svg", "<iframe", "<table"),
    "grading": ("<svg", "<table"),
    "new-game": ("<svg", "<table"),
}
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
CELL_SECONDS = 600


@pytest.mark.slow
@pytest.mark.repeats  # most of a minute each; test_face has what they call
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in code), "outputs are made by the tests, not kept"
    client = nbclient.NotebookClient(notebook, timeout=CELL_SECONDS, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    data = [output.get("data", {}) for cell in code for output in cell.outputs]
    for kind in SHOWN[path.stem]:
        assert any(kind in one.get("text/html", "") for one in data)
