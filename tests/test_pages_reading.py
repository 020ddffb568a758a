"""How pages read on a phone, on paper and from a link: the answer in sight, text that can be read, nothing folded."""

import json

import pytest

from lib.whatif import catalogue
from tests.page_checks import pages
from tests.page_whatif import SECTIONS, SETTLED, STATE, assert_as_lib
from tests.test_pages_manners import run_module

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
CHAPTERS = [page for page in pages() if page.startswith("notebooks/")]
FOLDING = [(name, path) for name, path in SECTIONS if catalogue.find(name).folded]
SMALLEST = 10  # px of a figure's text
TOO_SMALL = """smallest => [...document.querySelectorAll("svg.plot text")].map((text) => {
  const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
  return [text.textContent, scale * parseFloat(getComputedStyle(text).fontSize)];
}).filter(([, size]) => size < smallest)"""

UNSEEN = """[...document.querySelectorAll("details > :not(summary)")]
  .filter((inside) => !inside.checkVisibility({contentVisibilityAuto: true}) || !inside.getBoundingClientRect().height)
  .map((inside) => inside.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_on_a_phone_the_answer_is_in_sight_while_a_finger_moves_any_slider(kept_page, name, path):
    page = kept_page(path, **PHONE)
    ident = f"what-if-{name}"
    for control in (c for c in catalogue.find(name).asked if not hasattr(c, "options")):
        slider = page.locator(f"#{ident} input[data-for={control.name}]")
        slider.scroll_into_view_if_needed()
        slider.tap()
        page.wait_for_function(SETTLED, arg=ident)
        top, bottom = page.locator(f"#{ident} .what-if-title").evaluate(
            "title => [title.getBoundingClientRect().top, title.getBoundingClientRect().bottom]"
        )
        assert 0 <= top < bottom <= 741, control.name
        assert slider.bounding_box()["y"] < top, f"the answer covers {control.name}"


@pytest.mark.parametrize("path", CHAPTERS)
def test_the_text_of_figures_can_be_read_on_a_phone(turn_to, path):
    page = turn_to(path, **PHONE)
    assert page.evaluate(TOO_SMALL, SMALLEST) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_figure_that_scrolls_is_reached_by_the_keyboard_and_one_that_fits_is_not(turn_to):
    wide = (
        "[...document.querySelectorAll('.picture')].map((box) => [box.scrollWidth > box.clientWidth + 1, box.tabIndex])"
    )
    assert {(True, 0)} == {tuple(pair) for pair in turn_to(CHAPTERS[0], **PHONE).evaluate(wide)}
    assert {(False, -1)} == {tuple(pair) for pair in turn_to(CHAPTERS[0]).evaluate(wide)}


@pytest.mark.parametrize("path", CHAPTERS)
def test_on_paper_every_fold_is_open_also_where_no_script_runs(turn_to, path):
    page = turn_to(path, java_script_enabled=False)
    assert page.evaluate(UNSEEN) != []
    page.emulate_media(media="print")
    page.wait_for_function(f"{UNSEEN}.length === 0")  # what was skipped is laid out with the next frame


def test_folds_that_were_opened_for_the_printer_close_again(turn_to):
    page = turn_to(CHAPTERS[0])
    folds = "document.querySelectorAll('details:not([open])').length"
    closed = page.evaluate(folds)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (closed > 0, page.evaluate(folds)) == (True, 0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folds) == closed


@pytest.mark.parametrize(("name", "path"), FOLDING)
def test_a_link_that_sets_a_folded_input_shows_it(turn_to, node, root, name, path):
    ident, what_if = f"what-if-{name}", catalogue.find(name)
    assert not turn_to(path).locator(f"#{ident} .what-if-more").evaluate("fold => fold.open")
    moved = next(c for c in what_if.folded if not hasattr(c, "options"))
    values = {c.name: c.start if hasattr(c, "options") else c.write(c.start) for c in what_if.controls}
    values[moved.name] = moved.write(moved.high)
    script = (
        f"import {{writeAddress}} from './state.js';"
        f"process.stdout.write(writeAddress('', '{name}', {json.dumps(values)}))"
    )
    page = turn_to(path + run_module(node, root / "book/live", script))
    page.wait_for_function(SETTLED, arg=ident)
    page.wait_for_function("id => document.querySelector(`#${id} .what-if-more`).open", arg=ident)
    shown = page.evaluate(STATE, ident)
    assert shown["settings"][moved.name] == values[moved.name]
    assert_as_lib(shown, name)
