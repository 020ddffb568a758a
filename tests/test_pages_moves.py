"""Every control of every what-if, moved in a real browser, with a desk's and a phone's size: the numbers of `lib`."""

from contextlib import suppress

import pytest

from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html
from tests.page_whatif import DRIVE, SECTIONS, SETTLED, STATE, assert_as_lib, numbers_of, type_text, unfold

TOUCH = {"has_touch": True}
# Shows answers one after another in one element: those that then differ from what a fresh element shows.
PATCHED = """async ([script, answers, tampers]) => {
  const {patchHtml} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
  const [shown, fresh] = [document.createElement("div"), document.createElement("div")];
  document.body.append(shown);
  const differ = answers.filter((html) => {
    if (tampers) shown.querySelector("b")?.firstChild.replaceWith("another's");
    patchHtml(shown, html);
    fresh.innerHTML = html;
    const [found, wanted] = [[...shown.children], [...fresh.children]];
    return found.length !== wanted.length || !found.every((element, i) => element.isEqualNode(wanted[i]));
  });
  shown.remove();
  return differ;
}"""
TAGS = (
    "<p>1 <b>2</b></p>",
    "<p>1 <i>3</i></p>",
    '<p>1 <i id="4">3</i></p>',
    '<p>1 <i id="&lt;">3 &amp;</i></p><p>5</p>',
)
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_every_move_in_the_page_gives_the_numbers_of_lib(kept_page, name, path):
    page = kept_page(path, **TOUCH)
    ident = f"what-if-{name}"
    unfold(page, ident)
    controls = catalogue.find(name).controls
    moves = [[control.name, *move] for control in controls for move in moves_of(control)]
    for shown in page.evaluate(DRIVE, [ident, moves]):
        assert_as_lib(shown, name)
    assert len(moves) >= 3 * len(controls)
    assert page.faults == []


def moves_of(control):
    """Ways to move one control, as a page hears of them, the last back to the start: options, or steps and texts."""
    if hasattr(control, "options"):
        return [("option", option) for option in (*control.options[:4], control.start)]
    texts = [("text", control.write(value)) for value in (control.low, control.high, control.start)]
    return [("step", by) for by in (1, 15)] + texts


def test_an_answer_looks_the_same_whatever_was_shown_before(kept_page, root):
    page = kept_page(SECTIONS[0][1], **TOUCH)
    answers = [answer for what_if in catalogue.WHAT_IFS.values() for answer in answers_of(what_if)]
    htmls = [answer_html(answer.view, answer.command) for answer in answers]
    htmls += [*(chart_html(answer.view.chart) for answer in answers), *TAGS]
    assert page.evaluate(PATCHED, [(root / "book/live/patch.js").read_text(), htmls]) == []


def test_a_text_that_a_translator_replaced_is_put_right_by_the_next_answer(kept_page, root):
    page = kept_page(SECTIONS[0][1], **TOUCH)
    script = (root / "book/live/patch.js").read_text()
    assert page.evaluate(PATCHED, [script, ["<p><b>1</b></p>", "<p><b>2</b></p>", "<p><b>3</b></p>"], True]) == []


def answers_of(what_if):
    """Its answer for the starting values, and for each control moved alone as far as `lib` goes along."""
    yield catalogue.solve(what_if)
    for control in what_if.controls:
        for value in getattr(control, "options", ())[:2] or (control.low, control.high):
            with suppress(catalogue.RefusedError):
                yield catalogue.solve(what_if, {control.name: value})


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_keys_and_typed_text_move_the_page_as_well(kept_page, name, path):
    page = kept_page(path, **TOUCH)
    ident, number = f"what-if-{name}", numbers_of(name)[0]
    slider = page.locator(f"#{ident} input[data-for={number.name}]")
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        before = slider.input_value()
        slider.press(key)
        assert slider.input_value() != before
        page.wait_for_function(SETTLED, arg=ident)
        assert_as_lib(page.evaluate(STATE, ident), name)
    type_text(page.locator(f"#{ident}-{number.name}"), number.write(number.start))
    page.wait_for_function(SETTLED, arg=ident)
    shown = page.evaluate(STATE, ident)
    assert shown["settings"][number.name] == number.write(number.start)
    assert_as_lib(shown, name)


@pytest.mark.parametrize(("name", "path"), SECTIONS)
def test_on_a_phone_the_answer_is_in_sight_while_a_finger_moves_any_slider(kept_page, name, path):
    page = kept_page(path, **TOUCH)
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", PHONE)
    ident = f"what-if-{name}"
    page.locator(f"#{ident}").evaluate("section => section.classList.remove('what-if-touched')")
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
    assert page.evaluate("innerWidth") == PHONE["width"]
