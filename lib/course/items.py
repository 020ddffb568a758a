"""How a class did, question by question: the share that is right, and what the others got wrong, grouped by mistake."""

from collections import Counter
from dataclasses import asdict, dataclass

from lib import check
from lib.course.keys import student_of
from lib.course.page import html_of, page, table
from lib.exercises import QUESTIONS


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """A group of answers that were wrong in the same way.

    Args:
        what: the name of a typical mistake, or an outcome.
        n: students.
        sentence: what the mistake is, for a typical one; else empty.
    """

    what: str
    n: int
    sentence: str = ""

    def __post_init__(self):
        check.text(what=self.what, sentence=self.sentence)
        check.integer(n=self.n)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question, over a class.

    Args:
        name, title: of the question.
        n: students with a record.
        right: how many of them passed.
        wrong: of `Wrong`, the most common first; each student is in one of them.
    """

    name: str
    title: str
    n: int
    right: int
    wrong: tuple

    def __post_init__(self):
        check.text(name=self.name, title=self.title)
        check.natural(n=self.n, right=self.right)
        check.instance(tuple, wrong=self.wrong)

    @property
    def share(self):
        """Of students who passed, 0 to 1."""
        return self.right / self.n if self.n else 0.0

    @property
    def plain(self):
        """The item as dicts, lists, numbers and text."""
        return asdict(self) | {"share": self.share}


def items(records):
    """The statistics of each question. Of a student's attempts the last one counts.

    Args:
        records: dict from a submission's key to its `Record`.
    """
    last = {student_of(key): records[key] for key in sorted(records, key=_attempt)}
    asked = {}
    for record in last.values():
        for question in record.questions:
            asked.setdefault(question.name, []).append(question)
    return [_item(name, results) for name, results in asked.items()]


def _attempt(key):
    number = key.rpartition("#")[2]
    return (student_of(key), int(number) if number.isdigit() and "#" in key else 0)


def _item(name, results):
    counts = Counter(map(_mistake, (one for one in results if one.outcome != "passed")))
    told = {slip.name: slip.sentence for slip in QUESTIONS[name].slips} if name in QUESTIONS else {}
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    wrong = tuple(Wrong(what=what, n=n, sentence=told.get(what, "")) for what, n in ranked)
    right = len(results) - sum(counts.values())
    return Item(name=name, title=results[0].title, n=len(results), right=right, wrong=wrong)


def _mistake(result):
    """The mistake that most wrong cases of an answer show; without any, what became of it."""
    slips = Counter(case.slip for case in result.cases if case.slip)
    if slips:
        return min(slips, key=lambda slip: (-slips[slip], slip))
    return "another value" if result.outcome == "failed" else result.outcome


def items_chart(found):
    """How many answers are right, beside all of them, as SVG.

    Args:
        found: of `Item`.
    """
    from lib.plots import compare, to_svg

    label = "; ".join(f"{one.title}: {one.share:.0%} right" for one in found)
    n = max(one.n for one in found)
    return to_svg(compare([(one.title, one.right) for one in found], "right", ("all", n)), label=label)


def items_page(title, found):
    """A page for the instructor: the chart, then the mistakes of each question.

    Args:
        title: of the assignment.
        found: of `Item`.
    """
    parts = [
        items_chart(found),
        '<p class="soft">Students whose answer is right; the line is all who handed something in.</p>',
    ]
    for one in found:
        parts.append(f"<h2>{html_of(one.title)}</h2>\n<p>{one.right} of {one.n} right.</p>")
        rows = [[html_of(group.what), str(group.n), html_of(group.sentence)] for group in one.wrong]
        if rows:
            parts.append(table(f"Wrong answers to {one.title}", ("Mistake", "Students", "What it is"), rows))
    return page(title, "\n".join(parts))
