"""The page's worker calls this: the text of solution.py in, verdicts out one by one, as JSON texts.

    for reply in attempt("train_flops", "def train_flops(n_params, n_tokens): ..."): ...

First one for each case: {"row": a line of the table, "printed": what was printed meanwhile}; at the end
{"summary": one sentence, "ok": whether every case is right}.
"""

import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

from lib import check, exercises
from lib.exercises.own_work import borrowed
from lib.exercises.picture import Picture
from lib.exercises.trying import Printed, Report, failure, raised, refusal, replaced, row_html, tried

FILE = "solution.py"


def attempt(name, code):
    """Run a solution and judge it, case by case.

    Args:
        name: of the question.
        code: Python, as the student wrote it.

    Returns:
        An iterator of JSON texts, as the module describes them.

    Raises:
        TypeError, ValueError: for an unknown question. Whatever the code does is a verdict.

    >>> *rows, end = attempt("train_flops", "def train_flops(n_params, n_tokens): return 6.0 * n_params * n_tokens")
    >>> json.loads(end)["ok"]
    True
    """
    check.text(code=code)
    return _replies(exercises.question(name), code)


def _replies(asked, code):
    drawn, before = exercises.cases(asked), Picture()  # before the code runs: it may change what draws and judges
    found, printed, failed = _defined(asked, code)
    failed = _spoiled(before) or failed
    yield from _printed(printed)
    report = refusal(asked.title, asked.name, failed.outcome, failed.sentence) if failed else borrowed(asked, found)
    seen = []
    for row in report.rows if report else tried(drawn, found):
        spoiled = _spoiled(before)
        seen.append(replace(row, verdict=spoiled) if spoiled else row)
        yield json.dumps({"row": row_html(seen[-1]), "printed": row.printed})
    whole = Report(asked.title, tuple(seen))
    yield json.dumps({"summary": whole.summary, "ok": whole.ok})


def _spoiled(before):
    """Put everything back; a failed `Verdict` where something had been replaced, else None."""
    changed = before.put_back()
    own = [name for name in changed if name in before.builtins]
    if own:
        return failure("builtins", replaced(own))
    words = f"The code changes what others use: {', '.join(changed[:3])}. It is put back; keep to names of your own."
    return failure("builtins", words) if changed else None


def _printed(text):
    return [json.dumps({"row": "", "printed": text})] if text else []


def _defined(asked, code):
    """What the code defines under the question's name, what it printed, and a failed `Verdict` or None."""
    printed, names = Printed(), {"__name__": "solution", "input": _nobody_types}
    try:
        compiled = compile(code, FILE, "exec")
    except SyntaxError as error:
        return None, "", failure("syntax", f"Line {error.lineno or 1} is no Python: {error.msg}.")
    except (ValueError, MemoryError, RecursionError) as error:
        return None, "", raised(error)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            exec(compiled, names)  # the reader's own code, in the reader's own browser
    except BaseException as error:  # it may raise anything, and leave Python too
        return None, printed.text, raised(error)
    return names.get(asked.name), printed.text, None if asked.name in names else _missing(asked, names)


def _nobody_types(prompt=""):
    raise RuntimeError("`input` has nobody to ask: what the question gives comes as parameters.")


_nobody_types.__module__ = "solution"  # to call it is not to borrow from `lib`


def _missing(asked, names):
    others = [name for name in names if type(name) is str and not name.startswith("__") and name != "input"]
    has = f"it defines {', '.join(others[:5])}" if others else "it defines nothing"
    return failure("missing", f"{FILE} must define {asked.signature}; {has}.")
