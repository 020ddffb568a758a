"""Equations as MathML, made while the book is built: no script and no font of its own, readable with scripts off.

A formula that cannot be rendered is a warning, and so fails the build. `latex2mathml` passes on what it does not know
in silence; what must not reach a page is therefore looked for in its answer.
"""

import re
from html import escape

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

# What people write -> what latex2mathml reads as they mean it.
REWRITTEN = (
    (re.compile(r"\\(begin|end)\{(?:align|aligned|split)\}"), r"\\\1{align*}"),
    (re.compile(r"\\(?:mathrm|operatorname)\{([^{}\\]{2,})\}"), r"\\text{\1}"),
    (re.compile(r"\\label\{[^}]*\}"), ""),
)
# What it makes -> what browsers show well: whole numbers, words and signs that are no variables.
MENDED = (
    (re.compile(r"(?<=\d)</mn><mrow><mo>&#x0002C;</mo></mrow><mn>(?=\d{3}\b)"), ","),
    (re.compile(r"<mi>(&#x00025;)</mi>"), r"<mtext>\1</mtext>"),
    (re.compile(r"<mi>(&#x0(?:2308|2309|230A|230B);)</mi>"), r'<mo stretchy="false">\1</mo>'),
)
ENVIRONMENTS = {"align*", "array", "cases", "matrix", "pmatrix", "bmatrix", "vmatrix"}
UNKNOWN = (
    (re.compile(r"<m[ino]>(\\[A-Za-z]+)"), "the command {} is not known"),
    (re.compile(r"<m[ino]>(&)</m"), "{} stands outside an aligned environment"),
    (re.compile(r"(linebreak)="), "a new line needs \\begin{{aligned}}"),
    (re.compile(r"<(menclose)"), "browsers do not draw boxes ({})"),
)


def replace_all(text, rules):
    for pattern, new in rules:
        text = pattern.sub(new, text)
    return text


def to_mathml(latex, display):
    """A formula as a <math> element; `display` is "inline" or "block".

    Raises:
        ValueError: if any part of the formula would be lost or shown as source.
    """
    source = replace_all(latex.strip(), REWRITTEN)
    for name in re.findall(r"\\begin\{([^}]*)\}", source):
        if name not in ENVIRONMENTS:
            raise ValueError(f"the environment {name} is not known")
    try:
        made = convert(source, display=display)
    except Exception as error:  # its errors share no base class, and some are plain IndexErrors
        raise ValueError(type(error).__name__) from error
    for pattern, reason in UNKNOWN:
        if found := pattern.search(made):
            raise ValueError(reason.format(found[1]))
    alternative = escape(" ".join(latex.split()))
    return replace_all(made, MENDED).replace("<math ", f'<math alttext="{alternative}" ', 1)


def rendered(node, display):
    """The formula of a node, or its source in a warning's company."""
    try:
        return to_mathml(node.astext(), display)
    except ValueError as error:
        logger.warning(
            "formula cannot be rendered: %s: %s", error, node.astext(), location=node, type="handbook", subtype="math"
        )
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(translator, node):
    translator.body.append(rendered(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator, node):
    # A wide formula scrolls in its own box, which the keyboard must reach.
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight", tabindex="0"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(rendered(node, "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("config-inited", lambda app, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
