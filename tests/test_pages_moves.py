"""Every control of every what-if, moved in a real browser, with a desk's and a phone's size: the numbers of `lib`."""

import json
import re
from itertools import permutations

import pytest

from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html, folds, table_html
from tests.page_checks import HTML, PHONE, too_wide
from tests.page_whatif import (
    ANSWERED,
    CELL,
    DRIVE,
    SECTIONS,
    SETTLED,
    TOGETHER,
    address_of,
    answer_or_refusal,
    assert_as_lib,
    numbers_of,
    press,
    reset,
    show_alone,
    type_text,
    unfold,
)

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
# Shows texts one after another around a part that is shown by itself: what then lies in that part, each time.
APART = """async ([script, htmls]) => {
  const {patchHtml} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
  const shown = document.createElement("div"), find = () => shown.querySelector("[data-apart]");
  document.body.append(shown);
  const found = htmls.map((html, i) => {
    patchHtml(shown, html);
    const before = find().innerHTML;
    patchHtml(find(), `<b>${i}</b>`);
    return [before, shown.innerHTML === html.replace("></i>", `><b>${i}</b></i>`)];
  });
  shown.remove();
  return found;
}"""
# Shows one text after another: whether the last of its parts is the same element each time.
KEPT = """async ([script, htmls]) => {
  const {patchHtml} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
  const shown = document.createElement("div");
  document.body.append(shown);
  const last = htmls.map((html) => (patchHtml(shown, html), shown.lastElementChild));
  shown.remove();
  return new Set(last).size === 1;
}"""
# Shows rows one after another, each with a fold of that key; the one of b is filled and opened at first. Of each time
# the open folds, and what lies in them.
FOLDS = """async ([script, rows]) => {
  const {patchHtml} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
  const shown = document.createElement("div");
  const fold = (key) => `<li><details data-key="${key}"><summary>${key}</summary><div data-apart></div></details></li>`;
  document.body.append(shown);
  const found = rows.map((keys, i) => {
    patchHtml(shown, `<ul>${[...keys].map(fold).join("")}</ul>`);
    const folds = [...shown.querySelectorAll("details")], inside = ({lastElementChild}) => lastElementChild.textContent;
    const b = folds.find(({dataset}) => dataset.key === "b");
    if (!i) patchHtml(b.lastElementChild, "<p>of b</p>"), (b.open = true);
    return folds.filter(({open}) => open).map((one) => `${one.dataset.key}: ${inside(one)}`).join() || "none";
  });
  shown.remove();
  return found;
}"""
NOTES = ("", "<p>1</p>", "<p>1</p><p>2</p><p>3</p>", "<p>2</p>", "<p>1</p><p>2</p>", "")
PARTS = ["".join(some) for n in range(5) for some in permutations(("<p>1</p>", "<i>2</i>", "<u>3</u>", "<i>4</i>"), n)]
TAGS = (
    "<p>1 <b>2</b></p>",
    "<p>1 <i>3</i></p>",
    '<p>1 <i id="4">3</i></p>',
    '<p>1 <i id="&lt;">3 &amp;</i></p><p>5</p>',
    '<p>1 <i id="&quot;&gt;">&amp;lt; &#x27;</i></p><p>&lt;</p>',
)
NAMES = [name for name, _ in SECTIONS]
KINDS = {
    f"{number.scale}, {'whole' if number.whole else 'any'}": (name, number)
    for name in NAMES
    for number in numbers_of(name)
    if number in catalogue.find(name).asked
}
FOLDING = [name for name in NAMES if catalogue.find(name).folded]
RUNTIME = re.compile(r"<[^>]*/live/[^>]*>")
# Where a finger reaches a slider; once it is answered for, where that slider and the answer's title are.
SCROLL_TO = """([id, control]) => {
  const slider = document.querySelector(`#${id} input[data-for=${control}]`);
  slider.scrollIntoView({block: "center", behavior: "instant"});
  const {x, y, width, height} = slider.getBoundingClientRect(), middle = [x + width / 2, y + height / 2];
  if (document.elementFromPoint(...middle) !== slider) throw new Error(`${control} is covered`);
  return middle;
}"""
SEEN = f"""async ([id, control]) => {{
  await ({SETTLED})(id);
  const [slider, title] = [`input[data-for=${{control}}]`, ".what-if-title"]
    .map((part) => document.querySelector(`#${{id}} ${{part}}`).getBoundingClientRect());
  return [slider.top, title.top, title.bottom];
}}"""
# On a page that becomes a phone's, the theme's list of chapters slides away over the sliders.
AT_REST = "async () => void (await Promise.allSettled(document.getAnimations().map((one) => one.finished)))"
TO_THE_END = 1000  # steps: a slider has some 200
IS_OPEN = "name => document.querySelector(`#what-if-${name} .what-if-more`).open"


def test_pages_of_what_ifs_load_the_same_runtime_and_have_them_in_cells_of_one_kind():
    texts = [(HTML / path).read_text(encoding="utf-8") for path in dict(map(reversed, SECTIONS))]
    assert len({tuple(RUNTIME.findall(text)) for text in texts}) == 1
    assert sum(len(CELL.findall(text)) for text in texts) == len(SECTIONS)


# Before the moves: its link starts the worker, and they go on with it.
def test_a_link_that_sets_folded_inputs_shows_them(together, node, book_url):
    links = {name: a_folded_input_moved(name) for name in FOLDING}
    assert not any(together.evaluate(IS_OPEN, name) for name in links)
    together.goto(book_url + TOGETHER + address_of(node, {name: values for name, (_, values) in links.items()}))
    for name, (moved, values) in links.items():
        shown = together.evaluate(ANSWERED, f"what-if-{name}")
        assert together.evaluate(IS_OPEN, name)
        assert shown["settings"][moved] == values[moved]
        assert_as_lib(shown, name)
        together.locator(f"#what-if-{name} .what-if-reset").click()
    together.wait_for_function("!location.search", polling=100)


def a_folded_input_moved(name):
    """A folded input, and the texts of all inputs with that one at its highest."""
    what_if = catalogue.find(name)
    moved = next(control for control in what_if.folded if not hasattr(control, "options"))
    return moved.name, starts(what_if) | {moved.name: moved.write(moved.high)}


def starts(what_if):
    """The texts of all inputs as they are at first."""
    return {c.name: c.start if hasattr(c, "options") else c.write(c.start) for c in what_if.controls}


@pytest.mark.parametrize("name", NAMES)
def test_every_move_in_the_page_gives_the_numbers_of_lib(together, name):
    ident = f"what-if-{name}"
    show_alone(together, ident)
    unfold(together, ident)
    controls = catalogue.find(name).controls
    moves = [[control.name, *move] for control in controls for move in moves_of(control)]
    for shown in together.evaluate(DRIVE, [ident, moves]):
        assert_as_lib(shown, name)
    assert len(moves) >= 3 * len(controls)
    assert "could not be drawn" not in together.locator(f"#{ident} .what-if-plot").text_content()
    assert together.faults == []


def moves_of(control):
    """Ways to move one control, as a page hears of them, the last back to the start: options, or steps and texts."""
    if hasattr(control, "options"):
        return [("option", option) for option in (*ends_of(control), control.start)]
    low, _ = ends_of(control)
    return [("step", 1), ("text", low), ("step", TO_THE_END), ("text", control.write(control.start))]


def ends_of(control):
    """The first options other than the start, or the texts of the lowest and the highest number."""
    if hasattr(control, "options"):
        return [option for option in control.options if option != control.start][:4]
    return [control.write(value) for value in (control.low, control.high)]


def test_an_answer_looks_the_same_whatever_was_shown_before(together, root):
    views = [view for what_if in catalogue.WHAT_IFS.values() for view in views_of(what_if)]
    seen = [answer_html(view, folded={}) for view in views], [chart_html(view.chart, table="") for view in views]
    folded = [html for view in views for html in (*folds(view).values(), table_html(view.chart))]
    script = (root / "book/live/patch.js").read_text()
    assert together.evaluate(PATCHED, [script, [*seen[0], *seen[1], *folded[::5], *TAGS, *PARTS, *PARTS[::-2]]]) == []


def test_an_open_fold_stays_open_with_what_lies_in_it_wherever_its_row_goes(together, root):
    rows = ("abc", "abd", "bd", "cb", "xyzb", "b", "ac", "abc")
    found = together.evaluate(FOLDS, [(root / "book/live/patch.js").read_text(), rows])
    assert found == ["b: of b"] * 6 + ["none"] * 2


def test_what_stands_behind_a_note_that_comes_or_goes_is_moved_as_it_is(together, root):
    script = (root / "book/live/patch.js").read_text()
    assert together.evaluate(KEPT, [script, [f"<b>0</b>{notes}<i>4</i>" for notes in NOTES]])


def test_what_is_shown_by_itself_is_left_alone_by_what_is_shown_around_it(together, root):
    around = [f'<p>{before}<i data-apart=""></i></p>' for before in ("1", "2", "<u>2</u>")]
    found = together.evaluate(APART, [(root / "book/live/patch.js").read_text(), [*around, *around[::-1]]])
    assert found == [[before, True] for before in ("", *(f"<b>{i}</b>" for i in range(5)))]


def test_a_text_that_a_translator_replaced_is_put_right_by_the_next_answer(together, root):
    script = (root / "book/live/patch.js").read_text()
    assert together.evaluate(PATCHED, [script, ["<p><b>1</b></p>", "<p><b>2</b></p>", "<p><b>3</b></p>"], True]) == []


def views_of(what_if):
    """Its view for the starting values, and for each control moved alone as far as `lib` goes along."""
    moves = [{c.name: end} for c in what_if.controls for end in ends_of(c)[-2:]]
    for moved in ({}, *moves):
        view, *_, refusal = answer_or_refusal(what_if.name, **(starts(what_if) | moved))
        if not refusal:
            yield view


def test_a_chart_is_drawn_anew_for_the_dark_and_fits_a_phone(together):
    name = next(name for name, _ in SECTIONS if catalogue.answer(name).chart)
    page, ident = together, f"what-if-{name}"
    show_alone(page, ident)
    page.emulate_media(color_scheme="light")
    press(page, ident, numbers_of(name)[0])
    canvas = page.locator(f"#{ident} canvas")
    canvas.wait_for()
    light = canvas.evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.wait_for_function(f"document.querySelector('#{ident} canvas').toDataURL() !== {json.dumps(light)}")
    page.set_viewport_size(PHONE)
    page.wait_for_function(f"document.querySelector('#{ident} canvas').getBoundingClientRect().right <= 360")
    assert too_wide(page) == []
    assert page.locator(f"#{ident} .what-if-plot").get_attribute("role") == "img"
    reset(page, ident)


# Every slider was moved above: what a key or a typed text makes of one is the same for all of its kind.
@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_typed_text_move_the_page_as_well(together, kind):
    name, number = KINDS[kind]
    ident = f"what-if-{name}"
    show_alone(together, ident)
    slider = together.locator(f"#{ident} input[data-for={number.name}]")
    unmoved = slider.input_value()
    slider.focus()
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        together.keyboard.press(key)
        shown = together.evaluate(ANSWERED, ident)
        moved = slider.input_value()
        assert moved != unmoved
        assert_as_lib(shown, name)
        unmoved = moved
    type_text(together.locator(f"#{ident}-{number.name}"), number.write(number.start))
    shown = together.evaluate(ANSWERED, ident)
    assert shown["settings"][number.name] == number.write(number.start)
    assert_as_lib(shown, name)


@pytest.mark.parametrize("name", NAMES)
def test_on_a_phone_the_answer_is_in_sight_while_a_finger_moves_any_slider(phone, name):
    ident = f"what-if-{name}"
    show_alone(phone, ident)
    phone.locator(f"#{ident}").evaluate("section => section.classList.remove('what-if-touched')")
    for control in (c.name for c in catalogue.find(name).asked if not hasattr(c, "options")):
        x, y = phone.evaluate(SCROLL_TO, [ident, control])
        phone.touchscreen.tap(x, y)
        tapped, top, bottom = phone.evaluate(SEEN, [ident, control])
        assert 0 <= top < bottom <= PHONE["height"] + 1, control
        assert tapped < top, f"the answer covers {control}"
    assert phone.evaluate("innerWidth") == PHONE["width"]


@pytest.fixture(scope="module")
def phone(kept_page):
    """The page with the size and the ways of a phone's."""
    page = kept_page(TOGETHER)
    page.set_viewport_size(PHONE)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setDeviceMetricsOverride", PHONE | {"deviceScaleFactor": 1, "mobile": True})
    page.evaluate(AT_REST)
    yield page
    session.send("Emulation.clearDeviceMetricsOverride")
    session.detach()
