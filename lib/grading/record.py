"""The record of one submission: what `handbook course grade` writes, and everything after it reads.

A results folder holds `grading.json`, which says what was graded, and one file for each student:

    {"format": 1, "assignment": "...", "student": "...", "file": "...", "sha256": "...", "grading": "...",
     "outcome": "graded", "sentence": "", "points": 3, "max_points": 9,
     "questions": [{"name": "...", "title": "...", "outcome": "failed", "sentence": "...", "points": 0,
                    "max_points": 2, "cases": [{"hidden": true, "outcome": "slip", "slip": "...", "sentence": "..."}]}]}

A record depends on the submission, the questions and the secret alone: no time, no machine, no name of a worker. It
holds no hidden input, no hidden expected value and nothing that a submission printed, so all of it may be shown to its
student. What a person decides (points by hand, late days, a question voided) belongs into other files, keyed by
student: records are written anew when a submission changes.
"""

import hashlib
import re
from dataclasses import asdict, dataclass

from lib import check

FORMAT = 1
ABOUT = "grading.json"
RUN = ("passed", "failed", "raised", "timeout", "memory", "crash")
QUESTION_OUTCOMES = (*RUN, "missing function", "missing value", "syntax error", "unreadable")
OUTCOMES = ("graded", "unreadable")


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What is said of one case.

    Args:
        hidden: whether inputs and expected value are kept from the student.
        outcome: "right", another word of `lib.exercises.Verdict`, or "raised", "timeout", "memory", "crash", "not run".
        sentence: for the student.
        slip: the name of the typical mistake, where one was recognised; else empty.
    """

    hidden: bool
    outcome: str
    sentence: str
    slip: str = ""

    def __post_init__(self):
        check.fields(self, boolean="hidden", text="outcome sentence slip")


@dataclass(frozen=True, kw_only=True)
class QuestionResult:
    """What is said of one question: all its points, or none.

    Args:
        name: of the question, which is what the student defines.
        title: a few words.
        outcome: one of `QUESTION_OUTCOMES`.
        sentence: for the student.
        points: what was reached.
        max_points: what there was.
        cases: of `CaseResult`, visible ones first; none where nothing could be called.
    """

    name: str
    title: str
    outcome: str
    sentence: str
    points: int
    max_points: int
    cases: tuple = ()

    def __post_init__(self):
        check.fields(self, text="name title sentence", natural="points max_points")
        check.choice(QUESTION_OUTCOMES, outcome=self.outcome)
        for case in self.cases:
            check.instance(CaseResult, cases=case)


@dataclass(frozen=True, kw_only=True)
class Record:
    """One submission, graded.

    Args:
        assignment: its name.
        student: whose it is, as the file or the folder was called.
        file: the name of what was graded; empty where nothing could be read.
        sha256: of its bytes.
        grading: the mark of questions and secret, the same in a whole results folder.
        outcome: "graded" or "unreadable".
        sentence: why it could not be read; else empty.
        questions: of `QuestionResult`.
    """

    assignment: str
    student: str
    file: str
    sha256: str
    grading: str
    outcome: str
    sentence: str = ""
    questions: tuple

    def __post_init__(self):
        check.fields(self, text="assignment student file sha256 grading sentence")
        check.choice(OUTCOMES, outcome=self.outcome)
        for question in self.questions:
            check.instance(QuestionResult, questions=question)

    @property
    def points(self):
        """What was reached."""
        return sum(question.points for question in self.questions)

    @property
    def max_points(self):
        """What there was."""
        return sum(question.max_points for question in self.questions)

    @property
    def plain(self):
        """The record as it is written: dicts, lists, numbers and text."""
        return {"format": FORMAT, **asdict(self), "points": self.points, "max_points": self.max_points}

    @classmethod
    def of(cls, plain):
        """The record that `plain` has written.

        Args:
            plain: a dict, as JSON gives it.

        Raises:
            ValueError: for something else.
        """
        check.instance(dict, plain=plain)
        try:
            if plain["format"] != FORMAT:
                raise ValueError(f"format {plain['format']!r} is not {FORMAT}")
            questions = tuple(_question(one) for one in plain["questions"])
            others = {key: value for key, value in plain.items() if key not in ("format", "points", "max_points")}
            return cls(**others | {"questions": questions})
        except (TypeError, KeyError) as error:
            raise ValueError(f"no such field, or of another kind: {error}") from None


def _question(plain):
    return QuestionResult(**plain | {"cases": tuple(CaseResult(**case) for case in plain["cases"])})


def file_name(student):
    """The name of a student's file: readable, different for different students, and never outside the folder.

    Args:
        student: any text.

    >>> file_name("ada"), file_name("../Ada")
    ('ada.json', 'Ada-4e4af216.json')
    """
    check.text(student=student)
    plain = re.sub(r"[^a-z0-9-]+", "-", student.lower()).strip("-")[:60]
    if plain == student and plain not in ("", ABOUT.removesuffix(".json")):
        return f"{plain}.json"
    clean = re.sub(r"[^A-Za-z0-9-]+", "-", student).strip("-")[:60] or "student"
    return f"{clean}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.json"
