"""Every control of every what-if, moved in a real browser, with a desk's and a phone's size: the numbers of `lib`."""

from contextlib import contextmanager, suppress

import pytest

from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html
from tests.page_checks import PHONE
from tests.page_whatif import (
    DRIVE,
    SECTIONS,
    SETTLED,
    STATE,
    address_of,
    assert_as_lib,
    numbers_of,
    type_text,
    unfold,
)

# Shows answers one after another in one element: those that then differ from what a fresh element shows.
PATCHED = """async ([script, answers, tampers]) => {
  const {patchHtml} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
  const [shown, fresh] = [document.createElement("div"), document.createElement("div")];
  document.body.append(shown);
  const differ = answers.filter((html) => {
    if (tampers) shown.querySelector("b")?.firstChild.replaceWith("another's");
    patchHtml(shown, html);
    fresh.innerHTML = html;
    const [found, wanted] = [[...shown.children], [...fresh.children]];
    return found.length !== wanted.length || !found.every((element, i) => element.isEqualNode(wanted[i]));
  });
  shown.remove();
  return differ;
}"""
TAGS = (
    "<p>1 <b>2</b></p>",
    "<p>1 <i>3</i></p>",
    '<p>1 <i id="4">3</i></p>',
    '<p>1 <i id="&lt;">3 &amp;</i></p><p>5</p>',
)
FOLDING = [(name, path) for name, path in SECTIONS if catalogue.find(name).folded]
IS_OPEN = "name => document.querySelector(`#what-if-${name} .what-if-more`).open"


# Before the moves: its link starts the worker, and they go on with it.
@pytest.mark.parametrize("path", dict.fromkeys(path for _, path in FOLDING))
def test_a_link_that_sets_folded_inputs_shows_them(kept_page, node, book_url, path):
    links = {name: a_folded_input_moved(name) for name, on in FOLDING if on == path}
    page = kept_page(path)
    assert not any(page.evaluate(IS_OPEN, name) for name in links)
    page.goto(book_url + path + address_of(node, {name: values for name, (_, values) in links.items()}))
    for name, (moved, values) in links.items():
        page.wait_for_function(IS_OPEN, arg=name)
        page.wait_for_function(SETTLED, arg=f"what-if-{name}")
        shown = page.evaluate(STATE, f"what-if-{name}")
        assert shown["settings"][moved] == values[moved]
        assert_as_lib(shown, name)
        page.locator(f"#what-if-{name} .what-if-reset").click()
    page.wait_for_function("!location.search")


def a_folded_input_moved(name):
    """A folded input, and the texts of all inputs with that one at its highest."""
    what_if = catalogue.find(name)
    moved = next(control for control in what_if.folded if not hasattr(control, "options"))
    values = {c.name: c.start if hasattr(c, "options") else c.write(c.start) for c in what_if.controls}
    return moved.name, values | {moved.name: moved.write(moved.high)}


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_every_move_in_the_page_gives_the_numbers_of_lib(kept_page, name, path):
    page = kept_page(path)
    ident = f"what-if-{name}"
    unfold(page, ident)
    controls = catalogue.find(name).controls
    moves = [[control.name, *move] for control in controls for move in moves_of(control)]
    for shown in page.evaluate(DRIVE, [ident, moves]):
        assert_as_lib(shown, name)
    assert len(moves) >= 3 * len(controls)
    assert page.faults == []


def moves_of(control):
    """Ways to move one control, as a page hears of them, the last back to the start: options, or steps and texts."""
    if hasattr(control, "options"):
        return [("option", option) for option in (*control.options[:4], control.start)]
    texts = [("text", control.write(value)) for value in (control.low, control.high, control.start)]
    return [("step", by) for by in (1, 15)] + texts


def test_an_answer_looks_the_same_whatever_was_shown_before(kept_page, root):
    page = kept_page(SECTIONS[0][1])
    answers = [answer for what_if in catalogue.WHAT_IFS.values() for answer in answers_of(what_if)]
    htmls = [answer_html(answer.view, answer.command) for answer in answers]
    htmls += [*(chart_html(answer.view.chart) for answer in answers), *TAGS]
    assert page.evaluate(PATCHED, [(root / "book/live/patch.js").read_text(), htmls]) == []


def test_a_text_that_a_translator_replaced_is_put_right_by_the_next_answer(kept_page, root):
    page = kept_page(SECTIONS[0][1])
    script = (root / "book/live/patch.js").read_text()
    assert page.evaluate(PATCHED, [script, ["<p><b>1</b></p>", "<p><b>2</b></p>", "<p><b>3</b></p>"], True]) == []


def answers_of(what_if):
    """Its answer for the starting values, and for each control moved alone as far as `lib` goes along."""
    yield catalogue.solve(what_if)
    for control in what_if.controls:
        for value in getattr(control, "options", ())[:2] or (control.low, control.high):
            with suppress(catalogue.RefusedError):
                yield catalogue.solve(what_if, {control.name: value})


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_keys_and_typed_text_move_the_page_as_well(kept_page, name, path):
    page = kept_page(path)
    ident, number = f"what-if-{name}", numbers_of(name)[0]
    slider = page.locator(f"#{ident} input[data-for={number.name}]")
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        before = slider.input_value()
        slider.press(key)
        assert slider.input_value() != before
        page.wait_for_function(SETTLED, arg=ident)
        assert_as_lib(page.evaluate(STATE, ident), name)
    type_text(page.locator(f"#{ident}-{number.name}"), number.write(number.start))
    page.wait_for_function(SETTLED, arg=ident)
    shown = page.evaluate(STATE, ident)
    assert shown["settings"][number.name] == number.write(number.start)
    assert_as_lib(shown, name)


@pytest.mark.parametrize("path", dict.fromkeys(path for _, path in SECTIONS))
def test_on_a_phone_the_answer_is_in_sight_while_a_finger_moves_any_slider(kept_page, path):
    page = kept_page(path)
    with as_a_phone(page):
        for name in (name for name, on in SECTIONS if on == path):
            page.locator(f"#what-if-{name}").evaluate("section => section.classList.remove('what-if-touched')")
            for control in (c for c in catalogue.find(name).asked if not hasattr(c, "options")):
                assert_in_sight_when_tapped(page, f"what-if-{name}", control.name)
        assert page.evaluate("innerWidth") == PHONE["width"]


def assert_in_sight_when_tapped(page, ident, control):
    slider = page.locator(f"#{ident} input[data-for={control}]")
    slider.scroll_into_view_if_needed()
    slider.tap()
    page.wait_for_function(SETTLED, arg=ident)
    top, bottom = page.locator(f"#{ident} .what-if-title").evaluate(
        "title => [title.getBoundingClientRect().top, title.getBoundingClientRect().bottom]"
    )
    assert 0 <= top < bottom <= PHONE["height"] + 1, control
    assert slider.bounding_box()["y"] < top, f"the answer covers {control}"


@contextmanager
def as_a_phone(page):
    """A page with the size and the ways of a phone's, for a while."""
    page.set_viewport_size(PHONE)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setDeviceMetricsOverride", PHONE | {"deviceScaleFactor": 1, "mobile": True})
    yield
    session.send("Emulation.clearDeviceMetricsOverride")
    session.detach()
