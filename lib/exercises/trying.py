"""Calls a student's function on cases, whatever it does, and lays the verdicts out as a table.

For the student's own machine, where a wrong answer harms nobody but its author: nothing is jailed here. Imports the
standard library, `case` and `verdict` alone, so that `course release` can hand it out.
"""

import builtins
import copy
import inspect
import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from html import escape

from lib.exercises.case import Case, Verdict
from lib.exercises.verdict import judge_case, shown, type_name

MOST_PRINTED = 1000  # characters of what a case printed are kept
# What drawing and judging need, as it was. Of the rest a kernel replaces some between cells, such as `input`.
_NEEDED = "abs all any bool dict enumerate float getattr int isinstance len list map max min next repr set sorted str"
_NEEDED = {name: getattr(builtins, name) for name in f"{_NEEDED} sum super tuple type vars zip".split()}
_BORDER = "border-collapse: collapse; margin: .5em 0"
_STYLE = "text-align: left; vertical-align: top; padding: .15em 1em .15em 0"
_CELL, _ROW = f'style="{_STYLE}"', f'style="{_STYLE}; font-weight: normal"'


class Printed(io.TextIOBase):
    """Takes what is printed and keeps the beginning."""

    def __init__(self):
        self.text = ""

    def writable(self):
        """True: it is written to."""
        return True

    def write(self, text):
        """Keep what there is room for."""
        self.text += text[: MOST_PRINTED - len(self.text)]
        return len(text)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One case, what is said of the answer, and what was printed meanwhile."""

    case: object
    verdict: Verdict
    printed: str = ""


@dataclass(frozen=True)
class Report:
    """The verdicts on one answer; shows itself as a table in a notebook, as lines elsewhere."""

    title: str
    rows: tuple

    @property
    def ok(self):
        """True where every case is right."""
        return bool(self.rows) and all(row.verdict.ok for row in self.rows)

    @property
    def summary(self):
        """One sentence: how many cases are right."""
        right = sum(row.verdict.ok for row in self.rows)
        return f"{self.title}: {right} of {len(self.rows)} right."

    def require(self):
        """The report itself where every case is right; else an AssertionError that holds it, as graders want it."""
        if not self.ok:
            raise AssertionError(repr(self))
        return self

    def __repr__(self):
        lines = (f"  {_word(row)}  {_inputs(row.case)}: {row.verdict.sentence}" for row in self.rows)
        return "\n".join([self.summary, *lines, *_printed(self.rows)])

    def _repr_html_(self):
        head = "".join(f'<th scope="col" {_CELL}>{word}</th>' for word in ("Case", "Verdict", "Why"))
        rows = "\n".join(row_html(row) for row in self.rows)
        printed = "".join(f"<pre>{escape(text)}</pre>" for text in _printed(self.rows))
        return (
            f'<table style="{_BORDER}"><caption style="text-align: left">{escape(self.summary)}</caption>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>{printed}"
        )


def row_html(row):
    """One line of the table of verdicts.

    Args:
        row: a `Row`.
    """
    return (
        f'<tr><th scope="row" {_ROW}>{escape(_inputs(row.case))}</th>'
        f"<td {_CELL}>{_word(row)}</td><td {_CELL}>{escape(row.verdict.sentence)}</td></tr>"
    )


def try_answer(title, cases, answer):
    """The verdicts on an answer: a function is called on every case, a value is judged as it is.

    Args:
        title: of the question.
        cases: a list of `Case` of one question.
        answer: the function, or the value.

    Returns:
        A `Report`. After a case that was interrupted the others are not run.
    """
    return Report(title, tuple(tried(cases, answer)))


def tried(cases, answer):
    """The verdicts one by one, as they come; after a case that was interrupted the others are not run.

    Args:
        cases, answer: as `try_answer` takes them.
    """
    for case in cases:
        yield (row := _row(case, answer))
        if row.verdict.outcome == "stopped":
            return


def refusal(title, name, outcome, sentence):
    """A report on an answer that is not run.

    Args:
        title, name: of the question.
        outcome, sentence: of the `Verdict`.
    """
    case = Case(question=name, inputs={})
    return Report(title, (Row(case=case, verdict=failure(outcome, sentence)),))


def call(function, inputs):
    """Call a function, and tell what came of it.

    Args:
        function: the student's.
        inputs: a dict; the values are handed over in their order, as copies.

    Returns:
        (what was returned, None, what was printed), or (None, a failed `Verdict`, what was printed).
    """
    if not callable(function):
        words = f"{shown(function)} is no function: give its name, without brackets behind it."
        return None, failure("missing", words), ""
    printed, before = Printed(), dict(builtins.__dict__)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            if not _takes(function, inputs):
                words = f"The function must take {len(inputs)} parameters: {', '.join(inputs)}."
                return None, failure("wrong parameters", words), ""
            returned = function(*copy.deepcopy(list(inputs.values())))
    except KeyboardInterrupt:
        return None, failure("stopped", "Interrupted. Does a loop never end?"), printed.text
    except BaseException as error:  # a student's code may raise anything, and leave Python too
        return None, raised(error), printed.text
    finally:
        changed = put_back(before)
    if changed:
        return None, failure("builtins", replaced(changed)), printed.text
    return returned, None, printed.text


def failure(outcome, sentence):
    """A failed verdict for what is no value.

    Args:
        outcome, sentence: of the `Verdict`.
    """
    return Verdict(ok=False, outcome=outcome, sentence=sentence)


def replaced(names):
    """What is said of code that replaces built-ins.

    Args:
        names: of what it replaced.
    """
    return f"The code replaces what Python has built in: {', '.join(names)}. It is put back; choose other names."


def raised(error):
    """The verdict on an exception.

    Args:
        error: what was raised.
    """
    kind = type(error)  # not isinstance: an error of the student's own may claim to be anything
    if issubclass(kind, NotImplementedError):
        return failure("not written", "Not written yet: the line that raises NotImplementedError is still there.")
    if issubclass(kind, RecursionError):
        return failure("raised", "The function calls itself without end.")
    if issubclass(kind, SystemExit):
        return failure("raised", "The code asks Python to exit: return a value instead.")
    return failure("raised", f"It raised {type_name(error)}: {_message(error)}")


def _row(case, answer):
    if case.kind == "value":
        return Row(case=case, verdict=_judged(case, answer))
    returned, failed, printed = call(answer, case.inputs)
    return Row(case=case, verdict=failed or _judged(case, returned), printed=printed)


def _judged(case, returned):
    try:
        return judge_case(case, returned)
    except Exception:  # an object that resists being looked at, by a metaclass of the student's own
        return failure("wrong type", "What was returned cannot be looked at: a plain value was asked for.")


def _takes(function, inputs):
    try:
        inspect.signature(function).bind(*inputs.values())
    except TypeError:
        return False
    except Exception:  # built-in functions have none to look at, objects of the student's own may have anything
        return True
    return True


def put_back(before=_NEEDED):
    """Put back built-ins that are not what they were.

    Args:
        before: a dict of them by name; those that judging needs where none is given.

    Returns:
        The names of those that were replaced.
    """
    now = builtins.__dict__  # not `vars`, which may be one of them
    changed = [name for name, thing in before.items() if name != "_" and now.get(name) is not thing]
    now.update((name, before[name]) for name in changed)
    return changed


def _message(error):
    try:
        text = " ".join(str(error).split())
    except BaseException:  # an exception of the student's own, with a __str__ that fails or leaves Python
        return "with a message that cannot be shown."
    return text[:200] or "without a message."


def _word(row):
    return "right" if row.verdict.ok else "not yet"


def _inputs(case):
    if not case.visible:
        return "inputs not shown"
    return ", ".join(f"{name} = {shown(value, 1)}" for name, value in case.inputs.items()) or "your answer"


def _printed(rows):
    text = "".join(row.printed for row in rows)[:MOST_PRINTED]
    return [f"Printed: {text}"] if text.strip() else []
