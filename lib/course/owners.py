"""Whose the files of a download are: by number, by name, and nobody's where that is not plain."""

import re

from lib import check
from lib.course.roster import Roster, words


def owners(files, roster=None):
    """Files by what records call their student, and by label for those who are on no roster.

    Args:
        files: of `HandedIn`.
        roster: a `Roster`, or None to call students as the download does.

    Returns:
        Two dicts of lists of `HandedIn`.
    """
    if roster is not None:
        check.instance(Roster, roster=roster)
    found, strangers = {}, {}
    whose = {} if roster is None else _whose(files, roster)
    for one in files:
        student = whose.get(_claim(one))
        if roster is None:
            found.setdefault(label(one), []).append(one)
        elif student:
            found.setdefault(roster.key(student.student), []).append(one)
        else:
            strangers.setdefault(label(one), []).append(one)
    return dict(sorted(found.items())), dict(sorted(strangers.items()))


def label(one):
    """What the download calls a student, with their number in it.

    Args:
        one: a `HandedIn`.
    """
    return f"{one.label}_{one.number}" if one.number else one.label


def _claim(one):
    """What a download says of whose a file is; of names that can be read in two ways both numbers."""
    return one.label, one.number, one.late is not None, _second(one)


def _second(one):
    """The number in a name of Canvas' as `x_77_1234_501_hw.py`, which somebody called x_77 may have handed in."""
    return f"{one.order}" if one.late is not None and re.match(r"\d+_", one.file) else ""


def _whose(files, roster):
    """The student of each claim. Who is claimed by two numbers, or by two names without one, may be two people."""
    claims = {_claim(one) for one in files}
    n_labels = len({claim[0] for claim in claims})
    whose, namesakes = {}, {}
    for claim in claims:
        name, number, is_canvas, second = claim
        if not number:
            if found := roster.by("student", name) or roster.by("email", name):
                namesakes.setdefault(("", found), []).append(claim)
        elif found := _numbered(name, number, is_canvas, roster, is_blind=n_labels == 1):
            whose[claim] = None if second and roster.by("canvas_id", second) not in (None, found) else found
        elif found := _without("canvas_id" if is_canvas else "moodle_id", roster.by_name(name)):
            namesakes.setdefault((is_canvas, found), []).append(claim)
    sure = [(one[1], claims) for one, claims in namesakes.items() if len({c[1] or c[0] for c in claims}) == 1]
    return whose | {claim: found for found, claims in sure for claim in claims}


def _numbered(name, number, is_canvas, roster, is_blind):
    """Of a team Moodle writes the group and its number, which may be that of another participant: names decide."""
    if is_canvas:
        return roster.by("canvas_id", number)
    found = roster.by("moodle_id", number)
    if found and (is_blind or not found.name or set(words(found.name)) & set(words(name))):
        return found
    team = [student for student in roster.students if student.group.casefold() == name.casefold()]
    return team[0] if team else None


def _without(column, student):
    """A student found by name, unless the roster has another number for them: then it is somebody else."""
    return student if student and not getattr(student, column) else None
