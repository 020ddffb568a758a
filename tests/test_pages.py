"""The built book in a real browser: quiet, readable and offline pages in light and dark, at a desk and on a phone."""

import pytest

from tests.conftest import DESK
from tests.page_checks import (
    COLOUR_RULES,
    PHONE,
    SCROLLS_BY_KEY,
    findings,
    findings_of_colours,
    findings_of_new,
    load_axe,
    pages,
    too_small,
    too_wide,
)
from tests.page_whatif import CATALOGUE, SECTIONS

# Of texts that look alike and of parts that are built alike one is checked in all of the book; on these pages all are.
TEXT_BY_TEXT = ("book/errata.html", "notebooks/worked_example.html")
# As each page is opened: it has most of its looks there, so that few are new where it is widened.
DARK_PHONE = {"viewport": PHONE, "color_scheme": "dark"}


@pytest.fixture(scope="module")
def known():
    """The looks and the forms that are known to be good."""
    return set()


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(turn_to, known, path):
    page = turn_to(path, **DARK_PHONE)
    load_axe(page)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.wait_for_function(SCROLLS_BY_KEY, polling=100)
    found = {"too small": too_small(page), "too wide": too_wide(page)}
    found["phone"] = in_what_is_new(findings_of_new, page, known)
    page.set_viewport_size(DESK)
    found["dark"] = in_what_is_new(findings_of_colours, page, known)
    page.emulate_media(color_scheme="light")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    found["every text"] = findings(page) if path in TEXT_BY_TEXT else []
    found["light"] = in_what_is_new(findings_of_new, page, known)
    assert {where: faults for where, faults in found.items() if faults} == {}
    assert page.faults == []


def in_what_is_new(check, page, known):
    """What a check finds in what no page had before; without a fault that is known from now on."""
    found, new = check(page, known)
    known.update(() if found else new)
    return found


def test_every_what_if_stands_in_the_book():
    assert {name for name, _ in SECTIONS} == set(CATALOGUE)


# A rule, a part that is right by it, and one that is built nearly as that and is not.
FAULTS = [
    ("color-contrast", "<p>so be it</p>", "<p style='color: #333'>dark on dark</p>"),
    ("color-contrast", "<p>so be it</p>", "<p>so be it</p><p style='color: #333'>unlike it</p>"),
    (
        "color-contrast",
        "<p>fine</p>",
        "<p style='background: white'><span style='color: black'>good</span></p><p>fine</p>"
        "<p style='color: black'>not good</p>",
    ),
    (
        "link-in-text-block",
        "<p>text</p>",
        "<p>text and <a href='#' style='color: #ddd; text-decoration: none'>a link</a> too</p>",
    ),
    ("image-alt", "<p><img src='data:,' alt=''></p>", "<p><img src='data:,'></p>"),
    ("link-name", "<p>a <a href='#'>link</a></p>", "<p>a <a href='#'></a></p>"),
    ("link-name", "<p>a <a href='#'><span>link</span></a></p>", "<p>a <a href='#'><span hidden>link</span></a></p>"),
    ("button-name", "<ul><li><button>b</button></li></ul>", "<ul><li><button><b></b></button></li></ul>"),
    (
        "button-name",
        "<b id='a'>a</b><div><button aria-labelledby='a'></button></div>",
        "<b id='b'>a</b><div><button aria-labelledby='a'></button></div>",
    ),
    (
        "label",
        "<p><label for='c'>c</label></p><p><input id='c'></p>",
        "<p><label for='c'>c</label></p><p><input id='b'></p>",
    ),
    (
        "label",
        "<p><label for='d'>d</label></p><p><input id='d'></p>",
        "<p><label for='b'>d</label></p><p><input id='d'></p>",
    ),
    (
        "label-content-name-mismatch",
        "<p><button aria-label='one'>one</button></p>",
        "<p><button aria-label='one'>two</button></p>",
    ),
    ("list", "<div><ul><li>a</li></ul></div>", "<div><ul><li>a</li><p>a</p></ul></div>"),
    ("listitem", "<div><ul><li>a</li></ul></div>", "<div><li>a</li></div>"),
    ("aria-hidden-focus", "<div><p>a</p></div>", "<div aria-hidden='true'><p><a href='#'>a</a></p></div>"),
    ("nested-interactive", "<p><button>a</button></p>", "<p><button>a <a href='#'>a</a></button></p>"),
    (
        "td-headers-attr",
        "<table><tr><th id='e'>e<tr><td headers='e'>e</table>",
        "<table><tr><th id='e'>e<tr><td headers='b'>e</table>",
    ),
    (
        "td-headers-attr",
        "<table><tr><th id='f'>f<tr><td headers='f'>f<tr><td headers='f'>f</table>",
        "<table><tr><th id='f'>f<tr><td headers='f'>f<tr><td headers='b'>f</table>",
    ),
    (
        "td-headers-attr",
        "<table><tr><th id='g'>g<tr><td headers='g'>g</table>",
        "<table><tr><th id='b'>g<tr><td headers='g'>g</table>",
    ),
    (
        "label",
        "<fieldset><p><label for='h'>h</label><input id='h'></p></fieldset>",
        "<fieldset><p><label>h</label><input id='h'></p></fieldset>",
    ),
    ("avoid-inline-spacing", "<p style='letter-spacing: 0'>a</p>", "<p style='letter-spacing: 0 !important'>a</p>"),
    ("accesskeys", "<p><b accesskey='a'>a</b></p>", "<p><b accesskey='a'>a</b></p><p><b accesskey='a'>a</b></p>"),
    ("valid-lang", "<p><b lang='en'>a</b></p>", "<p><b lang='xy'>a</b></p>"),
    ("aria-valid-attr-value", "<p aria-live='off'>a</p>", "<p aria-live='of'>a</p>"),
]
# The same for what is so on a phone only.
LONG = "a line that is longer than a phone is wide, which a desk has room for"
FAULTS_OF_A_PHONE = [
    (
        "button-name",
        "<div class='d-lg-none'><button>a</button></div>",
        "<div class='d-lg-none'><button></button></div>",
    ),
    ("button-name", "<p><button>a</button></p>", "<p><button><span class='d-none d-lg-block'>a</span></button></p>"),
    ("color-contrast", "<p>so be it</p>", "<p class='d-lg-none' style='color: #333'>dark</p>"),
    (
        "scrollable-region-focusable",
        f"<pre style='overflow: auto' tabindex='0'>{LONG}</pre>",
        f"<pre style='overflow: auto'>{LONG}</pre>",
    ),
    (
        "scrollable-region-focusable",
        f"<div role='group' aria-label='a' style='overflow: auto; white-space: nowrap' tabindex='0'>{LONG}</div>",
        f"<div role='group' aria-label='b' style='overflow: auto; white-space: nowrap'>{LONG}</div>",
    ),
    (
        "scrollable-region-focusable",
        f"<div style='overflow: auto; white-space: nowrap'>{LONG}<a href='#'>a</a></div>",
        f"<div style='overflow: auto; white-space: nowrap'>{LONG}<a href='#' hidden>a</a></div>",
    ),
]


def put(page, html):
    dark = f"<div style='background: #121212; color: #fff'>{html}</div>"
    page.evaluate("html => { document.querySelector('#faults').innerHTML = html }", dark)


def rules_of(found):
    return {line.split(":")[0] for line in found[0]}


def test_each_fault_is_found_by_its_rule_beside_what_is_known(turn_to):
    page = turn_to("search.html", **DARK_PHONE)
    load_axe(page)
    page.evaluate("document.querySelector('#main-content').insertAdjacentHTML('beforeend', '<div id=faults></div>')")
    known = set()
    for size, faults in ((DESK, FAULTS), (PHONE, FAULTS_OF_A_PHONE)):
        page.set_viewport_size(size)
        put(page, "".join(right for _, right, _ in faults))
        found, new = findings_of_new(page, known)
        known.update(new)
        assert found == []
        for rule, _, fault in faults:
            put(page, fault)
            assert rules_of(findings_of_new(page, known)) == {rule}, fault
            if rule in COLOUR_RULES:
                assert rules_of(findings_of_colours(page, known)) == {rule}, fault
                assert rules_of([findings(page, "#faults")]) == {rule}, fault
    page.set_viewport_size(DESK)
    put(page, "".join(fault for _, _, fault in FAULTS_OF_A_PHONE))
    assert findings_of_new(page, known)[0] == []


def test_a_request_to_outside_is_seen_and_comes_to_nothing(turn_to):
    page = turn_to("search.html", **DARK_PHONE)
    with page.expect_event("requestfailed") as failed:
        assert page.evaluate("fetch('https://example.org/').then(() => 'answered', () => 'refused')") == "refused"
    assert failed.value.failure == "net::ERR_NAME_NOT_RESOLVED"
    assert "outside request: https://example.org/" in page.faults
