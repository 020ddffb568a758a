"""Scores into a gradebook that Canvas or Moodle exported: the cells of one column change, and not a byte beside them.

Sources: Canvas, `lib/gradebook_exporter.rb` (columns, the row "    Points Possible", titles with the number in
brackets, EX, N/A, the locale's numbers). Moodle, `mod/assign/feedback/offline` (worksheet: Identifier, Grade, Maximum
grade) and `grade/export/txt` (First name, ..., Email address, a column for each activity).
"""

import re
from collections import Counter
from dataclasses import dataclass

from lib import check
from lib.course.scores import hundredths
from lib.whole_files import read_text

_POSSIBLE = "points possible"
_KEPT = ("EX", "N/A")  # excused, not assigned: what Canvas knows and a score would undo
_CELL = '"(?:[^"]|"")*"|(?!")[^{mark}\r\n]*'
# Column of the export -> column of the roster; the first that finds a student decides.
CANVAS = {"ID": "canvas_id", "SIS Login ID": "student", "SIS User ID": "sis_id"}
WORKSHEET = {"Identifier": "moodle_id", "ID number": "sis_id", "Email address": "email"}
EXPORT = {"Email address": "email", "ID number": "sis_id", "Username": "student"}


@dataclass(frozen=True, kw_only=True)
class Filled:
    """A gradebook with scores in it.

    Args:
        text: of the file.
        form: "canvas", "moodle worksheet" or "moodle".
        column: the name of the column that was filled.
        filled: the students whose cells were.
        kept: (student, cell) of those whose cells say that they are excused, or not assigned.
        without_row: students with a score who are in no row.
        without_score: the first cells of rows that belong to nobody with a score.
    """

    text: str
    form: str
    column: str
    filled: tuple
    kept: tuple
    without_row: tuple
    without_score: tuple

    def __post_init__(self):
        check.text(text=self.text, form=self.form, column=self.column)
        check.instance(tuple, filled=self.filled, kept=self.kept)
        check.instance(tuple, without_row=self.without_row, without_score=self.without_score)


def cells(text):
    """The rows of a CSV text as it is written: quotes, ends of lines and a byte order mark stay in the cells.

    Args:
        text: of the file.

    Returns:
        (rows, the mark between cells); a row is a list of cells, and the end of its line.

    >>> cells('a,"b,""c"\\r\\n1,\\n')
    ([['a', '"b,""c"', '\\r\\n'], ['1', '', '\\n']], ',')
    """
    check.text(text=text)
    head = re.sub('"(?:[^"]|"")*"', "", text[:10_000]).splitlines()[:1]
    mark = max(",;\t", key=(head or [""])[0].count)
    part = re.compile(f"({_CELL.format(mark=mark)})({re.escape(mark)}|\r\n|\n|\r|$)")
    rows, row, at = [], [], 0
    while at < len(text) or row:
        found = part.match(text, at)
        if not found:
            raise ValueError(f"row {len(rows) + 1}: a quote that does not end, or stands within a cell")
        row.append(found[1])
        at = found.end()
        if found[2] != mark:
            rows.append([*row, found[2]])
            row = []
    return rows, mark


def fill(path, found, roster=None, column=None, scale=False):
    """Put scores into an exported gradebook.

    Args:
        path: of the export.
        found: of `Score`.
        roster: a `Roster`, which knows the ids of the gradebook; None if the records carry them: a login, or the
            number that a download of Canvas or Moodle has behind the name.
        column: its name, or the number in brackets behind it; None where there is one alone.
        scale: whether points are converted where the gradebook has another maximum.

    Returns:
        A `Filled`.

    Raises:
        ValueError: for a file that is no such export, a column that is not in it, and another maximum.
    """
    text = read_text(path)
    try:
        return _fill(text, found, roster, column, scale)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _fill(text, found, roster, column, scale):
    rows, mark = cells(text)
    names = [plain(cell) for cell in rows[0][:-1]] if rows else []
    form, keys = _form(names)
    place = _column(names, form, column)
    first = next((n for n, row in enumerate(rows) if plain(row[0]).strip().lower() == _POSSIBLE), 0)
    limit = _limit(rows, names, form, first, place)
    by_key = {score.student: score for score in found}
    known = {name: name for name in by_key} | ({} if roster else _by_number(by_key))
    done, kept, lacking = [], [], []
    for row in rows[1:]:
        own = [plain(cell) for cell in row[:-1]]
        if len(own) <= place or not any(cell for name, cell in zip(names, own, strict=False) if name in keys):
            continue  # of nobody: points possible, what is hidden, an empty line
        student = _whose(own, names, keys, roster, known)
        if student is None:
            lacking.append(own[0])
        elif own[place].strip().upper() in _KEPT:
            kept.append((student, own[place]))
        else:
            row[place] = _cell(by_key[student], limit, scale, mark)
            done.append(student)
    seen = {*done, *(student for student, _ in kept)}
    return Filled(
        text="".join(mark.join(row[:-1]) + row[-1] for row in rows),
        form=form,
        column=names[place],
        filled=tuple(done),
        kept=tuple(kept),
        without_row=tuple(sorted(by_key.keys() - seen)),
        without_score=tuple(lacking),
    )


def plain(cell):
    """What a cell says: without quotes around it, and without a byte order mark.

    Args:
        cell: as it is written.
    """
    check.text(cell=cell)
    cell = cell.removeprefix("\ufeff")
    return cell[1:-1].replace('""', '"') if cell[:1] == '"' else cell


def _form(names):
    if "Identifier" in names and "Grade" in names:
        return "moodle worksheet", WORKSHEET
    if "ID" in names and "Section" in names:
        return "canvas", CANVAS
    if "Email address" in names:
        return "moodle", EXPORT
    raise ValueError("no gradebook of Canvas (columns ID and Section) or Moodle (Identifier, or Email address)")


def _column(names, form, column):
    if form == "moodle worksheet":
        return names.index("Grade")
    able = [place for place, name in enumerate(names) if _may_hold(name, names, form)]
    listed = [names[place] for place in able]
    if column is None and len(able) == 1:
        return able[0]
    wanted = [p for p in able if column is not None and (names[p] == column or names[p].endswith(f" ({column})"))]
    if len(wanted) != 1:
        raise ValueError(f"--column: name one of {check.listed(listed[:20])}" if able else "no column for scores in it")
    return wanted[0]


def _may_hold(name, names, form):
    if form == "canvas":
        return bool(re.search(r" \(\d+\)$", name)) and names.index(name) > names.index("Section")
    return ":" in name or name.endswith("(Real)")


def _limit(rows, names, form, first, place):
    """What the gradebook has as the maximum, as it is written; empty where it does not say."""
    if form == "canvas" and first and len(rows[first]) > place + 1:
        return plain(rows[first][place])
    top = next((n for n, name in enumerate(names) if name.lower() == "maximum grade"), None)
    return "" if top is None or len(rows) < 2 or len(rows[1]) <= top else plain(rows[1][top])


def _by_number(students):
    """What a download of Canvas or Moodle calls NAME_NUMBER, by the number; of two with the same neither."""
    numbered = [(name.rpartition("_")[2], name) for name in students if re.search(r"_\d+$", name)]
    counts = Counter(number for number, _ in numbered)
    return {number: name for number, name in numbered if counts[number] == 1}


def _whose(own, names, keys, roster, known):
    for name, column in keys.items():
        value = own[names.index(name)].strip() if name in names else ""
        if name == "Identifier":
            value = re.sub(r"\D", "", value)  # "Participant 77", in whatever language
        if roster is not None:
            student = roster.by(column, value)
            value = roster.key(student.student) if student else ""
        if value in known and (value == known[value] or column in ("canvas_id", "moodle_id")):
            return known[value]
    return None


def _cell(score, limit, scale, mark):
    has_comma = bool(re.fullmatch(r"\d+,\d+", limit.strip()))
    most = float(limit.replace(",", ".")) if re.fullmatch(r"\d+([.,]\d+)?", limit.strip()) else score.max_points
    if most != score.max_points and not scale:
        raise ValueError(f"{most:g} points at most there, {score.max_points:g} here: --scale converts them")
    points = score.points if most == score.max_points else score.points * most / (score.max_points or 1)
    text = f"{hundredths(points):.2f}".replace(".", "," if has_comma else ".")
    return f'"{text}"' if mark in text else text
