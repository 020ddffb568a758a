"""The built book in a real browser: quiet, readable and offline pages, and what-ifs that answer as `lib` does."""

import http.server
import json
import math
import threading
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from lib.whatif import catalogue
from lib.whatif.html import chart_html

HTML = Path(__file__).resolve().parent.parent / "_build/html"
REDIRECT = 'http-equiv="Refresh"'
CATALOGUE = catalogue.WHAT_IFS
SECONDS = 30  # for any one thing that a page is waited for
SETTLED = """id => {
  const answer = document.querySelector(`#${id} .what-if-answer`);
  const message = document.querySelector(`#${id} .what-if-message`);
  return answer.getAttribute("aria-busy") === "false" && !message.matches(".what-if-loading");
}"""
STATE = """id => {
  const section = document.getElementById(id);
  const rows = [...section.querySelectorAll(".what-if-rows th[scope=row]")].map((label) => {
    const cell = label.nextElementSibling, number = cell.querySelector("data");
    return [label.textContent, number ? Number(number.value) : (cell.querySelector("summary") ?? cell).textContent];
  });
  const fields = [...section.querySelectorAll("[data-control] [name]")].map((field) => [field.name, field.value]);
  return {
    rows, settings: Object.fromEntries(fields),
    title: section.querySelector(".what-if-title").textContent,
    caption: section.querySelector("figcaption").textContent,
    faults: [...section.querySelectorAll(".what-if-fault")].map((fault) => fault.textContent),
    message: section.querySelector(".what-if-message").textContent,
    spoken: section.querySelector(".what-if-message").matches(".what-if-spoken"),
    stale: section.querySelector(".what-if-answer").matches(".what-if-stale"),
  };
}"""


def pages():
    """Every page, by its path below the book; `_static` holds a template of the theme, index.html sends on."""
    paths = [path for path in HTML.rglob("*.html") if path.relative_to(HTML).parts[0] != "_static"]
    return sorted(str(path.relative_to(HTML)) for path in paths if REDIRECT not in path.read_text()) or ["index.html"]


def sections():
    """One page for each what-if of the catalogue: (name, page)."""
    texts = {page: (HTML / page).read_text(encoding="utf-8") for page in pages() if (HTML / page).exists()}
    found = {
        name: [page for page, text in texts.items() if f'data-name="{name}"' in text] for name in catalogue.WHAT_IFS
    }
    return [(name, on[0]) for name, on in found.items() if on]


SECTIONS = sections()
FIRST = SECTIONS[0] if SECTIONS else ("worked-example", "index.html")


@pytest.fixture(scope="session")
def browser(chromium):
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-quic"], timeout=60_000
        )
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser, book_url):
    """Opens a page of the book in a fresh profile and records what a quiet page has none of."""
    contexts = []

    def open_one(path, url=book_url, prepare=lambda page: None, **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.faults = watch(page)
        prepare(page)
        page.goto(url + path)
        return page

    yield open_one
    for context in contexts:
        context.close()


def watch(page):
    """A list that fills with outside requests, failed ones, and errors in the console."""
    faults = []

    def route(request):
        outside = urlsplit(request.request.url).hostname not in (None, "127.0.0.1")
        if outside:
            faults.append(f"outside request: {request.request.url}")
        return request.abort() if outside else request.fallback()

    page.route("**/*", route)
    page.on("console", lambda line: line.type == "error" and faults.append(f"console: {line.text}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("requestfailed", lambda request: note_failure(faults, request))
    page.on("response", lambda response: response.status >= 400 and faults.append(f"{response.status}: {response.url}"))
    return faults


def note_failure(faults, request):
    if request.failure != "net::ERR_ABORTED":  # that is a page being left
        faults.append(f"failed: {request.url} ({request.failure})")


# ---- Every page


@pytest.mark.parametrize("path", pages())
def test_a_page_is_quiet_accessible_and_fits_a_phone(open_page, root, path):
    page = open_page(path, color_scheme="light")
    axe = (root / "book/live/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
    page.evaluate(axe)
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


def findings(page):
    """What axe-core calls serious or worse, in a line each, once colours have faded into each other."""
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def too_wide(page):
    """What makes the page scroll sideways."""
    return page.evaluate(
        """() => {
        const scrolls = (e) => e && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
        const wide = (e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement);
        return document.documentElement.scrollWidth <= innerWidth ? [] :
          [...document.querySelectorAll("body *")].filter(wide).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5);
        }"""
    )


# ---- What-ifs: the numbers


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


def type_text(field, text):
    field.fill(text)
    field.press("Enter")


def assert_as_lib(shown, name):
    """What the page shows is what `lib` answers, or refuses, for the texts in its fields."""
    view, refusal = answer_or_refusal(name, shown["settings"])
    assert (shown["stale"], shown["faults"] or [shown["message"]] * shown["stale"]) == (bool(refusal), refusal)
    if refusal:
        return
    assert shown["title"] == view.title
    expected = [(row.label, row.text if isinstance(row.value, str) else row.value) for row in ordered(view)]
    assert [label for label, _ in shown["rows"]] == [label for label, _ in expected]
    for (label, found), (_, value) in zip(shown["rows"], expected, strict=True):
        same = found == value if isinstance(value, str) else math.isclose(found, value, rel_tol=1e-12)
        assert same, f"{label}: {found!r} in the page, {value!r} in lib, for {shown['settings']}"
    assert text_of(chart_html(view.chart)) == text_of(shown["caption"])


def answer_or_refusal(name, settings):
    try:
        return catalogue.answer(name, settings), []
    except catalogue.RefusedError as refused:
        return None, [str(refused)]


def ordered(view):
    """Rows as they stand on the page: group by group."""
    groups = dict.fromkeys(row.group for row in view.rows)
    return [row for group in groups for row in view.rows if row.group == group]


def text_of(html):
    """Letters and digits alone, tags and their attributes left out."""
    outside = [part.split(">", 1)[-1] for part in html.split("<")]
    return "".join("".join(outside).split())


# ---- What-ifs: the manners


@pytest.fixture
def first(open_page):
    """Opens the first what-if: (page, id, its number controls)."""

    def open_first(query="", **options):
        name, path = FIRST
        page = open_page(path + query, **options)
        numbers = [control for control in catalogue.find(name).controls if not hasattr(control, "options")]
        return page, f"what-if-{name}", numbers

    return open_first


def press(page, ident, control, key="ArrowRight", times=1):
    slider = page.locator(f"#{ident} input[data-for={control.name}]")
    for _ in range(times):
        slider.press(key)
    page.wait_for_function(SETTLED, arg=ident)


def test_a_refusal_stands_beside_its_control_and_the_last_good_answer_stays(first):
    page, ident, (number, *_) = first()
    press(page, ident, number)
    good = page.evaluate(STATE, ident)
    field = page.locator(f"#{ident}-{number.name}")
    type_text(field, "-3")
    page.wait_for_function(SETTLED, arg=ident)
    bad = page.evaluate(STATE, ident)
    assert bad["rows"] == good["rows"]
    assert bad["stale"]
    assert len(bad["faults"]) == 1
    assert number.name in bad["faults"][0]
    assert field.get_attribute("aria-invalid") == "true"
    described = field.get_attribute("aria-describedby").split()
    assert page.locator(f"#{described[0]}").inner_text() == bad["faults"][0]
    type_text(field, good["settings"][number.name])
    page.wait_for_function(SETTLED, arg=ident)
    assert page.evaluate(STATE, ident)["faults"] == []
    assert field.get_attribute("aria-invalid") is None


def test_the_address_brings_a_scenario_back_by_reload_by_link_and_by_the_back_button(first, open_page, book_url):
    page, ident, (number, *_) = first()
    start = page.evaluate(STATE, ident)
    press(page, ident, number, times=3)
    page.wait_for_function("location.search")
    moved, address = page.evaluate(STATE, ident), page.url
    assert moved["rows"] != start["rows"]
    page.reload()
    assert same_answer(page, ident, moved)
    page.goto(book_url + "genindex.html")
    page.go_back()
    assert same_answer(page, ident, moved)
    assert same_answer(open_page(address.removeprefix(book_url)), ident, moved)
    page.locator(f"#{ident} .what-if-reset").click()
    page.wait_for_function("!location.search")
    assert page.evaluate(STATE, ident)["rows"] == start["rows"]
    assert page.faults == []


def same_answer(page, ident, wanted):
    """True once the page shows the wanted answer."""
    page.wait_for_function(
        "([id, title]) => document.querySelector(`#${id} .what-if-title`).textContent === title",
        arg=[ident, wanted["title"]],
    )
    found = page.evaluate(STATE, ident)
    return (found["rows"], found["settings"]) == (wanted["rows"], wanted["settings"])


def test_the_copied_link_opens_the_same_scenario(first, open_page, book_url):
    page, ident, (number, *_) = first()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(page, ident, number, times=3)
    page.locator(f"#{ident} .what-if-copy").click()
    page.wait_for_function("id => document.querySelector(`#${id} .what-if-notice`)", arg=ident)
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"#{ident}")
    assert same_answer(open_page(link.removeprefix(book_url)), ident, page.evaluate(STATE, ident))


@pytest.mark.parametrize("damage", ["garbage", "n_gpus:12~x", "%E0%A4%A", ""])
def test_a_damaged_address_falls_back_to_the_starting_values_and_says_so(first, damage):
    page, ident, _ = first(f"?{FIRST[0]}={damage}")
    shown = page.evaluate(STATE, ident)
    assert "starting values" in shown["message"]
    assert not shown["spoken"]
    assert_as_lib(shown | {"message": ""}, FIRST[0])
    assert page.faults == []


def test_a_link_whose_values_lib_refuses_falls_back_and_says_so(first, node, root):
    name, controls = FIRST[0], catalogue.find(FIRST[0]).controls
    values = {c.name: c.start if hasattr(c, "options") else "0" for c in controls}
    script = (
        f"import {{writeAddress}} from './state.js';"
        f"process.stdout.write(writeAddress('', '{name}', {json.dumps(values)}))"
    )
    page, ident, _ = first(run_module(node, root / "book/live", script))
    page.wait_for_function("id => document.querySelector(`#${id} .what-if-notice`)", arg=ident)
    shown = page.evaluate(STATE, ident)
    assert "starting values" in shown["message"]
    assert_as_lib(shown | {"message": ""}, name)


def run_module(node, folder, script):
    import subprocess

    command = [node, "--input-type=module", "-e", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_keyboard_alone_is_enough(first):
    page, ident, _ = first()
    tab_to(page, f"#{ident} input[type=range]")
    before = page.evaluate(STATE, ident)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(SETTLED, arg=ident)
    assert page.evaluate(STATE, ident)["rows"] != before["rows"]
    assert page.evaluate("document.activeElement.type") == "range"
    tab_to(page, f"#{ident} .what-if-rows summary")
    page.keyboard.press("Enter")
    assert page.locator(f"#{ident} .what-if-rows details[open] p").first.is_visible()
    page.locator(f"#{ident} .what-if-reset").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "([id, title]) => document.querySelector(`#${id} .what-if-title`).textContent === title",
        arg=[ident, before["title"]],
    )


def tab_to(page, selector, at_most=300):
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    pytest.fail(f"{selector} is not reached by the Tab key")


def test_what_is_open_stays_open_and_focus_stays_where_it_was(first):
    page, ident, (number, *_) = first()
    opened = page.locator(f"#{ident} .what-if-rows details").nth(2)
    opened.locator("summary").click()
    press(page, ident, number, times=4)
    assert opened.evaluate("fold => fold.open")
    assert page.evaluate("document.activeElement.dataset.for") == number.name


def test_an_answer_is_announced_once_after_a_drag(first):
    page, ident, (number, *_) = first()
    press(page, ident, number)
    page.evaluate(
        """id => { window.said = []; const message = document.querySelector(`#${id} .what-if-message`);
        new MutationObserver(() => said.push(message.textContent)).observe(message, {childList: true}); }""",
        ident,
    )
    press(page, ident, number, times=10)
    page.wait_for_function("window.said.length")
    page.wait_for_timeout(1000)
    assert page.evaluate("said") == [page.evaluate(STATE, ident)["title"]]
    assert page.locator(f"#{ident} .what-if-message").get_attribute("role") == "status"


def test_a_chart_is_drawn_anew_for_the_dark_and_fits_a_phone(open_page):
    name, path = next((name, path) for name, path in SECTIONS if catalogue.answer(name).chart)
    page = open_page(path, color_scheme="light")
    ident = f"what-if-{name}"
    page.locator(f"#{ident} input[type=range]").first.press("ArrowRight")
    canvas = page.locator(f"#{ident} canvas")
    canvas.wait_for()
    light = canvas.evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.wait_for_function(f"document.querySelector('#{ident} canvas').toDataURL() !== {json.dumps(light)}")
    page.set_viewport_size({"width": 360, "height": 740})
    page.wait_for_function(f"document.querySelector('#{ident} canvas').getBoundingClientRect().right <= 360")
    assert too_wide(page) == []
    assert page.locator(f"#{ident} .what-if-plot").get_attribute("role") == "img"


def test_a_moved_page_is_as_accessible_as_a_still_one(first, root):
    page, ident, (number, *_) = first(color_scheme="dark")
    page.evaluate((root / "book/live/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8"))
    press(page, ident, number)
    type_text(page.locator(f"#{ident}-{number.name}"), "nonsense")
    page.wait_for_function(SETTLED, arg=ident)
    assert findings(page) == []


# ---- What-ifs: the worker


def stub(script):
    """Puts another script in the worker's place, as one that is stuck would be."""

    def prepare(page):
        page.clock.install()
        page.route("**/worker-*.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))

    return prepare


SILENT = "onmessage = () => {}"
DEAF = "onmessage = ({data}) => data.type === 'boot' && postMessage({type: 'ready'})"


@pytest.mark.parametrize(("script", "seconds", "said"), [(SILENT, 31, "Nothing more came"), (DEAF, 11, "No answer")])
def test_a_stuck_worker_is_ended_with_a_message_and_the_next_touch_tries_a_fresh_one(first, script, seconds, said):
    page, ident, (number, *_) = first(prepare=stub(script))
    before = page.evaluate(STATE, ident)
    slider = page.locator(f"#{ident} input[data-for={number.name}]")
    slider.press("ArrowRight")
    page.wait_for_timeout(500)
    page.clock.fast_forward(seconds * 1000)
    page.locator(f"#{ident} .what-if-stopped").wait_for()
    ended = page.evaluate(STATE, ident)
    assert said in ended["message"]
    assert ended["rows"] == before["rows"]
    assert ended["stale"]
    page.unroute("**/worker-*.js")
    press(page, ident, number)
    assert_as_lib(page.evaluate(STATE, ident), FIRST[0])


def test_a_missing_file_is_named(first):
    page, ident, (number, *_) = first(prepare=lambda page: page.route("**/lib-*.zip", lambda r: r.fulfill(status=404)))
    page.locator(f"#{ident} input[data-for={number.name}]").press("ArrowRight")
    page.locator(f"#{ident} .what-if-stopped").wait_for()
    message = page.evaluate(STATE, ident)["message"]
    assert "lib-" in message
    assert "404" in message


@pytest.mark.parametrize("saves_data", [False, True])
def test_the_runtime_is_fetched_ahead_unless_the_browser_saves_data(first, saves_data):
    script = f"Object.defineProperty(navigator, 'connection', {{value: {{saveData: {json.dumps(saves_data)}}}}})"
    asked = []

    def prepare(page):
        page.add_init_script(script)
        page.on("request", lambda request: "worker-" in request.url and asked.append(request.url))

    page, ident, _ = first(prepare=prepare)
    page.locator(f"#{ident} form").scroll_into_view_if_needed()
    page.wait_for_timeout(2500)
    assert bool(asked) is not saves_data
    assert page.locator(f"#{ident} progress").count() == 0


def test_the_first_touch_shows_how_much_is_fetched(first):
    def slowly(page):
        page.route("**/lib-*.zip", lambda route: None)  # never comes

    page, ident, (number, *_) = first(prepare=slowly)
    page.locator(f"#{ident} input[data-for={number.name}]").press("ArrowRight")
    bar = page.locator(f"#{ident} progress")
    bar.wait_for()
    assert "MB" in page.evaluate(STATE, ident)["message"]
    page.wait_for_function("id => document.querySelector(`#${id} progress`).value > 1e6", arg=ident)
    assert bar.evaluate("bar => bar.value < bar.max")


def test_the_book_works_in_a_sub_folder_of_a_plain_static_server(open_page, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/book").symlink_to(HTML)
    handler = partial(Quiet, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name, path = FIRST
    page = open_page(path, url=f"http://127.0.0.1:{server.server_port}/deep/book/")
    number = next(control for control in catalogue.find(name).controls if not hasattr(control, "options"))
    press(page, f"what-if-{name}", number)
    assert_as_lib(page.evaluate(STATE, f"what-if-{name}"), name)
    assert page.faults == []
    server.shutdown()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *details):
        """Say nothing among the test results."""
