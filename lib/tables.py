"""A small table that a chapter shows: texts in, a table out. It formats nothing and computes nothing."""

import re
from dataclasses import dataclass
from html import escape

from lib import check

_RIGHT = ' style="text-align:right"'
_NUMBER = re.compile(r"[+-]?[0-9][0-9.,]*(?:e-?[0-9]+)?[KMBT%]?(?: [A-Za-z%/]+){0,2}")  # "13.46B", "800 TFLOP/s"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of texts under a head; the first cell of a row names it.

    Args:
        head: one text a column.
        rows: as many texts each; a row of one text is a heading over those below it.
        caption: what the table says, in a sentence.

    Raises:
        ValueError: for a row of another length.

    >>> print(Table(head=("law", "tokens per parameter"), rows=(("Besiroglu", "18.5"), ("Hoffmann", "58.9"))))
    law        tokens per parameter
    Besiroglu                  18.5
    Hoffmann                   58.9
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __post_init__(self):
        check.text(caption=self.caption)
        check.several(head=self.head)
        check.instance(tuple, rows=self.rows)
        for row in (self.head, *self.rows):
            check.several(rows=row)
            for cell in row:
                check.text(rows=cell)
            if len(row) not in (1, len(self.head)):
                raise ValueError(f"rows: {len(row)} cells in {row!r}: {len(self.head)}, or 1 for a heading")

    def __str__(self):
        full = [self.head, *(row for row in self.rows if len(row) > 1)]
        widths = [max(len(row[column]) for row in full) for column in range(len(self.head))]
        lines = [row[0] if len(row) == 1 else _line(row, widths) for row in (self.head, *self.rows)]
        return "\n".join([self.caption, *lines] if self.caption else lines)

    def _repr_html_(self):
        # Never wider than a phone's column, although the table is: the rest of it scrolls away.
        narrow = 'style="display:inline-block;max-width:85vw;white-space:normal;text-align:left"'
        caption = f"<caption><span {narrow}>{escape(self.caption)}</span></caption>" if self.caption else ""
        # White space between cells: a search shows the text of a page without its tags.
        styles = [_RIGHT if self._is_numeric(column) else "" for column in range(len(self.head))]
        head = " ".join(f'<th scope="col"{s}>{escape(text)}</th>' for text, s in zip(self.head, styles, strict=True))
        body = " ".join(f"<tr>{_cells(row, styles)}</tr>" for row in self.rows)
        # A wide table scrolls inside its own box, also by keyboard: the page stays as wide as the phone.
        return (
            f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="Table"><table class="table">{caption} '
            f"<thead><tr>{head}</tr></thead> <tbody>{body}</tbody></table></div>"
        )

    __repr__ = __str__

    def _is_numeric(self, column):
        """True for a column of numbers, with or without a unit: they are compared by their right ends."""
        cells = [row[column] for row in self.rows if len(row) > 1]
        numbers = [cell for cell in cells if _NUMBER.fullmatch(cell)]
        return column > 0 and bool(numbers) and all(cell in numbers or cell in ("", "-") for cell in cells)


def _line(row, widths):
    name, *values = (
        text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([name, *values]).rstrip()


def _cells(row, styles):
    name, *values = map(escape, row)
    if not values:
        return f'<th colspan="{len(styles)}" scope="rowgroup">{name}</th>'
    cells = (f" <td{style}>{value}</td>" for value, style in zip(values, styles[1:], strict=True))
    return f'<th scope="row">{name}</th>' + "".join(cells)
