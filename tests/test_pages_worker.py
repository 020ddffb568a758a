"""The worker of a page: fetched ahead, slow, stuck, missing a file."""

import json
from functools import partial

import pytest

from lib.whatif.page import respond
from tests.page_whatif import FIRST, STATE, numbers_of

SILENT = "onmessage = () => {}"
IS_STARTING = "id => document.querySelector(`#${id} .what-if-loading`)"
IS_ASKED = """id => document.querySelector(`#${id} .what-if-answer[aria-busy=true]`) &&
  !document.querySelector(`#${id} progress`)"""
DEAF = "onmessage = ({data}) => data.type === 'boot' && postMessage({type: 'ready'})"
HALF = """onmessage = ({data: {type, question}}) =>
  postMessage(type === "boot" ? {type: "ready"} : {type: "replied", question, reply: %s})"""
IS_SEEN = "id => document.querySelector(`#${id} .what-if-answer`).textContent.includes('half of it')"
PLAIN = """onmessage = ({data: {type, question}}) =>
  postMessage(type === "boot" ? {type: "ready"} : {type: "replied", question, reply: '{"message": "no, thanks"}'})"""
WORKER = "**/worker-*.js"
FETCHED = "id => document.querySelector(`#${id} progress`).value > 1e6"
# Fulfilled once the page's own observers, which are older, have been told as well.
IN_SIGHT = """form => new Promise((seen) =>
  new IntersectionObserver(([{isIntersecting}]) => isIntersecting && seen()).observe(form))"""
NOTE_ORDERS = """window.orders = [];
const Right = Worker;
window.Worker = class extends Right {
  postMessage(message) {
    orders.push(message.type);
    super.postMessage(message);
  }
};"""
SAVE_DATA = "Object.defineProperty(navigator, 'connection', {value: {saveData: true}});"


def prepare(page, script):
    page.clock.install()
    page.add_init_script(script)


def orders_once_in_sight(page, ident):
    """What a page has told its worker to do when its first what-if was in sight for longer than it waits."""
    form = page.locator(f"#{ident} form")
    form.scroll_into_view_if_needed()
    form.evaluate(IN_SIGHT)
    page.clock.run_for(5000)
    return page.evaluate("orders")


@pytest.fixture(scope="module")
def saver(turn_to):
    """The first what-if in a browser that saves data, whose clock stands still: (page, its id, a slider)."""
    page = turn_to(FIRST[1], prepare=partial(prepare, script=NOTE_ORDERS + SAVE_DATA))
    page.clock.pause_at(page.evaluate("Date.now()") + 60_000)  # no limit strikes, however slow the machine is
    ident = f"what-if-{FIRST[0]}"
    return page, ident, page.locator(f"#{ident} input[data-for={numbers_of(FIRST[0])[0].name}]")


def test_the_runtime_is_fetched_ahead(first):
    page, ident, _ = first(prepare=partial(prepare, script=NOTE_ORDERS))
    assert orders_once_in_sight(page, ident) == ["fetch"]
    assert page.locator(f"#{ident} progress").count() == 0


def test_a_browser_that_saves_data_fetches_nothing_ahead(saver):
    page, ident, _ = saver
    assert orders_once_in_sight(page, ident) == []


def test_the_first_touch_shows_how_much_is_fetched(saver):
    page, ident, slider = saver
    page.route("**/lib-*", lambda route: None)  # never comes
    slider.press("ArrowRight")
    bar = page.locator(f"#{ident} progress")
    bar.wait_for()
    assert "MB" in page.evaluate(STATE, ident)["message"]
    page.wait_for_function(FETCHED, arg=ident)
    assert bar.evaluate("bar => bar.value < bar.max")


def test_a_stuck_worker_is_ended_with_a_message_and_the_next_touch_tries_a_fresh_one(saver):
    page, ident, slider = saver
    page.clock.fast_forward(31_000)  # ends the one above
    before = page.evaluate(STATE, ident)
    for script, waits, seconds, said in (
        (SILENT, IS_STARTING, 31, "Nothing more came"),
        (DEAF, IS_ASKED, 11, "No answer"),
        (HALF % half_an_answer(), IS_SEEN, 11, "No answer"),
    ):
        page.route(WORKER, partial(send, script))
        slider.press("ArrowRight")
        page.wait_for_function(waits, arg=ident)
        page.clock.fast_forward(seconds * 1000)
        page.locator(f"#{ident} .what-if-stopped:has-text('{said}')").wait_for()
        ended = page.evaluate(STATE, ident)
        assert ended["rows"] == before["rows"]
        assert ended["stale"]
    page.unroute(WORKER)
    page.route("**/lib-*", lambda route: route.fulfill(status=404))
    slider.press("ArrowRight")
    page.locator(f"#{ident} .what-if-stopped:has-text('404')").wait_for()
    assert "lib-" in page.evaluate(STATE, ident)["message"]
    page.route(WORKER, partial(send, PLAIN))
    slider.press("ArrowRight")
    page.locator(f"#{ident} .what-if-refused:has-text('no, thanks')").wait_for()


def half_an_answer():
    """What is seen of the first what-if's answer, as a text of JavaScript: what it folds away never comes."""
    reply = json.loads(next(respond(FIRST[0], "{}")))
    return json.dumps(json.dumps(reply | {"html": reply["html"] + "<p>half of it</p>"}))


def send(script, route):
    route.fulfill(body=script, content_type="text/javascript")
