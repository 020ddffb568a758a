"""A page of its own: one HTML file without scripts, readable in dark and in light, that asks nobody for anything."""

import html
import re

from lib import check

_CODE = re.compile(r"`([^`]+)`")
_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_FIRST = re.compile(r"^(\s*)(\d*)([-+#=.)])")  # what begins a list, a heading, a line
_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #555; --line: #bbb; --paper: #fff; --good: #0b6b4f;
  --bad: #a33b00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #b5b5b5; --line: #666; --paper: #16181c; --good: #5fd3ab; --bad: #ff9d66; }
}
body { color: var(--ink); background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--soft); }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
code { font-family: ui-monospace, monospace; } summary { cursor: pointer; }
summary:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); } svg { max-width: 100%; }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def page(title, body):
    """A whole page.

    Args:
        title: text.
        body: HTML below the heading.
    """
    check.text(title=title, body=body)
    return _PAGE.format(title=html_of(title), style=_STYLE, body=body)


def table(caption, head, rows):
    """A table.

    Args:
        caption: text above it.
        head: texts, a column's name each.
        rows: lists of HTML cells; the first of each is the row's name.
    """
    names = "".join(f'<th scope="col">{html_of(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>\n"
        for row in rows
    )
    caption = f"<caption>{html_of(caption)}</caption>"
    return f"<table>\n{caption}\n<thead><tr>{names}</tr></thead>\n<tbody>\n{lines}</tbody>\n</table>"


def html_of(text):
    """Text as HTML: nothing in it is a mark but backticks, which set code.

    Args:
        text: of a record; parts of it may be of a student's making.

    >>> html_of("`<b>` & *c*")
    '<code>&lt;b&gt;</code> &amp; *c*'
    """
    check.text(text=text)
    return _CODE.sub(r"<code>\1</code>", html.escape(visible(text)))


def markdown_of(text):
    """Text as Markdown: nothing in it is a mark but backticks, which set code.

    Args:
        text: of a record; parts of it may be of a student's making.

    >>> markdown_of("`a_b` is *not* [so](x)"), markdown_of("1. one")
    ('`a_b` is \\\\*not\\\\* \\\\[so\\\\](x)', '1\\\\. one')
    """
    check.text(text=text)
    parts = _CODE.split(visible(text))
    marked = [f"`{part}`" if place % 2 else _MARKS.sub(r"\\\1", part) for place, part in enumerate(parts)]
    return _FIRST.sub(r"\1\2\\\3", "".join(marked))


def visible(text):
    """A text in one line, without letters that turn the direction of others or are not seen.

    Args:
        text: any.

    >>> visible("a\\nb\\u202ec")
    'a b c'
    """
    check.text(text=text)
    return "".join(mark if mark.isprintable() else " " for mark in text)
