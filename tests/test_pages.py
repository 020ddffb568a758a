"""The built book in a real browser: quiet, readable and offline pages, with the numbers of `lib` before a touch."""

import json

import pytest

from lib.whatif import catalogue
from tests.page_checks import (
    COLOUR_RULES,
    SCROLLS_BY_KEY,
    findings,
    findings_of_colours,
    findings_of_form,
    load_axe,
    pages,
    too_wide,
)
from tests.page_whatif import CATALOGUE, SECTIONS, ordered

# What is written for this book is checked text by text; of the pages that Sphinx makes of docstrings, all alike, one.
API = [path for path in pages() if path.startswith("book/api/")]
WHOLE = {*pages()} - {*API[1:]}


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(turn_to, path):
    page = turn_to(path, color_scheme="light")
    load_axe(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = {"light": findings(page) if path in WHOLE else findings_of_form(page) + findings_of_colours(page)}
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found["dark"] = findings_of_colours(page)
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function(SCROLLS_BY_KEY)
    found["phone"] = findings_of_form(page) + findings_of_colours(page)
    assert found == {"light": [], "dark": [], "phone": []}
    assert too_wide(page) == []
    assert page.faults == []


def test_every_what_if_stands_in_the_book():
    assert {name for name, _ in SECTIONS} == set(CATALOGUE)


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_without_scripts_the_answer_for_the_starting_values_is_on_the_page(turn_to, name, path):
    page = turn_to(path, java_script_enabled=False)
    section = page.locator(f"section[data-name={name}]").first
    numbers = section.locator(".what-if-rows data")
    values = [float(numbers.nth(i).get_attribute("value")) for i in range(numbers.count())]
    start = json.loads(section.get_attribute("data-start"))
    assert values == [row.value for row in ordered(catalogue.answer(name, start)) if not isinstance(row.value, str)]
    assert numbers.first.is_visible()
    assert section.locator(".what-if-title").is_visible()
    assert section.locator("input[type=range]").first.is_disabled()


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ("color-contrast", "<p style='color: #333'>dark on dark</p>"),
        ("color-contrast", "<p>so be it</p><p style='color: #333'>unlike it</p>"),
        (
            "color-contrast",
            "<p style='background: white'><span style='color: black'>good</span></p><p>fine</p>"
            "<p style='color: black'>not good</p>",
        ),
        ("link-in-text-block", "<p>text and <a href='#' style='color: #ddd; text-decoration: none'>a link</a> too</p>"),
        ("image-alt", "<img src='data:,'>"),
    ],
)
def test_a_fault_is_found_by_the_rules_of_its_kind(turn_to, rule, fault):
    page = turn_to("genindex.html", color_scheme="dark")
    load_axe(page)
    dark = f"<div style='background: #121212; color: #fff'>{fault}</div>"
    page.evaluate("html => document.querySelector('#main-content').insertAdjacentHTML('beforeend', html)", dark)
    kinds = {"form": findings_of_form(page), "colours": findings_of_colours(page)}
    found = {kind: {line.split(":")[0] for line in lines} for kind, lines in kinds.items()}
    assert found == {"form": {rule} - set(COLOUR_RULES), "colours": {rule} & set(COLOUR_RULES)}


def test_a_request_to_outside_is_seen_and_comes_to_nothing(turn_to):
    page = turn_to("genindex.html")
    with page.expect_event("requestfailed") as failed:
        assert page.evaluate("fetch('https://example.org/').then(() => 'answered', () => 'refused')") == "refused"
    assert failed.value.failure == "net::ERR_NAME_NOT_RESOLVED"
    assert "outside request: https://example.org/" in page.faults
