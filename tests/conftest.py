"""What several test modules share: where things are, the built book behind a server, and the tools to open it with."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
import serve
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

ROOT = Path(__file__).resolve().parent.parent

# No deadline for a single example: machines that run tests are busy ones.
settings.register_profile("handbook", deadline=None, database=DirectoryBasedExampleDatabase(ROOT / "_build/hypothesis"))
settings.load_profile("handbook")


def find(tool):
    """The path of a tool, or the line that says what is missing."""
    found = subprocess.run([ROOT / ".ci/find", tool], capture_output=True, text=True, timeout=60, check=False)
    return found.stdout.strip(), found.stderr.strip()


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def node():
    """The path of Node."""
    path, missing = find("node")
    assert path, missing
    return str(ROOT / path)


@pytest.fixture(scope="session")
def chromium():
    """The path of a browser. Without one its tests are skipped, in a forge they fail."""
    path, missing = find("browser")
    if not path and os.environ.get("CI") != "true":
        pytest.skip(missing)
    assert path, missing
    return path


@pytest.fixture(scope="session")
def book():
    """The folder of the built book."""
    html = ROOT / "_build/html"
    assert (html / "index.html").exists(), "the book is not built: make book"
    return html


@pytest.fixture(scope="session")
def book_url(book):
    """The address of the built book, behind the server that `make serve` starts; it ends with a slash."""
    server = serve.bind(str(book), 8700)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
