"""Times and sizes of the pages, in a browser. Each function gives (what, value, target, unit) as it is measured."""

import gzip
import statistics
import subprocess
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from .slow import server, slowed

ROOT = Path(__file__).resolve().parent.parent.parent
HTML, LIVE = ROOT / "_build/html", ROOT / "_build/html/_static/live"
MOVES = 200
SAVES_DATA = "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"  # nothing is fetched ahead

# From the first touch to the first answer, in ms, by the page's own clock.
FIRST_ANSWER = """() => new Promise((done) => {
  const section = document.querySelector("section.what-if"), slider = section.querySelector("input[type=range]");
  const start = performance.now();
  new MutationObserver((_, observer) => (observer.disconnect(), done(performance.now() - start)))
    .observe(section.querySelector(".what-if-title"), {childList: true, characterData: true, subtree: true});
  slider.stepUp(5);
  slider.dispatchEvent(new Event("input", {bubbles: true}));
})"""
# Of each move of what is in view, from the input event, in ms: until answer and chart are drawn, which the page does in
# one task, and until what the answer folds away is written too. The frame that shows them is not counted: it comes when
# the screen takes the next picture.
EVERY_MOVE = """async (count) => {
  const section = document.querySelector("#what-if-allocation"), slider = section.querySelector("input[type=range]");
  const answer = section.querySelector(".what-if-answer"), times = [];
  const changed = (element, what, holds) => new Promise((done) =>
    new MutationObserver((_, observer) => holds() && (observer.disconnect(), done(performance.now())))
      .observe(element, what));
  section.scrollIntoView();
  for (let i = 0; i < count; i++) {
    await new Promise((done) => setTimeout(done, 25));
    const title = section.querySelector(".what-if-title"), start = performance.now();
    const drawn = changed(title, {childList: true, characterData: true, subtree: true}, () => true);
    const whole = changed(answer, {attributeFilter: ["aria-busy"]}, () => answer.ariaBusy === "false");
    slider.value = Number(slider.min) + ((i * 37) % 150 + 20) * Number(slider.step);
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    times.push([await drawn - start, await whole - start]);
  }
  return times;
}"""

# Of each run of the first exercise as it stands, from the click until the last verdict, in ms.
EVERY_RUN = """async (count) => {
  const section = document.querySelector("section.exercise"), button = section.querySelector(".exercise-run");
  const message = section.querySelector(".exercise-message"), times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    const ended = new Promise((done) => new MutationObserver((_, observer) =>
      message.matches(".exercise-good, .exercise-bad") && (observer.disconnect(), done()))
      .observe(message, {attributes: true}));
    button.click();
    await ended;
    times.push(performance.now() - start);
  }
  return times;
}"""


def sizes():
    """Sums of gzip -6: what a first touch fetches, and what each page does before it."""
    runtime = [path for path in LIVE.iterdir() if path.suffix in (".zip", ".bin") or "worker" in path.name]
    yield "worker, Pyodide and lib", sum(map(packed, runtime)) / 1e6, 7, "MB"
    with browser() as launched, server(HTML) as address:
        weights = {page: weight(launched, address + page) for page in with_what_ifs()}
    heaviest = max(weights, key=weights.get)
    yield f"heaviest page before a touch ({Path(heaviest).stem})", weights[heaviest] / 1e3, 350, "kB"


def timings():
    """First answers, as they come and on a slow machine with a slow line; moves."""
    page = next(name for name in with_what_ifs() if 'id="what-if-allocation"' in (HTML / name).read_text())
    with browser() as launched:
        with server(HTML) as address:
            cold = statistics.median(first_answer(launched, address + page) for _ in range(5))
            yield "first answer, cold, over loopback", cold / 1e3, 4, "s"
            drawn, whole = map(sorted, zip(*moves(launched, address + page), strict=True))
            verdicts = statistics.median(runs(launched, address + page)) / 1e3
        with server(HTML, bits_per_second=10e6) as address:
            slow = first_answer(launched, address + page, times_slower=4)
            yield "first answer, CPU slowed 4 times, 10 Mbit/s", slow / 1e3, 20, "s"
    yield "a move of the allocation, median", statistics.median(drawn), 8, "ms"
    yield "a move of the allocation, p95", drawn[int(0.95 * len(drawn))], 16, "ms"
    yield "the same with what is folded away, median", statistics.median(whole), None, "ms"
    yield "an exercise, from Run to its last verdict, warm", verdicts, 1, "s"


def with_what_ifs():
    pages = sorted(path for path in HTML.rglob("*.html") if 'class="what-if"' in path.read_text(encoding="utf-8"))
    return [path.relative_to(HTML).as_posix() for path in pages]


def packed(path):
    return len(gzip.compress(path.read_bytes(), 6))


@contextmanager
def browser():
    found = subprocess.run([ROOT / ".ci/find", "browser"], capture_output=True, text=True, timeout=60, check=True)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found.stdout.strip(), args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        yield launched
        launched.close()


@contextmanager
def opened(launched, address):
    """A page in a profile of its own: nothing is in its cache, nothing is fetched ahead."""
    context = launched.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(SAVES_DATA)
    yield page, lambda: page.goto(address, wait_until="load")
    context.close()


def weight(launched, address):
    with opened(launched, address) as (page, load):
        bodies = []
        page.on("response", lambda response: bodies.append(response) if response.ok else None)
        load()
        page.wait_for_load_state("networkidle")
        return sum(len(gzip.compress(response.body(), 6)) for response in bodies)


def first_answer(launched, address, times_slower=1):
    with opened(launched, address) as (page, load):
        load()
        with slowed(renderers(launched) if times_slower > 1 else [], times_slower):
            return page.evaluate(FIRST_ANSWER)


def renderers(launched):
    """The processes that run pages and their workers."""
    processes = launched.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    return [process["id"] for process in processes if process["type"] == "renderer"]


def moves(launched, address):
    with opened(launched, address) as (page, load):
        load()
        page.evaluate(FIRST_ANSWER)
        page.evaluate(EVERY_MOVE, 20)  # warm
        return page.evaluate(EVERY_MOVE, MOVES)


def runs(launched, address):
    with opened(launched, address) as (page, load):
        load()
        page.evaluate(EVERY_RUN, 2)  # warm
        return page.evaluate(EVERY_RUN, 20)
