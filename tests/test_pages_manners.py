"""How a what-if behaves on a page: refusals, address, keyboard, screen reader."""

import pytest

from lib.whatif import catalogue
from tests.page_checks import findings, load_axe
from tests.page_whatif import (
    ANSWERED,
    FIRST,
    STATE,
    address_of,
    assert_as_lib,
    press,
    reset,
    same_answer,
    stand_in,
    type_text,
)

REFUSAL_IS_SAID = """id => {
  const fault = document.querySelector(`#${id} .what-if-fault`);
  return fault?.textContent === document.querySelector(`#${id} .what-if-message`).textContent;
}"""
DAMAGED = "The values in this address are damaged"
# The next Tab reaches what comes first on the page.
FROM_THE_TOP = """() => {
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}"""


def test_a_refusal_stands_beside_its_control_and_the_last_good_answer_stays(awake):
    page, ident, (number, *_) = awake
    press(page, ident, number)
    good = page.evaluate(STATE, ident)
    field = page.locator(f"#{ident}-{number.name}")
    type_text(field, "-3")
    bad = page.evaluate(ANSWERED, ident)
    assert bad["rows"] == good["rows"]
    assert bad["stale"]
    assert len(bad["faults"]) == 1
    assert number.name in bad["faults"][0]
    assert field.get_attribute("aria-invalid") == "true"
    described = field.get_attribute("aria-describedby").split()
    assert page.locator(f"#{described[0]}").inner_text() == bad["faults"][0]
    type_text(field, good["settings"][number.name])
    assert page.evaluate(ANSWERED, ident)["faults"] == []
    assert field.get_attribute("aria-invalid") is None


def test_the_address_brings_a_scenario_back_by_reload_and_by_the_back_button(awake):
    page, ident, (number, *_) = awake
    start = page.evaluate(STATE, ident)
    press(page, ident, number, times=3)
    page.wait_for_function("location.search", polling=100)
    moved = page.evaluate(STATE, ident)
    assert moved["rows"] != start["rows"]
    page.reload()
    assert same_answer(page, ident, moved)
    page.goto("about:blank")
    page.go_back()
    assert same_answer(page, ident, moved)
    page.locator(f"#{ident} .what-if-reset").click()
    page.wait_for_function("!location.search", polling=100)
    assert page.evaluate(STATE, ident)["rows"] == start["rows"]
    assert page.faults == []


def test_the_copied_link_opens_the_same_scenario(awake):
    page, ident, (number, *_) = awake
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, ident, number, times=3)
    page.locator(f"#{ident} .what-if-copy").click()
    page.wait_for_function("id => document.querySelector(`#${id} .what-if-notice`)", arg=ident)
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"#{ident}")
    moved = page.evaluate(STATE, ident)
    reset(page, ident)
    page.goto(link)
    assert same_answer(page, ident, moved)


# What else is damaged the tests of state.js tell: here the browser reads an address first.
def test_a_damaged_address_falls_back_to_the_starting_values_and_says_so(turn_to):
    page = turn_to(f"{FIRST[1]}?{FIRST[0]}=%E0%A4%A", prepare=stand_in)
    shown = page.evaluate(STATE, f"what-if-{FIRST[0]}")
    assert shown["message"].startswith(DAMAGED)
    assert not shown["spoken"]
    assert_as_lib(shown | {"message": ""}, FIRST[0])
    assert page.faults == []


def test_a_link_whose_values_lib_refuses_falls_back_and_says_so(turn_to, node):
    name, controls = FIRST[0], catalogue.find(FIRST[0]).controls
    values = {c.name: c.start if hasattr(c, "options") else "0" for c in controls}
    page = turn_to(FIRST[1] + address_of(node, {name: values}), prepare=stand_in)
    shown = page.evaluate(ANSWERED, f"what-if-{name}")
    assert shown["message"].startswith(DAMAGED)
    assert_as_lib(shown | {"message": ""}, name)


def test_the_keyboard_alone_is_enough(awake):
    page, ident, _ = awake
    page.evaluate(FROM_THE_TOP)
    tab_to(page, f"#{ident} input[type=range]")
    before = page.evaluate(STATE, ident)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(ANSWERED, ident)["rows"] != before["rows"]
    assert page.evaluate("document.activeElement.type") == "range"
    tab_to(page, f"#{ident} .what-if-rows summary")
    page.keyboard.press("Enter")
    assert page.locator(f"#{ident} .what-if-rows details[open] p").first.is_visible()
    page.locator(f"#{ident} .what-if-reset").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "([id, title]) => document.querySelector(`#${id} .what-if-title`).textContent === title",
        arg=[ident, before["title"]],
    )


def tab_to(page, selector, at_most=300):
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} is not reached by the Tab key")


def test_what_is_open_stays_open_and_focus_stays_where_it_was(awake):
    page, ident, (number, *_) = awake
    opened = page.locator(f"#{ident} .what-if-rows details").nth(2)
    opened.locator("summary").click()
    press(page, ident, number, times=4)
    assert opened.evaluate("fold => fold.open")
    assert page.evaluate("document.activeElement.dataset.for") == number.name


def test_an_answer_is_announced_once_after_a_drag(awake):
    page, ident, (number, *_) = awake
    press(page, ident, number)
    page.evaluate(
        """id => { window.said = []; const message = document.querySelector(`#${id} .what-if-message`);
        new MutationObserver(() => said.push(message.textContent)).observe(message, {childList: true}); }""",
        ident,
    )
    press(page, ident, number, times=10)
    page.wait_for_function("window.said.length")
    page.wait_for_timeout(1000)
    assert page.evaluate("said") == [page.evaluate(STATE, ident)["title"]]
    assert page.locator(f"#{ident} .what-if-message").get_attribute("role") == "status"


def test_a_moved_page_is_as_accessible_as_a_still_one(awake):
    page, ident, (number, *_) = awake
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    load_axe(page)
    press(page, ident, number)
    type_text(page.locator(f"#{ident}-{number.name}"), "nonsense")
    page.wait_for_function(REFUSAL_IS_SAID, arg=ident)  # nothing on the page changes after that
    assert findings(page, f"#{ident}") == []
