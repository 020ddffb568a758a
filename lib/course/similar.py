"""Submissions that are alike: shared fingerprints of their code, without what was handed out and what many share.

Fingerprints by winnowing: of each run of `GRAM` tokens a hash, of each `WINDOW` hashes in a row the smallest. Names,
numbers and texts count as tokens of one kind each, so that renaming changes nothing; comments do not count. A passage
of GRAM + WINDOW - 1 tokens that two submissions share is always found, one shorter than GRAM never.

What it is not: it is no proof. Short answers to the same question are alike by themselves, and two who read the same
book write the same lines. It points to pairs that a person should read.

Source: Schleimer, Wilkerson, Aiken 2003, SIGMOD, "Winnowing: Local Algorithms for Document Fingerprinting", sections 3
and 4. GRAM and WINDOW are the defaults of Dolos (`defaultKgramLength`, `defaultKgramsInWindow` in its `options.ts`).
"""

import hashlib
import keyword
import re
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from lib import check
from lib.course.keys import student_of
from lib.exercises import assignment as assignment_of
from lib.exercises.masters import master
from lib.grading.release import student_cells
from lib.grading.submissions import UnreadableError, read, submissions

GRAM, WINDOW = 23, 17  # tokens, hashes
COMMON = 10  # a passage that more students share says nothing: it is the usual way to write it
NOT_PROOF = (
    "Alike is no proof of copying: short right answers are alike by themselves. Read both before you ask anybody."
)
_TOKEN = re.compile(
    r"#[^\n]*|(?:\b[rbuf]{1,2})?(?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|\d[\w.]*|[^\W\d]\w*|[-+*/<>=!:]=|\*\*|//|->|\S",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two submissions that are alike.

    Args:
        first, second: students.
        shared: fingerprints that both have.
        share: of the fingerprints of the shorter one, 0 to 1.
        same_file: whether they are the same byte for byte.
    """

    first: str
    second: str
    shared: int
    share: float
    same_file: bool = False

    def __post_init__(self):
        check.text(first=self.first, second=self.second)
        check.natural(shared=self.shared)
        check.share(share=self.share)
        check.boolean(same_file=self.same_file)


def tokens(code):
    """The tokens of Python code, of names, numbers and texts the kind alone. Code with faults has tokens too.

    Args:
        code: text.

    >>> tokens("days = f(6.0, 'x')  # six")
    ['n', '=', 'n', '(', '0', ',', 's', ')']
    """
    check.text(code=code)
    return [_kind(found) for found in _TOKEN.findall(code) if not found.startswith("#")]


def _kind(token):
    if token[-1] in "\"'" and len(token) > 1:
        return "s"
    if token[0].isdigit():
        return "0"
    return "n" if token.isidentifier() and not keyword.iskeyword(token) else token


def fingerprints(code, gram=GRAM, window=WINDOW):
    """The fingerprints of Python code.

    Args:
        code: text.
        gram: tokens in a run, >= 1.
        window: hashes of which one is kept, >= 1.

    Returns:
        A set of whole numbers; empty for code shorter than one run.

    >>> fingerprints("a = 1; b = a + 2", 3, 2) == fingerprints("x = 7; yy = x + 9  # renamed", 3, 2)
    True
    """
    check.integer(gram=gram, window=window)
    found = tokens(code)
    hashes = [_hash(found[place : place + gram]) for place in range(len(found) - gram + 1)]
    if not hashes:
        return set()
    return {min(hashes[place : place + window]) for place in range(max(1, len(hashes) - window + 1))}


def _hash(run):
    return int.from_bytes(hashlib.blake2b("\0".join(run).encode("utf-8", "replace"), digest_size=8).digest(), "big")


def alike(sources, starter="", share=0.5, common=COMMON):
    """Pairs of submissions that share much of their code.

    Args:
        sources: dict from a submission's key to a `Source`; attempts of one student make no pair.
        starter: code that was handed out; what is in it does not count.
        share: of the shorter one's fingerprints that must be shared, 0 to 1.
        common: a fingerprint that more students have does not count, >= 2; attempts of one count once.

    Returns:
        A list of `Pair`, those with the largest share first.

    Raises:
        ValueError: for a share or a number that is out of its range.
    """
    check.instance(dict, sources=sources)
    check.share(share=share)
    check.integer(common=common)
    if common < 2:
        raise ValueError(f"common = {common}: 2 students or more: what one alone has is shared with nobody")
    given = fingerprints(starter)
    prints = {student: fingerprints("\n".join(source.cells)) - given for student, source in sources.items()}
    same = _same_files({student: source for student, source in sources.items() if prints[student]})
    counts = Counter(mark for marks in _of_students(prints) for mark in marks)
    prints = {student: {mark for mark in marks if counts[mark] <= common} for student, marks in prints.items()}
    pairs = Counter()
    holders = {}
    for student in sorted(prints):
        for mark in prints[student]:
            holders.setdefault(mark, []).append(student)
    for students in holders.values():
        pairs.update(combinations(students, 2))
    of_two = [pair for pair in sorted(pairs.keys() | same) if student_of(pair[0]) != student_of(pair[1])]
    found = [_pair(pair, pairs[pair], prints, pair in same) for pair in of_two]
    kept = [pair for pair in found if pair.share >= share or pair.same_file]
    return sorted(kept, key=lambda pair: (-pair.same_file, -pair.share, -pair.shared, pair.first, pair.second))


def similar_submissions(folder, assignment, share=0.5, common=COMMON):
    """Pairs of a folder's submissions that are alike, without the code that the assignment hands out.

    Args:
        folder: of submissions, as grading reads it; attempts of one student are not compared with each other.
        assignment: its name.
        share, common: as `alike` has them.

    Returns:
        (a list of `Pair`, the students whose submissions cannot be read).
    """
    chosen = assignment_of(assignment)
    names = [question.name for question in chosen.questions]
    sources, left = {}, []
    for submission in submissions(folder):
        try:
            sources[submission.student] = read(submission, names)
        except UnreadableError:
            left.append(submission.student)
    handed_out = [cell for kind, cell in student_cells(master(chosen)) if kind == "code"]
    return alike(sources, "\n".join(handed_out), share, common), left


def _of_students(prints):
    """The fingerprints of each student, in whichever attempt."""
    by_student = {}
    for key, marks in prints.items():
        by_student.setdefault(student_of(key), set()).update(marks)
    return by_student.values()


def _same_files(sources):
    by_bytes = {}
    for student in sorted(sources):
        by_bytes.setdefault(sources[student].sha256, []).append(student)
    return {pair for students in by_bytes.values() for pair in combinations(students, 2)}


def _pair(pair, shared, prints, same_file):
    shorter = min(len(prints[student]) for student in pair)
    share = shared / shorter if shorter else 0.0
    return Pair(first=pair[0], second=pair[1], shared=shared, share=share, same_file=same_file)
