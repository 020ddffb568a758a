"""Chapters where no script runs: the numbers of `lib` for the starting values, and nothing folded on paper."""

import json

import pytest

from lib.whatif import catalogue
from tests.page_checks import UNSEEN, chapters
from tests.page_whatif import SECTIONS, ordered


@pytest.fixture(scope="module", params=chapters())
def still(request, turn_to):
    """A chapter without scripts, opened once for its tests: (its path, page)."""
    return request.param, turn_to(request.param, java_script_enabled=False)


def test_the_answers_for_the_starting_values_are_on_the_page(still):
    path, page = still
    names = [name for name, on in SECTIONS if on == path]
    assert names
    for name in names:
        section = page.locator(f"section[data-name={name}]").first
        numbers = section.locator(".what-if-rows data")
        values = [float(value) for value in numbers.evaluate_all("all => all.map((one) => one.getAttribute('value'))")]
        start = json.loads(section.get_attribute("data-start"))
        answer = ordered(catalogue.answer(name, start))
        assert values == [row.value for row in answer if not isinstance(row.value, str)], name
        assert numbers.first.is_visible()
        assert section.locator(".what-if-title").is_visible()
        assert section.locator("input[type=range]").first.is_disabled()


def test_on_paper_every_fold_is_open(still):
    _, page = still
    assert page.evaluate(UNSEEN) != []
    page.emulate_media(media="print")
    assert any(unseen_in_a_frame(page) == [] for _ in range(20))
    page.emulate_media(media="null")


def unseen_in_a_frame(page):
    """What is folded once a frame was painted: what was skipped is laid out with it, and a still page paints none."""
    page.screenshot(clip={"x": 0, "y": 0, "width": 1, "height": 1})
    return page.evaluate(UNSEEN)
