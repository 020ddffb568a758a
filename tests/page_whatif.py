"""What a what-if on a page shows, how it is moved, and whether that is what `lib` answers."""

import json
import math
import re
import subprocess
from functools import cache
from html import unescape

from lib.whatif import catalogue
from lib.whatif.html import answer_html, chart_html
from lib.whatif.page import respond
from tests.page_checks import HTML, ROOT, pages

CATALOGUE = catalogue.WHAT_IFS
# Fulfilled once a what-if has its answer, or says why not. A page that is asked in every frame paints every frame.
SETTLED = """id => new Promise((settled, failed) => {
  const [answer, message] = ["answer", "message"].map((part) => document.querySelector(`#${id} .what-if-${part}`));
  const isSettled = () => answer.getAttribute("aria-busy") === "false" && !message.matches(".what-if-loading");
  const observer = new MutationObserver(() => isSettled() && settled());
  for (const part of [answer, message]) observer.observe(part, {attributeFilter: ["aria-busy", "class"]});
  if (isSettled()) settled();
  setTimeout(() => failed(new Error(`no answer of ${id}`)), 60_000);
})"""
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
    answer: section.querySelector(".what-if-answer").textContent,
    caption: section.querySelector("figcaption").textContent,
    faults: [...section.querySelectorAll(".what-if-fault")].map((fault) => fault.textContent),
    message: section.querySelector(".what-if-message").textContent,
    spoken: section.querySelector(".what-if-message").matches(".what-if-spoken"),
    stale: section.querySelector(".what-if-answer").matches(".what-if-stale"),
  };
}"""

# Moves made in the page, one after another, as [control, how, value]; what it shows after each.
# Nothing is painted meanwhile, frames or charts: no word and no number hangs on it, and it would be half of a move.
DRIVE = f"""async ([id, moves]) => {{
  const settled = {SETTLED}, state = {STATE}, shown = [], cell = document.getElementById(id).closest(".cell");
  const plot = cell.querySelector(".what-if-plot");
  cell.style.contentVisibility = "hidden";
  plot.style.display = "none";
  for (const [control, how, value] of moves) {{
    const slider = document.querySelector(`#${{id}} input[data-for=${{control}}]`);
    const field = how === "step" ? slider : document.getElementById(`${{id}}-${{control}}`);
    if (how === "step") field.stepUp(value);
    else field.value = value;
    field.dispatchEvent(new Event(how === "text" ? "change" : "input", {{bubbles: true}}));
    await settled(id);
    shown.push(state(id));
  }}
  cell.style.contentVisibility = plot.style.display = "";
  return shown;
}}"""

STAND_IN = """window.Worker = class {
  async postMessage(message) {
    for (const data of await replyTo(message)) this.onmessage({data});
  }
};"""

ANSWERED = f"async id => (await ({SETTLED})(id), ({STATE})(id))"


def sections():
    """One page for each what-if of the catalogue: (name, page)."""
    texts = {page: (HTML / page).read_text(encoding="utf-8") for page in pages() if (HTML / page).exists()}
    found = {
        name: [page for page, text in texts.items() if f'data-name="{name}"' in text] for name in catalogue.WHAT_IFS
    }
    return [(name, on[0]) for name, on in found.items() if on]


CELL = re.compile(
    r'(<div class="cell [^>]*>\s*<div class="cell_output [^>]*>\s*<div class="output text_html">'
    r'<section class="what-if" [^>]*data-name="([^"]*)".*?</section>\s*</div>\s*</div>\s*</div>)',
    re.DOTALL,
)
SECTIONS = sections()
TOGETHER = "notebooks/together.html"  # there is no such file
FIRST = SECTIONS[0] if SECTIONS else ("worked-example", "index.html")


def all_on_one_page():
    """The first page of a what-if, with those of all other pages too: its one worker answers for all.

    They are as they were built, each in its cell.
    """
    texts = {path: (HTML / path).read_text(encoding="utf-8") for _, path in SECTIONS}
    cells = {name: cell for text in texts.values() for cell, name in CELL.findall(text)}
    return texts[FIRST[1]].replace(cells[FIRST[0]], "\n".join(cells.values()))


def stand_in(page):
    """Let `lib` answer in the tests' own process: what a page does with answers needs no Python in its worker."""
    page.expose_function("replyTo", reply_to)
    page.add_init_script(STAND_IN)


def reply_to(message):
    """What a worker says to a message of its page."""
    if message["type"] == "ask":
        replies = respond(message["name"], json.dumps(message["settings"]))
        return [{"type": "replied", "question": message["question"], "reply": reply} for reply in replies]
    return [{"type": "ready"}] if message["type"] == "boot" else []


def show_alone(page, ident):
    """Hide the other what-ifs: what a page has more of, every frame goes through."""
    page.evaluate(
        """id => { for (const section of document.querySelectorAll("section.what-if"))
        section.closest(".cell").style.display = section.id === id ? "" : "none"; }""",
        ident,
    )


def numbers_of(name):
    """The controls of a what-if that are numbers."""
    return [control for control in catalogue.find(name).controls if not hasattr(control, "options")]


def address_of(node, settings):
    """The query of an address that gives what-ifs their settings, as the page's own script writes it."""
    script = (
        "import {writeAddress} from './state.js';"
        "const add = (query, [name, values]) => writeAddress(query, name, values);"
        f"process.stdout.write(Object.entries({json.dumps(settings)}).reduce(add, ''))"
    )
    command = [node, "--input-type=module", "-e", script]
    live = ROOT / "book/live"
    return subprocess.run(command, cwd=live, capture_output=True, text=True, timeout=60, check=True).stdout


def unfold(page, ident):
    """Open the inputs that are folded away."""
    page.locator(f"#{ident} .what-if-more").evaluate_all("folds => folds.forEach((fold) => (fold.open = true))")


def type_text(field, text):
    field.fill(text)
    field.press("Enter")


def press(page, ident, control, key="ArrowRight", times=1):
    slider = page.locator(f"#{ident} input[data-for={control.name}]")
    for _ in range(times):
        slider.press(key)
    page.evaluate(SETTLED, ident)


def reset(page, ident):
    """Back to the starting values, until the address says so too."""
    page.locator(f"#{ident} .what-if-reset").click()
    name = ident.removeprefix("what-if-")  # others on the page may be somewhere else
    page.wait_for_function("name => !new URLSearchParams(location.search).has(name)", arg=name, polling=100)
    page.evaluate(SETTLED, ident)


def assert_as_lib(shown, name):
    """What the page shows is what `lib` answers, or refuses, for the texts in its fields."""
    view, html, caption, refusal = answer_or_refusal(name, **shown["settings"])
    assert (shown["stale"], shown["faults"] or [shown["message"]] * shown["stale"]) == (bool(refusal), refusal)
    if refusal:
        return
    assert shown["title"] == view.title
    expected = [(row.label, row.text if isinstance(row.value, str) else row.value) for row in ordered(view)]
    assert [label for label, _ in shown["rows"]] == [label for label, _ in expected]
    for (label, found), (_, value) in zip(shown["rows"], expected, strict=True):
        same = found == value if isinstance(value, str) else math.isclose(found, value, rel_tol=1e-12)
        assert same, f"{label}: {found!r} in the page, {value!r} in lib, for {shown['settings']}"
    assert text_of(html) == text_of(shown["answer"])
    assert text_of(caption) == text_of(shown["caption"])


@cache
def answer_or_refusal(name, /, **settings):
    """What `lib` has for the texts of all controls: view, answer, what stands under the chart; refusals, if any."""
    try:
        answer = catalogue.solve(name, settings)
    except catalogue.RefusedError as refused:
        return None, "", "", [str(refused)]
    return answer.view, answer_html(answer.view, answer.command), chart_html(answer.view.chart), []


def ordered(view):
    """Rows as they stand on the page: group by group."""
    groups = dict.fromkeys(row.group for row in view.rows)
    return [row for group in groups for row in view.rows if row.group == group]


def text_of(html):
    """Letters and digits alone, tags and their attributes left out."""
    outside = [part.split(">", 1)[-1] for part in html.split("<")]
    return "".join(unescape("".join(outside)).split())


def same_answer(page, ident, wanted):
    """Whether the page shows the wanted answer, once it has one."""
    found = page.evaluate(ANSWERED, ident)
    return all(found[part] == wanted[part] for part in ("title", "rows", "settings"))
