"""The worker of a page: fetched ahead, stuck, missing a file."""

import json
from functools import partial

import pytest

from tests.page_whatif import STATE

SILENT = "onmessage = () => {}"
IS_STARTING = "id => document.querySelector(`#${id} .what-if-loading`)"
IS_ASKED = "id => document.querySelector(`#${id} .what-if-answer`).getAttribute('aria-busy') === 'true'"
DEAF = "onmessage = ({data}) => data.type === 'boot' && postMessage({type: 'ready'})"
PLAIN = """onmessage = ({data: {type, question}}) =>
  postMessage(type === "boot" ? {type: "ready"} : {type: "refused", question, message: "no, thanks", control: null})"""
WORKER = "**/worker-*.js"


def send(script, route):
    route.fulfill(body=script, content_type="text/javascript")


def test_a_stuck_worker_is_ended_with_a_message_and_the_next_touch_tries_a_fresh_one(first):
    page, ident, (number, *_) = first(prepare=lambda page: page.clock.install())
    before = page.evaluate(STATE, ident)
    slider = page.locator(f"#{ident} input[data-for={number.name}]")
    for script, waits, seconds, said in (
        (SILENT, IS_STARTING, 31, "Nothing more came"),
        (DEAF, IS_ASKED, 11, "No answer"),
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


@pytest.mark.parametrize("saves_data", [False, True])
def test_the_runtime_is_fetched_ahead_unless_the_browser_saves_data(first, saves_data):
    script = f"Object.defineProperty(navigator, 'connection', {{value: {{saveData: {json.dumps(saves_data)}}}}})"
    asked = []

    def prepare(page):
        page.clock.install()
        page.add_init_script(script)
        page.on("request", lambda request: "worker-" in request.url and asked.append(request.url))

    page, ident, _ = first(prepare=prepare)
    page.locator(f"#{ident} form").scroll_into_view_if_needed()
    for _ in range(20 if saves_data else 200):  # the page sees what is in view in its own time, the clock is ours
        page.clock.run_for(1000)
        page.wait_for_timeout(100)
        if asked:
            break
    assert bool(asked) is not saves_data
    assert page.locator(f"#{ident} progress").count() == 0


def test_the_first_touch_shows_how_much_is_fetched(first):
    def slowly(page):
        page.clock.install()
        page.route("**/lib-*", lambda route: None)  # never comes

    page, ident, (number, *_) = first(prepare=slowly)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # no limit strikes, however slow the machine is
    page.locator(f"#{ident} input[data-for={number.name}]").press("ArrowRight")
    bar = page.locator(f"#{ident} progress")
    bar.wait_for()
    assert "MB" in page.evaluate(STATE, ident)["message"]
    page.wait_for_function("id => document.querySelector(`#${id} progress`).value > 1e6", arg=ident)
    assert bar.evaluate("bar => bar.value < bar.max")
