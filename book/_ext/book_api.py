"""The docstrings of `lib` as reStructuredText, for the page that lists the library.

They have one form: a first line, text, `Args:`, `Returns:`, `Raises:`, `Source:`, an example. Napoleon would take
"Target minus prediction: positive is good" for a type, and a formula's asterisks for emphasis; this reads them as text.
"""

import ast
import re
from itertools import groupby

SECTIONS = {"Args": "Arguments", "Returns": "Returns", "Raises": "Raises", "Source": "Source"}
_SECTION = re.compile(rf"({'|'.join(SECTIONS)}):(?:\s+(.*))?$")
_ENTRY = re.compile(r"(\S[^:]*):\s+(.*)")
_CODE = re.compile(r"(`[^`]+`)")
_LONG = 500  # signs of a default: a table, not a value
_MARKS = re.compile(r"([\\*|]|_(?!\w))")


def plain(text):
    """Text of a docstring with nothing in it that reStructuredText would read as a mark; `code` stays code."""
    parts = _CODE.split(text)
    return "".join(f"`{part}`" if part.startswith("`") and part[1:] else _MARKS.sub(r"\\\1", part) for part in parts)


def as_rest(lines):
    """A docstring's lines as reStructuredText lines."""
    out = []
    for title, body in _sections(lines):
        if title:
            out += ["", f"**{SECTIONS[title]}**", ""]
        out += _entries(body) if title in ("Args", "Raises") else _text(body)
    return [*out, ""]


def _sections(lines):
    """(title, lines) pairs; the title is "" for what stands outside sections. A section ends where its indent ends."""
    title, body, found = "", [], []
    for line in lines:
        match = _SECTION.match(line)
        if match or (title and line.strip() and not line.startswith(" ")):
            found.append((title, body))
            title, body = (match[1], [f"    {match[2]}"] if match[2] else []) if match else ("", [])
        if not match:
            body.append(line)
    return [(title, _dedent(body) if title else body) for title, body in [*found, (title, body)]]


def _dedent(lines):
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


def _entries(lines):
    """`name: text` lines as a definition list."""
    out = []
    for line in lines:
        match = _ENTRY.match(line)
        if match:
            out += ["", plain(match[1]), f"    {plain(match[2])}"]
        elif line.strip():
            out.append(f"    {plain(line.strip())}")
    return [*out, ""]


def _text(lines):
    """Paragraphs; examples stay as they are, and indented lines (formulas) become a literal block."""
    out = []
    for filled, group in groupby(lines, key=lambda line: bool(line.strip())):
        block = list(group)
        if not filled:
            out.append("")
        elif block[0].startswith(">>>"):
            out += block
        elif block[0].startswith(" "):
            out += ["::", "", *block, ""]
        else:
            out += [plain(line.rstrip()) for line in block]  # the indent of a list item stays
    return out


def rewrite(app, what, name, obj, options, lines):
    """Connected to "autodoc-process-docstring": changes the lines in place."""
    lines[:] = as_rest(lines)


def shorten(app, what, name, obj, options, signature, returned):
    """Connected to "autodoc-process-signature": a default that is a whole table is not spelled out."""
    if len(signature or "") < _LONG:
        return None
    arguments = ast.parse(f"def f{signature}: ...").body[0].args
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [ast.Constant(...) if one and len(ast.unparse(one)) > _LONG else one for one in defaults]
    return f"({ast.unparse(arguments)})", returned


def settle(app, config):
    """No types in signatures (the text gives unit and range), and the order of the file."""
    config.autodoc_typehints = "none"
    config.autodoc_member_order = "bysource"
    config.autodoc_preserve_defaults = True
    config.autodoc_mock_imports = ["jax", "optax", "orbax", "scipy", "matplotlib"]  # no text comes from them


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("config-inited", settle)
    app.connect("autodoc-process-docstring", rewrite)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
