"""What several test modules share: where things are, the built book behind a server, and the tools to open it with."""

import os
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import serve
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

ROOT = Path(__file__).resolve().parent.parent
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # nothing outside is ever reached
DESK = {"width": 1280, "height": 900}
# A worker lives for a few answers here: code that is quickly made starts it in half of the time.
QUICK = "--js-flags=--liftoff-only"

# No deadline for a single example: machines that run tests are busy ones.
# Each run draws other examples, and tries again those that failed: fewer a run find the same faults, some runs later.
FAILED = DirectoryBasedExampleDatabase(ROOT / "_build/hypothesis")
settings.register_profile("handbook", deadline=None, database=FAILED, max_examples=40)
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


class AsHosted(serve.Handler):
    """Lets a browser keep for ten minutes what it has read, as hosts of static pages do."""

    cache_control = "max-age=600"


@pytest.fixture(scope="session")
def book_url(book):
    """The address of the built book, behind the server that `make serve` starts; it ends with a slash."""
    server = serve.bind(str(book), 8700, handler=AsHosted)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser(chromium):
    """A browser for all tests of pages."""
    from playwright.sync_api import sync_playwright  # not at the top: most tests need no browser

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", QUICK, OFFLINE],
            timeout=60_000,
        )
        yield launched
        launched.close()


@contextmanager
def opening(browser, book_url):
    """Opens pages of the book, each in a fresh profile or beside another, and records what a quiet page has none of."""
    from tests.page_checks import watch

    contexts = []

    def open_one(path, url=book_url, prepare=lambda page: None, beside=None, **options):
        if beside is None:
            contexts.append(browser.new_context(**({"viewport": DESK} | options)))
        page = (beside.context if beside else contexts[-1]).new_page()
        page.set_default_timeout(60_000)
        page.faults = watch(page)
        prepare(page)
        page.goto(url + path)
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(browser, book_url):
    """Opens a page of the book for one test."""
    with opening(browser, book_url) as open_one:
        yield open_one


@pytest.fixture(scope="session")
def kept_page(browser, book_url):
    """Opens a page of the book once for all tests, and gives it as at a desk: its worker takes seconds to start."""
    kept = {}

    def keep(path, **options):
        if path not in kept:
            kept[path] = open_one(path, beside=next(iter(kept.values()), None), has_touch=True, **options)
        page = kept[path]
        page.bring_to_front()  # a tab behind another one paints next to no frames
        as_opened(page)
        page.faults.clear()
        return page

    with opening(browser, book_url) as open_one:
        yield keep


@pytest.fixture
def together(kept_page):
    """A page with every what-if of the book, kept for all tests."""
    from tests.page_whatif import TOGETHER, all_on_one_page

    def prepare(page):
        html = all_on_one_page()
        page.route(f"**/{TOGETHER}*", lambda route: route.fulfill(body=html, content_type="text/html"))

    return kept_page(TOGETHER, prepare=prepare)


@pytest.fixture(scope="session")
def turn_to(browser, book_url):
    """Opens pages of the book one after another in the same tab, for each set of options: a new tab takes a second."""
    tabs = {}

    def turn(path, **options):
        kind = repr(sorted(options.items()))
        if kind not in tabs:
            tabs[kind] = open_one(path, **options)
            return tabs[kind]
        page = tabs[kind]
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")  # an address that differs after its # alone would not be opened anew
        as_opened(page, **options)
        page.faults.clear()
        page.goto(book_url + path)
        return page

    with opening(browser, book_url) as open_one:
        yield turn


def as_opened(page, viewport=DESK, color_scheme="light", **options):
    """Undo what a test did to the look of a page."""
    page.emulate_media(media="null", color_scheme=color_scheme)
    page.set_viewport_size(viewport)


@pytest.fixture
def first(open_page):
    """Opens the first what-if in a fresh profile: (page, id, its number controls)."""
    from tests.page_whatif import FIRST, numbers_of

    def open_first(**options):
        name, path = FIRST
        return open_page(path, **options), f"what-if-{name}", numbers_of(name)

    return open_first


@pytest.fixture
def awake(kept_page):
    """The first what-if on a page that the tests share, answered by this process: (page, id, its number controls).

    It is left as it was found.
    """
    from tests.page_whatif import FIRST, numbers_of, reset, stand_in

    name, path = FIRST
    page = kept_page(path, prepare=stand_in)
    yield page, f"what-if-{name}", numbers_of(name)
    reset(page, f"what-if-{name}")


@pytest.fixture(scope="session")
def jail():
    """The name of the best jail that holds. Without one its tests are skipped, in a forge they fail."""
    from lib.grading.doctor import first_that_works

    name = first_that_works()
    missing = "NO JAIL: hostile submissions were not tried; handbook course doctor says how to get one"
    if name is None and os.environ.get("CI") != "true":
        pytest.skip(missing)
    assert name, missing
    return name
