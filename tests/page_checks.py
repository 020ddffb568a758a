"""What a page of the built book is checked for: outside requests, errors, accessibility, width."""

from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build/html"
AXE = ROOT / "book/live/node_modules/axe-core/axe.min.js"
# The theme makes what scrolls reachable by key, a moment after a change of size.
SCROLLS_BY_KEY = """() => [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
  .every((e) => e.tabIndex === 0 || (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight))"""
JUDGE = ROOT / "tests/page_checks.js"
COLOUR_RULES = ("color-contrast", "link-in-text-block")
TOO_SMALL = """smallest => [...document.querySelectorAll("svg.plot text")].map((text) => {
  const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
  return [text.textContent, scale * parseFloat(getComputedStyle(text).fontSize)];
}).filter(([, size]) => size < smallest)"""
SMALLEST = 10  # px of a figure's text
UNSEEN = """[...document.querySelectorAll("details > :not(summary)")]
  .filter((inside) => !inside.checkVisibility({contentVisibilityAuto: true}) || !inside.getBoundingClientRect().height)
  .map((inside) => inside.outerHTML.slice(0, 80))"""
PHONE = {"width": 360, "height": 740}
REDIRECT = 'http-equiv="Refresh"'


def pages():
    """Every page, by its path below the book; `_static` holds a template of the theme, index.html sends on."""
    paths = [path for path in HTML.rglob("*.html") if path.relative_to(HTML).parts[0] != "_static"]
    return sorted(str(path.relative_to(HTML)) for path in paths if REDIRECT not in path.read_text()) or ["index.html"]


def chapters():
    """Every chapter."""
    return [path for path in pages() if path.startswith("notebooks/")]


def watch(page):
    """A list that fills with outside requests, failed ones, and errors in the console.

    Requests are watched, not held up by a route: with one, the browser keeps nothing, and compiles all scripts anew.
    """
    faults = []

    def note_outside(request):
        if urlsplit(request.url).hostname not in (None, "127.0.0.1"):
            faults.append(f"outside request: {request.url}")

    page.on("request", note_outside)
    page.on("console", lambda line: line.type == "error" and faults.append(f"console: {line.text}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("requestfailed", lambda request: note_failure(faults, request))
    page.on("response", lambda response: response.status >= 400 and faults.append(f"{response.status}: {response.url}"))
    return faults


def note_failure(faults, request):
    if request.failure != "net::ERR_ABORTED":  # that is a page being left
        faults.append(f"failed: {request.url} ({request.failure})")


def load_axe(page):
    """Put axe-core into a page, and what asks it."""
    page.evaluate(AXE.read_text(encoding="utf-8") + JUDGE.read_text(encoding="utf-8"))


def findings(page, inside="html"):
    """What axe-core calls serious or worse in an element, in a line each, once colours have faded."""
    return page.evaluate("inside => toldAlone(inside)", inside)


def findings_of_new(page, known):
    """The same in what of a page is not known: in new parts, and by the rules of colours in texts of new looks.

    Returns:
        The findings, and what was not known.
    """
    return page.evaluate("known => judge(known.split(' '), false)", " ".join(known))


def findings_of_colours(page, known):
    """The same by the rules of colours alone: in the dark nothing else is another."""
    return page.evaluate("known => judge(known.split(' '), true)", " ".join(known))


def too_small(page):
    """The texts of figures that are too small to be read, each with its size."""
    return page.evaluate(TOO_SMALL, SMALLEST)


def too_wide(page):
    """What makes the page scroll sideways."""
    return page.evaluate(
        """() => {
        const scrolls = (e) => e && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
        const wide = (e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement);
        const {scrollWidth} = document.documentElement;
        return scrollWidth <= innerWidth ? [] : [`${scrollWidth} px`,
          ...[...document.querySelectorAll("body *")].filter(wide).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)];
        }"""
    )
