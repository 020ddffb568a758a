"""Chapters where no script runs: the numbers of `lib` for the starting values, and nothing folded on paper."""

import re

import pytest

from lib.whatif import catalogue
from tests.page_checks import HTML, UNSEEN, chapters
from tests.page_whatif import SECTIONS, ordered

ARTICLE = re.compile(r"<article.*</article>", re.DOTALL)
STYLES = re.compile(r"<link[^>]*stylesheet[^>]*>")
# Of each what-if: its name, its starting values, the numbers of its answer, whether these are seen and nothing moves.
SHOWN = """[...document.querySelectorAll("section.what-if")].map((section) => {
  const numbers = [...section.querySelectorAll(".what-if-rows data")];
  const parts = [numbers[0], section.querySelector(".what-if-title")];
  const still = section.querySelector("input[type=range]").matches(":disabled");
  const {name, start} = section.dataset;
  return [name, JSON.parse(start), numbers.map(({value}) => value), still && parts.every(isSeen)];
  function isSeen(part) { return part.checkVisibility({visibilityProperty: true}) && part.getClientRects().length > 0; }
})"""


@pytest.fixture(scope="module")
def still(turn_to):
    """The first chapter without scripts, with the articles of all others below its own: they have the same styles."""
    texts = [(HTML / path).read_text(encoding="utf-8") for path in chapters()]
    assert len({tuple(STYLES.findall(text)) for text in texts}) == 1
    articles = [ARTICLE.search(text)[0] for text in texts]
    html = texts[0].replace(articles[0], "\n".join(articles))

    def prepare(page):
        page.route("**/still.html", lambda route: route.fulfill(body=html, content_type="text/html"))

    return turn_to("notebooks/still.html", prepare=prepare, java_script_enabled=False)


def test_the_answers_for_the_starting_values_are_on_the_page(still):
    shown = still.evaluate(SHOWN)
    assert {name for name, *_ in shown} == {name for name, _ in SECTIONS}
    for name, start, values, is_still in shown:
        answered = [row.value for row in ordered(catalogue.answer(name, start)) if not isinstance(row.value, str)]
        assert [float(value) for value in values] == answered, name
        assert is_still, name


def test_on_paper_every_fold_is_open(still):
    assert still.evaluate(UNSEEN) != []
    still.emulate_media(media="print")
    assert any(unseen_in_a_frame(still) == [] for _ in range(20))


def unseen_in_a_frame(page):
    """What is folded once a frame was painted: what was skipped is laid out with it, and a still page paints none."""
    page.screenshot(clip={"x": 0, "y": 0, "width": 1, "height": 1})
    return page.evaluate(UNSEEN)
