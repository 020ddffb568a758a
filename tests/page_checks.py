"""What a page of the built book is checked for: outside requests, errors, accessibility, width."""

import json
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build/html"
AXE = ROOT / "book/live/node_modules/axe-core/axe.min.js"
# The theme makes what scrolls reachable by key, a moment after a change of size.
SCROLLS_BY_KEY = """() => [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
  .every((e) => e.tabIndex === 0 || (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight))"""
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
COSTLY = "region"  # a third of the time of the others together; a finding of it is called moderate, never serious
WITHOUT_COLOURS = {rule: {"enabled": False} for rule in (*COLOUR_RULES, COSTLY)}
# Marks a text of each look that is not known, and gives the new looks: its colours and letters, its parent's, and every
# background, blend and shadow behind it.
MARK_LOOKS = """(known) => {
  const NOTHING = "rgba(0, 0, 0, 0),none,1,none,normal";
  const behind = new Map([[null, ""]]), seen = new Set(known), found = [];
  const letters = (s) => [s.color, s.fontSize, s.fontWeight, s.textDecorationLine, s.textShadow, s.position].join();
  for (const marked of document.querySelectorAll("[data-look]")) marked.removeAttribute("data-look");
  for (const element of document.querySelectorAll("*")) {
    const style = getComputedStyle(element), parent = element.parentElement;
    const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter, style.mixBlendMode].join();
    behind.set(element, own === NOTHING ? behind.get(parent) : `${behind.get(parent)}/${own}`);
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!hasText || !element.checkVisibility({checkVisibilityCSS: true})) continue;
    const look = [element.tagName, letters(style), letters(getComputedStyle(parent)), behind.get(element)].join("|");
    if (seen.has(look)) continue;
    seen.add(look);
    found.push(look);
    element.setAttribute("data-look", "");
  }
  return found;
}"""
MARKED = "[...document.querySelectorAll('[data-look]')]"
REDIRECT = 'http-equiv="Refresh"'


def pages():
    """Every page, by its path below the book; `_static` holds a template of the theme, index.html sends on."""
    paths = [path for path in HTML.rglob("*.html") if path.relative_to(HTML).parts[0] != "_static"]
    return sorted(str(path.relative_to(HTML)) for path in paths if REDIRECT not in path.read_text()) or ["index.html"]


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
    """Put axe-core into a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))


def findings(page, inside="html"):
    """What axe-core calls serious or worse in an element, in a line each, once colours have faded into each other."""
    return _told(page, f"axe.run({json.dumps(inside)}, {{resultTypes: ['violations']}})")


def findings_of_form(page):
    """The same by the rules that colours have no part in: three quarters of the time goes into those that they have."""
    return _told(page, f"axe.run(document, {{resultTypes: ['violations'], rules: {json.dumps(WITHOUT_COLOURS)}}})")


def findings_of_colours(page, known=()):
    """The same by the rules of colours, on one text of each look that is not known: what looks alike has one contrast.

    Returns:
        The findings, and the looks that were not known.
    """
    _settle(page)
    looks = page.evaluate(MARK_LOOKS, [*known])
    run = f"axe.run({{include: {MARKED}}}, {{resultTypes: ['violations'], runOnly: {COLOUR_RULES}}})"
    return (_told(page, run) if looks else []), looks


def _settle(page):
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")


def _told(page, run):
    _settle(page)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in page.evaluate(run)["violations"]
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
