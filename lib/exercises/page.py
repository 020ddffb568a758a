"""The page's worker calls this: the text of solution.py in, verdicts out one by one, as JSON texts.

    for reply in attempt("train_flops", "def train_flops(n_params, n_tokens): ..."): ...

First one for each case: {"row": a line of the table, "printed": what was printed meanwhile}; at the end
{"summary": one sentence, "ok": whether every case is right}.
"""

import json
from contextlib import redirect_stderr, redirect_stdout

from lib import check, exercises
from lib.exercises.own_work import borrowed
from lib.exercises.trying import Printed, Report, failure, put_back, raised, refusal, replaced, row_html, tried

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
    found, printed, failed = _defined(asked, code)
    yield from _printed(printed)
    report = refusal(asked.title, asked.name, failed.outcome, failed.sentence) if failed else borrowed(asked, found)
    seen = []
    for row in report.rows if report else tried(exercises.cases(asked), found):
        seen.append(row)
        yield json.dumps({"row": row_html(row), "printed": row.printed})
    whole = Report(asked.title, tuple(seen))
    yield json.dumps({"summary": whole.summary, "ok": whole.ok})


def _printed(text):
    return [json.dumps({"row": "", "printed": text})] if text else []


def _defined(asked, code):
    """What the code defines under the question's name, what it printed, and a failed `Verdict` or None."""
    printed, names = Printed(), {"__name__": "solution"}
    try:
        compiled = compile(code, FILE, "exec")
        with redirect_stdout(printed), redirect_stderr(printed):
            exec(compiled, names)  # the reader's own code, in the reader's own browser
    except SyntaxError as error:
        words = f"Line {error.lineno or 1} is no Python: {error.msg}."
        return None, printed.text, failure("syntax", words)
    except BaseException as error:  # it may raise anything, and leave Python too
        return None, printed.text, raised(error)
    finally:
        changed = put_back()
    if changed:
        return None, printed.text, failure("builtins", replaced(changed))
    return names.get(asked.name), printed.text, None if asked.name in names else _missing(asked, names)


def _missing(asked, names):
    others = [name for name in names if not name.startswith("__")]
    has = f"it defines {', '.join(others[:5])}" if others else "it defines nothing"
    return failure("missing", f"{FILE} must define {asked.signature}; {has}.")
