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

# Of texts that look alike one is checked for its colours, in all of the book; on this page every text is.
TEXT_BY_TEXT = "book/errata.html"


@pytest.fixture(scope="module")
def looks():
    """The looks that are known to be good."""
    return set()


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(turn_to, looks, path):
    page = turn_to(path, color_scheme="light")
    load_axe(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    form = findings if path == TEXT_BY_TEXT else findings_of_form
    found = {"light": form(page) + new_looks(page, looks)}
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found["dark"] = new_looks(page, looks)
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function(SCROLLS_BY_KEY)
    found["phone"] = findings_of_form(page) + new_looks(page, looks)
    assert found == {"light": [], "dark": [], "phone": []}
    assert too_wide(page) == []
    assert page.faults == []


def new_looks(page, looks):
    """What is wrong with the colours of looks that no page had before; without a fault they are known from now on."""
    found, new = findings_of_colours(page, looks)
    looks.update(() if found else new)
    return found


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
    _, known = findings_of_colours(page)
    dark = f"<div style='background: #121212; color: #fff'>{fault}</div>"
    page.evaluate("html => document.querySelector('#main-content').insertAdjacentHTML('beforeend', html)", dark)
    kinds = {"form": findings_of_form(page), "colours": findings_of_colours(page, known)[0]}
    found = {kind: {line.split(":")[0] for line in lines} for kind, lines in kinds.items()}
    assert found == {"form": {rule} - set(COLOUR_RULES), "colours": {rule} & set(COLOUR_RULES)}


def test_a_request_to_outside_is_seen_and_comes_to_nothing(turn_to):
    page = turn_to("genindex.html")
    with page.expect_event("requestfailed") as failed:
        assert page.evaluate("fetch('https://example.org/').then(() => 'answered', () => 'refused')") == "refused"
    assert failed.value.failure == "net::ERR_NAME_NOT_RESOLVED"
    assert "outside request: https://example.org/" in page.faults
