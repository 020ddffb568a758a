"""How pages read on a phone, on paper and from a link: text that can be read, nothing folded."""

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
    page.wait_for_function(f"{UNSEEN}.length === 0", polling=100)  # what was skipped is laid out with the next frame


def test_folds_that_were_opened_for_the_printer_close_again(turn_to):
    page = turn_to(CHAPTERS[0])
    folds = "document.querySelectorAll('details:not([open])').length"
    closed = page.evaluate(folds)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert (closed > 0, page.evaluate(folds)) == (True, 0)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folds) == closed


@pytest.mark.parametrize("path", dict.fromkeys(path for _, path in FOLDING))
def test_a_link_that_sets_folded_inputs_shows_them(turn_to, node, root, path):
    links = {name: a_folded_input_moved(name) for name, on in FOLDING if on == path}
    opened = "name => document.querySelector(`#what-if-${name} .what-if-more`).open"
    page = turn_to(path)
    assert not any(page.evaluate(opened, name) for name in links)
    script = (
        "import {writeAddress} from './state.js';"
        f"const links = {json.dumps({name: values for name, (_, values) in links.items()})};"
        "const add = (query, [name, values]) => writeAddress(query, name, values);"
        "process.stdout.write(Object.entries(links).reduce(add, ''))"
    )
    page = turn_to(path + run_module(node, root / "book/live", script))
    for name, (moved, values) in links.items():
        page.wait_for_function(opened, arg=name)
        page.wait_for_function(SETTLED, arg=f"what-if-{name}")
        shown = page.evaluate(STATE, f"what-if-{name}")
        assert shown["settings"][moved] == values[moved]
        assert_as_lib(shown, name)


def a_folded_input_moved(name):
    """A folded input, and the texts of all inputs with that one at its highest."""
    what_if = catalogue.find(name)
    moved = next(control for control in what_if.folded if not hasattr(control, "options"))
    values = {c.name: c.start if hasattr(c, "options") else c.write(c.start) for c in what_if.controls}
    return moved.name, values | {moved.name: moved.write(moved.high)}
