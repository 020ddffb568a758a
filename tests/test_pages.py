"""The built book in a real browser: quiet, readable and offline pages in light and dark, at a desk and on a phone."""

import pytest

from tests.page_checks import (
    COLOUR_RULES,
    PHONE,
    SCROLLS_BY_KEY,
    findings,
    findings_by_look,
    findings_of_colours,
    load_axe,
    pages,
    too_small,
    too_wide,
)
from tests.page_whatif import CATALOGUE, SECTIONS

# Of texts that look alike one is checked for its colours, in all of the book; on this page every text is.
TEXT_BY_TEXT = "book/errata.html"


@pytest.fixture(scope="module")
def looks():
    """The looks that are known to be good."""
    return set()


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(turn_to, looks, path):
    page = turn_to(path)
    page.emulate_media(color_scheme="light")
    load_axe(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = {"every text": findings(page) if path == TEXT_BY_TEXT else []}
    found["light"] = in_new_looks(findings_by_look, page, looks)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    found["dark"] = in_new_looks(findings_of_colours, page, looks)
    page.set_viewport_size(PHONE)
    page.wait_for_function(SCROLLS_BY_KEY)
    found["phone"] = in_new_looks(findings_by_look, page, looks)
    found["too small"], found["too wide"] = too_small(page), too_wide(page)
    assert {where: faults for where, faults in found.items() if faults} == {}
    assert page.faults == []


def in_new_looks(check, page, looks):
    """What a check finds, its colours in looks that no page had before; without a fault they are known from now on."""
    found, new = check(page, looks)
    looks.update(() if found else new)
    return found


def test_every_what_if_stands_in_the_book():
    assert {name for name, _ in SECTIONS} == set(CATALOGUE)


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
    page = turn_to("search.html")
    page.emulate_media(color_scheme="dark")
    load_axe(page)
    _, known = findings_by_look(page, ())
    dark = f"<div style='background: #121212; color: #fff'>{fault}</div>"
    page.evaluate("html => document.querySelector('#main-content').insertAdjacentHTML('beforeend', html)", dark)
    kinds = {"all": findings_by_look(page, known)[0], "colours": findings_of_colours(page, known)[0]}
    found = {kind: {line.split(":")[0] for line in lines} for kind, lines in kinds.items()}
    assert found == {"all": {rule}, "colours": {rule} & set(COLOUR_RULES)}


def test_a_request_to_outside_is_seen_and_comes_to_nothing(turn_to):
    page = turn_to("search.html")
    with page.expect_event("requestfailed") as failed:
        assert page.evaluate("fetch('https://example.org/').then(() => 'answered', () => 'refused')") == "refused"
    assert failed.value.failure == "net::ERR_NAME_NOT_RESOLVED"
    assert "outside request: https://example.org/" in page.faults
