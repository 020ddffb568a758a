"""The stock theme without its weight, and the two small fonts that take the place of large ones.

The theme brings 1,900 icons three times over: a script of 543 kB (gzip) and two fonts. The templates beside this
folder leave out the script; here the style sheet gets a font of the few dozen icons that templates and styles name.
Equations get a font too: without one that knows mathematics, braces and roots do not grow with what they hold.
"""

import re
from pathlib import Path

import pydata_sphinx_theme
import sphinx_book_theme
from fontTools import subset

ROOT = Path(__file__).parents[2]
THEMES = [Path(module.__file__).parent for module in (pydata_sphinx_theme, sphinx_book_theme)]
STATIC = THEMES[0] / "theme/pydata_sphinx_theme/static"
STYLE = "styles/pydata-sphinx-theme.css"
ICON_FONT = STATIC / "vendor/fontawesome/webfonts/fa-solid-900.ttf"
MATH_FONT = ROOT / "book/live/node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff"
MATH_RANGES = (  # first and last: ASCII, Greek, punctuation, arrows, operators, brackets and braces, italic letters
    (0x20, 0x7E), (0xA0, 0xF7), (0x2C6, 0x307), (0x391, 0x3F5), (0x2010, 0x203E), (0x2061, 0x2064), (0x210E, 0x211D),
    (0x2190, 0x2194), (0x21D2, 0x21D4), (0x2200, 0x222B), (0x2248, 0x226B), (0x22C5, 0x22EF), (0x2308, 0x230B),
    (0x23DE, 0x23DF), (0x1D434, 0x1D467), (0x1D6FC, 0x1D71B),
)  # fmt: skip


def icon_rules(style):
    """(rule, names, character) of every icon in the style sheet."""
    for rule in re.finditer(r'((?:\.fa-[a-z0-9-]+:{1,2}before,?)+)\{content:"\\?([^"]+)"\}', style):
        code = rule[2]
        yield rule[0], set(re.findall(r"fa-([a-z0-9-]+)", rule[1])), chr(int(code, 16)) if len(code) > 1 else code


def icons_used(style):
    """The characters of the icons that the themes' templates, code and styles name."""
    sources = [path for theme in THEMES for kind in ("*.html", "*.py") for path in theme.rglob(kind)]
    names = {name for path in sources for name in re.findall(r"\bfa-([a-z-]+)", path.read_text(encoding="utf-8"))}
    named = {character for _, its_names, character in icon_rules(style) if its_names & names}
    return named | set(re.findall(r'--pst-icon-[a-z-]+:"([^"]+)"', style))


def write_font(target, source, characters):
    """A WOFF font with these characters of another font, and the larger forms that formulas need."""
    if target.exists() and target.stat().st_mtime > max(Path(__file__).stat().st_mtime, source.stat().st_mtime):
        return
    options = subset.Options(flavor="woff", layout_features=[], hinting=False)
    with subset.load_font(str(source), options) as font:
        cut = subset.Subsetter(options)
        cut.populate(unicodes=characters)
        cut.subset(font)
        subset.save_font(font, str(target), options)


def slim_style(style, characters):
    """The theme's style sheet without the icons that no page shows, and with one icon font in place of its three."""
    for rule, _, character in list(icon_rules(style)):
        if character not in characters:
            style = style.replace(rule, "", 1)
    face = '@font-face{font-family:"Font Awesome 6 Free";font-weight:900;src:url(../icons.woff) format("woff")}'
    return re.sub(r"@font-face\{[^}]*\}", "", style) + face


def trim(app, config):
    """Write the small files, and let them take the place of the theme's own."""
    made = Path(app.srcdir) / "_build/theme"
    (made / "styles").mkdir(parents=True, exist_ok=True)
    style = (STATIC / STYLE).read_text(encoding="utf-8")
    characters = icons_used(style)
    write_font(made / "icons.woff", ICON_FONT, [ord(character) for character in characters])
    write_font(made / "math.woff", MATH_FONT, [code for first, last in MATH_RANGES for code in range(first, last + 1)])
    (made / STYLE).write_text(slim_style(style, characters), encoding="utf-8")
    config.html_static_path = [*config.html_static_path, str(made)]


def setup(app):
    app.connect("config-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
