"""The stock theme without its weight: icons as a small font of those that are used, nothing fetched that is not shown.

The theme brings 1,900 icons three times over: a script of 543 kB (gzip) and two fonts. The templates beside this
folder leave out the script; here the style sheet gets a font of the few dozen icons that templates and styles name.
"""

import re
from pathlib import Path

import pydata_sphinx_theme
import sphinx_book_theme
from fontTools import subset

THEMES = [Path(module.__file__).parent for module in (pydata_sphinx_theme, sphinx_book_theme)]
STATIC = THEMES[0] / "theme/pydata_sphinx_theme/static"
STYLE = "styles/pydata-sphinx-theme.css"
FONT = "vendor/fontawesome/webfonts/fa-solid-900.ttf"
FAMILY = "Font Awesome 6 Free"


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


def write_font(target, characters):
    """A WOFF font with these characters alone."""
    options = subset.Options(flavor="woff", layout_features=[], notdef_outline=True)
    font = subset.load_font(str(STATIC / FONT), options)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=[ord(character) for character in characters])
    cut.subset(font)
    subset.save_font(font, str(target), options)


def slim_style(style, characters):
    """The theme's style sheet without the icons that no page shows, and with one icon font in place of its three."""
    for rule, _, character in list(icon_rules(style)):
        if character not in characters:
            style = style.replace(rule, "", 1)
    face = f'@font-face{{font-family:{FAMILY};font-weight:900;src:url(../icons.woff) format("woff")}}'
    return re.sub(r"@font-face\{[^}]*\}", "", style) + face


def trim(app, config):
    """Write the small files, and let them take the place of the theme's own."""
    made = Path(app.srcdir) / "_build/theme"
    (made / "styles").mkdir(parents=True, exist_ok=True)
    style = (STATIC / STYLE).read_text(encoding="utf-8")
    characters = icons_used(style)
    write_font(made / "icons.woff", characters)
    (made / STYLE).write_text(slim_style(style, characters), encoding="utf-8")
    config.html_static_path = [*config.html_static_path, str(made)]


def setup(app):
    app.connect("config-inited", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
