"""What a page of the built book is checked for: outside requests, errors, accessibility, width."""

from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build/html"
AXE = ROOT / "book/live/node_modules/axe-core/axe.min.js"
# The theme makes what scrolls reachable by key, a moment after a change of size.
SCROLLS_BY_KEY = """() => [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
  .every((e) => e.tabIndex === 0 || (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight))"""
REDIRECT = 'http-equiv="Refresh"'


def pages():
    """Every page, by its path below the book; `_static` holds a template of the theme, index.html sends on."""
    paths = [path for path in HTML.rglob("*.html") if path.relative_to(HTML).parts[0] != "_static"]
    return sorted(str(path.relative_to(HTML)) for path in paths if REDIRECT not in path.read_text()) or ["index.html"]


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


def load_axe(page):
    """Put axe-core into a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))


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
