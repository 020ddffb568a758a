"""Exercises of a page: solved by keyboard, told why not, stopped, kept across reloads, shown alone.

Their page lies in a sub-folder of a plain static server: the book works there as well.
"""

import http.server
import json
import threading
from functools import partial

import pytest

from lib.exercises import QUESTIONS, cases
from tests.page_checks import HTML, findings, load_axe
from tests.page_whatif import STATE, assert_as_lib, numbers_of, press

PAGE = "notebooks/chips_to_flops.html"
ASKED = "#exercise-train-flops"
RIGHT = "def train_flops(n_params, n_tokens):\n    return 6.0 * n_params * n_tokens\n"
SLIP = "def train_flops(n_params, n_tokens):\n    print('halfway')\n    return n_params * n_tokens\n"
ENDLESS = "def train_flops(n_params, n_tokens):\n    while True:\n        pass\n"
KEPT = "JSON.parse(localStorage.getItem('handbook-exercises'))"
# A worker that finds every solution good.
WORKER = "**/worker-*.js"
FRESH = """onmessage = ({data: {type, question}}) => {
  if (type === "boot") postMessage({type: "ready"});
  if (type === "try") postMessage({type: "judged", question, summary: "6 of 6, as good as new", ok: true});
};"""
# A page whose clock runs ahead by the time that a call of a solution may take.
LIMIT_AT_ONCE = """() => {
  const right = setTimeout;
  window.setTimeout = (todo, wait, ...rest) => right(todo, wait === 4000 ? 100 : wait, ...rest);
  window.asBefore = () => (window.setTimeout = right);
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *details):
        """Say nothing among the test results."""


@pytest.fixture(scope="module")
def plain_url(tmp_path_factory):
    """The address of the book in a sub-folder of a plain static server."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "deep").mkdir()
    (folder / "deep/book").symlink_to(HTML)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/deep/book/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def chapter(kept_page, plain_url):
    """The page, shared by the tests."""
    page = kept_page(PAGE, url=plain_url)
    yield page
    assert page.faults == []


@pytest.fixture
def desk(chapter):
    """The page with the editor in the place of its field. A touch of the field starts Python."""
    if chapter.locator(f"{ASKED} textarea").is_visible():
        chapter.locator(f"{ASKED} textarea").click()
        chapter.locator(f"{ASKED} .cm-content").wait_for()
    return chapter


def write(page, code):
    page.locator(f"{ASKED} .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def run(page, code, until):
    """Write and run by keyboard; the message that ends it."""
    write(page, code)
    page.keyboard.press("Control+Enter")
    page.locator(f"{ASKED} .exercise-message:has-text('{until}')").wait_for()
    return page.locator(f"{ASKED} .exercise-message").inner_text()


def rows(page):
    return page.locator(f"{ASKED} .exercise-verdicts tbody tr").all_inner_texts()


def test_a_slip_is_named_case_by_case_and_what_was_printed_is_shown(desk):
    drawn = cases(QUESTIONS["train_flops"])
    assert f"0 of {len(drawn)}" in run(desk, SLIP, " right.")
    assert len(rows(desk)) == len(drawn)
    assert "The factor is missing" in rows(desk)[1]
    assert "halfway" in desk.locator(f"{ASKED} .exercise-verdicts pre").inner_text()
    load_axe(desk)
    assert findings(desk, ASKED) == []


def test_code_that_is_no_python_or_borrows_the_answer_is_told_so(desk):
    run(desk, "def train_flops(:", "0 of 1")
    assert "Line 1 is no Python" in rows(desk)[0]
    run(desk, "from lib.compute import train_flops", "0 of 1")
    assert "is no solution" in rows(desk)[0]


def test_code_that_patches_the_library_is_told_so_and_harms_no_what_if(desk):
    patch = "import sys, math\nmath.log = lambda *a: 1.0\nsys.modules['lib.compute'].train_flops = lambda *a: 1.0\n"
    assert "0 of 1" in run(desk, patch + RIGHT, " right.")
    assert "It is put back" in rows(desk)[0]
    ident = "what-if-days-and-mfu"
    press(desk, ident, numbers_of("days-and-mfu")[0])
    assert_as_lib(desk.evaluate(STATE, ident), "days-and-mfu")


def test_starting_again_brings_back_the_stub_and_forgets(desk):
    write(desk, RIGHT)
    desk.locator(f"{ASKED} .exercise-reset").click()
    assert "NotImplementedError" in desk.locator(f"{ASKED} .cm-content").inner_text()
    desk.wait_for_function(f"!('train_flops' in {KEPT}.code)", polling=100)


def test_the_editor_can_be_left_by_key(desk):
    desk.locator(f"{ASKED} .cm-content").click()
    desk.keyboard.press("Escape")
    desk.keyboard.press("Tab")
    assert desk.evaluate("document.activeElement.className") == "exercise-run"


def test_the_editor_is_readable_on_a_phone_in_light_and_dark(desk):
    desk.set_viewport_size({"width": 390, "height": 800})
    write(desk, SLIP.replace("halfway", "x = 1  # half"))
    assert desk.evaluate("document.documentElement.scrollWidth") <= 390
    load_axe(desk)
    for scheme in ("light", "dark"):
        desk.emulate_media(color_scheme=scheme)
        desk.wait_for_function("scheme => document.documentElement.dataset.theme === scheme", arg=scheme)
        assert findings(desk, ASKED) == [], scheme


def test_a_solution_is_told_so_and_ticked_in_the_contents(desk):
    assert "6 of 6" in run(desk, RIGHT, "6 of 6")
    desk.wait_for_function(f"{KEPT}.code.train_flops?.includes('6.0') && {KEPT}.solved.includes('train_flops')")
    assert "1/7" in desk.locator(".bd-sidebar-primary .exercise-tick").first.inner_text()


# The page's next worker is one without Python: its start would tell what the first one's has told.
def test_an_endless_loop_is_stopped_and_the_page_goes_on(desk):
    desk.evaluate(LIMIT_AT_ONCE)
    assert "never end" in run(desk, ENDLESS, "Stopped after")
    desk.evaluate("asBefore()")
    desk.route(WORKER, lambda route: route.fulfill(body=FRESH, content_type="text/javascript"))
    desk.locator(f"{ASKED} summary:has-text('Hint')").click()
    run(desk, RIGHT, "as good as new")
    desk.unroute(WORKER)


# The last at the desk: whoever touches a control of a page that is opened anew starts Python anew.
def test_a_solution_is_kept(desk):
    run(desk, RIGHT, "6 of 6")
    desk.wait_for_function(f"{KEPT}.code.train_flops?.includes('6.0')")
    desk.reload()
    assert desk.locator(f"{ASKED} textarea").input_value() == RIGHT
    assert "exercise-solved" in desk.locator(ASKED).get_attribute("class")
    assert "1/7" in desk.locator(".bd-sidebar-primary .exercise-tick").first.inner_text()


# What else is damaged the tests of saved.js tell.
def test_an_older_state_is_set_aside_and_offered(chapter):
    text = json.dumps({"form": 0, "code": {}, "solved": [], "pages": {}})
    chapter.evaluate("text => localStorage.setItem('handbook-exercises', text)", text)
    chapter.reload()
    assert "NotImplementedError" in chapter.locator(f"{ASKED} textarea").input_value()
    with chapter.expect_download() as download:
        chapter.locator(".exercise-set-aside a").click()
    assert download.value.path().read_text(encoding="utf-8") == text


def test_a_link_shows_one_exercise_alone(chapter, plain_url):
    chapter.goto(f"{plain_url}{PAGE}?exercise=palm_mfu")
    assert chapter.locator("section.exercise:visible").count() == 1
    assert chapter.locator("#exercise-palm-mfu").is_visible()
    assert not chapter.locator(".bd-sidebar-primary").is_visible()
    assert not chapter.locator("h1").first.is_visible()
    load_axe(chapter)
    assert findings(chapter, "#exercise-palm-mfu") + findings(chapter, ".exercise-whole") == []
