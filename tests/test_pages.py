"""The built book in a real browser: quiet, readable and offline pages, with the numbers of `lib` before a touch."""

import json

import pytest

from lib.whatif import catalogue
from tests.page_checks import SCROLLS_BY_KEY, findings, load_axe, pages, too_wide
from tests.page_whatif import CATALOGUE, SECTIONS, ordered


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
    page.wait_for_function(SCROLLS_BY_KEY)
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
