"""What a page of the built book is checked for: outside requests, errors, accessibility, width."""

from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build/html"
AXE = ROOT / "book/live/node_modules/axe-core/axe.min.js"
# The theme makes what scrolls reachable by key, a moment after a change of size.
SCROLLS_BY_KEY = """() => [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
  .every((e) => e.tabIndex === 0 || (e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight))"""
# The rules of colours, and the texts that each of them looks at once a look is marked.
COLOUR_RULES = {"color-contrast": "[data-look]", "link-in-text-block": "a[href][data-look]"}
COSTLY = "region"  # a third of the time of the others together; a finding of it is called moderate, never serious
# Style sheets and sounds are not fetched and read beforehand: that is for a rule that does not run, and a moderate one.
LEAN = {"resultTypes": ["violations"], "preload": False}
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
    """Put axe-core into a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))


def findings(page, inside="html"):
    """What axe-core calls serious or worse in an element, in a line each, once colours have faded into each other."""
    return _told(page, inside, LEAN)


def findings_by_look(page, known):
    """The same in all of a page, the colours on one text of each look that is not known: what looks alike has one
    contrast.

    Returns:
        The findings, and the looks that were not known.
    """
    looks = _mark(page, known)
    left_out = [COSTLY] if looks else [COSTLY, *COLOUR_RULES]
    rules = {rule: {"enabled": False} for rule in left_out}
    return _told(page, "html", LEAN | {"rules": rules}), looks


def findings_of_colours(page, known):
    """The same by the rules of colours alone: in the dark nothing else is another."""
    looks = _mark(page, known)
    return (_told(page, "html", LEAN | {"runOnly": [*COLOUR_RULES]}) if looks else []), looks


def _mark(page, known):
    """Mark one text of each look that is not known, for the rules of colours to look at no other."""
    _settle(page)
    only = [{"id": rule, "selector": selector} for rule, selector in COLOUR_RULES.items()]
    page.evaluate("rules => axe.configure({rules})", only)
    return page.evaluate(MARK_LOOKS, [*known])


def _settle(page):
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")


def _told(page, inside, options):
    _settle(page)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in page.evaluate("([inside, options]) => axe.run(inside, options)", [inside, options])[
            "violations"
        ]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


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
