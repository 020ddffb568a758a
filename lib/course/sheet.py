"""Scores as a table that spreadsheets open, in which nothing is a formula."""

import csv
import io

_RISKY = "=+-@\uff1d\uff0b\uff0d\uff20"  # the last four are those of East Asian keyboards


def scores_csv(found):
    """Scores as CSV text: a row for each student, a column for each question.

    A question's points are those before lateness, `points` is what counts. No cell is read as a formula by a
    spreadsheet: one that could be has an apostrophe before it.

    Args:
        found: of `Score`.

    Source: OWASP, CSV Injection.
    """
    names = list(dict.fromkeys(one.name for score in found for one in score.questions))
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["student", "section", "group", "points", "max_points", "days_late", *names, "notes"])
    for score in found:
        points = {one.name: f"{one.points:g}" for one in score.questions}
        head = [
            score.student,
            score.section,
            score.group,
            f"{score.points:g}",
            f"{score.max_points:g}",
            score.days_late,
        ]
        cells = [*head, *(points.get(name, "") for name in names), " ".join(score.notes)]
        rows.writerow([safe_cell(cell) for cell in cells])
    return file.getvalue()


def safe_cell(cell):
    """A cell that no spreadsheet reads as a formula.

    Args:
        cell: text or a number.

    >>> safe_cell("=1+1"), safe_cell(-1)
    ("'=1+1", -1)
    """
    is_risky = isinstance(cell, str) and (cell[:1] in ("\t", "\r", "\n") or cell.lstrip()[:1] in tuple(_RISKY))
    return f"'{cell}" if is_risky else cell
