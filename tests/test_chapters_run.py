"""Pages with cells are run once, by nbmake, for the tests and for the book: what passes is kept, what fails told."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_cache import get_cache
from myst_nb.core.read import myst_nb_reader_plugin

ROOT = Path(__file__).resolve().parent.parent
HEADER = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
"""
SOUND = """
```{code-cell} ipython3
---
tags: [remove-input]
---
import os, sys
assert os.getsid(0) == os.getpid(), "what ends this kernel would end others"
assert "lib" not in sys.modules, "a page could forget to import it"
assert not [path for path in sys.path if path.endswith(".ci")], "a reader's kernel does not see the scripts"

def what_if(name):
    return f"HANDBOOK_BUILD is {os.environ['HANDBOOK_BUILD']!r}"
```

```{code-cell} ipython3
what_if("a")
```
"""
WITHOUT_WIDGETS = SOUND.replace("return f", "assert os.environ['HANDBOOK_BUILD'], 'no live face'\n    return f")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A copy of the scripts, with a page that runs and one that fails for a reader with a live kernel; the report."""
    folder = tmp_path_factory.mktemp("copy")
    for name in (".ci", "book/_ext"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("_config.yml", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    kernels = folder / ".ci/kernels.py"
    kernels.write_text(re.sub(r'.*"matplotlib.*\n', "", kernels.read_text()))  # these pages draw nothing
    (folder / "notebooks").mkdir()
    (folder / "notebooks/sound.md").write_text(HEADER + SOUND)
    (folder / "notebooks/broken.md").write_text(HEADER + WITHOUT_WIDGETS)
    command = [sys.executable, folder / ".ci/notebooks.py", "--jobs=2"]
    return folder, subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def test_a_page_that_fails_is_run_once_more_and_named(ran):
    _, done = ran
    assert done.returncode == 1
    assert done.stdout.count("no live face") >= 2
    assert re.findall("==> (.*)\n==> RETRY: the page (.*)", done.stdout) == [
        ("notebooks/broken", "failed and is run once more"),
        ("notebooks/broken", "failed again"),
    ]
    assert "pages that do not run: notebooks/broken\n" in done.stdout
    assert re.search(r"notebooks/sound: [0-9.]+ s", done.stdout)


def test_what_a_page_gave_under_a_build_is_where_the_book_looks_for_it(ran):
    folder, _ = ran
    (kept,) = (folder / "_build/cache").iterdir()
    page = myst_nb_reader_plugin(folder / "notebooks/sound.md")
    _, merged = get_cache(kept).merge_match_into_notebook(page)
    _, shown = (cell for cell in merged.cells if cell.cell_type == "code")
    assert shown.outputs[0]["data"]["text/plain"] == "\"HANDBOOK_BUILD is '1'\""
    with pytest.raises(KeyError):
        get_cache(kept).match_cache_notebook(myst_nb_reader_plugin(folder / "notebooks/broken.md"))
