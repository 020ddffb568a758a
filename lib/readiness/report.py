"""A review as Markdown and as a page, both with a line to sign."""

from html import escape

from lib import check
from lib.readiness.review import Review

HEAD = ("item", "state", "what is signed", "owner", "signed", "date", "why")
_SAID = {"statement": "", "threshold": "not good enough: ", "artefact": "shown by ", "sha256": "SHA-256 "}
_SAID |= {"revision": "code ", "escalation": "called: ", "approved_gpu_hours": "GPU-hours approved: "}
_STYLE = (
    "body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{border:1px solid #666;padding:.4rem;text-align:left;"
    "vertical-align:top}"
)
_SIGN = "Reviewed by ______________________   on ______________   signature ______________________"


def rows(review):
    """One row of texts for each item.

    Args:
        review: a `Review`.

    Raises:
        TypeError: for something else.
    """
    check.instance(Review, review=review)
    return tuple(_row(number, one) for number, one in enumerate(review.states, 1))


def _row(number, one):
    said = one.statement
    date = said.date.isoformat() if said.date else ""
    why = "; ".join(one.reasons)
    return (f"{number}. {one.item.label}", one.state, _signed_for(said), said.owner, said.signed, date, why)


def _signed_for(said):
    """All that a signature stands for, so that who signs the paper sees it."""
    given = ((words, getattr(said, name)) for name, words in _SAID.items() if name in said.given)
    return "; ".join(
        f"{words}{check.figure(value) if isinstance(value, float | int) else value}" for words, value in given
    )


def _title(review):
    return f"Readiness review of {review.run.name or review.run.shape.name or 'a training run'}"


def to_markdown(review):
    """The review as Markdown, with a line to sign.

    Args:
        review: a `Review`.

    Raises:
        TypeError: for something else.
    """
    body = [f"| {' | '.join(map(_cell, row))} |" for row in rows(review)]
    head = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    said = [f"# {_cell(_title(review))}", "", f"Run description `{review.run.digest}`.", "", review.text, ""]
    return "\n".join([*said, *head, *body, "", _SIGN, ""])


def _cell(text):
    """Text that breaks no table and is read as text: a person's words may hold any mark."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in flat)


def to_html(review):
    """The review as a page of its own, with a line to sign; it asks no other file for anything.

    Args:
        review: a `Review`.

    Raises:
        TypeError: for something else.
    """
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows(review))
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    title = escape(_title(review))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f"<p>Run description <code>{review.run.digest}</code>.</p>\n<p>{escape(review.text)}</p>\n"
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n<p>{_SIGN}</p>\n</body>\n</html>\n"
    )
