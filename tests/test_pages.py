"""The built book in a real browser: quiet, readable and offline pages, and what-ifs with the numbers of `lib`."""

import json
from functools import partial

import pytest

from lib.whatif import catalogue
from tests.page_checks import findings, load_axe, pages, too_wide
from tests.page_whatif import CATALOGUE, SECTIONS, SETTLED, STATE, assert_as_lib, ordered, type_text, unfold


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(open_page, path):
    page = open_page(path, color_scheme="light")
    load_axe(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = {"light": findings(page)}
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found["dark"] = findings(page)
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_timeout(500)  # the theme makes what scrolls reachable by key a moment after a change of size
    found["phone"] = findings(page)
    assert found == {"light": [], "dark": [], "phone": []}
    assert too_wide(page) == []
    assert page.faults == []


def test_every_what_if_stands_in_the_book():
    assert {name for name, _ in SECTIONS} == set(CATALOGUE)


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_without_scripts_the_answer_for_the_starting_values_is_on_the_page(open_page, name, path):
    page = open_page(path, java_script_enabled=False)
    section = page.locator(f"section[data-name={name}]").first
    numbers = section.locator(".what-if-rows data")
    values = [float(numbers.nth(i).get_attribute("value")) for i in range(numbers.count())]
    start = json.loads(section.get_attribute("data-start"))
    assert values == [row.value for row in ordered(catalogue.answer(name, start)) if not isinstance(row.value, str)]
    assert numbers.first.is_visible()
    assert section.locator(".what-if-title").is_visible()
    assert section.locator("input[type=range]").first.is_disabled()


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_every_move_in_the_page_gives_the_numbers_of_lib(open_page, name, path):
    page = open_page(path)
    ident = f"what-if-{name}"
    unfold(page, ident)
    moves = 0
    for control in catalogue.find(name).controls:
        for move in moves_of(page, ident, control):
            move()
            page.wait_for_function(SETTLED, arg=ident)
            assert_as_lib(page.evaluate(STATE, ident), name)
            moves += 1
    assert moves >= 3 * len(catalogue.find(name).controls)
    assert page.faults == []


def moves_of(page, ident, control):
    """Ways to move one control, the last back to the start: keys and texts for a number, options for a choice."""
    if hasattr(control, "options"):
        choice = page.locator(f"#{ident}-{control.name}")
        options = [*control.options[:4], control.start]
        return [partial(choice.select_option, option) for option in options]
    slider = page.locator(f"#{ident} input[data-for={control.name}]")
    field = page.locator(f"#{ident}-{control.name}")
    keys = ["ArrowRight", "ArrowRight", "PageUp", "ArrowLeft", "PageDown"]
    texts = [control.write(value) for value in (control.low, control.high, control.start)]
    return [partial(slider.press, key) for key in keys] + [partial(type_text, field, text) for text in texts]
