"""Pictures: each has an alt text, and those that the chapters draw stand inside the page.

A picture in an <img> cannot see the page's colours. As an <svg> in the page it takes over the colour of the text
around it, in the light and in the dark mode, and its words can be found and selected.
"""

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)


def require_alt(app, doctree):
    """A picture without alt text is a warning: in the page Sphinx would write the file's name there, unnoticed."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt", "").strip():
            logger.warning("picture without alt text: %s", image["uri"], location=image, type="handbook", subtype="alt")


def in_page(svg, alt):
    """The element to put into a page, named by its alt text."""
    svg = svg[svg.index("<svg") :]
    opening, rest = svg.split(">", 1)
    named = "" if "aria-label=" in opening else f' role="img" aria-label="{escape(alt)}"'
    return f"{opening}{named}>{rest}"


class DrawnPictures(SphinxPostTransform):
    """Replaces the pictures that cells made by their SVG text; any other picture is left alone."""

    default_priority = 150  # after MyST-NB chose among the formats of an output
    formats = ("html",)

    def run(self, **kwargs):
        drawn = Path(self.app.outdir).parent / "jupyter_execute"
        for image in list(self.document.findall(nodes.image)):
            path = (Path(self.app.srcdir) / image["uri"]).resolve()
            if path.suffix == ".svg" and path.is_relative_to(drawn.resolve()):
                svg = in_page(path.read_text(encoding="utf-8"), image.get("alt", ""))
                image.replace_self(nodes.raw("", f'<div class="picture">{svg}</div>', format="html"))


def setup(app):
    app.connect("doctree-read", require_alt)
    app.add_post_transform(DrawnPictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
